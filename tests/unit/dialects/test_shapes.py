"""The parameters of a tool are the signature of its function; what a table of faults does not name it inherits."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from polymnia import errors
from polymnia.dialects.shapes import about, inherited, parameters


class _Base(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    project: str = "default"


def _tool(
    context: object,
    name: Annotated[str, about("Its name.")],
    limit: Annotated[int, about("How many.", ge=1)] = 10,
    note: Annotated[str, about("A note.")] | None = None,
    *,
    deep: Annotated[bool, about("All of it.")] = False,
) -> None: ...


_PARAMS = parameters(_tool, _Base, ("ToolOptions", "How to do it."))


def test_a_parameter_with_a_default_may_be_left_out_or_be_null() -> None:
    for raw in (b'{"name": "a"}', b'{"name": "a", "limit": null, "note": null, "options": null}'):
        read = msgspec.to_builtins(msgspec.json.decode(raw, type=_PARAMS))
        assert read == {"project": "default", "name": "a", "limit": None, "note": None, "options": None}


def test_what_stands_after_the_star_comes_in_options() -> None:
    read = msgspec.json.decode(b'{"name": "a", "options": {"deep": true}}', type=_PARAMS)
    assert msgspec.to_builtins(read)["options"] == {"deep": True}
    (top,), parts = msgspec.json.schema_components([_PARAMS], ref_template="{name}")
    assert parts[top["$ref"]]["required"] == ["name"]
    assert parts["ToolOptions"]["description"] == "Options of _tool."


@pytest.mark.parametrize("raw", [b"{}", b'{"name": "a", "limit": 0}', b'{"name": "a", "options": {"deap": true}}'])
def test_what_the_signature_does_not_allow_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(raw, type=_PARAMS)


def test_a_fault_that_a_table_does_not_name_has_what_its_parent_has() -> None:
    table = inherited({errors.Fault: 1, errors.Unavailable: 2, errors.Damaged: 3})
    assert {fault.__name__ for fault in table} >= set(errors.__all__)
    assert (table[errors.NotFound], table[errors.Busy], table[errors.BrokenFile]) == (1, 2, 3)
