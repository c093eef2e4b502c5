"""`polymnia` alone on a terminal, what a slow command shows, and what a misspelt value is told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from form import each
from polymnia.cli import commands, console, main
from polymnia.cli.console import bar, labelled, table, waiting, width
from polymnia.engine.memory import Memory

from .desk import Desk, Terminal


@pytest.fixture
def person(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Somebody at a terminal whose home is empty."""
    monkeypatch.setenv("HOME", str(desk.folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdin", Terminal())
    return desk


def _ways(lines: list[str]) -> list[str]:
    start = lines.index("What to do next:") + 1
    return [text.strip().partition("  ")[0] for text in lines[start : start + 3]]


def test_with_nothing_there_it_says_how_to_begin_and_makes_nothing(person: Desk) -> None:
    lines = person.look()
    assert "has no memory here yet" in lines[0]
    assert _ways(lines) == ["polymnia install --list", 'polymnia add "Ann likes green tea"', "polymnia import FILE"]
    assert not (person.folder / "memory.db").exists()


def test_it_shows_what_is_there_in_lines_that_fit(person: Desk) -> None:
    (person.folder / ".cursor").mkdir()
    assert main(["add", "벨로는 산책을 좋아한다. " * 9]) == 0
    lines = person.look(columns=60)
    assert lines[:2] == ["Polymnia keeps 1 memory and 0 relations in project", "  'default'."]
    assert any(text.startswith("  벨로는 산책을 좋아한다.") for text in lines)
    assert _ways(lines)[0] == "polymnia install cursor"
    assert all(width(text) <= 60 for text in lines)


def test_a_broken_store_is_told_there_too(person: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    Path(person.folder / "memory.db").write_bytes(b"no store" * 200)
    assert main([]) == 1
    assert "polymnia:" in capsys.readouterr().err


def test_a_narrow_terminal_leaves_something_of_every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    (text,) = table([["한국어로 쓴 아주 긴 이름의 기억", "another long one", "the last column"]])
    assert width(text) <= 30
    assert "the last" in text
    lines = labelled("", "한국어로 쓴 아주 긴 이름의 기억 하나와 또 하나", 4).splitlines()
    assert len(lines) > 1
    assert all(width(one) <= 30 for one in lines)


def test_work_that_goes_on_is_shown_and_cleared_and_a_bar_is_shown_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(console, "_PATIENCE", 0.001)
    with waiting("polymnia backup"):
        while "polymnia backup … 0 s" not in screen.getvalue():
            pass
    assert screen.getvalue().endswith("\r\x1b[K")
    monkeypatch.setattr(console, "_DELAY", 0.0)
    monkeypatch.setattr(console, "_REDRAW", 0.0)
    with bar("Copying") as step:
        step(1, 2)
        assert console._bars == ["Copying"]
    assert console._bars == []


def test_nothing_is_shown_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    with waiting("polymnia backup"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["keys", "lst"], "list"),
        (["analyze", "conflict"], "conflicts"),
        (["add", "x", "--dialect", "natve"], "native"),
        (["config", "--client", "curser"], "cursor"),
        (["instal", "cursor"], "install"),
        (["install", "cursor", "--dryrun"], "--dry-run"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(desk: Desk, words: list[str], near: str) -> None:
    told = desk.run(*words)
    assert told.code == 2
    assert f"did you mean {near}?" in told.err


def test_a_purge_answers_in_json(desk: Desk) -> None:
    desk.add("Ann likes green tea")
    id = desk.run("list", "--json").value["memories"][0]["id"]
    assert desk.run("purge", id, "--yes", "--json").value == {"purged": 1}


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_alone_it_answers_in_json_and_for_the_store_and_project_that_are_named(person: Desk) -> None:
    none = json.loads("\n".join(person.look("--json")))
    assert (none["exists"], none["memories"], len(none["next"])) == (False, 0, 3)
    person.add("Ann likes green tea", "--project", "home")
    assert person.run("--project", "home", "--json").value["project"] == "home"
    told = person.run("--json", "--project", "home")  # not a server, though it is no terminal
    assert (told.value["exists"], told.value["memories"], told.value["newest"]) == (True, 1, ["Ann likes green tea"])
    assert "did you mean --project?" in person.run("--json", "--projct", "home").err


def test_commands_to_copy_are_whole_on_a_narrow_terminal(person: Desk) -> None:
    lines = person.look(columns=40)
    assert '  polymnia add "Ann likes green tea"' in lines
    assert all(width(text) <= 40 for text in lines if not text.startswith("  /"))


@each(
    ("words", "code", "exit_code"),
    [
        (["show", "nobody"], "not_found", 1),
        (["list", "--project", "nowhere"], "not_found", 1),
        (["serch", "tea"], "usage", 2),
        (["search", "tea", "--limt", "3"], "usage", 2),
        (["search", "tea", "--limit", "three"], "usage", 2),
        (["add"], "usage", 2),
        (["add", "tea", "--dialect", "natve"], "usage", 2),
        (["list", "--store", "elsewhere.db"], "not_a_store", 1),
        (["export", "-"], "invalid", 1),
    ],
)
def test_an_error_is_a_document_too_and_is_said_to_people_as_ever(
    desk: Desk, words: list[str], code: str, exit_code: int
) -> None:
    desk.add("Ann likes green tea")
    told = desk.run(*words, "--json")
    assert (told.code, told.value["error"]["code"]) == (exit_code, code)
    assert (
        told.err.rstrip("\n") == f"polymnia: {told.value['error']['message']}\n{told.value['error']['hint']}".rstrip()
    )


def test_what_a_client_needs_is_a_document_too(desk: Desk) -> None:
    told = desk.run("config", "--client", "codex", "--json").value
    assert told["text"] == desk.run("config", "--client", "codex").out.rstrip("\n")
    assert "[mcp_servers.polymnia]" in told["text"]


def test_a_file_that_cannot_be_used_is_told_without_a_trace(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk.folder / "file").write_text("")
    monkeypatch.setenv("POLYMNIA_STORE", str(desk.folder / "file" / "memory.db"))
    told = desk.run("open", "--no-browser")
    assert (told.code, "cannot be written" in told.err) == (1, True)


# ── what goes on ────────────────────────────────────────────────────────────────────────────────────────────


@each("words", [["search", "tea"], ["list"], ["add", "Ann likes green tea"], ["changes"]])
def test_every_command_that_takes_longer_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    desk.run("sessions", "create")
    screen = Terminal()

    def slow(verb: Callable[..., Any]) -> Callable[..., Any]:
        def wait(*given: Any, **named: Any) -> Any:
            deadline = time.monotonic() + 10
            while "…" not in screen.getvalue() and time.monotonic() < deadline:
                pass
            return verb(*given, **named)

        return wait

    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", screen)
        patch.setattr(console, "_PATIENCE", 0.001)
        for name in ("search", "page", "remember", "changes"):
            patch.setattr(Memory, name, slow(getattr(Memory, name)))
        assert desk.run(*words).code == 0
    assert screen.getvalue().startswith(f"\r\x1b[Kpolymnia {words[0]} … 0 s")
    assert screen.getvalue().count("\r\x1b[K") > 1  # it is cleared


def test_what_runs_until_it_is_stopped_or_reads_what_is_typed_has_no_clock() -> None:
    for words in (["backup", "b", "--every", "6h"], ["import", "notes", "--watch"], ["add", "-"], ["import", "-"]):
        assert commands._is_talking(commands.parser().parse_args(words)), words
    assert not commands._is_talking(commands.parser().parse_args(["backup", "b"]))


def test_of_what_goes_on_within_something_else_the_inner_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(console, "_PATIENCE", 0.001)
    with ExitStack() as both:
        with console._drawing:  # nothing is drawn before both have begun
            both.enter_context(waiting("polymnia doctor"))
            both.enter_context(waiting("Starting the server of cursor"))
        while "… 0 s" not in screen.getvalue():
            pass
    assert screen.getvalue() == "\r\x1b[KStarting the server of cursor … 0 s\r\x1b[K"
