"""add_observations in the four graph dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stdio_client import Server, entity

ALICE = entity("alice", "likes tea")


def addition(name: str, *contents: str) -> dict[str, Any]:
    return {"entityName": name, "contents": list(contents)}


@pytest.mark.promise("graph.simple.add_observations.missing_entity")
def test_simple_ignores_a_missing_entity_and_adds_the_rest(simple: Server) -> None:
    simple.call("create_entities", entities=[ALICE])
    given = [addition("nobody", "x"), addition("alice", "plays go")]

    assert simple.call("add_observations", observations=given).value == given
    assert simple.graph()["entities"] == [entity("alice", "likes tea", "plays go")]


@pytest.mark.promise("graph.strict.add_observations.missing_entity")
def test_strict_refuses_the_whole_batch_when_an_entity_is_missing(strict: Server) -> None:
    strict.call("create_entities", entities=[ALICE])

    refusal = strict.refused("add_observations", observations=[addition("alice", "plays go"), addition("nobody", "x")])

    assert refusal.text == ('Error: Entity "nobody" not found\nSolution: Create entity first or check name spelling')
    assert strict.graph()["entities"] == [ALICE]


@pytest.mark.promise("graph.bilingual.add_observations.missing_entity")
def test_bilingual_refuses_the_whole_batch_and_lists_the_missing_entities(bilingual: Server) -> None:
    bilingual.call("create_entities", entities=[ALICE])

    refusal = bilingual.refused(
        "add_observations",
        observations=[addition("Entity1", "x"), addition("alice", "plays go"), addition("Entity2", "x")],
    )

    assert refusal.text == (
        'Error: Entities not found: ["Entity1", "Entity2"]\n다음 엔티티를 찾을 수 없습니다: ["Entity1", "Entity2"]'
    )
    assert bilingual.graph()["entities"] == [ALICE]


@pytest.mark.promise("graph.official.add_observations.missing_entity")
def test_official_refuses_the_whole_batch_in_the_words_of_the_npm_release(official: Server) -> None:
    official.call("create_entities", entities=[ALICE])

    refusal = official.refused(
        "add_observations", observations=[addition("alice", "plays go"), addition("nobody", "x")]
    )

    assert refusal.text == "Entity with name nobody not found"
    assert official.graph()["entities"] == [ALICE]


@pytest.mark.promise("graph.simple.add_observations.repeated")
@pytest.mark.promise("graph.bilingual.add_observations.repeated")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_the_same_observation_is_stored_again(server: Server) -> None:
    server.call("create_entities", entities=[ALICE])

    server.call("add_observations", observations=[addition("alice", "likes tea", "new", "new")])

    assert server.graph()["entities"] == [entity("alice", "likes tea", "likes tea", "new", "new")]


@pytest.mark.promise("graph.strict.add_observations.repeated")
def test_strict_stores_the_same_observation_once(strict: Server) -> None:
    strict.call("create_entities", entities=[ALICE])

    reply = strict.call(
        "add_observations",
        observations=[addition("alice", "likes tea", "new", "new"), addition("alice", "new")],
    )

    assert reply.value == {"success": True, "added": 1}
    assert strict.graph()["entities"] == [entity("alice", "likes tea", "new")]


@pytest.mark.promise("graph.official.add_observations.repeated")
def test_official_drops_an_observation_that_is_stored_already(official: Server) -> None:
    official.call("create_entities", entities=[ALICE])

    reply = official.call("add_observations", observations=[addition("alice", "likes tea", "new")])

    assert reply.value == [{"entityName": "alice", "addedObservations": ["new"]}]
    assert official.graph()["entities"] == [entity("alice", "likes tea", "new")]


@pytest.mark.promise("graph.simple.add_observations.answer")
def test_simple_answers_the_array_it_was_given(simple: Server) -> None:
    simple.call("create_entities", entities=[ALICE])
    given = [addition("alice", "b", "a"), addition("alice", "c")]

    reply = simple.call("add_observations", observations=given)

    assert reply.value == given
    assert reply.structured == {"result": given}


@pytest.mark.promise("graph.strict.add_observations.answer")
def test_strict_answers_how_many_observations_it_added(strict: Server) -> None:
    strict.call("create_entities", entities=[ALICE, entity("bob", "x")])

    reply = strict.call("add_observations", observations=[addition("alice", "b", "a"), addition("bob", "c")])

    assert reply.value == {"success": True, "added": 3}
    assert reply.structured == reply.value


@pytest.mark.promise("graph.bilingual.add_observations.answer")
def test_bilingual_answers_an_empty_object(bilingual: Server) -> None:
    bilingual.call("create_entities", entities=[ALICE])

    reply = bilingual.call("add_observations", observations=[addition("alice", "b")])

    assert reply.text == "{}"
    assert reply.structured == {}


@pytest.mark.promise("graph.official.add_observations.answer")
def test_official_answers_what_was_added_to_each_entity_pretty_printed(official: Server) -> None:
    official.call("create_entities", entities=[ALICE])
    expected = [
        {"entityName": "alice", "addedObservations": ["b", "a"]},
        {"entityName": "alice", "addedObservations": []},
    ]

    reply = official.call("add_observations", observations=[addition("alice", "b", "a"), addition("alice", "b")])

    assert reply.text == json.dumps(expected, indent=2)
    assert reply.structured == {"results": expected}


@pytest.mark.promise("graph.add_observations.appends")
def test_new_observations_come_after_the_earlier_ones(server: Server) -> None:
    server.call("create_entities", entities=[entity("a", "m")])
    server.call("add_observations", observations=[addition("a", "z", "b")])
    server.call("add_observations", observations=[addition("a", "c")])

    assert server.graph()["entities"] == [entity("a", "m", "z", "b", "c")]
