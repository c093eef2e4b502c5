"""What a grant lets through at the door of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import polymnia
from polymnia.engine.access import EVERYTHING, Grant, Guarded
from polymnia.engine.memory import Memory
from polymnia.errors import Refused
from polymnia.models import EntityDraft

MINE = Grant(frozenset({"mine"}))
READS = Grant(write=False)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Two projects with one memory each."""
    with polymnia.connect(tmp_path / "m.db", project="theirs") as held:
        held.create_entities([EntityDraft("secret", "t", ("x",))])
        held.acting("test", project="mine").create_entities([EntityDraft("own", "t", ("x",))])
        yield held


def test_who_may_do_everything_does(memory: Memory) -> None:
    free = memory.limited(EVERYTHING)
    assert [entity.name for entity in free.read_graph().records] == ["secret"]
    free.delete_entities(["secret"])


def test_a_grant_of_one_project_begins_in_it_and_leaves_it_for_no_other(memory: Memory) -> None:
    limited = memory.limited(MINE)
    assert [entity.name for entity in limited.read_graph().records] == ["own"]
    assert limited.store.projects() == ["mine"]
    with pytest.raises(Refused, match="does not open the project 'theirs'"):
        limited.acting("x", project="theirs")
    for ask in (limited.store.read, limited.store.stamp):
        with pytest.raises(Refused):
            ask("theirs")
    with pytest.raises(Refused), limited.store.write("theirs", "x", "x"):
        pass


def test_whether_there_is_such_a_project_is_not_told(memory: Memory) -> None:
    limited = memory.limited(MINE)
    said = set()
    for name in ("theirs", "nobodys"):
        with pytest.raises(Refused) as refused:
            limited.acting("x", project=name)
        said.add(refused.value.message.replace(name, ""))
    assert len(said) == 1


def test_who_may_read_changes_nothing(memory: Memory) -> None:
    before = memory.stamp()
    reader = memory.limited(READS)
    assert reader.read_graph().records
    with pytest.raises(Refused, match="may read but not write"):
        reader.delete_entities(["secret"])
    with pytest.raises(Refused, match="nothing was mended"):
        reader.store.repair(None, (), None)  # type: ignore[arg-type]
    assert memory.stamp() == before


def test_what_concerns_all_projects_is_for_who_sees_all(memory: Memory) -> None:
    guarded = Guarded(memory.store, MINE)
    with pytest.raises(Refused, match="this concerns all of them"):
        guarded.check(None, None)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        guarded.check("theirs", None)  # type: ignore[arg-type]


def test_somebody_with_a_grant_does_not_close_the_store(memory: Memory) -> None:
    memory.limited(MINE).store.close()
    assert memory.read_graph().records


def test_files_of_a_limited_grant_lie_apart() -> None:
    assert EVERYTHING.folder("/exports", "a") == "/exports"
    assert READS.folder("/exports", "a") == "/exports"
    one, other = MINE.folder("/exports", "a"), MINE.folder("/exports", "../b")
    assert one != other
    assert one.startswith("/exports/projects/")
    assert ".." not in other


def test_a_grant_of_no_project_sees_none(memory: Memory) -> None:
    nothing = Grant(frozenset())
    assert Guarded(memory.store, nothing).projects() == []
    with pytest.raises(Refused):
        memory.limited(nothing)


def test_health_counts_only_the_projects_that_a_grant_opens(memory: Memory) -> None:
    from polymnia.engine.health.checkup import check

    memory.acting("test", project="mine").create_entities([EntityDraft("more", "t", ("y",))])
    for grant, count in ((MINE, 2), (EVERYTHING, 3)):
        held = memory.limited(grant)
        found = check(held, projects=held.store.projects(), components=["database"])
        assert found.components["database"].metrics["memories"] == count
