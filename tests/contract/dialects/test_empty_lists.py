"""What each dialect says to an outer array that is empty."""

from __future__ import annotations

import json

import pytest

from stdio_client import Server, entity

LISTS = {
    "create_entities": "entities",
    "create_relations": "relations",
    "add_observations": "observations",
    "delete_entities": "entityNames",
    "delete_observations": "deletions",
    "delete_relations": "relations",
    "open_nodes": "names",
}


@pytest.mark.promise("graph.simple.batch.empty")
def test_simple_answers_an_empty_array(simple: Server) -> None:
    for tool, field in LISTS.items():
        reply = simple.call(tool, {field: []})
        assert reply.text == "[]", tool
        assert reply.structured == {"result": []}, tool


@pytest.mark.promise("graph.strict.batch.empty")
def test_strict_refuses_it_and_names_the_field(strict: Server) -> None:
    for tool, field in LISTS.items():
        lines = strict.refused(tool, {field: []}).lines
        assert lines[0] == f"Error: {field} array cannot be empty", tool
        assert lines[1].startswith("Solution: "), tool
        assert len(lines) == 2, tool


@pytest.mark.promise("graph.bilingual.batch.empty")
def test_bilingual_refuses_it_in_both_languages(bilingual: Server) -> None:
    for tool, field in LISTS.items():
        assert bilingual.refused(tool, {field: []}).text == (
            f"Error: Invalid arguments: {field} array cannot be empty\n잘못된 인자: {field} 배열은 비어있을 수 없습니다"
        ), tool


@pytest.mark.promise("graph.official.batch.empty")
def test_official_answers_an_empty_result_as_the_npm_release_does(official: Server) -> None:
    official.call("create_entities", entities=[entity("a", "stays")])

    for tool in ("create_entities", "create_relations", "add_observations"):
        assert official.call(tool, {LISTS[tool]: []}).text == "[]", tool
    for tool, what in (
        ("delete_entities", "Entities"),
        ("delete_observations", "Observations"),
        ("delete_relations", "Relations"),
    ):
        assert official.call(tool, {LISTS[tool]: []}).text == f"{what} deleted successfully"
    nothing = {"entities": [], "relations": []}
    assert official.call("open_nodes", names=[]).text == json.dumps(nothing, indent=2)
    assert official.names() == ["a"]
