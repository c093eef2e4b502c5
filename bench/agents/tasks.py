"""Scripted tasks without a model: does what models really send succeed, or get an error that names the repair?"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench.agents.translations import Call, reference, service
from bench.client import Answer, GoneError, Server
from bench.search.peers import MemoryService
from bench.search.side import Missing
from bench.sides import Reference

__all__ = ["Said", "judged", "named", "run", "tasks"]

_TASKS = {"tasks": "tasks.jsonl", "new tasks": "tasks_new.jsonl"}  # the known ones, and those written after mending
_AT_ONCE = 2
_ID = re.compile(r"new (?:entity )?([0-9a-f]{8}-[0-9a-f]{4})\b")
_CURSOR = re.compile(r'cursor "([^"]+)"')
_PEER_ID = re.compile(r"\b[0-9a-f]{64}\b|\bnote \d+")


@dataclass(frozen=True, slots=True)
class Said:
    """What a model reads of an answer, and whether it is told that it is an error."""

    text: str
    failed: bool


class Side(Protocol):
    """A server with an empty memory, and what it has tools for."""

    has: frozenset[str]

    def call(self, tool: str, arguments: dict[str, Any]) -> Said | None:
        """The answer to a call of a tool of the native dialect, or to the nearest this server has; None if none is."""

    def names(self, tool: str) -> set[str]:
        """The tools and the parameters of the tool, one of which an error should name."""

    def close(self) -> None:
        """End the server."""


def tasks(part: str) -> list[dict[str, Any]]:
    """The tasks of one of the files."""
    lines = Path(__file__).with_name(_TASKS[part]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def run(folder: str, part: str) -> dict[str, Any]:
    """How many of the tasks each server does, refuses with the repair, fails at and has no tool for."""
    todo = tasks(part)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        native = list(pool.map(lambda one: _play(one[1], Native(folder, one[0])), enumerate(todo)))
        other = list(pool.map(lambda one: _play(one[1], ReferenceSide(folder, one[0])), enumerate(todo)))
    columns = {"polymnia native": native, "reference server": other}
    found: dict[str, Any] = {"tasks": len(todo)}
    try:
        columns["mcp-memory-service"] = _service(folder, todo)
    except (Missing, GoneError) as e:
        found["mcp-memory-service"] = f"left out: {e}"
    return found | {name: _summary(todo, outcomes) for name, outcomes in columns.items()}


def _summary(todo: list[dict[str, Any]], outcomes: list[tuple[str, str]]) -> dict[str, Any]:
    groups = {name: Counter[str]() for name in dict.fromkeys(task["group"] for task in todo)}
    for task, (outcome, _) in zip(todo, outcomes, strict=True):
        groups[task["group"]][outcome] += 1
    every = sum(groups.values(), Counter[str]())
    good = every["done"] + every["refused with the repair"]
    return {
        "succeed or name the repair": good,
        "share": round(good / len(todo), 3),
        "of those it has tools for": round(good / max(1, len(todo) - every["no tool for it"]), 3),
        **{name: every[name] for name in ("done", "refused with the repair", "failed", "no tool for it")},
        "groups": {name: dict(counts) for name, counts in groups.items()},
        "failures": {
            f"{task['group']}: {task['about']}": said
            for task, (outcome, said) in zip(todo, outcomes, strict=True)
            if outcome == "failed"
        },
    }


def _play(task: dict[str, Any], side: Side) -> tuple[str, str]:
    """Send the calls of a task one after the other: what came of it and, where it failed, why."""
    with closing(side):
        if lacking := set(task["needs"]) - side.has:
            return "no tool for it", ", ".join(sorted(lacking))
        said: list[Said] = []
        for call in task["calls"]:
            try:
                answer = side.call(call["tool"], _filled(call["arguments"], said))
            except GoneError as e:
                return "failed", f"{call['tool']}: {e}"
            if answer is None:
                return "no tool for it", call["tool"]
            if wrong := judged(call, answer, side.names(call["tool"])):
                return "failed", f"{call['tool']}: {wrong}: {answer.text[:200]}"
            if answer.failed and "refused" not in call:
                return "refused with the repair", answer.text[:200]
            said.append(answer)
        return "done", ""


def judged(call: dict[str, Any], answer: Said, names: set[str]) -> str:
    """What is wrong with the answer to a call, as its user would see it; empty if nothing is."""
    if answer.failed:
        return "" if named(answer.text, names, call) else "an error that names no repair"
    if "refused" in call:
        return "accepted what cannot be done"
    for one in call.get("shows", ()):
        if one not in answer.text:
            return f"{one!r} is not in the answer"
    for one in call.get("lacks", ()):
        if one in answer.text:
            return f"{one!r} is in the answer"
    for one in call.get("once", ()):
        if answer.text.count(one) != 1:
            return f"{one!r} is {answer.text.count(one)} times in the answer"
    if "before" in call:
        first, second = (answer.text.find(one) for one in call["before"])
        if -1 < second < first:
            return f"{call['before'][1]!r} stands above {call['before'][0]!r}"
    says = call.get("says", ())
    return f"none of {says} is in the answer" if says and not any(one in answer.text for one in says) else ""


def named(error: str, names: set[str], call: dict[str, Any]) -> bool:
    """Whether an error names what to do: a parameter or tool, a word of the task, or the value and what it must be."""
    words = set(re.findall(r"[\w-]+", error.lower()))
    if any(one.lower() in words for one in names) or any(one in error for one in call.get("refused", ())):
        return True
    quoted = any(str(one) in error for one in _leaves(call["arguments"]))
    return quoted and re.search(r"not of type|minimum|maximum|must be|expected", error) is not None


def _leaves(given: Any) -> list[Any]:
    """The single values in arguments."""
    inside = given.values() if isinstance(given, dict) else given
    return [leaf for one in inside for leaf in _leaves(one)] if isinstance(given, dict | list) else [given]


def _filled(given: Any, said: list[Said]) -> Any:
    """Arguments with what they take from answers: ``$1`` is the id in the first, ``$cursor`` the cursor of the last."""
    if isinstance(given, list):
        return [_filled(one, said) for one in given]
    if isinstance(given, dict):
        if "$repeat" in given:
            text, times = given["$repeat"]
            return text * times + given["then"] + " " + text * given["after"]
        return {key: _filled(one, said) for key, one in given.items()}
    if isinstance(given, str) and "$" in given:
        given = re.sub(r"\$(\d)", lambda found: _id(said[int(found[1]) - 1].text), given)
        return re.sub(r"\$cursor", lambda _: (_CURSOR.findall(said[-1].text) or ["missing"])[-1], given)
    return given


def _id(text: str) -> str:
    found = _ID.search(text) or _PEER_ID.search(text)
    return found[found.lastindex or 0] if found else "missing"


def _said(answer: Answer) -> Said:
    message = answer.message
    if "error" in message:
        return Said(str(message["error"].get("message", "")), True)
    text = "\n".join(block.get("text", "") for block in message["result"].get("content", ()))
    return Said(text, bool(message["result"].get("isError")))


def _names(server: Server) -> dict[str, set[str]]:
    """The tools of a server, each with the names of its parameters, those inside others included."""

    def inside(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return set().union(*map(inside, schema))
        if not isinstance(schema, dict):
            return set()
        own = set(schema.get("properties", ()))
        return own.union(*(inside(one) for one in schema.values()))

    listed = server.ask("tools/list").message["result"]["tools"]
    named = {tool["name"]: inside(tool["inputSchema"]) for tool in listed}
    return {name: {one for one in inner if one not in ("to", "at")} for name, inner in named.items()}


@dataclass(slots=True)
class Native:
    """The native dialect, by words alone, with a store of the task's own."""

    folder: str
    number: int
    has: frozenset[str] = frozenset(
        "batch brief budget conversation cursor depth entities ids kinds metadata past projects purge relations scopes "
        "supersede tags time undo".split()
    )
    _server: Server = field(init=False)
    _known: dict[str, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        store = os.path.join(self.folder, f"task{self.number}.db")
        environment = {**os.environ, "POLYMNIA_STORE": store, "POLYMNIA_EMBEDDER": "none"}
        self._server = Server([sys.executable, "-m", "polymnia", "stdio", "--dialect", "native"], environment)
        self._server.hello()
        self._known = _names(self._server)

    def call(self, tool: str, arguments: dict[str, Any]) -> Said:
        """Call the tool."""
        return _said(self._server.call(tool, arguments))

    def names(self, tool: str) -> set[str]:
        """The other tools, and the parameters of this one."""
        return (set(self._known) | self._known[tool]) - {tool}

    def close(self) -> None:
        """End the server."""
        self._server.close()


class _Peer:
    """Another server, asked by way of a translation of the calls."""

    has: frozenset[str]

    def __init__(self, server: Server, has: str) -> None:
        self.has = frozenset(has.split())
        self.server = server
        self._known = _names(server)
        self._used: list[str] = []

    def translated(self, tool: str, arguments: dict[str, Any]) -> list[Call] | None:
        """The calls of this server that come nearest, None if it has no tool for it."""
        raise NotImplementedError

    def call(self, tool: str, arguments: dict[str, Any]) -> Said | None:
        """Make the nearest calls; an error ends them."""
        calls = self.translated(tool, arguments)
        if calls is None:
            return None
        self._used = [name for name, _ in calls]
        said = Said("", False)
        for name, given in calls:
            said = self.read(_said(self.server.call(name, given)))
            if said.failed:
                break
        return said

    def read(self, said: Said) -> Said:
        """An answer as a model would take it."""
        return said

    def names(self, tool: str) -> set[str]:
        """The tools, and the parameters of those that were called for it."""
        return (set(self._known) - set(self._used)).union(*(self._known[one] for one in self._used))

    def close(self) -> None:
        """End the server."""
        self.server.close()


class ReferenceSide(_Peer):
    """The reference server, with a file of the task's own."""

    def __init__(self, folder: str, number: int) -> None:
        server = Reference(os.path.join(folder, f"task{number}.jsonl")).start()
        server.hello()
        super().__init__(server, "batch entities relations")
        self._stored: dict[str, str] = {}

    def translated(self, tool: str, arguments: dict[str, Any]) -> list[Call] | None:
        """Calls of the tools for a graph."""
        return reference(tool, arguments, self._stored)


class ServiceSide(_Peer):
    """mcp-memory-service. Its start takes long, so one process serves all tasks, emptied after each."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, "conversation ids kinds metadata supersede tags time")

    def translated(self, tool: str, arguments: dict[str, Any]) -> list[Call] | None:
        """Calls of its tools for notes."""
        return service(tool, arguments)

    def read(self, said: Said) -> Said:
        """Its errors are texts that begin so; that a model is told of no error is not held against it."""
        return Said(said.text, said.failed or said.text.startswith(("Error", "Failed", "Input validation error")))

    def close(self) -> None:
        """Leave an empty memory for the next task."""
        self.server.call("memory_delete", {"after": "2000-01-01"})


def _service(folder: str, todo: list[dict[str, Any]]) -> list[tuple[str, str]]:
    family = MemoryService()
    family.prepare()
    with family.start(folder, "tasks") as server:
        side = ServiceSide(server)
        return [_play(task, side) for task in todo]
