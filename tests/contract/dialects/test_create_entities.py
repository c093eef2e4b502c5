"""create_entities in the four graph dialects."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server, entity

ALICE = entity("alice", "likes tea", "lives in Seoul", type="person")
BOB = entity("bob", "likes coffee", type="person")


@pytest.mark.promise("graph.simple.create_entities.taken")
def test_simple_replaces_an_entity_whose_name_is_taken(place: Place, simple: Server) -> None:
    simple.call("create_entities", entities=[ALICE, BOB])
    newer = entity("alice", "moved to Busan", type="traveller")

    assert simple.call("create_entities", entities=[newer]).value == [newer]

    assert simple.call("open_nodes", names=["alice"]).value == [newer]
    assert sorted(simple.names()) == ["alice", "bob"]
    history = place.run("history", "alice", "--json")
    assert history.returncode == 0, history.stderr
    assert "lives in Seoul" in json.dumps(json.loads(history.stdout), ensure_ascii=False)


@pytest.mark.promise("graph.strict.create_entities.taken")
def test_strict_refuses_the_whole_batch_when_a_name_is_taken(strict: Server) -> None:
    strict.call("create_entities", entities=[ALICE])

    refusal = strict.refused("create_entities", entities=[BOB, entity("alice", "other")])

    assert refusal.text == (
        'Error: Entity "alice" already exists\nSolution: Use add_observations to update or delete old entity'
    )
    assert strict.graph() == {"entities": [ALICE], "relations": []}


@pytest.mark.promise("graph.bilingual.create_entities.taken")
def test_bilingual_refuses_the_whole_batch_when_a_name_is_taken(bilingual: Server) -> None:
    bilingual.call("create_entities", entities=[ALICE])

    refusal = bilingual.refused("create_entities", entities=[BOB, entity("alice", "other")])

    assert refusal.text == (
        'Error: Entity with name "alice" already exists\n"alice" 이름을 가진 엔티티가 이미 존재합니다'
    )
    assert bilingual.graph() == {"entities": [ALICE], "relations": []}


@pytest.mark.promise("graph.official.create_entities.taken")
def test_official_leaves_a_taken_name_out_of_the_reply_and_keeps_the_stored_one(official: Server) -> None:
    official.call("create_entities", entities=[ALICE])

    reply = official.call("create_entities", entities=[entity("alice", "other"), BOB])

    assert reply.value == [BOB]
    assert reply.structured == {"entities": [BOB]}
    assert official.graph() == {"entities": [ALICE, BOB], "relations": []}


@pytest.mark.promise("graph.simple.create_entities.repeated")
def test_simple_keeps_the_last_of_two_entities_with_one_name_in_a_batch(simple: Server) -> None:
    simple.call("create_entities", entities=[entity("x", "first"), BOB, entity("x", "last")])

    assert simple.call("open_nodes", names=["x"]).value == [entity("x", "last")]
    assert sorted(simple.names()) == ["bob", "x"]


@pytest.mark.promise("graph.strict.create_entities.repeated")
def test_strict_refuses_a_batch_that_names_an_entity_twice(strict: Server) -> None:
    refusal = strict.refused("create_entities", entities=[entity("x", "first"), BOB, entity("x", "last")])

    assert refusal.lines[0].startswith("Error: ")
    assert '"x"' in refusal.lines[0]
    assert refusal.lines[1].startswith("Solution: ")
    assert strict.names() == []


@pytest.mark.promise("graph.bilingual.create_entities.repeated")
def test_bilingual_refuses_a_batch_that_names_an_entity_twice(bilingual: Server) -> None:
    refusal = bilingual.refused("create_entities", entities=[entity("x"), BOB, entity("x", "last")])

    assert refusal.lines[0].startswith("Error: ")
    assert '"x"' in refusal.lines[0]
    assert '"x"' in refusal.lines[1]
    assert bilingual.names() == []


@pytest.mark.promise("graph.official.create_entities.repeated")
def test_official_keeps_the_first_of_two_entities_with_one_name_in_a_batch(official: Server) -> None:
    official.call("create_entities", entities=[entity("x", "first"), BOB, entity("x", "last")])

    assert official.graph()["entities"] == [entity("x", "first"), BOB]


@pytest.mark.promise("graph.simple.create_entities.no_observations")
@pytest.mark.promise("graph.bilingual.create_entities.no_observations")
@pytest.mark.promise("graph.official.create_entities.no_observations")
@pytest.mark.parametrize("dialect", ["simple", "bilingual", "official"])
def test_an_entity_without_observations_is_stored(server: Server) -> None:
    assert server.call("create_entities", entities=[entity("bare")]).value == [entity("bare")]
    assert server.graph()["entities"] == [entity("bare")]


@pytest.mark.promise("graph.strict.create_entities.no_observations")
def test_strict_refuses_an_entity_without_observations(strict: Server) -> None:
    refusal = strict.refused("create_entities", entities=[ALICE, entity("bare")])

    assert refusal.text == (
        'Error: Observations array cannot be empty: entities[1] "bare"\n'
        "Solution: Provide at least one observation when creating entity"
    )
    assert strict.refused("create_entities", entities=[entity("bare")]).lines[0] == (
        "Error: Observations array cannot be empty"
    )
    assert strict.names() == []


@pytest.mark.promise("graph.simple.create_entities.answer")
@pytest.mark.promise("graph.bilingual.create_entities.answer")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_the_stored_entities_are_answered_in_the_order_given(server: Server) -> None:
    reply = server.call("create_entities", entities=[BOB, ALICE])

    assert reply.value == [BOB, ALICE]
    assert reply.structured == {"result": [BOB, ALICE]}


@pytest.mark.promise("graph.official.create_entities.answer")
def test_official_answers_the_created_entities_pretty_printed(official: Server) -> None:
    reply = official.call("create_entities", entities=[BOB, ALICE])

    assert reply.text == json.dumps([BOB, ALICE], indent=2, ensure_ascii=False)
    assert reply.structured == {"entities": [BOB, ALICE]}
    assert len(reply.result["content"]) == 1


@pytest.mark.promise("graph.strict.create_entities.answer")
def test_strict_answers_success_with_the_ids_and_names_of_what_it_created(strict: Server) -> None:
    reply = strict.call("create_entities", entities=[BOB, ALICE])

    assert set(reply.value) == {"success", "ids", "entities"}
    assert reply.value["success"] is True
    assert [given["name"] for given in reply.value["entities"]] == ["bob", "alice"]
    assert [given["id"] for given in reply.value["entities"]] == reply.value["ids"]
    assert all(set(given) == {"id", "name"} for given in reply.value["entities"])
    assert len(set(reply.value["ids"])) == 2
    assert reply.structured == reply.value


@pytest.mark.promise("graph.create_entities.order")
def test_observations_keep_their_order_and_entities_the_order_of_their_making(server: Server) -> None:
    many = [entity(f"n{9 - i}", "z", "a", "m", f"{i}") for i in range(10)]
    server.call("create_entities", entities=many[:5])
    server.call("create_entities", entities=many[5:])

    assert server.graph()["entities"] == many


@pytest.mark.promise("graph.names.exact")
def test_names_that_differ_in_a_space_or_in_case_are_different_entities(server: Server) -> None:
    names = ["tea", " tea", "tea ", "Tea", "TEA", "té", "te\u0301"]
    for name in names:
        server.call("create_entities", entities=[entity(name, f"about {name!r}")])

    assert server.names() == names
    for name in names:
        found = server.call("open_nodes", names=[name]).value
        found = found if isinstance(found, list) else found.get("nodes", found.get("entities"))
        assert [node["name"] for node in found] == [name]


@pytest.mark.promise("graph.text.any_unicode")
def test_any_text_comes_back_exactly_as_it_was_given(server: Server) -> None:
    texts = [
        "",
        " ",
        "\n",
        "tab\tand\r\nline",
        "\u2028 and \u2029",
        "한국어 각",
        "𝒳 👩‍👩‍👧 🇰🇷",
        "\ufeffbom",
        "\x01\x1f\x7f",
        "\uffff\U0010ffff",
        '"quotes" \\back\\ /slash/',
        "e\u0301 é",
    ]
    server.call("create_entities", entities=[entity("texts", *texts), entity("이름 ♥", "x", type="종류")])

    assert server.graph()["entities"] == [entity("texts", *texts), entity("이름 ♥", "x", type="종류")]
