"""``polymnia open``: a server in the background where none runs, the browser, and what can go wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import forked
from stdio_client import DEADLINE

_RECORDING = """
import sys, webbrowser
webbrowser.open = lambda address: open("opened", "a").write(address + "\\n") > 0
from polymnia.cli import main
sys.exit(main())
"""


class Desk:
    """Somebody who types ``polymnia open`` in a folder; the servers that start end with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: set[int] = set()
        plain = {name: value for name, value in os.environ.items() if not name.startswith("POLYMNIA_")}
        self.env = {**plain, "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data")}

    def open(self, *words: str) -> tuple[int, dict[str, Any], str]:
        """Run it; answers the exit code, what it prints as JSON, and stderr."""
        command = [
            sys.executable,
            "-c",
            _RECORDING,
            "open",
            "--json",
            "--store",
            "memory.db",
            "--embedder",
            "none",
            *words,
        ]
        pipe = subprocess.PIPE
        with forked.start(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=self.folder, env=self.env
        ) as one:
            out, error = one.communicate(timeout=DEADLINE)
        found = json.loads(out) if out.strip() else {}
        if "process" in found:
            self.started.add(found["process"])
        return one.returncode, found, error.decode()

    def end(self) -> None:
        """End the servers that were started."""
        for pid in self.started:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        until = time.monotonic() + DEADLINE
        while list(self.folder.glob(".server-*.json")) and time.monotonic() < until:
            time.sleep(0.02)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk of the test's own."""
    made = Desk(tmp_path)
    yield made
    made.end()


def _get(address: str, path: str) -> int:
    made = HTTPConnection(address.removeprefix("http://").strip("/"), timeout=DEADLINE)
    try:
        made.request("GET", path)
        return made.getresponse().status
    finally:
        made.close()


@pytest.mark.promise("api.open", "api.open.running")
def test_a_server_is_started_once_and_found_again(desk: Desk) -> None:
    code, first, error = desk.open("--port", "0")
    assert (code, first.get("started"), first.get("opened")) == (0, True, True), error
    assert (desk.folder / "opened").read_text() == first["address"] + "\n"
    assert _get(first["address"], "/") == 200
    code, second, error = desk.open("--no-browser")
    assert (code, second["started"], second["opened"]) == (0, False, False), error
    assert (second["address"], second["process"]) == (first["address"], first["process"])
    assert (desk.folder / "opened").read_text().count("\n") == 1
    assert "key" not in first["address"]
    desk.end()
    assert not list(desk.folder.glob(".server-*.json"))


@pytest.mark.promise("api.open.refused")
def test_what_keeps_it_from_starting_is_said(desk: Desk) -> None:
    (desk.folder / "memory.db").write_bytes(b"this is no store, whatever its name says" * 100)
    code, found, error = desk.open("--port", "0", "--host", "256.1.1.1")
    assert (code, found["error"]["code"]) == (1, "unavailable")
    assert "did not start" in error and "256.1.1.1" in error
    code, _, error = desk.open("--explorer", "off")
    assert code == 1 and "switched off" in error
