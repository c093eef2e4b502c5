"""Commands run in this process, on a store of the test's own, and what they print."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from polymnia.cli import main

__all__ = ["UNLIKE", "Desk", "Told"]

UNLIKE = (
    "Ann likes green tea", "Snow is white in winter", "Bob plays the guitar", "벨로는 산책을 좋아한다",
    "Trains to Busan leave hourly", "Mina paints old houses",
)  # fmt: skip
"""Texts that have nothing to do with each other: only among others can words tell what is alike."""


class Told(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it printed, line by line."""
        return self.out.splitlines()

    @property
    def value(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.out)


class Terminal(io.StringIO):
    """A screen."""

    def isatty(self) -> bool:
        """Somebody looks at it."""
        return True


class Desk:
    """Where a person types commands."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        for name, value in (("STORE", str(folder / "memory.db")), ("EMBEDDER", "none"), ("DIALECT", "all")):
            monkeypatch.setenv(f"POLYMNIA_{name}", value)
        monkeypatch.delenv("NO_COLOR", raising=False)

    def run(self, *words: str, stdin: bytes = b"") -> Told:
        """Run a command whose output goes into a pipe."""
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main(list(words))
        except SystemExit as e:  # argparse has refused it
            code = int(e.code or 0)
        out, err = self._capsys.readouterr()
        return Told(code, out, err)

    def look(self, *words: str, columns: int = 80) -> list[str]:
        """Run a command on a terminal; the lines it shows."""
        screen = Terminal()
        with self._monkeypatch.context() as patch:
            patch.setattr("sys.stdout", screen)
            patch.setenv("COLUMNS", str(columns))
            assert main(list(words)) == 0
        return screen.getvalue().splitlines()

    def add(self, text: str, *words: str) -> str:
        """Add a memory; its id."""
        return str(self.run("add", text, *words, "--json").value["id"])
