"""search_nodes in the four graph dialects: what is found, in which order, in which shape."""

from __future__ import annotations

import json

import pytest

from stdio_client import Server, entity, relation

KIM = entity("Kim", "works at the Data Pipeline team", "likes tea", type="person")
TEAM = entity("data pipeline", "owned by Kim", type="TEAM")
OTHER = entity("garden", "roses", type="place")
WORKS = relation("Kim", "works_in", "data pipeline")
NEAR = relation("garden", "is_near", "data pipeline")
FAR = relation("garden", "is_far_from", "nowhere")


def fill(server: Server) -> None:
    server.call("create_entities", entities=[KIM, TEAM, OTHER, entity("nowhere", "void")])
    server.call("create_relations", relations=[WORKS, NEAR, FAR])


@pytest.mark.promise("graph.simple.search_nodes.matching")
@pytest.mark.promise("graph.bilingual.search_nodes.matching")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_a_substring_of_name_type_or_observation_is_found_in_the_order_of_making(server: Server) -> None:
    fill(server)

    for query, found in {
        "KIM": [KIM, TEAM],
        "a pipe": [KIM, TEAM],
        "team": [KIM, TEAM],
        "PERSON": [KIM],
        "kes te": [KIM],
        "rose": [OTHER],
        "tea garden": [],
        "likes teaowned": [],
    }.items():
        assert server.call("search_nodes", query=query).value == found, query
        assert server.call("search_nodes", query=query).value == found, query


@pytest.mark.promise("graph.official.search_nodes.matching")
def test_official_finds_what_the_npm_release_finds(official: Server) -> None:
    fill(official)
    official.call("create_entities", entities=[entity("Straße", "x")])

    def found(query: str) -> list[str]:
        return [e["name"] for e in official.call("search_nodes", query=query).value["entities"]]

    assert found("KIM") == ["Kim", "data pipeline"]
    assert found("team") == ["Kim", "data pipeline"]
    assert found("straße") == ["Straße"]
    assert found("strasse") == []
    assert found("kim team") == []


@pytest.mark.promise("graph.strict.search_nodes.matching")
def test_strict_puts_an_exact_substring_before_what_is_merely_similar(strict: Server) -> None:
    strict.call(
        "create_entities",
        entities=[
            entity("words apart", "pipeline pipeline pipeline and data data data", "data, then a pipeline"),
            entity("exact", "we run a Data Pipeline among many, many other things that nobody asked for"),
            entity("half", "data only"),
            entity("nothing", "unrelated"),
        ],
    )

    names = [node["name"] for node in strict.call("search_nodes", query="data pipeline").value["nodes"]]

    assert names[:2] == ["exact", "words apart"]
    assert "nothing" not in names


@pytest.mark.promise("graph.strict.search_nodes.matching")
def test_strict_finds_every_substring_even_inside_a_word(strict: Server) -> None:
    fill(strict)

    for query, names in {"ipelin": {"Kim", "data pipeline"}, "erso": {"Kim"}, "ARDE": {"garden"}}.items():
        nodes = strict.call("search_nodes", query=query).value["nodes"]
        assert {node["name"] for node in nodes} == names, query


@pytest.mark.promise("graph.simple.search_nodes.answer")
@pytest.mark.promise("graph.bilingual.search_nodes.answer")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_an_array_of_entities_is_answered(server: Server) -> None:
    fill(server)

    reply = server.call("search_nodes", query="roses")
    assert reply.value == [OTHER]
    assert reply.structured == {"result": [OTHER]}
    assert server.call("search_nodes", query="no such thing").value == []


@pytest.mark.promise("graph.strict.search_nodes.answer")
def test_strict_answers_nodes_with_their_relations(strict: Server) -> None:
    fill(strict)

    reply = strict.call("search_nodes", query="roses")

    assert reply.value == {"nodes": [{**OTHER, "relations": [NEAR, FAR]}]}
    assert reply.structured == reply.value
    assert strict.call("search_nodes", query="qqqqzzzz").value == {"nodes": []}


@pytest.mark.promise("graph.official.search_nodes.answer")
def test_official_answers_entities_and_every_relation_that_touches_them(official: Server) -> None:
    fill(official)
    expected = {"entities": [OTHER], "relations": [NEAR, FAR]}

    reply = official.call("search_nodes", query="roses")

    assert reply.text == json.dumps(expected, indent=2)
    assert reply.structured == expected


@pytest.mark.promise("graph.search_nodes.fresh")
def test_a_search_sees_every_change_made_before_it(server: Server) -> None:
    def found(query: str) -> list[str]:
        value = server.call("search_nodes", query=query).value
        nodes = value if isinstance(value, list) else value.get("nodes", value.get("entities"))
        return [node["name"] for node in nodes]

    assert found("zebra") == []
    server.call("create_entities", entities=[entity("animal", "a zebra crossing"), entity("b", "x")])
    assert found("zebra") == ["animal"]
    server.call("add_observations", observations=[{"entityName": "b", "contents": ["zebra too"]}])
    assert sorted(found("zebra")) == ["animal", "b"]
    server.call("delete_observations", deletions=[{"entityName": "animal", "observations": ["a zebra crossing"]}])
    assert found("zebra") == ["b"]
    server.call("delete_entities", entityNames=["b"])
    assert found("zebra") == []
