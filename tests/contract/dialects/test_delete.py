"""delete_entities, delete_observations and delete_relations in the four graph dialects."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server, entity, relation

A, B, C = entity("a", "one", "two"), entity("b", "three"), entity("c", "four")
AB, BC, CA = relation("a", "knows", "b"), relation("b", "knows", "c"), relation("c", "knows", "a")


def deletion(name: str, *observations: str) -> dict[str, Any]:
    return {"entityName": name, "observations": list(observations)}


def fill(server: Server) -> None:
    server.call("create_entities", entities=[A, B, C])
    server.call("create_relations", relations=[AB, BC, CA])


@pytest.mark.promise("graph.simple.delete.missing")
def test_simple_ignores_what_is_missing_and_answers_only_what_went(simple: Server) -> None:
    fill(simple)

    assert simple.call("delete_relations", relations=[relation("a", "hates", "b"), AB]).value == [AB]
    given = [deletion("nobody", "x"), deletion("a", "never said", "one")]
    assert simple.call("delete_observations", deletions=given).value == given
    gone = simple.call("delete_entities", entityNames=["nobody", "a"]).value

    assert gone == [entity("a", "two")]
    assert simple.graph() == {"entities": [B, C], "relations": [BC]}


@pytest.mark.promise("graph.simple.delete.missing")
def test_simple_keeps_a_relation_that_names_nothing_when_that_name_is_deleted(simple: Server) -> None:
    waiting = relation("a", "waits_for", "godot")
    simple.call("create_relations", relations=[waiting])

    assert simple.call("delete_entities", entityNames=["godot"]).value == []
    assert simple.graph()["relations"] == [waiting]


@pytest.mark.promise("graph.strict.delete.missing")
def test_strict_ignores_what_is_missing_and_its_counts_say_so(strict: Server) -> None:
    fill(strict)

    missing = strict.call("delete_relations", relations=[relation("a", "hates", "b"), AB])
    assert missing.value == {"success": True, "deleted": 1}
    missing = strict.call("delete_observations", deletions=[deletion("nobody", "x"), deletion("a", "no", "one")])
    assert missing.value == {"success": True, "deleted": 1}
    missing = strict.call("delete_entities", entityNames=["nobody", "a"])
    assert missing.value == {"success": True, "deleted": 1}
    assert strict.call("delete_entities", entityNames=["nobody"]).value == {"success": True, "deleted": 0}
    assert strict.graph() == {"entities": [B, C], "relations": [BC]}


@pytest.mark.promise("graph.bilingual.delete.missing")
def test_bilingual_ignores_missing_entities_relations_and_observations(bilingual: Server) -> None:
    fill(bilingual)

    assert bilingual.call("delete_relations", relations=[relation("a", "hates", "b"), AB]).text == "{}"
    assert bilingual.call("delete_observations", deletions=[deletion("a", "never said", "one")]).text == "{}"
    assert bilingual.call("delete_entities", entityNames=["nobody", "a"]).text == "{}"
    assert bilingual.graph() == {"entities": [B, C], "relations": [BC]}


@pytest.mark.promise("graph.bilingual.delete.missing")
def test_bilingual_refuses_to_delete_observations_of_a_missing_entity(bilingual: Server) -> None:
    fill(bilingual)

    refusal = bilingual.refused("delete_observations", deletions=[deletion("a", "one"), deletion("React", "x")])

    assert refusal.text == 'Error: Entities not found: ["React"]\n다음 엔티티를 찾을 수 없습니다: ["React"]'
    assert bilingual.graph()["entities"] == [A, B, C]


@pytest.mark.promise("graph.official.delete.missing")
def test_official_ignores_what_is_missing(official: Server) -> None:
    fill(official)

    official.call("delete_relations", relations=[relation("a", "hates", "b"), AB])
    official.call("delete_observations", deletions=[deletion("nobody", "x"), deletion("a", "no", "one")])
    official.call("delete_entities", entityNames=["nobody", "a"])

    assert official.graph() == {"entities": [B, C], "relations": [BC]}


@pytest.mark.promise("graph.official.delete.missing")
def test_official_removes_relations_that_name_a_deleted_name_even_if_no_such_entity_exists(
    official: Server,
) -> None:
    official.call("create_relations", relations=[relation("a", "waits_for", "godot"), AB])

    official.call("delete_entities", entityNames=["godot"])

    assert official.graph()["relations"] == [AB]


@pytest.mark.promise("graph.simple.delete.duplicates")
@pytest.mark.promise("graph.strict.delete.duplicates")
@pytest.mark.promise("graph.bilingual.delete.duplicates")
@pytest.mark.promise("graph.official.delete.duplicates")
def test_every_exact_match_goes_when_duplicates_are_stored(place: Place, server: Server) -> None:
    writer = place.serve("simple")
    writer.call("create_entities", entities=[entity("a", "twice", "Twice", "twice "), B])
    writer.call("add_observations", observations=[{"entityName": "a", "contents": ["twice", "other"]}])
    writer.call("create_relations", relations=[AB, AB, relation("a", "Knows", "b"), AB])

    server.call("delete_observations", deletions=[deletion("a", "twice")])
    server.call("delete_relations", relations=[AB])

    assert server.graph() == {
        "entities": [entity("a", "Twice", "twice ", "other"), B],
        "relations": [relation("a", "Knows", "b")],
    }


@pytest.mark.promise("graph.simple.delete.answer")
def test_simple_answers_what_it_deleted_or_the_deletions_it_was_given(simple: Server) -> None:
    fill(simple)
    given = [deletion("a", "one")]

    reply = simple.call("delete_relations", relations=[BC, AB])
    assert sorted(map(str, reply.value)) == sorted(map(str, [AB, BC]))
    assert reply.structured == {"result": reply.value}
    reply = simple.call("delete_observations", deletions=given)
    assert reply.value == given
    assert reply.structured == {"result": given}
    reply = simple.call("delete_entities", entityNames=["a"])
    assert reply.value == [entity("a", "two")]
    assert reply.structured == {"result": [entity("a", "two")]}


@pytest.mark.promise("graph.strict.delete.answer")
def test_strict_answers_how_many_it_deleted(strict: Server) -> None:
    fill(strict)

    for reply, count in (
        (strict.call("delete_relations", relations=[BC, AB]), 2),
        (strict.call("delete_observations", deletions=[deletion("a", "one", "two")]), 2),
        (strict.call("delete_entities", entityNames=["a", "b", "c"]), 3),
    ):
        assert reply.value == {"success": True, "deleted": count}
        assert reply.structured == reply.value


@pytest.mark.promise("graph.bilingual.delete.answer")
def test_bilingual_answers_an_empty_object(bilingual: Server) -> None:
    fill(bilingual)

    for reply in (
        bilingual.call("delete_relations", relations=[BC]),
        bilingual.call("delete_observations", deletions=[deletion("a", "one")]),
        bilingual.call("delete_entities", entityNames=["a"]),
    ):
        assert reply.text == "{}"
        assert reply.structured == {}


@pytest.mark.promise("graph.official.delete.answer")
def test_official_answers_the_sentences_of_the_npm_release(official: Server) -> None:
    fill(official)

    for reply, sentence in (
        (official.call("delete_relations", relations=[BC]), "Relations deleted successfully"),
        (
            official.call("delete_observations", deletions=[deletion("a", "one")]),
            "Observations deleted successfully",
        ),
        (official.call("delete_entities", entityNames=["a"]), "Entities deleted successfully"),
    ):
        assert reply.text == sentence
        assert reply.structured == {"success": True, "message": sentence}


@pytest.mark.promise("graph.delete_entities.cascade")
def test_deleting_an_entity_removes_every_relation_that_touches_it(server: Server) -> None:
    fill(server)

    server.call("delete_entities", entityNames=["a"])

    assert server.graph() == {"entities": [B, C], "relations": [BC]}


@pytest.mark.promise("graph.delete_observations.keeps_entity")
def test_an_entity_stays_when_its_last_observation_goes(server: Server) -> None:
    fill(server)

    server.call("delete_observations", deletions=[deletion("b", "three")])

    assert server.graph()["entities"] == [A, entity("b"), C]
    assert server.graph()["relations"] == [AB, BC, CA]


@pytest.mark.promise("graph.delete_observations.exact")
def test_only_observations_that_match_exactly_go(server: Server) -> None:
    server.call("create_entities", entities=[entity("a", "Tea", "tea", " tea", "te", "teas")])

    server.call("delete_observations", deletions=[deletion("a", "tea")])

    assert server.graph()["entities"] == [entity("a", "Tea", " tea", "te", "teas")]


@pytest.mark.promise("graph.delete_relations.exact")
def test_only_relations_with_all_three_fields_equal_go_and_entities_stay(server: Server) -> None:
    fill(server)

    server.call("delete_relations", relations=[relation("b", "knows", "a"), relation("a", "KNOWS", "b"), BC])

    assert server.graph() == {"entities": [A, B, C], "relations": [AB, CA]}


@pytest.mark.promise("graph.delete_entities.name_free_again")
def test_a_deleted_name_can_be_used_again_and_starts_anew(server: Server) -> None:
    fill(server)
    server.call("delete_entities", entityNames=["a"])

    assert not server.call("create_entities", entities=[entity("a", "reborn")]).failed

    assert server.graph() == {"entities": [B, C, entity("a", "reborn")], "relations": [BC]}
