"""The words in which these tests talk to a server of the associative dialect."""

from __future__ import annotations

import json
import time
from typing import Any

from stdio_client import DEADLINE, Place, Reply, Server

__all__ = [
    "CATEGORIES", "archive", "contents", "fault", "found", "got", "imported", "kept", "linked", "refused", "restarted",
    "scopes", "store", "stored", "told", "until_embedded", "until_linked",
]  # fmt: skip

CATEGORIES = (
    "VALIDATION_ERROR", "MEMORY_NOT_FOUND", "STORAGE_ERROR", "SEARCH_ERROR", "EXPORT_ERROR", "IMPORT_ERROR",
)  # fmt: skip


def store(server: Server, content: str, **more: Any) -> dict[str, Any]:
    """What memory_store answers."""
    reply = server.call("memory_store", content=content, **more)
    assert not reply.failed, reply.text
    value: dict[str, Any] = reply.value
    return value


def stored(server: Server, content: str, **more: Any) -> str:
    """The id of a memory that is new."""
    answer = store(server, content, **more)
    assert answer["is_duplicate"] is False, answer
    return str(answer["memory_id"])


def got(server: Server, id: str, **more: Any) -> dict[str, Any]:
    """A memory in full."""
    reply = server.call("memory_get", memory_id=id, **more)
    assert not reply.failed, reply.text
    value: dict[str, Any] = reply.value
    return value


def linked(server: Server, id: str) -> list[str]:
    """The ids a memory is linked to, strongest first."""
    return [one["memory_id"] for one in got(server, id)["associations"]]


def until_linked(server: Server, id: str, wanted: list[str]) -> None:
    """Wait until a memory is linked to these, strongest first; the links may be drawn in the background."""
    end = time.monotonic() + DEADLINE
    while linked(server, id) != wanted:
        assert time.monotonic() < end, (linked(server, id), wanted)


def until_embedded(server: Server, query: str) -> None:
    """Search until the model is loaded and every text has its vector, for which storing does not wait."""
    end = time.monotonic() + DEADLINE
    while {note["code"] for note in server.call("memory_search", query=query).notes} & {"loading", "pending"}:
        assert time.monotonic() < end


def found(server: Server, query: str, **more: Any) -> list[str]:
    """The ids that a search finds, best first."""
    reply = server.call("memory_search", query=query, **more)
    assert not reply.failed, reply.text
    return [one["memory_id"] for one in reply.value["memories"]]


def kept(server: Server) -> list[dict[str, Any]]:
    """Every memory there is, newest first."""
    memories: list[dict[str, Any]] = []
    page = 1
    while True:
        value = server.call("memory_list_all", page=page, per_page=100).value
        memories += value["memories"]
        if not value["pagination"]["has_next"]:
            return memories
        page += 1


def contents(server: Server) -> list[str]:
    """The texts of every memory, oldest first."""
    return [one["content"] for one in reversed(kept(server))]


def scopes(server: Server, **more: Any) -> dict[str, Any]:
    """The tree of scopes by their paths."""
    return {one["scope"]: one for one in server.call("scope_list", **more).value["scopes"]}


def archive(server: Server, **more: Any) -> str:
    """An export that comes in the answer."""
    reply = server.call("memory_export", **more)
    assert not reply.failed, reply.text
    return str(reply.value["export_data"])


def imported(server: Server, **more: Any) -> dict[str, Any]:
    """What memory_import answers."""
    reply = server.call("memory_import", more)
    assert not reply.failed, reply.text
    value: dict[str, Any] = reply.value
    assert value["success"] is True
    return value


def fault(reply: Reply) -> dict[str, Any]:
    """What a refusal says; it has the seed's shape, and nothing else beside it."""
    assert reply.failed, reply.text[:1000]
    value: dict[str, Any] = reply.value
    assert list(value) == ["success", "error", "message", "data"], value
    assert value["success"] is False
    assert value["error"] in CATEGORIES
    assert value["message"]
    assert isinstance(value["data"], dict)
    return value


def refused(server: Server, tool: str, category: str, /, **arguments: Any) -> dict[str, Any]:
    """What a call is refused with, which has to be of this category."""
    value = fault(server.call(tool, arguments))
    assert value["error"] == category, value
    return value


def restarted(place: Place, server: Server, dialect: str = "associative", *arguments: str) -> Server:
    """The server ends as it should, and another one begins on the same store."""
    server.close_input()
    assert server.exit_code() == 0, server.complaints()
    return place.serve(dialect, *arguments)


def told(place: Place, *arguments: str) -> Any:
    """What a command answers as JSON."""
    done = place.run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
