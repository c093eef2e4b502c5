"""What tools/list says about the nine graph tools."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stdio_client import Server, entity, relation

REQUIRED: dict[str, list[str]] = {
    "create_entities": ["entities"],
    "create_relations": ["relations"],
    "add_observations": ["observations"],
    "delete_entities": ["entityNames"],
    "delete_observations": ["deletions"],
    "delete_relations": ["relations"],
    "read_graph": [],
    "search_nodes": ["query"],
    "open_nodes": ["names"],
}
ITEMS = {
    ("create_entities", "entities"): ["name", "entityType", "observations"],
    ("create_relations", "relations"): ["from", "to", "relationType"],
    ("add_observations", "observations"): ["entityName", "contents"],
    ("delete_observations", "deletions"): ["entityName", "observations"],
    ("delete_relations", "relations"): ["from", "to", "relationType"],
}
READS = {"read_graph", "search_nodes", "open_nodes"}
DELETES = {"delete_entities", "delete_observations", "delete_relations"}


def keywords(schema: Any) -> set[str]:
    """Every keyword used anywhere in a schema."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    inner = [keywords(value) for key, value in schema.items() if key != "properties"]
    inner += [keywords(value) for value in schema.get("properties", {}).values()]
    return set(schema).union(*inner)


@pytest.mark.promise("graph.tools.nine")
def test_exactly_the_nine_graph_tools_are_offered(server: Server) -> None:
    assert set(server.tools()) == set(REQUIRED)


@pytest.mark.promise("graph.tools.described")
def test_every_tool_has_a_title_and_says_what_it_and_its_arguments_do(server: Server) -> None:
    for name, tool in server.tools().items():
        assert tool["title"].strip(), name
        assert len(tool["description"]) > 20, name
        for argument, schema in tool["inputSchema"].get("properties", {}).items():
            assert schema.get("description", "").strip(), (name, argument)


@pytest.mark.promise("graph.tools.annotations")
def test_annotations_tell_readers_writers_and_destroyers_apart(server: Server, dialect: str) -> None:
    for name, tool in server.tools().items():
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (name in READS), name
        assert hints["openWorldHint"] is False, name
        if name in DELETES:
            assert hints["destructiveHint"] is True, name
            assert hints["idempotentHint"] is True, name
        elif name in READS:
            assert hints["destructiveHint"] is False, name
            assert hints["idempotentHint"] is True, name
        else:
            # simple replaces what has the same name, which a client may want to ask about.
            assert isinstance(hints["destructiveHint"], bool), name
            assert isinstance(hints["idempotentHint"], bool), name
    if dialect == "official":
        for name in set(REQUIRED) - READS - DELETES:
            hints = server.tools()[name]["annotations"]
            assert hints["destructiveHint"] is False, name
            assert hints["idempotentHint"] is False, name


@pytest.mark.promise("graph.tools.input_schema")
def test_input_schemas_are_flat_valid_and_require_what_the_contract_requires(server: Server) -> None:
    for name, tool in server.tools().items():
        schema = tool["inputSchema"]
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object", name
        assert sorted(schema.get("required", [])) == sorted(REQUIRED[name]), name
        assert not keywords(schema) & {"$ref", "$defs", "definitions", "oneOf", "allOf"}, name
        assert "anyOf" not in schema, name
        extras = {"limit", "cursor", "max_tokens"} if name in READS else set()
        assert set(schema.get("properties", {})) == set(REQUIRED[name]) | extras, name
    for (name, field), required in ITEMS.items():
        item = server.tools()[name]["inputSchema"]["properties"][field]["items"]
        assert item["type"] == "object", name
        assert sorted(item["required"]) == sorted(required), name


@pytest.mark.promise("graph.tools.input_schema")
def test_what_the_seeds_show_fits_the_input_schemas(server: Server) -> None:
    examples: dict[str, dict[str, Any]] = {
        "create_entities": {"entities": [entity("a", "x")]},
        "create_relations": {"relations": [relation("a", "knows", "b")]},
        "add_observations": {"observations": [{"entityName": "a", "contents": ["x"]}]},
        "delete_entities": {"entityNames": ["a"]},
        "delete_observations": {"deletions": [{"entityName": "a", "observations": ["x"]}]},
        "delete_relations": {"relations": [relation("a", "knows", "b")]},
        "read_graph": {},
        "search_nodes": {"query": "x"},
        "open_nodes": {"names": ["a"]},
    }
    for name, tool in server.tools().items():
        Draft202012Validator(tool["inputSchema"]).validate(examples[name])
        if name in READS:
            Draft202012Validator(tool["inputSchema"]).validate(
                {**examples[name], "limit": 5, "cursor": "c", "max_tokens": 500}
            )


@pytest.mark.promise("graph.tools.output_schema")
def test_every_tool_has_an_output_schema_that_its_answers_fit(server: Server) -> None:
    tools = server.tools()
    for name, tool in tools.items():
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["outputSchema"]["type"] == "object", name

    a, b, ab = entity("a", "x", "y"), entity("b", "z"), relation("a", "knows", "b")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [a, b]}),
        ("create_relations", {"relations": [ab]}),
        ("add_observations", {"observations": [{"entityName": "a", "contents": ["w"]}]}),
        ("read_graph", {}),
        ("read_graph", {"limit": 1}),
        ("search_nodes", {"query": "a"}),
        ("search_nodes", {"query": "x", "limit": 1}),
        ("open_nodes", {"names": ["a"]}),
        ("open_nodes", {"names": ["a", "b"], "limit": 1}),
        ("delete_relations", {"relations": [ab]}),
        ("delete_observations", {"deletions": [{"entityName": "a", "observations": ["x"]}]}),
        ("delete_entities", {"entityNames": ["a", "b"]}),
    ]
    for name, arguments in calls:
        reply = server.call(name, arguments)
        assert not reply.failed, name
        Draft202012Validator(tools[name]["outputSchema"]).validate(reply.structured)


@pytest.mark.promise("graph.tools.unknown")
def test_an_unknown_tool_is_refused_and_named(server: Server, dialect: str) -> None:
    answer = server.answer(server.begin("tools/call", {"name": "create_entitys", "arguments": {}}))

    if dialect == "official":
        assert answer["result"]["isError"] is True
        assert answer["result"]["content"][0]["text"] == "MCP error -32602: Tool create_entitys not found"
    else:
        assert answer["error"]["code"] == -32602
        assert "create_entitys" in answer["error"]["message"]
