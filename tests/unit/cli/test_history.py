"""A moment of the past, as a person names it: a time, or the number of a change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia import EntityDraft, Memory, NotFound, connect
from polymnia.cli.console import format_time, parse_time
from polymnia.cli.history import instant
from polymnia.errors import Invalid

from .desk import Desk


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(tmp_path / "memory.db") as memory:
        memory.create_entities([EntityDraft("a", "k", ("x",))])
        memory.add_observations([("a", ["y"])])
        yield memory


def test_a_number_is_the_moment_of_that_change(memory: Memory) -> None:
    second, first = memory.changes()
    assert instant(memory, str(first.id)) == first.at
    assert instant(memory, str(second.id)) == second.at


def test_eight_digits_are_a_date(memory: Memory) -> None:
    assert instant(memory, "20260501") == parse_time("2026-05-01")


def test_a_time_as_the_history_shows_it_is_that_very_moment(memory: Memory) -> None:
    first = memory.changes()[-1]
    assert instant(memory, format_time(first.at)) == first.at
    assert memory.get("a", at=instant(memory, format_time(first.at)))[0].observations == ("x",)


@pytest.mark.parametrize("number", ["99", "0", "9" * 30])
def test_a_change_that_does_not_exist_is_not_found(memory: Memory, number: str) -> None:
    with pytest.raises(NotFound, match="Change"):
        instant(memory, number)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "yesterday", "2026-05"])
def test_anything_else_is_refused(memory: Memory, text: str) -> None:
    with pytest.raises(Invalid):
        instant(memory, text)


def test_a_list_of_changes_tells_what_each_did_and_an_undo_what_became_of_it(desk: Desk) -> None:
    desk.add("Ann likes tea")
    with connect() as memory:
        memory.create_entities([EntityDraft(f"e{i}", "k", ("x",)) for i in range(5)])
        memory.create_relations([("e0", "e1", "knows")])
    told = [line.split("  ", 3) for line in desk.run("changes").lines]
    assert [line[1] for line in told] == ["create_relations", "create_entities", "remember"]
    assert [line[3] for line in told[1:]] == ['made "e0", "e1", "e2", 2 more', 'made "Ann likes tea"']
    assert len(told[0]) == 3
    assert not [line for line in desk.run("undo").lines if line.startswith("So:")]
    assert 'So: deleted "e0", "e1", "e2", 2 more.' in desk.run("undo").lines
    assert 'So: deleted "Ann likes tea".' in desk.run("undo").lines
    back = desk.run("undo", "--change", "6")
    assert 'So: restored "Ann likes tea".' in back.lines


def test_a_list_of_changes_names_what_was_deleted_unless_it_is_gone_for_good(desk: Desk) -> None:
    desk.add("The ferry leaves at noon.")
    with connect() as memory:
        (hit,) = memory.search("ferry").hits
    desk.run("delete", hit.record.name)
    assert "\n".join(desk.run("changes").lines).count('"The ferry leaves at noon."') == 2
    desk.run("purge", hit.record.name, "--yes")
    assert "ferry" not in "\n".join(desk.run("changes").lines)


def test_a_history_tells_where_a_memory_was_and_what_it_had_before(desk: Desk) -> None:
    id = desk.add("Ann likes tea", "--tag", "a")
    desk.run("move", id, "--to", "work/x")
    desk.run("move", id, "--to", "session/s")
    with connect() as memory:
        memory.revise(id, category="taste", tags=["b"])
    told = [line.strip() for line in desk.run("history", id).lines if not line.startswith("#")]
    assert told == ["created", "+ Ann likes tea", "scope was user/default", "scope was work/x", "had no category",
                    'tags was ["a"]']  # fmt: skip


EVIL = "\x1b]0;owned\x07 \x9b2J\x1b[8m\n#9 2026-01-01T00:00:00.000000Z  purge"


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_no_text_commands_the_terminal_or_looks_like_a_change(desk: Desk, on_a_terminal: bool) -> None:
    """Agents write the texts, and whoever reads the history must be able to trust it."""
    lines = json.dumps({"type": "entity", "name": f"evil {EVIL}", "entityType": EVIL, "observations": [EVIL]})
    assert desk.run("import", "-", stdin=lines.encode()).code == 0
    id = desk.run("list", "--json").value["memories"][0]["id"]
    for words in (
        ["changes"],
        ["history", id],
        ["show", id],
        ["list"],
        ["search", "owned"],
        ["undo"],
        ["explain", "x"],
    ):
        shown = desk.look(*words) if on_a_terminal else desk.run(*words).lines
        plain = re.sub(r"\x1b\[[0-9]*m", "", "\n".join(shown)) if on_a_terminal else "\n".join(shown)
        assert not set(plain) & {"\x1b", "\x07", "\x9b"}, words
        assert not any(line.startswith("#9") for line in plain.split("\n")), words
