"""Every example of the seed, wrapped in `request` and bare, answered with the fields the seed shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from form import each
from stdio_client import Place, Reply, Server

from .speaking import archive, refused, stored

Message = dict[str, Any]

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STORED = ("memory_id", "content", "scope", "created_at", "is_duplicate", "associations")
GOT = ("memory_id", "content", "scope", "metadata", "tags", "category", "created_at", "associations")
MOVED = ("moved_count", "failed_moves", "target_scope", "moved_memories")


def example(tool: str, *fields: str, id: str, **arguments: Any) -> Any:
    return pytest.param(tool, fields, arguments, id=id)


# A text in <> stands for the id of a memory that says it; FILE for an archive that is there.
EXAMPLES = [
    example("memory_store", *STORED, id="memory_store", content="Your memory content here",
            scope="work/projects/example", category="programming", tags=["python", "fastapi"],
            metadata={"project": "mcp-server"}, allow_duplicates=False, auto_associate=True, similarity_threshold=0.95),
    example("memory_search", "memories", "total_found", "search_scope", id="memory_search",
            query="Python async programming patterns", scope="learning/programming", limit=10, similarity_threshold=0.1,
            include_associations=True, include_child_scopes=False),
    example("memory_get", *GOT, id="memory_get", memory_id="<got>", include_associations=True),
    example("memory_update", *GOT, id="memory_update", memory_id="<updated>", content="Updated content",
            scope="new/scope/path", tags=["updated", "tags"], category="new-category",
            metadata={"updated": "2025-07-10"}, preserve_associations=True),
    example("memory_delete", "success", "memory_id", id="memory_delete", memory_id="<deleted>"),
    example("memory_discover_associations", "source_memory", "associations", "discovery_stats", id="discover",
            memory_id="<discovered>", limit=15, similarity_threshold=0.1),
    example("scope_list", "scopes", "total_scopes", "hierarchy_depth", id="scope_list", parent_scope="work",
            include_memory_counts=True),
    example("scope_suggest", "suggested_scope", "confidence", "alternatives", "analysis", id="scope_suggest",
            content="Meeting notes from standup discussion about API performance", current_scope="work/meetings"),
    example("memory_move", *MOVED, id="memory_move", memory_ids=["<one>", "<two>", "<three>"],
            target_scope="work/projects/mcp-improvements"),
    example("memory_list_all", "memories", "pagination", id="memory_list_all", page=1, per_page=25),
    example("memory_export", "success", "exported_count", "export_scope", "file_path", "export_size",
            "compression_used", id="memory_export to a file", scope="work", file_path="backup-2025-07-10.json",
            export_format="json", compression=False, include_associations=True),
    example("memory_export", "success", "exported_count", "export_data", "export_size", id="memory_export of data"),
    example("memory_import", "success", "imported_count", "skipped_count", "overwritten_count", "import_source",
            "merge_strategy_used", "validation_errors", "imported_scopes", id="memory_import", file_path="FILE",
            merge_strategy="skip_duplicates", target_scope_prefix="imported/", validate_data=True),
    example("session_manage", "action", "session_id", "session_scope", "created_at", id="session create",
            action="create", session_id="mcp-development-session", max_age_days=7),
    example("session_manage", "action", "sessions", "total_sessions", id="session list", action="list"),
    example("session_manage", "action", "removed_sessions", "freed_memories", "max_age_days", id="session cleanup",
            action="cleanup"),
    example("memory_store", *STORED, id="workflow: a learning", scope="learning/react/performance",
            content="Learned that React useCallback should only be used when referential equality matters for child "
            "component optimization", tags=["react", "hooks", "performance", "useCallback"], category="programming"),
    example("memory_search", "memories", "total_found", "search_scope", id="workflow: a search",
            query="React performance optimization hooks", scope="learning/react"),
    example("memory_discover_associations", "source_memory", "associations", "discovery_stats", id="workflow: related",
            memory_id="<performance>", limit=10),
    example("memory_store", *STORED, id="project: start", category="project-start",
            content="Starting new e-commerce platform project with React, Node.js, and PostgreSQL",
            scope="work/projects/ecommerce-platform"),
    example("memory_store", *STORED, id="project: decision",
            content="Chose Redux Toolkit over Context API for state management due to complex state interactions and "
            "time-travel debugging needs", scope="work/projects/ecommerce-platform/architecture",
            tags=["redux", "state-management", "architecture"],
            metadata={"decision_date": "2025-07-10", "stakeholders": ["team-lead", "senior-dev"]}),
    example("memory_export", "success", "exported_count", "file_path", id="knowledge: documentation",
            scope="work/projects/ecommerce-platform", file_path="ecommerce-project-knowledge.json",
            include_associations=True),
    example("memory_export", "success", "exported_count", "export_data", id="knowledge: sync", scope="work",
            compression=True),
]  # fmt: skip


def filled(server: Server, value: Any) -> Any:
    """An example's arguments with ids and files that exist."""
    if isinstance(value, dict):
        return {key: filled(server, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(server, inner) for inner in value]
    if value == "FILE":
        name = "an-archive.json"
        server.call("memory_export", file_path=name)
        return name
    if isinstance(value, str) and value.startswith("<"):
        return stored(server, f"what is {value[1:-1]}", scope="seed", allow_duplicates=True)
    return value


def answered(server: Server, tool: str, fields: tuple[str, ...], arguments: Message) -> Reply:
    """The answer to an example; it has what the seed shows, as text and as structure."""
    if "request" not in arguments:
        schema = server.tools()[tool]["inputSchema"]
        assert not list(Draft202012Validator(schema).iter_errors(arguments))
    reply = server.call(tool, arguments)
    assert not reply.failed, reply.text
    assert reply.structured == reply.value
    assert set(fields) <= reply.value.keys()
    return reply


@pytest.mark.promise("associative.arguments.bare")
@pytest.mark.promise("associative.answers.fields")
@each(("tool", "fields", "arguments"), EXAMPLES)
def test_an_example_of_the_seed_is_answered_bare(
    shared: Server, tool: str, fields: tuple[str, ...], arguments: Message
) -> None:
    answered(shared, tool, fields, filled(shared, arguments))


@pytest.mark.promise("associative.arguments.wrapped")
@pytest.mark.promise("associative.answers.fields")
@each(("tool", "fields", "arguments"), EXAMPLES)
def test_an_example_of_the_seed_is_answered_wrapped(
    shared: Server, tool: str, fields: tuple[str, ...], arguments: Message
) -> None:
    answered(shared, tool, fields, {"request": filled(shared, arguments)})


@pytest.mark.promise("associative.arguments.quoted")
@each(("tool", "fields", "arguments"), EXAMPLES)
def test_an_example_is_answered_when_a_client_quotes_the_request(
    shared: Server, tool: str, fields: tuple[str, ...], arguments: Message
) -> None:
    quoted = json.dumps(filled(shared, arguments), ensure_ascii=False)
    reply = shared.call(tool, request=quoted)
    assert not reply.failed, reply.text
    assert set(fields) <= reply.value.keys()


@pytest.mark.promise("associative.tools")
def test_the_thirteen_tools_are_there_and_none_besides(shared: Server) -> None:
    assert set(shared.tools()) == {
        "memory_store", "memory_search", "memory_get", "memory_update", "memory_delete", "memory_discover_associations",
        "scope_list", "scope_suggest", "memory_move", "memory_list_all", "memory_export", "memory_import",
        "session_manage",
    }  # fmt: skip


@pytest.mark.promise("associative.tools.flat")
def test_every_schema_is_one_flat_object_without_references(shared: Server) -> None:
    for name, tool in shared.tools().items():
        for part in ("inputSchema", "outputSchema"):
            schema = tool[part]
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object", name
            assert not {"oneOf", "anyOf", "allOf", "not", "enum"} & schema.keys(), name
            assert "$ref" not in json.dumps(schema), name
        assert "request" not in tool["inputSchema"]["properties"], "what is required must be so for every caller"


@pytest.mark.promise("associative.tools.hints")
def test_tools_say_which_of_them_change_and_which_destroy(shared: Server) -> None:
    hints = {name: tool["annotations"] for name, tool in shared.tools().items()}
    reading = {name for name, hint in hints.items() if hint["readOnlyHint"]}
    assert reading >= {
        "memory_search", "memory_get", "memory_discover_associations", "scope_list", "scope_suggest", "memory_list_all",
    }  # fmt: skip
    assert not reading & {
        "memory_store", "memory_update", "memory_delete", "memory_move", "memory_import", "session_manage",
    }  # fmt: skip
    assert hints["memory_delete"]["destructiveHint"] is True
    assert hints["memory_store"]["destructiveHint"] is False


REQUIRED: dict[str, Callable[[Server], Message]] = {
    "memory_store": lambda server: {"content": f"text {server.fresh_id()}"},
    "memory_search": lambda server: {"query": "nulls"},
    "memory_get": lambda server: {"memory_id": stored(server, "to be read", allow_duplicates=True)},
    "memory_update": lambda server: {"memory_id": stored(server, "to be changed", allow_duplicates=True)},
    "memory_delete": lambda server: {"memory_id": stored(server, "to be deleted", allow_duplicates=True)},
    "memory_discover_associations": lambda server: {"memory_id": stored(server, "around", allow_duplicates=True)},
    "scope_list": lambda server: {},
    "scope_suggest": lambda server: {"content": "with nulls"},
    "memory_move": lambda server: {
        "memory_ids": [stored(server, f"to be moved {server.fresh_id()}")],
        "target_scope": "moved/here",
    },
    "memory_list_all": lambda server: {},
    "memory_export": lambda server: {},
    "memory_import": lambda server: {"import_data": archive(server)},
    "session_manage": lambda server: {"action": "list"},
}


@pytest.mark.promise("associative.arguments.null")
@each("tool", REQUIRED)
@each("wrapped", [False, True])
def test_null_says_the_same_as_nothing_for_every_optional_parameter(shared: Server, tool: str, wrapped: bool) -> None:
    names = [name for name in shared.tools()[tool]["inputSchema"]["properties"] if name != "request"]
    without, arguments = REQUIRED[tool](shared), {**dict.fromkeys(names), **REQUIRED[tool](shared)}
    plain = shared.call(tool, {"request": without} if wrapped else without)
    nulls = shared.call(tool, {"request": arguments} if wrapped else {**arguments, "request": None})
    assert not plain.failed, plain.text
    assert not nulls.failed, nulls.text
    assert nulls.value.keys() == plain.value.keys()


@pytest.mark.promise("associative.arguments.both")
def test_a_request_with_parameters_beside_it_is_refused(shared: Server) -> None:
    value = refused(shared, "memory_store", "VALIDATION_ERROR", request={"content": "inside"}, content="outside of it")
    assert "request" in value["message"]
    assert "content" in value["message"]
    assert "inside" not in archive(shared)


@pytest.mark.promise("associative.arguments.unknown")
@each("tool", REQUIRED)
def test_a_parameter_that_nobody_knows_is_refused_by_its_name(shared: Server, tool: str) -> None:
    arguments = {**REQUIRED[tool](shared), "colour": "red"}
    for given in (arguments, {"request": arguments}):
        value = refused(shared, tool, "VALIDATION_ERROR", **given)
        assert "colour" in value["message"]
        assert value["data"]["fields"] == ["colour"]


@pytest.mark.promise("associative.arguments.bad_request")
@each(
    "request_",
    [5, [], True, "", "no JSON", "[]", '{"content": ', '"\\ud800"', "\0", '{"content": "a", "content2": 1}'],
)
def test_a_request_that_is_no_object_is_refused_and_the_server_lives_on(shared: Server, request_: Any) -> None:
    refused(shared, "memory_store", "VALIDATION_ERROR", request=request_)
    assert shared.request("ping") == {}


@pytest.mark.promise("associative.arguments.bad_request")
def test_a_lone_surrogate_in_a_quoted_request_is_refused(shared: Server) -> None:
    line = (
        '{"jsonrpc":"2.0","id":"surrogate","method":"tools/call","params":{"name":"memory_store",'
        '"arguments":{"request":"{\\"content\\":\\"\\ud800\\"}"}}}'
    )
    shared.send_line(line)
    answer = shared.answer("surrogate")
    assert json.loads(answer["result"]["content"][0]["text"])["error"] == "VALIDATION_ERROR"


@pytest.mark.promise("associative.answers.types")
def test_answers_have_the_types_and_values_of_the_seed(place: Place, words: Server) -> None:
    answer = words.call("memory_store", content="한 줄의 글", scope="work/projects/example").value
    assert answer["content"] == "한 줄의 글"
    assert answer["scope"] == "work/projects/example"
    assert answer["is_duplicate"] is False
    assert answer["associations"] == []
    assert MOMENT.fullmatch(answer["created_at"])
    again = words.call("memory_search", query="한 줄의 글").value
    (hit,) = again["memories"]
    assert {"memory_id", "content", "scope", "similarity_score", "associations"} <= hit.keys()
    assert again["total_found"] == 1
    assert again["search_scope"] is None
    page = words.call("memory_list_all").value["pagination"]
    assert page == {
        "page": 1, "per_page": 10, "total_items": 1, "total_pages": 1, "has_next": False, "has_prev": False,
    }  # fmt: skip
    moved = words.call("memory_move", memory_ids=[answer["memory_id"]], target_scope="work/other").value
    assert moved == {
        "moved_count": 1,
        "failed_moves": [],
        "target_scope": "work/other",
        "moved_memories": [
            {"memory_id": answer["memory_id"], "old_scope": "work/projects/example", "new_scope": "work/other"}
        ],
    }
    exported = words.call("memory_export", file_path="a.json").value
    assert (place.folder / "exports" / "a.json").stat().st_size == exported["export_size"]
    assert exported["exported_count"] == 1
    assert exported["file_path"].endswith("a.json")


@pytest.mark.promise("associative.answers.modern")
def test_the_stateless_era_gets_the_same_answers(shared: Server) -> None:
    id = stored(shared, "an answer for every era", scope="eras")
    arguments = {"name": "memory_get", "arguments": {"memory_id": id}}
    result = shared.modern("tools/call", arguments)
    assert result["structuredContent"] == shared.call("memory_get", memory_id=id).structured
