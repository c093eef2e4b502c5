"""What a search over several projects tells of all of them together."""

from __future__ import annotations

from typing import Any, cast

import pytest

from polymnia.dialects.explorer.search import _notes
from polymnia.engine.recall import Recalled, RecalledMemory
from polymnia.models import Remark


def found(hits: int, *notes: Remark) -> Recalled:
    """What one project has."""
    memories = [cast("RecalledMemory", object())] * hits
    return Recalled(memories=memories, total=hits, notes=list(notes))


def nothing_fits(best: float) -> Remark:
    """The note of a project where nothing is likely to answer."""
    return Remark("nothing_fits", {"best": best, "filtered": False})


def codes(*results: Recalled) -> list[Any]:
    """The codes of the notes."""
    return [note.code for note in _notes(results)]


@pytest.mark.promise("api.search.everywhere")
def test_that_nothing_fits_is_told_once_and_only_if_it_holds_for_every_project() -> None:
    assert codes(found(3, nothing_fits(0.1)), found(2, nothing_fits(0.2))) == ["nothing_fits"]
    assert codes(found(3, nothing_fits(0.1)), found(2)) == []
    assert codes(found(2), found(3, nothing_fits(0.1)), found(0, Remark("filtered", {"passing": False}))) == []
    # A project without a hit says nothing about those that have some.
    assert codes(found(1, nothing_fits(0.1)), found(0, Remark("nearest", {"names": ["x"]}))) == ["nothing_fits"]


def test_what_went_wrong_in_one_project_is_told() -> None:
    assert codes(found(2), found(0, Remark("pending", {"passages": 3}))) == ["pending"]
