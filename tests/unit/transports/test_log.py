"""The log: an event is one line, whatever names are in it."""

from __future__ import annotations

import json

import pytest

from polymnia.transports.log import Log

NAMES = ["two\nlines", "a\u2028b\x85c", "\x9b31m red", "\x1b[2J", "한국어 🐶", "\U000e0001 tag", "no UTF-8: \udcff"]


@pytest.mark.promise("network.log.form")
@pytest.mark.parametrize("name", NAMES)
def test_an_event_is_one_line_that_commands_no_terminal(capfd: pytest.CaptureFixture[str], name: str) -> None:
    for format in ("json", "text"):
        log = Log("info", format)
        log.event("info", "call", project=name)
        log("error", f"The store {name} failed")
        lines = capfd.readouterr().err.split("\n")
        assert len(lines) == 3
        assert all(one.isprintable() for one in lines)
        if format == "json":
            assert json.loads(lines[0])["project"] == name
            assert json.loads(lines[1])["text"] == f"The store {name} failed"


def test_names_that_people_read_are_written_as_they_are(capfd: pytest.CaptureFixture[str]) -> None:
    Log("info", "text")("error", "한국어 🐶")
    assert capfd.readouterr().err.endswith(" polymnia error: 한국어 🐶\n")
