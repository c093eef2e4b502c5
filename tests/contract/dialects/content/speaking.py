"""The words in which these tests talk to a server of the content dialect."""

from __future__ import annotations

import json
from typing import Any

from stdio_client import Place, Server

__all__ = [
    "DECISION", "RELATIONSHIPS", "bytes_of", "done", "error", "find", "found", "get", "read", "refused", "related",
    "restarted", "similar", "stored", "told", "versions", "write",
]  # fmt: skip

RELATIONSHIPS = (
    "similar_to", "related_to", "references", "cites", "contains", "part_of", "follows", "precedes", "causes",
    "resolves", "implements", "describes",
)  # fmt: skip

DECISION: dict[str, Any] = {
    "title": "Keep rye and wheat apart",
    "context": "Two mills share one silo",
    "decision": "A second silo is built",
    "rationale": "Flour was mixed twice",
    "alternatives": ["Clean the silo weekly", "Sell the rye"],
    "impact": "Costs a season's profit",
    "stakeholders": ["Millers", "Bakers"],
}


def done(server: Server, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a call answers, which has to be a success."""
    reply = server.call(tool, arguments)
    assert not reply.failed, reply.text[:1000]
    value: dict[str, Any] = reply.structured
    assert value["success"] is True
    return value


def write(server: Server, operation: str, project: str, /, **more: Any) -> dict[str, Any]:
    """What an operation of memory_store answers."""
    return done(server, "memory_store", {"operation": operation, "project_id": project, **more})


def read(server: Server, operation: str, project: str, /, **more: Any) -> dict[str, Any]:
    """What an operation of memory_retrieve answers."""
    return done(server, "memory_retrieve", {"operation": operation, "project_id": project, **more})


def error(server: Server, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The error a call is refused with; it has the seed's shape."""
    told = server.refusal("tools/call", {"name": tool, "arguments": arguments})
    assert list(told) == ["code", "message", "data"], told
    assert set(told["data"]) - {"documentation_url"} == {"error_type", "details", "suggestions"}, told
    assert told["message"]
    assert all(isinstance(one, str) and one for one in told["data"]["suggestions"]), told
    return told


def refused(server: Server, operation: str, code: int, project: str, /, **more: Any) -> dict[str, Any]:
    """What an operation is refused with, which has to have this code."""
    reads = operation.startswith(("search_", "get_", "find_"))
    told = error(
        server,
        "memory_retrieve" if reads else "memory_store",
        {"operation": operation, "project_id": project, **more},
    )
    assert told["code"] == code, told
    return told


def stored(server: Server, project: str, content: str, /, **more: Any) -> str:
    """The id of a content that is stored."""
    return str(write(server, "store_content", project, content=content, **more)["content_id"])


def related(server: Server, project: str, source: str, target: str, /, type: str = "references", **more: Any) -> str:
    """The id of a relationship that is drawn."""
    answer = write(server, "create_relationship", project, source_id=source, target_id=target, type=type, **more)
    return str(answer["relationship_id"])


def get(server: Server, project: str, id: str, /, **more: Any) -> dict[str, Any]:
    """A content as get_content shows it."""
    answer = read(server, "get_content", project, content_id=id, **more)
    assert answer["content_id"] == id
    value: dict[str, Any] = answer["content"]
    return value


def find(server: Server, project: str, query: str, /, **more: Any) -> dict[str, Any]:
    """What a search answers."""
    return read(server, "search_content", project, query=query, **more)


def found(server: Server, project: str, query: str, /, **more: Any) -> list[str]:
    """The ids that a search finds, in its order."""
    return [one["content"]["content_id"] for one in find(server, project, query, **more)["results"]]


def similar(server: Server, project: str, /, **more: Any) -> dict[str, float]:
    """What is similar, with how much, in the order of the answer."""
    answer = read(server, "find_similar_content", project, **more)
    return {one["content"]["content_id"]: one["similarity"] for one in answer["results"]}


def versions(server: Server, project: str, id: str, /, **more: Any) -> list[dict[str, Any]]:
    """The versions of a content, newest first."""
    answer = read(server, "get_content_history", project, content_id=id, **more)
    value: list[dict[str, Any]] = answer["versions"]
    return value


def restarted(place: Place, server: Server, *arguments: str) -> Server:
    """The server ends as it should, and another one begins on the same store."""
    server.close_input()
    assert server.exit_code() == 0, server.complaints()
    return place.serve("content", *arguments)


def told(place: Place, project: str, *arguments: str) -> Any:
    """What a command answers about a project, as JSON."""
    done = place.run(*arguments, "--project", project, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bytes_of(place: Place) -> dict[str, bytes]:
    """The files of the store as they are on the disk."""
    return place.contents()
