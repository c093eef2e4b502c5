"""How each dialect words an error, and what it says to arguments that do not fit."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stdio_client import Server, entity

MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("create_entities", {}, "entities"),
    ("create_entities", {"entities": "alice"}, "entities"),
    ("create_entities", {"entities": None}, "entities"),
    ("create_entities", {"entities": [{"entityType": "t", "observations": ["o"]}]}, "name"),
    ("create_entities", {"entities": [{"name": 7, "entityType": "t", "observations": ["o"]}]}, "name"),
    ("create_entities", {"entities": [{"name": "n", "entityType": "t"}]}, "observations"),
    (
        "create_entities",
        {"entities": [{"name": "n", "entityType": "t", "observations": "o"}]},
        "observations",
    ),
    (
        "create_entities",
        {"entities": [{"name": "n", "entityType": "t", "observations": [1]}]},
        "observations",
    ),
    ("create_entities", {"entities": [{"name": "n", "observations": ["o"]}]}, "entityType"),
    ("create_relations", {"relations": [{"from": "a", "to": "b"}]}, "relationType"),
    ("create_relations", {"relations": [{"from": "a", "relationType": "b"}]}, "to"),
    ("add_observations", {"observations": [{"entityName": "a"}]}, "contents"),
    ("add_observations", {}, "observations"),
    ("delete_entities", {}, "entityNames"),
    ("delete_entities", {"entityNames": [1]}, "entityNames"),
    ("delete_observations", {"deletions": [{"entityName": "a"}]}, "observations"),
    ("delete_relations", {}, "relations"),
    ("search_nodes", {}, "query"),
    ("search_nodes", {"query": 5}, "query"),
    ("open_nodes", {}, "names"),
    ("open_nodes", {"names": "alice"}, "names"),
]


@pytest.mark.promise("graph.simple.errors.form")
def test_simple_answers_an_object_with_the_key_error(simple: Server) -> None:
    for tool, arguments, field in MISFITS:
        refusal = simple.refused(tool, arguments)
        assert set(refusal.value) == {"error"}, tool
        assert field in refusal.value["error"], (tool, arguments)
    assert simple.names() == []


@pytest.mark.promise("graph.strict.errors.form")
def test_strict_answers_a_line_with_the_error_and_a_line_with_the_solution(strict: Server) -> None:
    for tool, arguments, field in MISFITS:
        first, second = strict.refused(tool, arguments).lines
        assert first.startswith("Error: "), tool
        assert field in first, (tool, arguments)
        assert second.startswith("Solution: "), tool
    assert strict.names() == []


@pytest.mark.promise("graph.bilingual.errors.form")
def test_bilingual_answers_a_line_in_english_and_a_line_in_korean(bilingual: Server) -> None:
    for tool, arguments, field in MISFITS:
        first, second = bilingual.refused(tool, arguments).lines
        assert first.startswith("Error: Invalid arguments: "), tool
        assert field in first, (tool, arguments)
        assert second.startswith("잘못된 인자: "), tool
        assert field in second, (tool, arguments)
    assert bilingual.names() == []


@pytest.mark.promise("graph.bilingual.errors.required")
def test_bilingual_words_a_missing_array_as_its_contract_does(bilingual: Server) -> None:
    for tool, field in (
        ("create_entities", "entities"),
        ("create_relations", "relations"),
        ("add_observations", "observations"),
        ("delete_entities", "entityNames"),
        ("delete_observations", "deletions"),
        ("delete_relations", "relations"),
        ("open_nodes", "names"),
    ):
        assert bilingual.refused(tool).text == (
            f"Error: Invalid arguments: {field} array is required\n잘못된 인자: {field} 배열이 필요합니다"
        ), tool


@pytest.mark.promise("graph.bilingual.errors.form")
def test_bilingual_says_everything_in_korean_that_it_says_in_english(bilingual: Server) -> None:
    too_many = [entity(f"n{i}") for i in range(10_001)]
    for tool, arguments, field in (
        ("read_graph", {"limit": 0}, "limit"),
        ("read_graph", {"limit": 2.5}, "limit"),
        ("read_graph", {"cursor": "nonsense"}, "cursor"),
        ("create_entities", {"entities": [entity("n\x00")]}, "name"),
        ("create_entities", {"entities": too_many}, "entities"),
    ):
        first, second = bilingual.refused(tool, arguments).lines
        assert first.startswith("Error: "), first
        assert field in second, second
        assert re.search("[가-힣]", second), second
        # Nothing but the names of fields and settings is left in English.
        words = re.findall(r"[a-z]+(?: [a-z]+)+", second)
        assert words == [], second


@pytest.mark.promise("graph.official.errors.form")
def test_official_answers_a_plain_sentence_in_the_form_of_the_npm_release(official: Server) -> None:
    for tool, arguments, field in MISFITS:
        refusal = official.refused(tool, arguments)
        prefix = f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: "
        assert refusal.text.startswith(prefix), tool
        assert field in refusal.text, (tool, arguments)
    assert official.names() == []


@pytest.mark.promise("graph.errors.korean_names")
def test_a_name_with_quotes_and_korean_letters_is_quoted_in_the_error(strict: Server, bilingual: Server) -> None:
    strict.call("create_entities", entities=[entity("그 이름", "x")])

    refusal = strict.refused("create_entities", entities=[entity("그 이름", "x")])
    assert '"그 이름"' in refusal.lines[0]
    listed = bilingual.refused("open_nodes", names=['그 "이름"']).lines[0].removeprefix("Error: Entities not found: ")
    assert json.loads(listed) == ['그 "이름"']


@pytest.mark.promise("graph.errors.server_lives_on")
def test_a_refused_call_leaves_the_server_ready_for_the_next(server: Server) -> None:
    server.refused("create_entities", entities=42)

    server.call("create_entities", entities=[entity("next", "works")])

    assert server.names() == ["next"]
