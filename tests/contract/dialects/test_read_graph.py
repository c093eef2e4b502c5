"""read_graph in the four graph dialects."""

from __future__ import annotations

import json

import pytest

from stdio_client import Server, entity, relation

GRAPH = {
    "entities": [entity("b", "one", "two", type="person"), entity("a", "three", type="city")],
    "relations": [relation("b", "lives_in", "a"), relation("a", "hosts", "b")],
}


def fill(server: Server) -> None:
    server.call("create_entities", entities=GRAPH["entities"])
    server.call("create_relations", relations=GRAPH["relations"])


@pytest.mark.promise("graph.simple.read_graph.answer")
@pytest.mark.promise("graph.strict.read_graph.answer")
@pytest.mark.promise("graph.bilingual.read_graph.answer")
@pytest.mark.promise("graph.official.read_graph.answer")
def test_the_whole_graph_is_answered_in_the_order_of_its_making(server: Server) -> None:
    assert server.call("read_graph").value == {"entities": [], "relations": []}
    fill(server)

    reply = server.call("read_graph")

    assert reply.value == GRAPH
    assert reply.structured == GRAPH


@pytest.mark.promise("graph.official.read_graph.answer")
def test_official_prints_the_graph_as_the_npm_release_does(official: Server) -> None:
    assert official.call("read_graph").text == '{\n  "entities": [],\n  "relations": []\n}'
    fill(official)

    assert official.call("read_graph").text == json.dumps(GRAPH, indent=2)


@pytest.mark.promise("graph.read_graph.no_arguments")
def test_the_graph_can_be_read_without_any_arguments_at_all(server: Server) -> None:
    fill(server)

    result = server.request("tools/call", {"name": "read_graph"})

    assert json.loads(result["content"][0]["text"]) == GRAPH
