"""A request with an id in its ``_meta`` that comes again is answered again and not done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stdio_client import Place, Server, entity, relation

_KEY = "polymnia/requestId"


def _read(text: str) -> Any:
    return json.loads(text) if text[:1] in ("{", "[") else text


def _twice(server: Server, tool: str, arguments: dict[str, Any], id: str, other: Server | None = None) -> Any:
    """The answer to a call that is made twice with one id, which has to be the same both times."""
    answers = [one.reply(one.begin_call(tool, arguments, meta={_KEY: id})).result for one in (server, other or server)]
    assert not answers[0].get("isError"), answers[0]
    first, again = (_read(answer["content"][0]["text"]) for answer in answers)
    for one in (first, again):
        if isinstance(one, dict):
            one.pop("request_id", None)
    return first, again


@pytest.mark.promise("protocol.requests.again")
def test_a_write_that_comes_again_is_done_once_and_answered_alike(place: Place) -> None:
    server, other = place.start("--dialect", "all"), place.start("--dialect", "all")
    server.initialize()
    other.initialize()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [entity("Ann", "Likes tea"), entity("Bob", "x")]}),
        ("create_relations", {"relations": [relation("Ann", "knows", "Bob")]}),
        ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["Lives in Ulm"]}]}),
        ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["Likes tea"]}]}),
        ("delete_relations", {"relations": [relation("Ann", "knows", "Bob")]}),
        ("delete_entities", {"entityNames": ["Bob"]}),
        ("session_manage", {"action": "create"}),
    ]
    for number, (tool, arguments) in enumerate(calls):
        first, again = _twice(server, tool, arguments, f"request {number}", other)
        assert first == again, tool

    stored, again = _twice(
        server, "memory_store", {"content": "Said twice", "allow_duplicates": True, "auto_associate": False}, "a store"
    )
    assert again["memory_id"] == stored["memory_id"]
    id = stored["memory_id"]
    for tool, arguments in (
        ("memory_update", {"memory_id": id, "tags": ["once"]}),
        ("memory_move", {"memory_ids": [id], "target_scope": "elsewhere"}),
        ("memory_delete", {"memory_id": id}),
    ):
        first, again = _twice(server, tool, arguments, f"{tool} request", other)
        assert first == again, tool
    archive = '{"memories": [{"content": "From a file", "scope": "work"}]}'
    first, again = _twice(server, "memory_import", {"import_data": archive, "merge_strategy": "create_versions"}, "i")
    assert first == again
    assert [one["content"] for one in server.call("memory_list_all").structured["memories"]].count("From a file") == 1

    arguments = {"operation": "store_content", "project_id": "p", "content": "Kept once"}
    first, again = _twice(server, "memory_store", arguments, "a content", other)
    assert again["content_id"] == first["content_id"]
    assert again["repeated"] is True


@pytest.mark.promise("protocol.requests.again")
def test_an_id_that_was_used_for_another_request_is_refused(strict: Server) -> None:
    strict.reply(strict.begin_call("create_entities", {"entities": [entity("Ann", "x")]}, meta={_KEY: "one"}))
    other = strict.reply(strict.begin_call("create_entities", {"entities": [entity("Bob", "x")]}, meta={_KEY: "one"}))
    assert other.failed
    assert "used for another request" in other.text
    assert strict.names() == ["Ann"]
    for wrong in (7, "", "x" * 201, ["one"]):
        told = strict.answer(strict.begin_call("create_entities", {"entities": [entity("C", "x")]}, meta={_KEY: wrong}))
        assert told["error"]["code"] == -32602
    assert strict.names() == ["Ann"]


@pytest.mark.promise("protocol.requests.private")
def test_what_is_kept_of_an_answer_shows_nothing_of_what_was_deleted(place: Place, tmp_path: Path) -> None:
    server = place.start("--dialect", "all")
    server.initialize()
    reply = server.reply(server.begin_call("memory_store", {"content": "zanzibar protocol"}, meta={_KEY: "secret id"}))
    server.reply(server.begin_call("memory_delete", {"memory_id": reply.structured["memory_id"]}, meta={_KEY: "gone"}))
    server.close()
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"zanzibar" not in held
    assert b"secret id" not in held
