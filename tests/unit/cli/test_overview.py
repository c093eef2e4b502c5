"""`polymnia` alone on a terminal, what a slow command shows, and what a misspelt value is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia.cli import console, main
from polymnia.cli.console import bar, table, waiting, width, wrapped

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
    lines = wrapped("한국어로 쓴 아주 긴 이름의 기억 하나와 또 하나", 4).splitlines()
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
