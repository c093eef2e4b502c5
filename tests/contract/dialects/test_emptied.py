"""A memory that lost its text is not found by what it said."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server, entity

TEXT = "Ann collects antique barometers and repairs clocks"


def _found(server: Server, id: str) -> list[str]:
    """The ways to search that find it by a word of its text."""
    ways: list[str] = []
    for query in ("barometers", "antique barometers", TEXT):
        nodes = server.call("search_nodes", query=query).value["nodes"]
        memories = server.call("memory_search", request={"query": query, "similarity_threshold": 0.1}).value["memories"]
        contents = server.call("memory_retrieve", operation="search_content", project_id="default", query=query).value
        found = {
            "search_nodes": [one["name"] for one in nodes],
            "memory_search": [one["memory_id"] for one in memories],
            "search_content": [one["content"]["content_id"] for one in contents["results"]],
        }
        ways += [f"{way}: {query}" for way, ids in found.items() if id in ids]
    return ways


@pytest.mark.promise("search.emptied")
@pytest.mark.parametrize("embedder", ["none", "use"])
def test_a_memory_that_lost_its_text_is_not_found_by_it(place: Place, embedder: str) -> None:
    server = place.serve("all", "--embedder", embedder)
    server.call("create_entities", entities=[entity("K-17", TEXT), entity("other", "sails a small boat")])
    memory = server.call("memory_store", request={"content": TEXT, "scope": "a", "allow_duplicates": True}).value
    decision = server.call(
        "memory_store", operation="store_decision", project_id="default", title="Instruments", context="A shop",
        decision=TEXT, rationale="Somebody must",
    ).value["content_id"]  # fmt: skip
    for id, emptied in (("K-17", [TEXT]), (memory["memory_id"], [TEXT]), (decision, None)):
        assert _found(server, id), id
        (texts,) = [one["observations"] for one in server.call("open_nodes", names=[id]).value["nodes"]]
        server.call("delete_observations", deletions=[{"entityName": id, "observations": emptied or texts}])
        assert _found(server, id) == [], id
    place.run("reindex", "--embedder", embedder)
    for id in ("K-17", memory["memory_id"], decision):
        assert _found(server, id) == [], id
    place.run("undo")
    assert _found(server, decision)
