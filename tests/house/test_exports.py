"""The public names of `import polymnia`: exactly a fixed list, each documented."""

from __future__ import annotations

import inspect

import pytest

import polymnia
from polymnia import errors

_PUBLIC = [
    *"connect Memory EntityDraft Record Relation Graph Change Event Note Policy Filters Session".split(),
    *"Created Related Added Deleted Found Hit Why Fragment Turn Plan Remembered Revised Moved Association".split(),
    *"Discovery Scope Suggestion Cleaned Exported ImportedMemories describe remark __version__".split(),
    *errors.__all__,
]


def test_the_public_names_are_exactly_the_listed_ones() -> None:
    assert sorted(polymnia.__all__) == sorted(_PUBLIC)
    assert len(set(polymnia.__all__)) == len(polymnia.__all__)


def test_every_public_name_exists_and_is_documented() -> None:
    assert polymnia.__version__[0].isdigit()
    undocumented = [name for name in _PUBLIC if name != "__version__" and not inspect.getdoc(getattr(polymnia, name))]
    assert not undocumented


def test_every_public_method_of_a_memory_is_documented_and_typed() -> None:
    for name, method in inspect.getmembers(polymnia.Memory, callable):
        if name.startswith("_"):
            continue
        assert inspect.getdoc(method), f"Memory.{name} has no docstring"
        signature = inspect.signature(method)
        untyped = [
            each.name
            for each in signature.parameters.values()
            if each.name != "self" and each.annotation is inspect.Parameter.empty
        ]
        assert not untyped, f"Memory.{name}: {untyped}"
        assert signature.return_annotation is not inspect.Signature.empty, f"Memory.{name}"


def test_an_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError):
        polymnia.no_such_name  # noqa: B018 - reading it is the test


def test_the_version_is_the_one_of_the_distribution() -> None:
    from importlib.metadata import version

    assert polymnia.__version__ == version("polymnia")
