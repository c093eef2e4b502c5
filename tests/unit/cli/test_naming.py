"""How a memory or a scope is named on the command line: in full, by the beginning of an id, or nearly."""

from __future__ import annotations

import pytest

from polymnia import EntityDraft, connect

from .desk import Desk


@pytest.mark.parametrize("command", [["show"], ["history"], ["associations"], ["analyze", "quality"]])
def test_the_first_eight_characters_of_an_id_are_enough(desk: Desk, command: list[str]) -> None:
    id = desk.add("Ann likes green tea")
    desk.add("Bob plays the guitar")
    assert desk.run(*command, id[:8]).code == 0
    assert desk.run(*command, id[:8]).out == desk.run(*command, id).out


def test_fewer_characters_are_not(desk: Desk) -> None:
    id = desk.add("Ann likes green tea")
    told = desk.run("show", id[:7])
    assert told.code == 1
    assert "not found" in told.err


def test_a_beginning_that_several_ids_share_is_refused_with_those_ids(desk: Desk) -> None:
    with connect(desk.folder / "memory.db") as memory:
        drafts = [EntityDraft(name, "person", ("x",), uid=f"abcdefgh-{name}") for name in ("Ann", "Bob")]
        memory.create_entities(drafts)
    told = desk.run("show", "abcdefgh")
    assert told.code == 1
    assert "abcdefgh-Ann, abcdefgh-Bob" in told.err
    assert "Ann" in desk.run("show", "abcdefgh-A").out


def test_a_deleted_memory_is_gone_and_comes_back(desk: Desk) -> None:
    id = desk.add("Ann likes green tea")
    other = desk.add("Bob plays the guitar")
    told = desk.run("delete", id[:8])
    assert told.code == 0
    assert "Deleted 1 memory." in told.out
    assert "green tea" not in desk.run("search", "tea").out
    assert other in desk.run("list").out
    assert "deleted" in desk.run("history", id).out
    desk.run("undo")
    assert "green tea" in desk.run("search", "tea").out


def test_of_several_memories_none_is_deleted_where_one_is_missing(desk: Desk) -> None:
    id = desk.add("Ann likes green tea")
    told = desk.run("delete", id, "nobody")
    assert told.code == 1
    assert "'nobody'" in told.err
    assert id in desk.run("list").out


@pytest.mark.parametrize("command", [["search", "tea"], ["explain", "tea"], ["list"]])
def test_a_misspelt_scope_names_the_nearest_one(desk: Desk, command: list[str]) -> None:
    desk.add("Ann likes green tea", "--scope", "people/friends")
    told = desk.run(*command, "--scope", "peple", "--below")
    assert told.code == 1
    assert "Did you mean people?" in told.err
    assert desk.run(*command, "--scope", "people", "--below").code == 0
