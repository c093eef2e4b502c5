"""create_relations in the four graph dialects."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server, entity, relation

A, B = entity("a", "first"), entity("b", "second")
KNOWS = relation("a", "knows", "b")
LIKES = relation("b", "likes", "a")


@pytest.mark.promise("graph.simple.create_relations.missing_end")
def test_simple_stores_a_relation_whose_ends_appear_later(place: Place, simple: Server) -> None:
    to_nobody = relation("a", "waits_for", "godot")
    assert simple.call("create_relations", relations=[to_nobody]).value == [to_nobody]
    assert simple.graph() == {"entities": [], "relations": [to_nobody]}

    simple.call("create_entities", entities=[A, entity("godot", "arrives")])

    nodes = place.serve("strict").call("open_nodes", names=["godot"]).value["nodes"]
    assert len(nodes[0]["relations"]) == 1
    assert to_nobody.items() <= nodes[0]["relations"][0].items()
    simple.call("delete_entities", entityNames=["godot"])
    assert simple.graph() == {"entities": [A], "relations": []}


@pytest.mark.promise("graph.strict.create_relations.missing_end")
def test_strict_refuses_the_whole_batch_when_an_end_is_missing_and_names_it(strict: Server) -> None:
    strict.call("create_entities", entities=[A, B])

    refusal = strict.refused("create_relations", relations=[KNOWS, relation("a", "waits_for", "godot")])

    first, second = refusal.lines
    assert first.startswith("Error: Cannot create relation - entity missing")
    assert '"godot"' in first
    assert '"a"' not in first
    assert second == "Solution: Ensure both entities exist before creating relation"
    assert strict.graph()["relations"] == []


@pytest.mark.promise("graph.bilingual.create_relations.missing_end")
def test_bilingual_refuses_the_whole_batch_and_lists_every_missing_end(bilingual: Server) -> None:
    bilingual.call("create_entities", entities=[A, B])

    refusal = bilingual.refused(
        "create_relations",
        relations=[KNOWS, relation("a", "x", "Node.js"), relation("Deno", "x", "Node.js")],
    )

    lines = refusal.lines
    listed = json.loads(lines[0].removeprefix("Error: Entities not found: "))
    assert sorted(listed) == ["Deno", "Node.js"]
    assert lines[1] == "다음 엔티티를 찾을 수 없습니다: " + lines[0].removeprefix("Error: Entities not found: ")
    assert bilingual.graph()["relations"] == []


@pytest.mark.promise("graph.bilingual.create_relations.missing_end")
def test_bilingual_words_one_missing_end_as_its_contract_does(bilingual: Server) -> None:
    bilingual.call("create_entities", entities=[A])

    refusal = bilingual.refused("create_relations", relations=[relation("a", "runs-on", "Node.js")])

    assert refusal.text == ('Error: Entities not found: ["Node.js"]\n다음 엔티티를 찾을 수 없습니다: ["Node.js"]')


@pytest.mark.promise("graph.official.create_relations.missing_end")
def test_official_stores_a_relation_whose_ends_do_not_exist(official: Server) -> None:
    to_nobody = relation("nobody", "waits_for", "godot")

    assert official.call("create_relations", relations=[to_nobody]).value == [to_nobody]
    assert official.graph() == {"entities": [], "relations": [to_nobody]}


@pytest.mark.promise("graph.simple.create_relations.repeated")
@pytest.mark.promise("graph.bilingual.create_relations.repeated")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_the_same_relation_is_stored_again(server: Server) -> None:
    server.call("create_entities", entities=[A, B])
    server.call("create_relations", relations=[KNOWS])

    assert server.call("create_relations", relations=[KNOWS, KNOWS]).value == [KNOWS, KNOWS]
    assert server.graph()["relations"] == [KNOWS, KNOWS, KNOWS]


@pytest.mark.promise("graph.strict.create_relations.repeated")
def test_strict_stores_the_same_relation_once(strict: Server) -> None:
    strict.call("create_entities", entities=[A, B])
    strict.call("create_relations", relations=[KNOWS])

    reply = strict.call("create_relations", relations=[KNOWS, LIKES, LIKES])

    assert reply.value["success"] is True
    assert strict.graph()["relations"] == [KNOWS, LIKES]


@pytest.mark.promise("graph.official.create_relations.repeated")
def test_official_drops_a_relation_that_is_stored_already(official: Server) -> None:
    official.call("create_entities", entities=[A, B])
    official.call("create_relations", relations=[KNOWS])

    assert official.call("create_relations", relations=[KNOWS, LIKES]).value == [LIKES]
    assert official.graph()["relations"] == [KNOWS, LIKES]


@pytest.mark.promise("graph.simple.create_relations.answer")
@pytest.mark.promise("graph.bilingual.create_relations.answer")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_the_stored_relations_are_answered(server: Server) -> None:
    server.call("create_entities", entities=[A, B])

    reply = server.call("create_relations", relations=[LIKES, KNOWS])

    assert reply.value == [LIKES, KNOWS]
    assert reply.structured == {"result": [LIKES, KNOWS]}


@pytest.mark.promise("graph.official.create_relations.answer")
def test_official_answers_the_created_relations_pretty_printed(official: Server) -> None:
    reply = official.call("create_relations", relations=[LIKES, KNOWS])

    assert reply.text == json.dumps([LIKES, KNOWS], indent=2)
    assert reply.structured == {"relations": [LIKES, KNOWS]}


@pytest.mark.promise("graph.strict.create_relations.answer")
def test_strict_answers_success_with_an_id_for_each_relation(strict: Server) -> None:
    strict.call("create_entities", entities=[A, B])

    reply = strict.call("create_relations", relations=[LIKES, KNOWS])

    assert set(reply.value) == {"success", "ids"}
    assert reply.value["success"] is True
    assert len(set(reply.value["ids"])) == 2
    assert reply.structured == reply.value


@pytest.mark.promise("graph.create_relations.directed")
def test_a_relation_and_its_reverse_and_one_of_another_type_are_three_relations(server: Server) -> None:
    server.call("create_entities", entities=[A, B])
    three = [KNOWS, relation("b", "knows", "a"), relation("a", "Knows", "b")]

    server.call("create_relations", relations=three)

    assert server.graph()["relations"] == three


@pytest.mark.promise("graph.create_relations.self")
def test_an_entity_may_be_related_to_itself(server: Server) -> None:
    server.call("create_entities", entities=[A])
    itself = relation("a", "knows", "a")

    server.call("create_relations", relations=[itself])

    assert server.graph()["relations"] == [itself]
    server.call("delete_entities", entityNames=["a"])
    assert server.graph() == {"entities": [], "relations": []}
