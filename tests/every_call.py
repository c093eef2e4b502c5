"""Every operation there is, as calls that can be made, and fresh servers to make them on.

The operations come from the registries, so a new one is covered by itself: what has no arguments of its own below gets
some that fit its schema. What counts as a failure is an internal error, a call without an answer, and a server that
cannot search afterwards; a plain refusal is an answer.
"""

from __future__ import annotations

import http.client
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

from polymnia.dialects import associative, content, graph
from polymnia.inference.weights import installed
from polymnia.operation import Operation, schema

__all__ = [
    "TRANSPORTS", "Call", "Outcome", "Seed", "Session", "call", "check_crowd", "check_together", "copied", "embedders",
    "groups", "labels", "opened", "pairs", "seeded",
]  # fmt: skip

TRANSPORTS = {"stdio": 5, "http": 8}
"""How a server is reached, and how many calls it runs at once."""
INTERNAL = -32603
PATIENCE = 120.0  # seconds; far above what an answer takes, on a machine that does much else
PROJECT = "first calls"
VERSION = "2025-11-25"

Message = dict[str, Any]
_TEXTS = (
    "The gateway listens on port 8080 and must not be restarted during the day.",
    "The gateway listens on port 9090. Restart it whenever you like.",
    "Ann Lee decided on 3 May 2026 that the cache lives in Redis, because Memcached lost entries.",
    "Tokens expire after 15 minutes; a refresh token lives for 30 days.",
    "# Deployment\n\n1. Build the image.\n2. Push it.\n3. Roll it out with `kubectl apply`.",
    "인증 서버는 매주 월요일에 다시 시작된다.",
    "Der Vermieter hat die Heizung noch nicht repariert.",
    "Penguins cannot fly but they swim very well.",
)


@dataclass(frozen=True)
class Call:
    """One call: the operation it is for, the tool and its arguments."""

    label: str
    tool: str
    arguments: Message


@dataclass(frozen=True)
class Seed:
    """A store with something in it: where it lies, and the ids of items and memories."""

    store: Path
    items: tuple[str, ...]
    memories: tuple[str, ...]


@dataclass
class Outcome:
    """What went wrong, in words, among so many calls."""

    calls: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count another outcome too."""
        self.calls += other.calls
        self.failures += other.failures


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _operations() -> dict[str, tuple[Operation, str | None]]:
    """Every operation by its label: the tool, and which of its operations where it has several."""
    found: dict[str, tuple[Operation, str | None]] = {}
    for registry in (graph.registry("strict"), associative.registry(), content.registry()):
        for tool in registry.operations.values():
            known = _schema(tool)["properties"].get("operation", {}).get("enum")
            for which in known or [None]:
                found[tool.name if which is None else f"{tool.name} {which}"] = (tool, which)
    return found


def _schema(tool: Operation) -> Message:
    return schema(tool.params) if tool.takes is None else tool.takes()


def labels() -> list[str]:
    """The operations of all dialects."""
    return list(_operations())


def embedders() -> list[str]:
    """The embedders that can be had here without a network, as they are named."""
    return ["none", "multi", *(["auto"] if installed("onnxruntime") else [])]


def pairs() -> list[tuple[str, str]]:
    """Every two operations, and each one with itself."""
    return list(combinations_with_replacement(labels(), 2))


def groups(size: int) -> list[list[str]]:
    """Groups of operations in which each two meet at least once, and each one meets itself: far fewer than pairs.

    Calls that come together are in parallel each with each, as long as a server has a thread for every one.
    """
    left = set(pairs())
    order = {label: place for place, label in enumerate(labels())}
    found = []
    while left:
        group = list(min(left, key=lambda pair: (order[pair[0]], order[pair[1]])))
        left.discard((group[0], group[1]))
        while len(group) < size:
            one = max(order, key=lambda one: len({_pair(one, other, order) for other in group} & left))
            left -= {_pair(one, other, order) for other in group}
            group.append(one)
        found.append(group)
    return found


def _pair(one: str, other: str, order: Mapping[str, int]) -> tuple[str, str]:
    return (one, other) if order[one] <= order[other] else (other, one)


def call(label: str, seed: Seed, number: int) -> Call:
    """A call of an operation; ``number`` makes what it writes its own."""
    tool, which = _operations()[label]
    make = _ARGUMENTS.get(label)
    given = _sample(_schema(tool)) if make is None else make(seed, number)
    if which is not None:
        given = {"operation": which, "project_id": PROJECT, **given}
    return Call(label, tool.name, given)


def _sample(wanted: Message) -> Any:
    """Something that fits a schema: what is required, the first of what may be chosen."""
    if "enum" in wanted:
        return wanted["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in wanted:
            return _sample(wanted[key][0])
    match wanted.get("type"):
        case "object":
            return {name: _sample(wanted["properties"][name]) for name in wanted.get("required", [])}
        case "array":
            return [_sample(wanted.get("items", {"type": "string"}))]
        case "integer" | "number":
            return max(1, wanted.get("minimum", 1))
        case "boolean":
            return True
    return "gateway"


def _link(number: int) -> Message:
    return {"from": "gateway", "to": "cache", "relationType": f"uses {number}"}


_ARGUMENTS: dict[str, Callable[[Seed, int], Message]] = {
    "create_entities": lambda seed, n: {
        "entities": [{"name": f"entity {n}", "entityType": "thing", "observations": [f"It is number {n}"]}]
    },
    "create_relations": lambda seed, n: {"relations": [_link(n)]},
    "add_observations": lambda seed, n: {
        "observations": [{"entityName": "gateway", "contents": [f"Seen for the {n}th time"]}]
    },
    "delete_entities": lambda seed, n: {"entityNames": [f"spare {n % 8}"]},
    "delete_observations": lambda seed, n: {
        "deletions": [{"entityName": "gateway", "observations": [f"Spare {n % 8}"]}]
    },
    "delete_relations": lambda seed, n: {"relations": [{**_link(0), "relationType": f"spare {n % 8}"}]},
    "search_nodes": lambda seed, n: {"query": "gateway port"},
    "open_nodes": lambda seed, n: {"names": ["gateway"]},
    "memory_store": lambda seed, n: {"content": f"Note {n}: the gateway was seen at {n} o'clock.", "scope": "work"},
    "memory_search": lambda seed, n: {"query": "gateway port"},
    "memory_get": lambda seed, n: {"memory_id": seed.memories[0]},
    "memory_update": lambda seed, n: {"memory_id": seed.memories[0], "tags": [f"tag {n}"]},
    "memory_delete": lambda seed, n: {"memory_id": seed.memories[-1 - n % 8]},
    "memory_discover_associations": lambda seed, n: {"memory_id": seed.memories[0]},
    "scope_suggest": lambda seed, n: {"content": "The gateway needs a certificate."},
    "memory_move": lambda seed, n: {"target_scope": f"moved/{n % 4}", "memory_ids": [seed.memories[1]]},
    "memory_import": lambda seed, n: {"import_data": "[]"},
    "session_manage": lambda seed, n: {"action": "list"},
    "memory_store store_content": lambda seed, n: {"content": f"Item {n}: the gateway was seen at {n} o'clock."},
    "memory_store update_content": lambda seed, n: {"content_id": seed.items[0], "updates": {"tags": [f"tag {n}"]}},
    "memory_store delete_content": lambda seed, n: {"content_id": seed.items[-1 - n % 8]},
    "memory_store store_decision": lambda seed, n: {
        "title": f"Decision {n}", "context": "The cache was slow.", "decision": "Use Redis.", "rationale": "It is fast."
    },
    "memory_store create_relationship": lambda seed, n: {
        "source_id": seed.items[0], "target_id": seed.items[1], "type": "references"
    },
    "memory_retrieve search_content": lambda seed, n: {"query": "gateway port"},
    "memory_retrieve get_content": lambda seed, n: {"content_id": seed.items[0]},
    "memory_retrieve find_similar_content": lambda seed, n: {"content": "The gateway listens on a port."},
    "memory_retrieve get_content_history": lambda seed, n: {"content_id": seed.items[0]},
    "memory_analyze analyze_quality": lambda seed, n: {"content_id": seed.items[0]},
    "memory_analyze find_content_relationships": lambda seed, n: {"content_id": seed.items[0]},
    "memory_system export_project_data": lambda seed, n: {"format": "json", "options": {"anonymize": True}},
    "memory_system import_project_data": lambda seed, n: {
        "source": "first.json", "format": "json", "data": '{"items": []}'
    },
    "memory_system generate_citation": lambda seed, n: {"content_id": seed.items[0]},
}  # fmt: skip
_SEARCHES = ("memory_retrieve search_content", "memory_search")


# ── servers ──────────────────────────────────────────────────────────────────────────────────────────────


def _is_internal(answer: Message) -> bool:
    """Whether an answer says that something broke inside the server."""
    return bool(answer.get("error", {}).get("code") == INTERNAL)


class Session:
    """One client of a server: sends calls, and takes answers in whatever order they come."""

    def send(self, calls: Sequence[Call]) -> list[int]:
        """Send calls at the same moment; answers their ids."""
        raise NotImplementedError

    def answer(self, id: int) -> Message:
        """The answer to a call. Raises TimeoutError where none comes."""
        raise NotImplementedError

    def finish(self) -> None:
        """Leave, and wait for the server to end by itself."""
        raise NotImplementedError


class _Stdio(Session):
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._answers: dict[int, queue.SimpleQueue[Message]] = {}
        self._ids = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "first calls", "version": "1"}}
        (id,) = self._write([("initialize", hello)])
        self.answer(id)
        assert self._process.stdin is not None
        self._process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self._answers[message["id"]].put(message)

    def _write(self, requests: Iterable[tuple[str, Message]]) -> list[int]:
        lines, ids = b"", []
        with self._lock:
            for method, params in requests:
                self._ids += 1
                ids.append(self._ids)
                self._answers[self._ids] = queue.SimpleQueue()
                message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
                lines += json.dumps(message).encode() + b"\n"
            assert self._process.stdin is not None
            self._process.stdin.write(lines)
            self._process.stdin.flush()
        return ids

    def finish(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)

    def send(self, calls: Sequence[Call]) -> list[int]:
        return self._write(("tools/call", {"name": one.tool, "arguments": one.arguments}) for one in calls)

    def answer(self, id: int) -> Message:
        return _taken(self._answers[id], self._process)


class _Http(Session):
    """Each call goes over a connection and, unless told otherwise, in a session of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self._port = port
        self._answers: dict[int, queue.SimpleQueue[Message]] = {}
        self._ids = 0

    def send(self, calls: Sequence[Call]) -> list[int]:
        ids = []
        together = threading.Barrier(len(calls))
        for one in calls:
            self._ids += 1
            ids.append(self._ids)
            self._answers[self._ids] = queue.SimpleQueue()
            threading.Thread(target=self._post, args=(self._ids, one, together), daemon=True).start()
        return ids

    def _post(self, id: int, one: Call, together: threading.Barrier) -> None:
        params = {
            "name": one.tool,
            "arguments": one.arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "first calls", "version": "1"},
            },
        }
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": one.tool,
        }
        body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.connect()
            together.wait(PATIENCE)
            connection.request("POST", "/mcp/all", body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except OSError as e:
            self._answers[id].put({"id": id, "error": {"code": 0, "message": f"no answer: {e}"}})
            return
        finally:
            connection.close()
        found = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")] or [json.loads(text)]
        self._answers[id].put(next(message for message in found if message.get("id") == id))

    def answer(self, id: int) -> Message:
        return _taken(self._answers[id], self._process)


def _taken(answers: queue.SimpleQueue[Message], process: subprocess.Popen[bytes]) -> Message:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return answers.get(timeout=1.0)
        except queue.Empty:
            if process.poll() is not None or time.monotonic() > until:
                raise TimeoutError("the server ended" if process.poll() is not None else "no answer") from None


@contextmanager
def opened(
    transport: str,
    store: Path,
    embedder: str,
    *,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Iterator[Session]:
    """A fresh server of every dialect on a store, and a client of it; ``before`` is a program that runs it."""
    folder = store.parent
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
    variables = {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(folder), "USERPROFILE": str(folder), "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache"), "LANG": "C.UTF-8",
    }  # fmt: skip
    many = [f"--rate-limit{one}" for one in ("", "-session", "-heavy")]
    flags = ["--store", str(store), "--embedder", embedder, *flags]
    if transport == "stdio":
        flags = ["stdio", "--dialect", "all", *flags]
    else:
        flags = ["serve", "--port", "0", *flags, *(part for one in many for part in (one, "1000000"))]
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "polymnia", *flags], env=variables | dict(environment or {}), cwd=folder,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    port: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    log = threading.Thread(target=_log, args=(process, folder / "stderr.txt", port), daemon=True)
    log.start()
    try:
        yield _Stdio(process) if transport == "stdio" else _Http(process, _port(port, folder / "stderr.txt"))
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        log.join()


def _log(process: subprocess.Popen[bytes], log: Path, port: queue.SimpleQueue[int | None]) -> None:
    """Write down what the server says on stderr; the port it names goes to who waits for it, None at the end."""
    assert process.stderr is not None
    with process.stderr, log.open("wb", buffering=0) as file:
        for line in process.stderr:
            file.write(line)
            if found := re.search(rb"http://127\.0\.0\.1:(\d+)", line):
                port.put(int(found[1]))
    port.put(None)


def _port(named: queue.SimpleQueue[int | None], log: Path) -> int:
    try:
        port = named.get(timeout=PATIENCE)
    except queue.Empty:
        port = None
    if port is None:
        raise TimeoutError(f"the server did not start: {log.read_text(errors='replace')}")
    return port


def seeded(folder: Path, embedder: str) -> Seed:
    """A store with entities, memories and items of a project, made by a server of its own that has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "memory.db"
    spare = [f"Spare {n}" for n in range(8)]
    entities = [{"name": name, "entityType": "thing", "observations": [_TEXTS[0]]} for name in ("cache", "db")]
    entities += [{"name": f"spare {n}", "entityType": "thing", "observations": ["Not needed"]} for n in range(8)]
    entities.append({"name": "gateway", "entityType": "thing", "observations": [*_TEXTS[:2], *spare]})
    links = [{**_link(0), "relationType": f"spare {n}"} for n in range(8)]
    texts = [*_TEXTS, *(f"Spare note {n} about nothing that matters, number {n * 17}." for n in range(8))]
    with opened("stdio", store, embedder) as session:

        def ask(tool: str, **arguments: Any) -> Message:
            (id,) = session.send([Call("", tool, arguments)])
            answer = session.answer(id)
            assert not answer["result"].get("isError"), answer
            return dict(json.loads(answer["result"]["content"][0]["text"]))

        ask("create_entities", entities=entities)
        ask("create_relations", relations=links)
        memories = [
            ask("memory_store", content=text, scope=f"work/{n % 3}", allow_duplicates=True)["memory_id"]
            for n, text in enumerate(texts)
        ]
        items = [ask("memory_store", operation="store_content", project_id=PROJECT, content=text) for text in texts]
        # A search waits for the vectors, and the next server finds them.
        ask("memory_retrieve", operation="search_content", project_id=PROJECT, query="gateway")
        ask("memory_search", query="gateway")
        ask("memory_system", operation="check_system_health", project_id=PROJECT)
    return Seed(store, tuple(_id(item) for item in items), tuple(memories))


def _id(answer: Message) -> str:
    return str(answer.get("content_id") or answer["data"]["content_id"])


def copied(seed: Seed, folder: Path) -> Path:
    """A copy of a store that no process has open, its log included."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("", "-wal"):
        if os.path.exists(f"{seed.store}{part}"):
            shutil.copy(f"{seed.store}{part}", folder / f"memory.db{part}")
    return folder / "memory.db"


# ── what is tried ────────────────────────────────────────────────────────────────────────────────────────


def check_together(
    chosen: Sequence[str], seed: Seed, folder: Path, *, transport: str, embedder: str, refusals: bool = True
) -> Outcome:
    """Send these operations to a fresh server as its first calls, at one moment; afterwards it must still search."""
    outcome = Outcome()
    name = f"{' + '.join(chosen) if len(chosen) < 5 else f'{len(chosen)} operations'} ({transport}, {embedder})"
    where = folder / f"{random.getrandbits(64):x}"
    store = copied(seed, where)
    try:
        with opened(transport, store, embedder) as session:
            calls = [call(label, seed, number) for number, label in enumerate(chosen)]
            _judge(outcome, name, session, calls, refusals)
            searches = [call(label, seed, 0) for label in _SEARCHES]
            _judge(outcome, f"a search after {name}", session, searches, False)
    except TimeoutError as e:
        outcome.failures.append(f"{name}: {e}")
    if outcome.failures:
        outcome.failures.append((where / "stderr.txt").read_text(errors="replace")[-2000:])
    shutil.rmtree(where, ignore_errors=True)
    return outcome


def _judge(outcome: Outcome, name: str, session: Session, calls: Sequence[Call], refusals: bool) -> None:
    for one, id in zip(calls, session.send(calls), strict=True):
        outcome.calls += 1
        try:
            answer = session.answer(id)
        except TimeoutError as e:
            outcome.failures.append(f"{name}: {one.label}: {e}")
            continue
        refused = "error" in answer or answer["result"].get("isError")
        if _is_internal(answer) or (refused and not refusals) or answer.get("error", {}).get("code") == 0:
            outcome.failures.append(f"{name}: {one.label}: {str(answer)[:300]}")


def check_crowd(clients: int, seed: Seed, folder: Path, *, transport: str, embedder: str) -> Outcome:
    """So many clients, each of which calls every operation, in an order of its own; on one server.

    Over HTTP each has its connections; over stdio, where a server has one client, that one sends as much at once.
    """
    outcome = Outcome()
    where = folder / f"crowd-{transport}-{embedder}"
    store = copied(seed, where)
    all_of_them = labels()
    name = f"{clients} clients ({transport}, {embedder})"
    with opened(transport, store, embedder) as session:

        def visit(number: int) -> Outcome:
            mine = Outcome()
            order = all_of_them[number % len(all_of_them) :] + all_of_them[: number % len(all_of_them)]
            for place, label in enumerate(order):
                _judge(mine, name, session, [call(label, seed, number * len(order) + place)], True)
            return mine

        with ThreadPoolExecutor(clients) as pool:
            for one in pool.map(visit, range(clients)):
                outcome.add(one)
        _judge(outcome, f"a search after {name}", session, [call(label, seed, 0) for label in _SEARCHES], False)
    if outcome.failures:
        outcome.failures.append((where / "stderr.txt").read_text(errors="replace")[-3000:])
    return outcome
