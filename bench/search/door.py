"""How Polymnia is driven: its command line, its tools, its library. Whatever changes there is changed here alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench import peer
from bench.client import Server, request
from bench.search.sets import Text
from bench.search.side import Asker, Clock, Found, Loading, Missing, shown
from bench.sides import polymnia, surroundings
from polymnia import Memory
from polymnia.settings import SETTINGS

__all__ = [
    "FILTERS",
    "KNOWN",
    "PLAIN",
    "VARIANTS",
    "Library",
    "Polymnia",
    "Stdio",
    "fill",
    "fill_plain",
    "serve",
]

STORE = "search.db"
BATCH = 200
LOADING, IDLE = 15.0, 3.0  # seconds until the first progress, and without any more
PATIENCE = 7200.0  # a reindex of a large store answers when it is done
KNOWN = {setting.name for setting in SETTINGS}
# The model that needs nothing but NumPy, with which filling and speed are measured.
PLAIN = "use"
VARIANTS: dict[str, dict[str, str]] = {
    "all": {},
    "words": {"lanes": "words"},
    "meaning": {"lanes": "meaning"},
    "quick": {"effort": "quick"},
    "thorough": {"effort": "thorough"},
}
# How the speed of a filtered search is measured: a kind that one memory in eight has, and a time that all of them pass.
FILTERS: dict[str, dict[str, object]] = {"by kind": {"kinds": ["decision"]}, "by time": {"created_from": 1}}


@dataclass(frozen=True, slots=True)
class Polymnia:
    """Our server with one embedder; the variants search the same store by one lane, or with the reranker."""

    name: str = "polymnia"
    embedder: str = PLAIN
    wanted: Sequence[str] = ("all", "words", "meaning")
    filters: bool = hasattr(Memory, "search")

    @property
    def variants(self) -> list[str]:
        """Those of the wanted variants that the installed server has a setting for."""
        return [variant for variant in self.wanted if VARIANTS[variant].keys() <= KNOWN]

    def prepare(self) -> None:
        """Nothing to install; a server without a choice of embedders has only its default."""
        if self.embedder != PLAIN and "embedder" not in KNOWN:
            raise Missing("the installed server has no setting `embedder`")

    def load(self, place: str, group: str, texts: Sequence[Text]) -> Loading:
        """Store through create_entities, then wait until no vector is pending."""
        with Server(self._command(place, group), surroundings()) as server:
            server.hello()
            clock, begun = Clock(server.pid), time.perf_counter()
            for start in range(0, len(texts), BATCH):
                rows = [
                    {"name": text.id, "entityType": text.kind, "observations": [text.text]}
                    for text in texts[start : start + BATCH]
                ]
                server.expect("create_entities", {"entities": rows})
            ended, left = settle(self._options(place, group))
            return Loading(len(texts), ended - begun, clock.stop(), left=left)

    def ask(self, place: str, group: str, variant: str) -> Asker:
        """A new server on the store, after the handshake."""
        server = Server(self._command(place, group, variant), surroundings())
        server.hello()
        return Stdio(server)

    def ask_within(self, place: str, variant: str, group: str = "") -> Library:
        """The library in a process of its own: the graph tools have no filter and no scores, `memory.search` has."""
        return Library(library(self._options(place, group) + _flags(VARIANTS[variant])))

    def _options(self, place: str, group: str) -> list[str]:
        options = ["--store", os.path.join(place, STORE), "--project", _project(group)]
        return options + _flags(_embedder(self.embedder))

    def _command(self, place: str, group: str, variant: str = "all") -> list[str]:
        return command("stdio", "--dialect", "strict", *self._options(place, group), *_flags(VARIANTS[variant]))


@dataclass(slots=True)
class Stdio:
    """Our server as a client meets it."""

    server: Server

    def find(self, question: str, limit: int, within: Sequence[str] = ()) -> Found:
        """Ask search_nodes."""
        answer = self.server.call("search_nodes", {"query": question, "limit": limit})
        names = [node["name"] for node in _nodes(answer.structured)]
        return Found(names, answer.seconds, len(shown(answer)))

    def close(self) -> None:
        """End the server."""
        self.server.close()


@dataclass(slots=True)
class Library:
    """The library behind :mod:`bench.search.driver`."""

    server: Server

    def find(self, question: str, limit: int, within: Sequence[str] = ()) -> Found:
        """Ask memory.search among the named memories."""
        return self.find_by(question, limit, {"names": list(within)})

    def find_by(self, question: str, limit: int, filters: Mapping[str, object]) -> Found:
        """Ask memory.search with any filters."""
        answer = self.server.ask("search", {"query": question, "limit": limit, "filters": filters})
        message = answer.message
        if "error" in message:
            raise RuntimeError(f"the library refused: {message['error']}")
        told = message["result"]
        return Found(told["names"], answer.seconds, told["characters"], tuple(told["scores"]))

    def close(self) -> None:
        """End the process."""
        self.server.close()


def command(*arguments: str) -> list[str]:
    """The installed command with arguments."""
    return [*polymnia(), *arguments]


def serve(store: str, variant: str) -> list[str]:
    """The command of a server on a store, with the embedder of a plain installation."""
    values = VARIANTS[variant] | _embedder(PLAIN)
    return command("stdio", "--dialect", "strict", "--store", store, *_flags(values))


def fill(store: str, path: str) -> None:
    """Import a graph file into a store and wait until no vector is pending."""
    options = ["--store", store, *_flags(_embedder(PLAIN))]
    _run(command("import", path, "--store", store, "--json"))
    reindex(options)


def fill_plain(store: str, path: str) -> None:
    """Import a graph file without any vectors; the words are indexed."""
    _run(command("import", path, "--store", store, "--json"))
    reindex(["--store", store, *_flags(_embedder("none"))])


def settle(options: Sequence[str]) -> tuple[float, int]:
    """Wait until a server that is at work has embedded everything; answers when that was, and what is left without.

    A passage in a language that no model knows waits for ever in the eyes of a process that has not loaded the model.
    So when nothing has moved for a while, a reindex has the last word: it loads the model and finds nothing to do.
    """
    ended = time.perf_counter()
    if "embedder" not in KNOWN:
        return ended, 0
    patience = LOADING
    with library(options) as driver:
        left = _pending(driver, "pending")
        while left and time.perf_counter() - ended < patience:
            time.sleep(0.1)
            now = _pending(driver, "pending")
            if now != left:
                left, ended, patience = now, time.perf_counter(), IDLE
    return ended, reindex(options) if left else 0


def reindex(options: Sequence[str]) -> int:
    """Index and embed whatever is not yet; answers how many passages are left all the same."""
    if "embedder" not in KNOWN:
        return 0
    with library(options) as driver:
        return _pending(driver, "reindex")


def library(options: Sequence[str]) -> Server:
    """The library in a process of its own, ready to be asked."""
    server = Server([sys.executable, "-m", "bench.search.driver", *options], surroundings(PYTHONPATH=_path()))
    server.ask("hello")
    return server


def _pending(driver: Server, method: str) -> int:
    number = driver.number()
    driver.write(request(number, method))
    message = json.loads(driver.line(PATIENCE))
    if "error" in message:
        raise RuntimeError(f"the library refused: {message['error']}")
    return int(message["result"]["pending"])


def _path() -> str:
    return os.pathsep.join(filter(None, (peer.ROOT, os.environ.get("PYTHONPATH"))))


def _embedder(name: str | None) -> dict[str, str]:
    return {"embedder": name} if name is not None and "embedder" in KNOWN else {}


def _project(group: str) -> str:
    return group or "default"


def _run(line: list[str]) -> str:
    done = subprocess.run(line, env=surroundings(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(line[1:3])} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _flags(values: dict[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--" + name.replace("_", "-"), value)]


def _nodes(content: dict[str, object]) -> list[dict[str, str]]:
    nodes = content.get("nodes", content.get("entities"))
    assert isinstance(nodes, list)
    return nodes
