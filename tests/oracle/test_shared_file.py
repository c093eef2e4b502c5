"""One file, two servers: ours and the release from npm take turns and never notice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from form import by_form

from .calls import Call, legal_calls
from .servers import Official, polymnia, reference

_ENTITIES = [
    {"name": "서울", "entityType": "도시", "observations": ["크다", 'say "hi"\n\u2028']},
    {"name": "a", "entityType": "", "observations": []},
]
_RELATIONS = [{"from": "서울", "to": "nowhere", "relationType": "near"}]


class Shared:
    """The two servers on one file, and a third, a reference on its own, that says what is right."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "memory.jsonl"
        self.alone = folder / "alone.jsonl"
        self.ours = polymnia("--file", self.file, "--store", folder / "memory.db")
        self.theirs = reference(self.file)
        self.right = reference(self.alone)

    def lines(self) -> tuple[list[str], list[str]]:
        """The lines of the shared file, and of the file of the server that was alone."""
        return _lines(self.file), _lines(self.alone)


def _lines(file: Path) -> list[str]:
    # The release writes a file even when there is nothing to write; a missing file says the same.
    return file.read_text(encoding="utf-8").rstrip("\n").split("\n") if file.exists() else [""]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    together = Shared(tmp_path_factory.mktemp("shared"))
    yield together
    for server in (together.ours, together.theirs, together.right):
        server.wire.close()


@settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=by_form(15, 60),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(legal_calls(12), st.randoms(use_true_random=False))
def test_taking_turns_on_one_file_gives_the_answers_of_the_release_alone(
    shared: Shared, sequence: list[Call], turns: Random
) -> None:
    shared.ours.forget()
    shared.right.forget()
    for number, call in enumerate(sequence):
        whose = turns.choice(["ours", "theirs"])
        answer = getattr(shared, whose).answer(call)
        assert answer == shared.right.answer(call), f"call {number}, {whose}: {call}"
    assert shared.ours.graph() == shared.theirs.graph() == shared.right.graph()
    mine, right = shared.lines()
    assert mine == right


def _one_after_the_other(first: Official, second: Official) -> None:
    first.answer(("create_entities", {"entities": _ENTITIES}))
    first.answer(("create_relations", {"relations": _RELATIONS}))
    assert second.graph()["structuredContent"] == {"entities": _ENTITIES, "relations": _RELATIONS}
    more = {"observations": [{"entityName": "a", "contents": ["later"]}]}
    assert second.answer(("add_observations", more)).get("isError") is None
    assert second.answer(("search_nodes", {"query": "LATER"})) == first.answer(("search_nodes", {"query": "LATER"}))
    assert first.graph() == second.graph()


def test_the_release_continues_a_file_that_we_wrote(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    ours = polymnia("--file", file, "--store", tmp_path / "memory.db")
    theirs = reference(file)
    try:
        _one_after_the_other(ours, theirs)
    finally:
        ours.wire.close()
        theirs.wire.close()


def test_we_continue_a_file_that_the_release_wrote(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    theirs = reference(file)
    ours = polymnia("--file", file, "--store", tmp_path / "memory.db")
    try:
        _one_after_the_other(theirs, ours)
    finally:
        ours.wire.close()
        theirs.wire.close()


def test_a_file_the_release_left_behind_is_there_when_we_start(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    theirs = reference(file)
    theirs.answer(("create_entities", {"entities": _ENTITIES}))
    theirs.wire.close()
    left = file.read_bytes()
    ours = polymnia("--file", file, "--store", tmp_path / "memory.db")
    try:
        assert ours.graph()["structuredContent"] == {"entities": _ENTITIES, "relations": []}
        assert file.read_bytes() == left
    finally:
        ours.wire.close()
