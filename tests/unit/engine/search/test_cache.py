"""The cache: many read one index at once, and whoever must change it waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from pathlib import Path

import pytest

from polymnia import Memory
from polymnia.engine.search import Analysis
from polymnia.storage.sqlite import SqliteStore

_DEADLINE = 30.0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory of one text, read by words alone."""
    with Memory(SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())) as memory:
        memory.remember("The lighthouse keeper paints the door.")
        yield memory


def _found(memory: Memory, query: str) -> list[str]:
    return [hit.record.observations[0] for hit in memory.search(query).hits]


def test_a_search_does_not_wait_for_another_one_of_the_same_project(memory: Memory) -> None:
    _found(memory, "lighthouse")
    with ThreadPoolExecutor(1) as pool, memory.finding().at(memory.project):
        assert pool.submit(_found, memory, "lighthouse").result(_DEADLINE) == ["The lighthouse keeper paints the door."]


def test_a_search_after_a_write_waits_for_who_reads_and_finds_what_was_written(memory: Memory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with memory.finding().at(memory.project) as view:
            count = view.index.count
            memory.remember("The ferry leaves at dawn.")
            waiting = pool.submit(_found, memory, "ferry")
            with pytest.raises(TooLate):
                waiting.result(0.05)
            assert view.index.count == count
        assert waiting.result(_DEADLINE) == ["The ferry leaves at dawn."]


def test_a_reader_that_would_wait_for_itself_is_told_so(memory: Memory) -> None:
    with memory.finding().at(memory.project):
        memory.remember("The ferry leaves at dawn.")
        with pytest.raises(RuntimeError, match="leave it first"):
            memory.search("ferry")
    assert _found(memory, "ferry") == ["The ferry leaves at dawn."]
