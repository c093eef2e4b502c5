"""A small client for tests: it starts real server processes and never waits past a deadline.

A :class:`Place` is a folder with an environment of its own; servers and commands started in it see
nothing of the machine's real memories. A :class:`Server` is one running process and its two pipes.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from jsonschema import Draft202012Validator
from psycopg import sql

import answer_schemas
import forked
import postgres
from polymnia.engine.ports import Store
from polymnia.storage.sqlite import SqliteStore

__all__ = [
    "DEADLINE",
    "HANDSHAKES",
    "LATEST_HANDSHAKE",
    "MODEL",
    "MODERN",
    "Place",
    "Reply",
    "STORE",
    "Server",
    "entity",
    "envelope",
    "relation",
]

MODEL = os.environ.get("POLYMNIA_TEST_MODEL", "use")

"""The embedder of servers that go by meaning; `make test-extras` takes all there are."""

STORE = os.environ.get("POLYMNIA_TEST_STORE", "sqlite")
"""What the stores of places are kept by, unless a test says so: sqlite or postgres."""
DEADLINE = 90.0
"""Seconds after which a silent server fails the test. Far above what any answer takes."""
BRIDGE = Path(__file__).parent / "bridge.py"
ASKING = Path(__file__).parent / "asking.py"

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKES[-1]
MODERN = "2026-07-28"

Message = dict[str, Any]


def envelope(version: str = MODERN, **more: Any) -> Message:
    """The `_meta` of a request in the stateless era."""
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "contract tests", "version": "1"},
        **more,
    }


def entity(name: str, *observations: str, type: str = "thing") -> Message:
    """An entity as every graph dialect writes it."""
    return {"name": name, "entityType": type, "observations": list(observations)}


def relation(source: str, type: str, target: str) -> Message:
    """A relation as every graph dialect writes it."""
    return {"from": source, "to": target, "relationType": type}


@dataclass(frozen=True)
class Reply:
    """The result of a tool call, with the words the tests use for its parts."""

    result: Message

    @property
    def text(self) -> str:
        """The first block of text: the answer itself."""
        return str(self.result["content"][0]["text"])

    @property
    def lines(self) -> list[str]:
        """The answer's text, line by line."""
        return self.text.split("\n")

    @property
    def value(self) -> Any:
        """The answer's text, read as JSON."""
        return json.loads(self.text)

    @property
    def structured(self) -> Any:
        """The answer as structured content, or where it is sent once, as text, that text read as JSON."""
        if "structuredContent" in self.result or self.failed:
            return self.result.get("structuredContent")
        return self.value

    @property
    def failed(self) -> bool:
        """Whether the tool says that it failed."""
        return bool(self.result.get("isError", False))

    @property
    def notes(self) -> list[Any]:
        """What the server wanted to tell beside the answer."""
        return list(self.result.get("_meta", {}).get("polymnia/notes", []))

    @property
    def next_cursor(self) -> str | None:
        """Where the next page starts, from wherever the answer's shape carries it."""
        structured = self.structured if isinstance(self.structured, dict) else {}
        return structured.get("nextCursor") or self.result.get("_meta", {}).get("polymnia/nextCursor")


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


class Server:
    """One running server process. Everything it writes on stdout has to be a JSON-RPC message."""

    def __init__(
        self, arguments: Iterable[str], environment: Mapping[str, str], folder: Path, transport: str = "stdio"
    ) -> None:
        arguments = list(arguments)
        named = dict(pairwise(arguments))
        self._graph = named.get("--graph", "strict")
        programs = {"stdio": ["-m", "polymnia", "stdio"], "asking": [str(ASKING), "stdio"]}
        program = programs.get(transport) or [str(BRIDGE), transport]
        self.log = folder / f"stderr-{time.monotonic_ns()}.txt"
        with self.log.open("wb") as log:
            self.process: subprocess.Popen[bytes] = forked.start(
                [sys.executable, *program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=folder,
            )
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)
        self.notifications: list[Message] = []
        self.arrivals: list[Any] = []
        """Every message in the order of its arrival."""
        self.stray: list[bytes] = []
        """Lines on stdout that are no JSON-RPC message."""
        self._answers: dict[str, list[Message]] = {}
        self._answered: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._raw = False
        self._batches: list[list[Message]] = []
        self._ended = False
        self._news = threading.Condition()
        self._next_id = 0
        self._schemas: dict[str, str] | None = None
        self._call_of: dict[int, tuple[str, str | None]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # Reading

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self._sort(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _sort(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.stray.append(line)
            return
        self.arrivals.append(message)
        if isinstance(message, list):
            self._batches.append(message)
        elif not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.stray.append(line)
        elif "method" in message:
            self.notifications.append(message)
        else:
            key = json.dumps(message.get("id"))
            self._answers.setdefault(key, []).append(message)
            self._answered[key] += 1

    def wait_for(self, wanted: Callable[[], Any], what: str, seconds: float = DEADLINE) -> Any:
        """Wait until ``wanted`` gives something, which is handed back; fail with the server's stderr."""
        end = time.monotonic() + seconds
        with self._news:
            while True:
                found = wanted()
                if found:
                    return found
                left = end - time.monotonic()
                if left <= 0 or self._ended:
                    break
                self._news.wait(left)
        how = "ended its output" if self._ended else f"stayed silent for {seconds:g} s"
        return pytest.fail(f"the server {how} while the test waited for {what}\n{self.complaints()}")

    def answer(self, id: Any, seconds: float = DEADLINE) -> Message:
        """The next answer to the request with this id, a result or an error."""
        key = json.dumps(id)
        self.wait_for(lambda: self._answers.get(key), f"the answer to request {key}", seconds)
        with self._news:
            return self._answers[key].pop(0)

    def answered(self, id: Any) -> bool:
        """Whether an answer to this id has already come."""
        with self._news:
            return self._answered[json.dumps(id)] > 0

    def answers_to(self, id: Any) -> int:
        """How many answers to this id have come so far."""
        with self._news:
            return self._answered[json.dumps(id)]

    def batch_answer(self) -> list[Message]:
        """The next answer that is an array."""
        self.wait_for(lambda: self._batches, "the answer to a batch")
        with self._news:
            return self._batches.pop(0)

    def notification(self, method: str, matching: Callable[[Message], bool] = lambda _: True) -> Message:
        """The first notification of that method that matches and was not taken before."""

        def find() -> list[Message]:
            return [n for n in self.notifications if n["method"] == method and matching(n)]

        found: Message = self.wait_for(find, f"a notification {method}")[0]
        with self._news:
            self.notifications.remove(found)
        return found

    def complaints(self) -> str:
        """What the server wrote on stderr."""
        return "its stderr:\n" + self.log.read_text(errors="replace")

    # Writing

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are, waiting for the server to take them but never past the deadline."""
        self._raw = True
        self._write(data)

    def _write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        end = time.monotonic() + DEADLINE
        pipe = self.process.stdin.fileno()
        rest = memoryview(data)
        while rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([], [pipe], [], left)[1]:
                pytest.fail(f"the server stopped reading its input\n{self.complaints()}")
            try:
                rest = rest[os.write(pipe, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self.process.wait(DEADLINE)
                pytest.fail(f"the server has ended with code {self.process.returncode}\n{self.complaints()}")

    def send_line(self, line: str | bytes) -> None:
        """Write one line as it is."""
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        self.send_bytes(data + b"\n")

    def exchange(self, line: str | bytes) -> Any:
        """Write one line as it is and give back the next message that arrives, whatever it answers."""
        before = len(self.arrivals)
        self.send_line(line)
        self.wait_for(lambda: len(self.arrivals) > before, "any answer to a raw line")
        return self.arrivals[before]

    def send(self, *messages: Message) -> None:
        """Write messages in one go, each on a line of its own."""
        for message in messages:
            if "id" in message:
                self._asked[json.dumps(message["id"])] += 1
        self._write(b"".join(json.dumps(m, ensure_ascii=False).encode() + b"\n" for m in messages))

    def fresh_id(self) -> int:
        """An id that was not used on this connection."""
        self._next_id += 1
        return self._next_id

    # Speaking

    def begin(self, method: str, params: Message | None = None) -> int:
        """Send a request and give its id back without waiting."""
        number = self.fresh_id()
        message: Message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return number

    def request(self, method: str, params: Message | None = None) -> Message:
        """Send a request and wait for its result."""
        answer = self.answer(self.begin(method, params))
        assert "result" in answer, f"{method} was refused: {answer.get('error')}"
        result: Message = answer["result"]
        return result

    def refusal(self, method: str, params: Message | None = None) -> Message:
        """Send a request that has to be answered with a JSON-RPC error, and give the error back."""
        answer = self.answer(self.begin(method, params))
        assert "error" in answer, f"{method} was not refused: {answer}"
        error: Message = answer["error"]
        return error

    def modern(self, method: str, params: Message | None = None) -> Message:
        """A request of the stateless era, with its envelope."""
        return self.request(method, {**(params or {}), "_meta": envelope()})

    def notify(self, method: str, params: Message | None = None) -> None:
        """Send a notification, which is never answered."""
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def initialize(self, version: str = LATEST_HANDSHAKE, capabilities: Message | None = None) -> Message:
        """The handshake."""
        result = self.request(
            "initialize",
            {
                "protocolVersion": version,
                "capabilities": capabilities or {},
                "clientInfo": {"name": "contract tests", "version": "1"},
            },
        )
        self.notify("notifications/initialized")
        return result

    def tools(self) -> dict[str, Message]:
        """Every tool by its name; there is at least one."""
        tools = {tool["name"]: tool for tool in self.request("tools/list")["tools"]}
        assert tools
        return tools

    def begin_call(self, tool: str, arguments: Message | None = None, meta: Message | None = None) -> int:
        """Call a tool without waiting for the answer."""
        params: Message = {"name": tool, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        number = self.begin("tools/call", params)
        operation = (arguments or {}).get("operation")
        self._call_of[number] = tool, operation if isinstance(operation, str) else None
        return number

    def reply(self, id: int) -> Reply:
        """The result of a call begun earlier.

        Structured content always fits the tool's output schema and the schema of its operation's answer, and has no
        field that these do not name.
        """
        answer = self.answer(id)
        assert "result" in answer, f"the call was refused by the protocol: {answer.get('error')}"
        reply = Reply(answer["result"])
        if not reply.failed:
            self._check_structure(*self._call_of[id], reply)
        return reply

    def _check_structure(self, tool: str, operation: str | None, reply: Reply) -> None:
        if self._schemas is None:
            listed = self.tools()
            if "memory_store" in listed and not any("outputSchema" in one for one in listed.values()):
                listed = answer_schemas.of_all(self._graph)
            self._schemas = {
                name: json.dumps(one["outputSchema"]) for name, one in listed.items() if "outputSchema" in one
            }
        if tool not in self._schemas:
            assert "structuredContent" not in reply.result, f"{tool} promises no structured content"
            return
        wanted = [self._schemas[tool]]
        if (precise := answer_schemas.closed(tool, operation)) is not None:
            wanted.append(precise)
        elif "properties" in json.loads(wanted[0]):
            wanted.append(answer_schemas.without_more(wanted[0]))
        for schema in wanted:
            answer = reply.structured
            answer = {"result": answer} if isinstance(answer, list) else answer
            problems = list(_validator(schema).iter_errors(answer))
            told = [f"{one.json_path}: {one.message}" for one in problems[:3]]
            assert not told, f"the structured answer of {operation or tool} does not fit its schema: {told}"

    def call(self, tool: str, arguments: Message | None = None, **more: Any) -> Reply:
        """Call a tool and wait. Keyword arguments are arguments of the tool too."""
        return self.reply(self.begin_call(tool, {**(arguments or {}), **more}))

    def refused(self, tool: str, arguments: Message | None = None, **more: Any) -> Reply:
        """Call a tool that has to say that it failed."""
        reply = self.call(tool, arguments, **more)
        assert reply.failed, f"{tool} should have failed, and answered {reply.text}"
        return reply

    def graph(self) -> Message:
        """The whole graph."""
        value: Message = self.call("read_graph").value
        return value

    def names(self) -> list[str]:
        """The names of all entities, in the order of the graph."""
        return [entity["name"] for entity in self.graph()["entities"]]

    # Ending

    def close_input(self) -> None:
        """End the server's stdin, as a client that goes away does."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def exit_code(self) -> int:
        """Wait for the process to end by itself; everything it wrote has been read then."""
        try:
            code = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the server did not end\n{self.complaints()}")
        self._reader.join(DEADLINE)
        return code

    def kill(self) -> None:
        """End the process as hard as the system can."""
        self.process.kill()
        self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)

    def close(self) -> None:
        """Kill the process, whatever it does, and let go of the pipes."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def misbehaviour(self) -> str | None:
        """What the server did that no server may ever do, whatever the test was about."""
        if self.stray:
            return f"something else than JSON-RPC on stdout: {self.stray[:3]!r}"
        if not self._raw:
            for key, count in self._answered.items():
                if count > self._asked[key]:
                    return f"{count} answers to request {key}, which was asked {self._asked[key]} times"
        if "Traceback (most recent call last)" in self.log.read_text(errors="replace"):
            return "an unexpected failure inside the server"
        return None


class Place:
    """A folder with an isolated environment, and everything that runs in it.

    ``address`` is the store of what runs there: the file ``store``, or an empty one on PostgreSQL.
    """

    def __init__(self, folder: Path, transport: str = "stdio", kept_by: str = STORE) -> None:
        self.folder = folder
        self.transport = transport
        self.home = folder / "home"
        self.store = folder / "memory.db"
        self._database = ExitStack()
        on_postgres = kept_by == "postgres"
        self.address = self._database.enter_context(postgres.store()) if on_postgres else str(self.store)
        self.home.mkdir(exist_ok=True)
        kept = ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "POLYMNIA_STORE": self.address,
            "POLYMNIA_EMBEDDER": "none",  # a model costs each server a second; tests about meaning ask for one
            "LANG": "C.UTF-8",
            **({"POLYMNIA_EXPORT_DIR": str(folder / "exports")} if on_postgres else {}),
        }
        self._servers: list[Server] = []

    def open_store(self, **options: Any) -> Store:
        """The store of this place, as another process would open it."""
        if self.address == str(self.store):
            return SqliteStore(self.address, **options)
        from polymnia.storage.postgres import PostgresStore

        return PostgresStore(self.address, **options)

    def contents(self) -> dict[str, bytes]:
        """Every byte of the store, by its file or table."""
        if self.address == str(self.store):
            return {path.name: path.read_bytes() for path in self.folder.glob("memory.db*")}
        with psycopg.connect(self.address.partition("?")[0], options="-c search_path=polymnia") as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'polymnia'").fetchall()
            return {
                table: b"".join(
                    value if isinstance(value, bytes) else str(value).encode()
                    for row in connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
                    for value in row
                )
                for (table,) in tables
            }

    @property
    def nowhere(self) -> str:
        """A place for a store of the same kind, where there is none yet."""
        return self.address if self.address == str(self.store) else f"{self.address}&schema=nowhere"

    def is_nowhere(self) -> bool:
        """Whether there still is nothing at ``nowhere``."""
        if self.address == str(self.store):
            return not self.store.exists()
        with psycopg.connect(self.address.partition("?")[0]) as connection:
            return connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'nowhere'").fetchone() is None

    @contextmanager
    def without_space(self, server: Server) -> Iterator[None]:
        """Let a server's store have no room for more: its file may not grow, or its database says so."""
        if self.address == str(self.store):
            import resource

            pid = server.process.pid
            hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
            large = max(file.stat().st_size for file in self.folder.iterdir() if file.is_file())
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (large + 4096, hard))
            yield
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
            return
        self.sql(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
        )
        self.sql("CREATE TRIGGER full_disk AFTER INSERT ON observation EXECUTE FUNCTION full_disk()")
        yield
        self.sql("DROP FUNCTION full_disk() CASCADE")

    @property
    def shown(self) -> str:
        """The store as the product names it: an address without its user and its options."""
        return self.address.partition("?")[0].replace("postgres@", "")

    def sql(self, statement: str, *values: Any) -> None:
        """Change rows of the store behind its back, with ``%s`` for the values."""
        if self.address == str(self.store):
            with closing(apsw.Connection(self.address)) as file:
                file.execute(statement.replace("%s", "?"), values)
        else:
            with psycopg.connect(self.address.partition("?")[0], options="-c search_path=polymnia") as connection:
                connection.execute(statement, values)

    def start(self, *arguments: str, environment: Mapping[str, str | None] | None = None) -> Server:
        """Start a server with these arguments, over the transport of the place, and say nothing to it yet."""
        changed = {**self.environment, **(environment or {})}
        given = {k: v for k, v in changed.items() if v is not None}
        server = Server(arguments, given, self.folder, self.transport)
        self._servers.append(server)
        return server

    def serve(self, dialect: str, *arguments: str, environment: Mapping[str, str | None] | None = None) -> Server:
        """Start a server that speaks a dialect, and shake hands with it."""
        server = self.start("--dialect", dialect, *arguments, environment=environment)
        server.initialize()
        return server

    def run(
        self, *arguments: str, environment: Mapping[str, str | None] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of `polymnia` to its end."""
        changed = {**self.environment, **(environment or {})}
        given = {k: v for k, v in changed.items() if v is not None}
        command, pipe = [sys.executable, "-m", "polymnia", *arguments], subprocess.PIPE
        with forked.start(
            command, env=given, cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
        ) as process:
            try:
                out, err = process.communicate(input or "", timeout=DEADLINE)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every writer of the store waiting, as another process in the middle of a write does."""
        import fcntl

        with open(f"{self.store}-lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def close(self) -> None:
        """End every server; fail when one of them did what no server may do."""
        for server in self._servers:
            server.close()
        self._database.close()
        for server in self._servers:
            problem = server.misbehaviour()
            assert problem is None, f"{problem}\n{server.complaints()}"
