"""The two sides of every table: how each is started on a given graph."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Protocol

from bench import peer
from bench.client import Server

__all__ = ["OURS", "THEIRS", "Polymnia", "Reference", "Side", "polymnia", "surroundings"]

OURS = "Polymnia"
THEIRS = "reference"


class Side(Protocol):
    """Something that can be started on a place where a graph is kept."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    def start(self) -> Server:
        """A new process on the graph, before the handshake."""


def surroundings(**extra: str) -> dict[str, str]:
    """The environment without any setting of either server, so that only the command line speaks."""
    foreign = ("POLYMNIA_", "MEMORY_", "NODE_OPTIONS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return kept | extra


def polymnia() -> list[str]:
    """The installed command, as a client configuration would name it."""
    script = os.path.join(os.path.dirname(sys.executable), "polymnia")
    return [script] if os.path.exists(script) else [sys.executable, "-m", "polymnia"]


@dataclass(frozen=True, slots=True)
class Polymnia:
    """Our server on a store; with ``file`` on a JSON Lines file that stays the visible truth."""

    place: str
    dialect: str = "official"
    file: str | None = None
    name: str = OURS

    def start(self) -> Server:
        """A new process on the store."""
        command = [*polymnia(), "stdio", "--dialect", self.dialect, "--store", self.place]
        if self.file is not None:
            command += ["--file", self.file]
        return Server(command, surroundings())

    def take(self, graph: str) -> str:
        """Import a graph file into the store; answers the report of the command."""
        command = [*polymnia(), "import", graph, "--store", self.place, "--json"]
        done = subprocess.run(command, env=surroundings(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the import failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Reference:
    """The npm server on its JSON Lines file."""

    place: str
    name: str = THEIRS

    def start(self) -> Server:
        """A new process on the file."""
        return Server([peer.node(), peer.entry()], surroundings(MEMORY_FILE_PATH=self.place))

    def take(self, graph: str) -> str:
        """Put a graph file into place: the file is the store."""
        shutil.copyfile(graph, self.place)
        return ""
