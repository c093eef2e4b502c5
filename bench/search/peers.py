"""Other memory servers, driven through their own tools and documented settings."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench import peer
from bench.client import Answer, Server
from bench.search import install
from bench.search.sets import Text
from bench.search.side import Asker, Clock, Family, Found, Loading, shown
from bench.sides import Reference, surroundings

__all__ = ["PEERS", "BasicMemory", "MemoryService", "ReferenceServer"]

# sqlite-vec is an extension, and many a Python has an SQLite that loads none; this one does.
_SERVICE = ["mcp-memory-service==12.2.0", "onnxruntime==1.31.1", "tokenizers==0.23.3", "pysqlite3-binary==0.5.4.post2"]
_SWAP = (
    "import sys\n"
    "import pysqlite3, pysqlite3.dbapi2\n"
    "sys.modules['sqlite3'], sys.modules['sqlite3.dbapi2'] = pysqlite3, pysqlite3.dbapi2\n"
)
# The newest release asks for packages newer than some mirrors have.
_BASIC = ["basic-memory==0.22.1", "fastmcp<3.5"]


@dataclass(slots=True)
class Tool:
    """A server that is asked by one tool; ``read`` takes the ids out of its answer."""

    server: Server
    tool: str
    arguments: Callable[[str, int], dict[str, object]]
    read: Callable[[Answer], list[str]]

    def find(self, question: str, limit: int, within: Sequence[str] = ()) -> Found:
        """Ask the tool; an answer that is a refusal finds nothing."""
        answer = self.server.call(self.tool, self.arguments(question, limit))
        ids = [] if answer.failed else self.read(answer)
        return Found(ids[:limit], answer.seconds, 0 if answer.failed else len(shown(answer)))

    def close(self) -> None:
        """End the server."""
        self.server.close()


@dataclass(slots=True)
class MemoryService:
    """mcp-memory-service: sqlite-vec, and FTS5 in its hybrid mode.

    Its own model (MiniLM) is downloaded at the first start. Here it is given bge-small as a local ONNX model, which
    its settings allow; it pools by the mean. Without any model it stores vectors made of hashes and, once
    restarted, refuses to search.
    """

    name: str = "mcp-memory-service"
    variants: Sequence[str] = ("hybrid", "semantic")
    filters: bool = False
    _ids: dict[str, dict[str, str]] = field(default_factory=dict)
    _python: str = ""

    def prepare(self) -> None:
        """Install the server, and put the model where it looks for one."""
        self._python = install.environment("mcp-memory-service", _SERVICE)
        site = os.path.join(os.path.dirname(self._python), "..", "lib")
        (version,) = [name for name in os.listdir(site) if name.startswith("python")]
        with open(os.path.join(site, version, "site-packages", "sitecustomize.py"), "w") as file:
            file.write(_SWAP)
        place = os.path.join(self._home, ".cache", "mcp_memory", "onnx_models", install.MODEL)
        if not os.path.exists(place):
            shutil.copytree(install.model(), place)

    def load(self, place: str, group: str, texts: Sequence[Text]) -> Loading:
        """Store one by one, as its tool does; what it refuses (a text it already has) is counted."""
        ids = self._ids[_file(group)] = {}
        refused = 0
        server = self.start(place, group)
        with server:
            server.call("memory_search", {"query": "anything", "limit": 1})  # the model is loaded by the first call
            clock, begun = Clock(server.pid), time.perf_counter()
            for text in texts:
                # A conversation id switches off the refusal of texts that are merely similar.
                given = {"content": text.text, "conversation_id": text.id, "metadata": {"type": text.kind}}
                said = shown(server.call("memory_store", given))
                # A long text is kept in several pieces, each with a hash of its own.
                hashes = re.findall(r"\b[0-9a-f]{64}\b", said)
                refused += not hashes
                ids.update((hash, text.id) for hash in hashes)
            return Loading(len(texts), time.perf_counter() - begun, clock.stop(), refused)

    def ask(self, place: str, group: str, variant: str) -> Asker:
        """Search in one of its modes."""
        ids = self._ids[_file(group)]

        def read(answer: Answer) -> list[str]:
            return [ids[hash] for hash in re.findall(r"Hash: ([0-9a-f]{64})", shown(answer)) if hash in ids]

        server = self.start(place, group)
        return Tool(server, "memory_search", lambda q, n: {"query": q, "limit": n, "mode": variant}, read)

    @property
    def _home(self) -> str:
        return os.path.join(install.HOME, "home", self.name)

    def start(self, place: str, group: str) -> Server:
        """A process of it on a store of a group's own."""
        os.makedirs(self._home, exist_ok=True)
        settings = {
            "HOME": self._home,
            "MCP_MEMORY_BASE_DIR": self._home,
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_SQLITE_PATH": os.path.join(place, f"{_file(group)}.db"),
            "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0",
            "MCP_EMBEDDING_MODEL": install.MODEL,
        }
        server = Server([os.path.join(os.path.dirname(self._python), "memory"), "server"], surroundings() | settings)
        server.hello()
        return server


@dataclass(slots=True)
class BasicMemory:
    """basic-memory: Markdown notes and FTS5, its semantic search switched off (its model is downloaded)."""

    name: str = "basic-memory"
    variants: Sequence[str] = ("text",)
    filters: bool = False
    _ids: dict[str, str] = field(default_factory=dict)
    _python: str = ""

    def prepare(self) -> None:
        """Install the server."""
        self._python = install.environment("basic-memory", _BASIC, install.interpreter((3, 12)))

    def load(self, place: str, group: str, texts: Sequence[Text]) -> Loading:
        """Write one note for each text."""
        refused = 0
        with self._start(place, group) as server:
            clock, begun = Clock(server.pid), time.perf_counter()
            for number, text in enumerate(texts):
                title = f"note {number}"
                self._ids[f"{_file(group)}/{title}"] = text.id
                refused += server.call("write_note", {"title": title, "content": text.text, "directory": "m"}).failed
            return Loading(len(texts), time.perf_counter() - begun, clock.stop(), refused)

    def ask(self, place: str, group: str, variant: str) -> Asker:
        """Search notes by text."""

        def read(answer: Answer) -> list[str]:
            found = json.loads(shown(answer)).get("results", [])
            return [self._ids[key] for hit in found if (key := f"{_file(group)}/{hit.get('title')}") in self._ids]

        def arguments(question: str, limit: int) -> dict[str, object]:
            return {"query": question, "page_size": limit, "search_type": variant, "output_format": "json"}

        return Tool(self._start(place, group), "search_notes", arguments, read)

    def _start(self, place: str, group: str) -> Server:
        home = os.path.join(place, _file(group))
        os.makedirs(home, exist_ok=True)
        settings = {
            "HOME": home,
            "BASIC_MEMORY_HOME": os.path.join(home, "notes"),
            "BASIC_MEMORY_CONFIG_DIR": os.path.join(home, "settings"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }
        command = [os.path.join(os.path.dirname(self._python), "basic-memory"), "mcp"]
        server = Server(command, surroundings() | settings)
        server.hello()
        return server


@dataclass(slots=True)
class ReferenceServer:
    """The reference server: finds the query as one string in names, types and texts, in the order of the file."""

    name: str = "reference"
    variants: Sequence[str] = ("substring",)
    filters: bool = False

    def prepare(self) -> None:
        """Install the pinned release."""
        peer.install()

    def load(self, place: str, group: str, texts: Sequence[Text]) -> Loading:
        """One call: each call writes the whole file again."""
        with self._start(place, group) as server:
            clock, begun = Clock(server.pid), time.perf_counter()
            rows = [{"name": text.id, "entityType": text.kind, "observations": [text.text]} for text in texts]
            server.call("create_entities", {"entities": rows})
            return Loading(len(texts), time.perf_counter() - begun, clock.stop())

    def ask(self, place: str, group: str, variant: str) -> Asker:
        """Search for the question as it stands."""

        def read(answer: Answer) -> list[str]:
            return [entity["name"] for entity in json.loads(shown(answer))["entities"]]

        return Tool(self._start(place, group), "search_nodes", lambda query, _: {"query": query}, read)

    def _start(self, place: str, group: str) -> Server:
        server = Reference(os.path.join(place, f"{_file(group)}.jsonl")).start()
        server.hello()
        return server


def _file(group: str) -> str:
    return re.sub(r"\W", "_", group) or "all"


PEERS: dict[str, Family] = {
    "service": MemoryService(),
    "basic": BasicMemory(),
    "reference": ReferenceServer(),
}
