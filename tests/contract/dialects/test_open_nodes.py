"""open_nodes in the four graph dialects."""

from __future__ import annotations

import json

import pytest

from stdio_client import Server, entity, relation

A, B, C = entity("a", "one"), entity("b", "two"), entity("c", "three")
AB, BC = relation("a", "knows", "b"), relation("b", "knows", "c")


def fill(server: Server) -> None:
    server.call("create_entities", entities=[A, B, C])
    server.call("create_relations", relations=[AB, BC])


@pytest.mark.promise("graph.simple.open_nodes.missing")
def test_simple_omits_a_missing_name(simple: Server) -> None:
    fill(simple)

    assert simple.call("open_nodes", names=["nobody", "a"]).value == [A]
    assert simple.call("open_nodes", names=["nobody"]).value == []


@pytest.mark.promise("graph.strict.open_nodes.missing")
def test_strict_omits_a_missing_name_and_lists_it(strict: Server) -> None:
    fill(strict)

    value = strict.call("open_nodes", names=["nobody", "a", "no one"]).value

    assert [node["name"] for node in value["nodes"]] == ["a"]
    assert value["notFound"] == ["nobody", "no one"]


@pytest.mark.promise("graph.bilingual.open_nodes.missing")
def test_bilingual_refuses_the_whole_call_for_a_missing_name(bilingual: Server) -> None:
    fill(bilingual)

    refusal = bilingual.refused("open_nodes", names=["a", "Vue.js"])

    assert refusal.text == 'Error: Entities not found: ["Vue.js"]\n다음 엔티티를 찾을 수 없습니다: ["Vue.js"]'


@pytest.mark.promise("graph.official.open_nodes.missing")
def test_official_omits_a_missing_name(official: Server) -> None:
    fill(official)

    assert official.call("open_nodes", names=["nobody", "a"]).value == {"entities": [A], "relations": [AB]}


@pytest.mark.promise("graph.simple.open_nodes.answer")
@pytest.mark.promise("graph.bilingual.open_nodes.answer")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_the_entities_are_answered_as_an_array(server: Server) -> None:
    fill(server)

    reply = server.call("open_nodes", names=["a", "b"])

    assert sorted(reply.value, key=str) == sorted([A, B], key=str)
    assert reply.structured == {"result": reply.value}


@pytest.mark.promise("graph.strict.open_nodes.answer")
def test_strict_answers_nodes_with_their_relations_and_what_was_not_found(strict: Server) -> None:
    fill(strict)

    reply = strict.call("open_nodes", names=["a", "b"])

    assert set(reply.value) == {"nodes", "notFound"}
    assert reply.value["notFound"] == []
    nodes = {node["name"]: node for node in reply.value["nodes"]}
    assert set(nodes) == {"a", "b"}
    assert all(set(node) == {"name", "entityType", "observations", "relations"} for node in nodes.values())
    assert A.items() <= nodes["a"].items()
    assert nodes["a"]["relations"] == [AB]
    assert nodes["b"]["relations"] == [AB, BC]
    assert reply.structured == reply.value


@pytest.mark.promise("graph.official.open_nodes.answer")
def test_official_answers_entities_and_every_relation_that_touches_them(official: Server) -> None:
    fill(official)
    expected = {"entities": [B], "relations": [AB, BC]}

    reply = official.call("open_nodes", names=["b"])

    assert reply.text == json.dumps(expected, indent=2)
    assert reply.structured == expected


@pytest.mark.promise("graph.open_nodes.repeated_name")
def test_a_name_asked_for_twice_is_answered_once(server: Server) -> None:
    fill(server)

    value = server.call("open_nodes", names=["a", "a"]).value
    nodes = value if isinstance(value, list) else value.get("nodes", value.get("entities"))

    assert [node["name"] for node in nodes] == ["a"]
