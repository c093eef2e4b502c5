"""The examples of the seed, over a real process: its calls, its answers and both of its errors."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stdio_client import Place, Server, envelope

from .speaking import done, error, find, found, get, stored, write

SEED_STORE = {
    "operation": "store_content",
    "project_id": "my-project",
    "session_id": "session-123",
    "content": "# Project Documentation\n\nThis document describes...",
    "content_type": "text/markdown",
    "tags": ["documentation", "project"],
    "options": {"generate_embeddings": True, "detect_relationships": True},
}
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.mark.promise("content.seed.examples")
def test_the_first_call_of_the_seed_is_answered_with_its_fields_flat(words: Server) -> None:
    number = words.begin_call(
        "memory_store", {"operation": "store_content", "project_id": "my-project", "content": "Hello, world!"}
    )
    answer = words.answer(number)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", number)
    result = answer["result"]
    assert result["success"] is True
    assert result["message"] == "Content stored successfully"
    assert RFC3339.fullmatch(result["timestamp"])
    assert re.fullmatch(r"\d+ms", result["duration"])
    assert re.fullmatch(r"content_[0-9a-f]+", result["content_id"])


@pytest.mark.promise("content.seed.examples")
def test_the_example_of_store_content_keeps_all_it_gives(words: Server) -> None:
    answer = done(words, "memory_store", SEED_STORE)
    kept = get(words, "my-project", answer["content_id"], session_id="session-123")
    assert kept["content"] == SEED_STORE["content"]
    assert kept["content_type"] == "text/markdown"
    assert kept["tags"] == ["documentation", "project"]
    assert kept["session_id"] == "session-123"


@pytest.mark.promise("content.seed.examples")
def test_the_calls_of_the_client_libraries_find_what_they_stored(words: Server) -> None:
    id = stored(words, "my-project", "Important information to remember", tags=["important", "memory"])
    answer = find(words, "my-project", "important information", options={"limit": 5})
    assert [one["content"]["content_id"] for one in answer["results"]] == [id]
    assert (answer["total"], answer["page"], answer["per_page"]) == (1, 1, 5)


@pytest.mark.promise("content.answers.flat")
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_fields_stand_flat_beside_what_the_protocol_has_its_own(shared: Server, project: str, era: str) -> None:
    meta = {"_meta": envelope()} if era == "modern" else {}
    arguments = {"operation": "store_content", "project_id": project, "content": "Oak and ash"}
    result = shared.request("tools/call", {"name": "memory_store", "arguments": arguments, **meta})
    structured = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == structured
    assert {key: result[key] for key in structured} == structured
    id = structured["content_id"]
    arguments = {"operation": "get_content", "project_id": project, "content_id": id}
    result = shared.request("tools/call", {"name": "memory_retrieve", "arguments": arguments, **meta})
    # `content` is the protocol's word too, and stays the protocol's.
    assert result["content"][0]["type"] == "text"
    assert result["structuredContent"]["content"]["content"] == "Oak and ash"
    assert result["content_id"] == id


@pytest.mark.promise("content.errors.seed")
@pytest.mark.parametrize(
    ("tool", "operation"),
    [
        ("memory_store", "store_content"), ("memory_store", "update_content"), ("memory_store", "delete_content"),
        ("memory_store", "store_decision"), ("memory_store", "create_relationship"),
        ("memory_retrieve", "search_content"), ("memory_retrieve", "get_content"),
        ("memory_retrieve", "find_similar_content"), ("memory_retrieve", "get_content_history"),
    ],
)  # fmt: skip
def test_a_missing_project_is_refused_in_the_words_of_the_seed(shared: Server, tool: str, operation: str) -> None:
    arguments: dict[str, Any] = {
        "store_content": {"content": "x"},
        "update_content": {"content_id": "x", "updates": {"content": "y"}},
        "store_decision": {"title": "t", "context": "c", "decision": "d", "rationale": "r"},
        "create_relationship": {"source_id": "x", "target_id": "y", "type": "cites"},
        "search_content": {"query": "x"},
    }.get(operation, {"content_id": "x"})
    number = shared.begin_call(tool, {"operation": operation, **arguments})
    answer = shared.answer(number)
    url = answer["error"]["data"].pop("documentation_url")
    assert answer == {
        "jsonrpc": "2.0",
        "error": {
            "code": 422,
            "message": "Parameter validation failed: `project_id` is required (string)",
            "data": {
                "error_type": "validation_error",
                "details": {"field": "project_id", "violation": "required", "provided": None},
                "suggestions": [
                    "Provide a valid project_id parameter",
                    "Use an existing project ID from your account",
                ],
            },
        },
        "id": number,
    }
    assert url == "polymnia://docs/parameters"


@pytest.mark.promise("content.errors.seed")
def test_a_missing_project_is_refused_byte_for_byte(place: Place) -> None:
    server = place.serve("content")
    line = server.exchange(
        '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":'
        '{"name":"memory_store","arguments":{"operation":"store_content","content":"x"}}}'
    )
    keys = [list(line["error"]), list(line["error"]["data"]), list(line["error"]["data"]["details"])]
    assert keys == [
        ["code", "message", "data"],
        ["error_type", "details", "suggestions", "documentation_url"],
        ["field", "violation", "provided"],
    ]


@pytest.mark.promise("content.errors.seed")
@pytest.mark.parametrize(
    ("tool", "operation", "more"),
    [
        ("memory_retrieve", "get_content", {}),
        ("memory_retrieve", "get_content_history", {}),
        ("memory_retrieve", "find_similar_content", {}),
        ("memory_store", "update_content", {"updates": {"summary": "s"}}),
        ("memory_store", "delete_content", {}),
        ("memory_store", "delete_content", {"options": {"hard": True}}),
    ],
)
def test_what_is_not_there_is_refused_in_the_words_of_the_seed(
    shared: Server, tool: str, operation: str, more: dict[str, Any]
) -> None:
    there = {"content": "The project is there."}
    shared.call("memory_store", {"operation": "store_content", "project_id": "my-project", **there})
    arguments = {"operation": operation, "project_id": "my-project", "content_id": "content_xyz789", **more}
    number = shared.begin_call(tool, arguments)
    assert shared.answer(number) == {
        "jsonrpc": "2.0",
        "error": {
            "code": 404,
            "message": "Content not found",
            "data": {
                "error_type": "resource_not_found",
                "details": {
                    "resource_type": "content",
                    "resource_id": "content_xyz789",
                    "project_id": "my-project",
                },
                "suggestions": [
                    "Verify the content ID is correct",
                    "Check if the content was deleted",
                    "Ensure you have access to this project",
                ],
            },
        },
        "id": number,
    }


@pytest.mark.promise("content.tools")
def test_the_tools_show_their_operations_and_every_parameter(shared: Server) -> None:
    tools = shared.tools()
    assert {"memory_store", "memory_retrieve"} <= set(tools)
    store, retrieve = (tools[name]["inputSchema"] for name in ("memory_store", "memory_retrieve"))
    assert set(store["properties"]["operation"]["enum"]) == {
        "store_content", "update_content", "delete_content", "store_decision", "create_relationship",
    }  # fmt: skip
    assert set(retrieve["properties"]["operation"]["enum"]) == {
        "search_content", "get_content", "find_similar_content", "get_content_history",
    }  # fmt: skip
    standard = {"operation", "project_id", "session_id", "user_id", "request_id"}
    assert set(store["properties"]) == standard | {
        "content", "summary", "content_type", "tags", "metadata", "options", "content_id", "updates", "title",
        "context", "decision", "rationale", "alternatives", "impact", "stakeholders", "source_id", "target_id",
        "type", "strength",
    }  # fmt: skip
    assert set(store["properties"]["options"]["properties"]) == {
        "generate_embeddings", "detect_relationships", "extract_metadata", "regenerate_embeddings",
        "update_relationships", "preserve_previous", "hard", "delete_relationships", "preserve_references",
        "restore",
    }  # fmt: skip
    assert set(retrieve["properties"]) == standard | {
        "query", "query_type", "filters", "options", "content_id", "include_refs", "include_history", "content",
        "limit", "threshold", "include_diffs", "max_tokens", "cursor",
    }  # fmt: skip
    assert set(retrieve["properties"]["options"]["properties"]) == {
        "limit", "offset", "min_relevance", "include_context", "include_highlights", "sort_by", "sort_order",
        "include_embeddings", "include_relationships", "include_metadata", "format", "include_self",
        "content_types", "exclude_ids", "similarity_method",
    }  # fmt: skip
    assert "$ref" not in json.dumps(tools)


@pytest.mark.promise("content.tools")
def test_the_tools_say_which_of_them_only_reads(shared: Server) -> None:
    tools = shared.tools()
    assert tools["memory_retrieve"]["annotations"]["readOnlyHint"] is True
    assert tools["memory_store"]["annotations"]["readOnlyHint"] is False


@pytest.mark.promise("content.answers.on_disk")
def test_what_was_answered_survives_a_server_that_is_killed(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "The kettle is on")
    write(words, "update_content", "atlas", content_id=id, updates={"content": "The kettle is off"})
    words.kill()
    again = place.serve("content")
    assert get(again, "atlas", id)["content"] == "The kettle is off"
    assert found(again, "atlas", "kettle") == [id]


@pytest.mark.promise("content.errors.lives_on")
def test_after_every_refusal_the_server_answers_on(shared: Server, project: str) -> None:
    for arguments in ({}, {"operation": None}, {"operation": 5}, {"operation": "x"}, {"operation": "store_content"}):
        assert error(shared, "memory_store", {"project_id": project, **arguments})["code"] in (400, 422)
    assert stored(shared, project, "still here")
