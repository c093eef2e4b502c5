"""The lines of the log."""

from __future__ import annotations

import json
import logging

import pytest

from polymnia.transports.log import Log
from polymnia.transports.rpc import frames
from polymnia.transports.web.monitoring import Relay

SECRET = "xyzzy-7391"


def test_an_event_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    Log("info").event("info", "thing", text="two\nlines", count=3)
    (line,) = capfd.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["level"], told["event"], told["text"], told["count"]) == ("info", "thing", "two\nlines", 3)


def test_what_is_below_the_level_is_not_written(capfd: pytest.CaptureFixture[str]) -> None:
    log = Log("warning")
    log("info", "x")
    assert "info" not in log.levels
    assert capfd.readouterr().err == ""
    log("error", "y")
    assert json.loads(capfd.readouterr().err)["text"] == "y"


def test_what_libraries_fill_in_is_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    logger = logging.Logger("websockets.server")
    logger.addHandler(Relay(Log("debug")))
    logger.debug("> %s", SECRET)
    logger.info("%s", SECRET)
    logger.warning("Cannot read %s", SECRET)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("It failed: %s", SECRET)
    first, second = map(json.loads, capfd.readouterr().err.splitlines())
    assert (first["level"], first["library"], first["text"]) == ("warning", "websockets", "Cannot read %s")
    assert second["level"] == "error"
    assert second["what"].startswith("ValueError in test_monitoring.py:")
    assert SECRET not in json.dumps([first, second])


def test_an_error_is_told_by_its_kind_and_place() -> None:
    def inner() -> None:
        raise KeyError(SECRET)

    try:
        inner()
    except KeyError as e:
        told = frames(e)
    assert told.startswith("KeyError in ")
    assert told.endswith(" inner")
    assert SECRET not in told
    assert "/" not in told
