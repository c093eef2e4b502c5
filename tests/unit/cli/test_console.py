"""What commands print: times that can be read back, colours only where they are wanted, a bar only where it helps."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.cli import console
from polymnia.cli.console import (
    CommandResult,
    bar,
    counted,
    cut,
    format_time,
    labelled,
    on_one_line,
    padded,
    parse_time,
    table,
    width,
)
from polymnia.errors import Invalid


@pytest.fixture(autouse=True)
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> None:
    """A zone that is neither UTC nor without summer time."""
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be set here")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()


@pytest.fixture(autouse=True, scope="module")
def back_home() -> Iterator[None]:
    """The zone as it was, once the environment says so again."""
    yield
    if hasattr(time, "tzset"):
        time.tzset()


_FIRST = int(datetime(1970, 1, 2, tzinfo=UTC).timestamp()) * 1_000_000
_LAST = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000

# ── times ───────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(_FIRST, _LAST))
def test_a_time_that_was_shown_is_read_back_to_the_microsecond(at: int) -> None:
    text = format_time(at)
    assert text.endswith("Z")
    assert len(text) == len("2026-05-01T12:30:00.000000Z")
    assert parse_time(text) == at


def test_times_are_shown_in_utc() -> None:
    assert format_time(0) == "1970-01-01T00:00:00.000000Z"
    assert format_time(1_777_638_600_000_001) == "2026-05-01T12:30:00.000001Z"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-05-01T12:30:00Z", "2026-05-01T12:30:00.000000Z"),
        ("2026-05-01T12:30Z", "2026-05-01T12:30:00.000000Z"),
        ("2026-05-01T12:30:00.5Z", "2026-05-01T12:30:00.500000Z"),
        ("2026-05-01T12:30:00+09:00", "2026-05-01T03:30:00.000000Z"),
        ("2026-05-01 12:30:00-04:00", "2026-05-01T16:30:00.000000Z"),
        ("2026-05-01T12:30", "2026-05-01T16:30:00.000000Z"),
        ("2026-05-01", "2026-05-01T04:00:00.000000Z"),
        ("20260501", "2026-05-01T04:00:00.000000Z"),
        ("2026-01-15", "2026-01-15T05:00:00.000000Z"),
    ],
)
def test_a_time_without_a_zone_is_local_time(text: str, meant: str) -> None:
    assert format_time(parse_time(text)) == meant


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "2026-02-30", "12:30", "2026-05-01T25:00", "²", "0001-01-01T00:00:00+23:59"]
)
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Invalid, match="is not a time") as refused:
        parse_time(text)
    assert "2026-05-01" in refused.value.hint


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(Invalid):
        assert isinstance(parse_time(text), int)


# ── words and colours ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("count", "what", "words"),
    [
        (0, "entity", "0 entities"),
        (1, "entity", "1 entity"),
        (2, "relation", "2 relations"),
        (1234, "byte", "1,234 bytes"),
    ],
)
def test_a_number_comes_with_its_noun(count: int, what: str, words: str) -> None:
    assert counted(count, what) == words


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("paint", [console.strong, console.dim, console.green, console.red])
def test_colours_are_for_terminals_of_those_who_want_them(
    monkeypatch: pytest.MonkeyPatch, paint: Callable[[str], str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert paint("text") == "text"
    monkeypatch.setattr(sys, "stdout", _Terminal())
    assert paint("text").startswith("\x1b[")
    assert "text" in paint("text")
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("text") == "text"


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("Ann", 3), ("서울", 4), ("北京 a", 6), ("e\u0301", 1), ("ｱ", 1), ("Ａ", 2), ("a\u200bb", 2)],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(max_size=20), st.integers(1, 20))
def test_a_padded_text_takes_exactly_its_columns(text: str, columns: int) -> None:
    assert width(padded(text, columns)) == columns


def test_a_text_that_is_too_wide_is_cut_where_everyone_sees_it() -> None:
    assert padded("lighthouse", 6) == "light…"
    assert padded("대한민국", 6) == "대한… "


@given(st.text(max_size=50))
def test_a_text_on_one_line_keeps_its_places_and_commands_nothing(text: str) -> None:
    line = on_one_line(text)
    assert len(line) == len(text)
    assert not set(line) & {"\n", "\r", "\x1b", "\x07", "\x9b", "\u2028", "\u2029"}


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    CommandResult({"name": "서울", "lines": "a\nb", "none": None, "list": (1, 2)}).print(as_json=True)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert json.loads(printed) == {"name": "서울", "lines": "a\nb", "none": None, "list": [1, 2]}


# ── the bar ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Clock:
    """A clock that tells what it is set to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(console.time, "monotonic", lambda: self.now)


def test_a_bar_is_drawn_on_a_terminal_when_it_takes_longer_and_clears_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = _Terminal(), _Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", screen)
    with bar("Importing") as step:
        step(0, 1000)
        clock.now += 0.3
        step(300, 1000)
        assert screen.getvalue() == ""
        clock.now += 0.3
        step(500, 1000)
        assert "Importing" in screen.getvalue()
        assert "500 of 1,000" in screen.getvalue()
        drawn = screen.getvalue()
        clock.now += 0.01
        step(510, 1000)
        assert screen.getvalue() == drawn
    assert screen.getvalue() == drawn + "\r\x1b[K"


@pytest.mark.parametrize("columns", [20, 30, 40, 80])
def test_a_bar_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    screen, clock = _Terminal(), _Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    with bar("Search") as step:
        clock.now += 1
        step(500, 1000)
        drawn = screen.getvalue().removeprefix("\r\x1b[K")
    assert drawn.endswith("500 of 1,000")
    assert len(drawn) < columns
    assert ("█" in drawn) == (columns > 20)


def test_a_bar_clears_itself_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = _Terminal(), _Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", screen)
    with suppress(KeyboardInterrupt), bar("Importing") as step:
        clock.now += 1
        step(5, 10)
        raise KeyboardInterrupt
    assert screen.getvalue().endswith("5 of 10\r\x1b[K")


def test_a_bar_is_not_for_files_nor_for_what_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for screen in (io.StringIO(), _Terminal()):
        clock = _Clock(monkeypatch)
        monkeypatch.setattr(sys, "stderr", screen)
        with bar("Importing") as step:
            if not screen.isatty():
                clock.now += 10
            step(0, 0)
            step(5, 10)
            step(10, 10)
        assert screen.getvalue() == ""


def test_where_the_total_is_unknown_the_count_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = _Terminal(), _Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", screen)
    with bar("Importing") as step:
        clock.now += 1
        step(1000, 1000)
        assert screen.getvalue() == "\r\x1b[KImporting 1,000"
        clock.now += 1
        step(2000, 0)
        assert screen.getvalue().endswith("\r\x1b[KImporting 2,000")


# ── columns ─────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(max_size=30), st.integers(0, 30))
def test_a_cut_text_is_its_beginning_and_fits(text: str, most: int) -> None:
    kept = cut(text, most)
    assert width(kept) <= most
    assert kept == text or (most == 0 and kept == "") or (kept.endswith("…") and text.startswith(kept[:-1]))
    assert (kept == text) == (width(text) <= most)


def test_a_syllable_that_is_spelt_out_is_as_wide_as_one_that_is_not() -> None:
    assert width("\u1112\u1161\u11ab") == width("한") == 2
    assert cut("\u1112\u1161\u11ab\u1100\u1173\u11af", 3) == "\u1112\u1161\u11ab…"


def test_a_report_fits_the_terminal_but_commands_columns_and_texts_of_the_user_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = _Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")
    command, row = f"  polymnia analyze conflicts {'x' * 40}", f"name{' ' * 40}value"
    said = f"{console.strong('벨로')}는 산책을 좋아한다. " * 4
    CommandResult(None, [f"    {said.strip()}", command, row]).print(as_json=False)
    lines = [re.sub(r"\x1b\[[0-9]*m", "", line) for line in screen.getvalue().splitlines()]
    assert lines[-2:] == [command, row]
    assert all(width(line) <= 40 for line in lines[:-2])
    assert " ".join(line.strip() for line in lines[:-2]) == re.sub(r"\x1b\[[0-9]*m", "", said.strip())
    assert lines[0].startswith("    벨로는") and lines[1].startswith("      ")
    CommandResult(None, ["word " * 20], verbatim=True).print(as_json=False)
    assert screen.getvalue().endswith("word " * 20 + "\n")


def test_rows_are_columns_on_a_terminal_and_tabs_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", "서울", "a long text\nof two lines"), ("bcd", "x", "y")]
    assert table(rows, max_widths=(2,)) == ["a\t서울\ta long text of two lines", "bcd\tx\ty"]
    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.setenv("COLUMNS", "20")
    assert table(rows, max_widths=(2,)) == ["a   서울  a long te…", "b…  x     y"]
    assert table([]) == []


def test_a_text_beside_a_label_goes_on_below_itself_and_below_the_label_if_a_word_has_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert labelled("이름", "벨로는 산책을 좋아한다", 6) == "이름  벨로는 산책을 좋아한다"
    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.setenv("COLUMNS", "20")
    assert labelled("이름", "벨로는 산책을 좋아한다", 6).splitlines() == ["이름  벨로는 산책을", "      좋아한다"]
    assert labelled("이름", "/var/lib/bello/memories.db", 6).splitlines() == ["이름", "  /var/lib/bello/memories.db"]
    assert labelled("a longer label", "and its text", 6, 2).splitlines() == ["  a longer label", "    and its text"]
    assert labelled("", "/var/lib/bello/memories.db", 6) == "  /var/lib/bello/memories.db"
