"""Operations as data: their schemas in one piece, and every misfit of their arguments at once."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Meta, Struct, field

from form import each
from polymnia.errors import BadArguments, BadText, Fault, Invalid
from polymnia.operation import Operation, Registry, Reply, schema


class Part(Struct):
    """Words for the reader of the code."""

    name: Annotated[str, Meta(description="What it is called.")]
    sizes: list[int] = []


class Whole(Struct):
    """More words for the reader of the code."""

    parts: Annotated[list[Part], Meta(description="What it is made of.")]
    title: str = field(name="properties")
    main: Part | None = None
    limit: Annotated[int, Meta(ge=1, le=10, description="At most this many.")] | None = None
    weight: float = 1.0
    loud: bool = False


class Nothing(Struct):
    """No parameters."""


def _operation(params: type) -> Operation:
    return Operation(name="try", params=params, run=lambda context, given: Reply(), title="", help="", output=Nothing)


def _registry() -> Registry:
    return Registry(name="", instructions="", operations={}, word=lambda fault: Reply())


def _arguments(value: object, params: type = Whole) -> Any:
    return _registry().arguments(_operation(params), json.dumps(value).encode(), [])


def _misfits(value: object) -> list[str]:
    with pytest.raises(BadArguments) as refused:
        _arguments(value)
    assert refused.value.operation == "try"
    assert all(str(violation) in refused.value.message for violation in refused.value.violations)
    return [str(violation) for violation in refused.value.violations]


# ── schemas ─────────────────────────────────────────────────────────────────────────────────────────────────


def _every_key(node: Any, *, names: bool = False) -> set[str]:
    """The keywords of a schema; names of properties are none."""
    if isinstance(node, list):
        return set().union(*(_every_key(item) for item in node))
    if not isinstance(node, dict):
        return set()
    inner = (_every_key(value, names=key == "properties" and not names) for key, value in node.items())
    return set().union(*inner, set() if names else set(node))


def test_a_schema_is_one_flat_object() -> None:
    flat = schema(Whole)
    assert flat["type"] == "object"
    assert _every_key(flat).isdisjoint({"$ref", "$defs", "anyOf", "title", "definitions"})
    assert flat["properties"]["parts"]["items"]["properties"]["name"] == {
        "type": "string",
        "description": "What it is called.",
    }
    assert flat["required"] == ["parts", "properties"]
    Draft202012Validator.check_schema(flat)


def test_what_may_be_left_out_shows_its_type_and_not_null() -> None:
    properties = schema(Whole)["properties"]
    assert properties["limit"] == {"type": "integer", "minimum": 1, "maximum": 10, "description": "At most this many."}
    assert properties["main"]["type"] == "object"
    assert "default" not in properties["main"]


def test_words_for_the_reader_of_the_code_are_not_for_the_client() -> None:
    assert "Words for the reader" not in json.dumps(schema(Whole))
    assert "ore words" not in json.dumps(schema(Whole))


def test_a_property_may_be_called_like_a_keyword() -> None:
    assert schema(Whole)["properties"]["properties"] == {"type": "string"}


def test_an_operation_without_parameters_takes_an_empty_object() -> None:
    assert schema(Nothing) == {"type": "object", "properties": {}, "required": []}
    assert isinstance(_arguments({}, Nothing), Nothing)


def test_every_shape_of_the_product_is_flat_and_valid() -> None:
    from polymnia.dialects.graph import registry

    for dialect in ("simple", "strict", "bilingual", "official"):
        for operation in registry(dialect).operations.values():
            for kind in (operation.params, operation.output):
                Draft202012Validator.check_schema(schema(kind))
                assert _every_key(schema(kind)).isdisjoint({"$ref", "$defs"})
            assert schema(operation.params)["type"] == "object"


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────

GOOD = {"parts": [{"name": "a", "sizes": [1, 2]}], "properties": "title", "limit": 3}


def test_good_arguments_are_read() -> None:
    read = _arguments(GOOD)
    assert (read.parts[0].name, read.parts[0].sizes, read.title, read.limit) == ("a", [1, 2], "title", 3)


@pytest.mark.parametrize("optional", ["main", "limit"])
def test_null_is_as_good_as_leaving_out(optional: str) -> None:
    assert getattr(_arguments({**GOOD, optional: None}), optional) is None


def test_unknown_keys_are_let_pass() -> None:
    assert _arguments({**GOOD, "new in a later version": [1]}).title == "title"


@each(
    ("value", "misfits"),
    [
        ({}, ["`parts` is required (array)", "`properties` is required (string)"]),
        ([], ["the arguments must be an object, got an array"]),
        (None, None),
        ("text", ["the arguments must be an object, got the string 'text'"]),
        ({**GOOD, "parts": None}, ["`parts` must be an array, got null"]),
        ({**GOOD, "parts": {}}, ["`parts` must be an array, got an object"]),
        ({**GOOD, "properties": 5}, ["`properties` must be a string, got 5"]),
        ({**GOOD, "loud": "yes"}, ["`loud` must be true or false, got the string 'yes'"]),
        ({**GOOD, "weight": True}, ["`weight` must be a number, got true"]),
        ({**GOOD, "limit": "three"}, ["`limit` must be a number, got the string 'three'"]),
        ({**GOOD, "limit": 0}, ["`limit` must be a number from 1 to 10, got 0"]),
        ({**GOOD, "limit": 11}, ["`limit` must be a number from 1 to 10, got 11"]),
        ({**GOOD, "limit": 1.5}, ["`limit` must be a whole number, got 1.5"]),
        (
            {"parts": [{"name": "a"}, {"name": 1}, {}, "b", {"name": "c", "sizes": [1, "two", None]}], "limit": 99},
            [
                "`parts[1].name` must be a string, got 1",
                "`parts[2].name` is required (string)",
                "`parts[3]` must be an object, got the string 'b'",
                "`parts[4].sizes[1]` must be a number, got the string 'two'",
                "`parts[4].sizes[2]` must be a number, got null",
                "`properties` is required (string)",
                "`limit` must be a number from 1 to 10, got 99",
            ],
        ),
    ],
)
def test_every_misfit_is_told_at_once_with_its_place(value: object, misfits: list[str] | None) -> None:
    told = _misfits(value)
    if misfits is not None:
        assert told == misfits
    assert told


@pytest.mark.parametrize("limit", [3.0, 1e1])
def test_a_whole_number_may_be_written_with_a_point(limit: float) -> None:
    assert _arguments({**GOOD, "limit": limit}).limit == int(limit)


@pytest.mark.parametrize(
    ("raw", "where", "code"),
    [
        (b'{"properties": "\\ud800", "parts": []}', "properties", "U+D800"),
        (b'{"properties": "x", "parts": [{"name": "a"}, {"name": "b\\udfff"}]}', "parts[1].name", "U+DFFF"),
    ],
)
def test_a_lone_surrogate_is_named_with_its_place(raw: bytes, where: str, code: str) -> None:
    with pytest.raises(BadText) as refused:
        _registry().arguments(_operation(Whole), raw, [])
    assert refused.value.field == where
    assert code in refused.value.message


@pytest.mark.parametrize(
    "raw",
    [
        b'{"properties": "\xff", "parts": []}',
        b'{"parts": [], "properties": "x", "limit": ' + b"9" * 5000 + b"}",
        b'{"parts": [], "properties": "x", "limit": 1e999}',
        b'{"parts": [], "properties": "x", "limit": -' + b"9" * 30 + b"}",
        b'{"parts": ' + b"[" * 3000 + b"]" * 3000 + b"}",
        b"",
        b"{",
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_bytes_that_cannot_be_held_are_refused_like_any_other_misfit(raw: bytes) -> None:
    with pytest.raises(Invalid):
        _registry().arguments(_operation(Whole), raw, [])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GOOD, "name", "sizes"]), inner),
    max_leaves=12,
)


@given(_JSON)
def test_whatever_is_given_is_read_or_refused(value: object) -> None:
    try:
        assert isinstance(_arguments(value), Whole)
    except Fault as fault:
        assert isinstance(fault, Invalid)
        assert fault.message


def test_where_almost_nothing_fits_a_hundred_misfits_are_told() -> None:
    told = _misfits({**GOOD, "parts": [1] * 1000})
    assert told[-1] == "`parts[99]` must be an object, got 1"
    assert len(told) == 100
    late = _misfits({**GOOD, "parts": [{"name": "x"}] * 20_000 + [5]})
    assert "$.parts[20000]" in late[0]


def test_of_a_message_of_very_many_parts_the_first_misfit_is_told() -> None:
    told = _misfits({**GOOD, "parts": [{"name": "x", "sizes": [1] * 600_000}, 5, 6]})
    assert len(told) == 1
    assert "$.parts[1]" in told[0]
