"""One memory for all dialects: what the content tools keep, the others find, and the other way round."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server, entity

from .speaking import find, found, get, refused, stored, versions, write


@pytest.fixture
def everything(place: Place) -> Server:
    """A server of the dialect `all`."""
    return place.serve("all")


@pytest.mark.promise("content.one.store")
def test_beside_the_other_tools_a_call_with_an_operation_is_for_this_dialect(everything: Server) -> None:
    id = stored(everything, "default", "a lighthouse")
    assert id.startswith("content_")
    plain = everything.call("memory_store", content="a windmill").value
    assert set(plain) >= {"memory_id", "is_duplicate"}
    assert refused(everything, "store_content", 422, "default")["data"]["details"]["field"] == "content"
    assert everything.refused("memory_store", category="x").value["error"] == "VALIDATION_ERROR"


@pytest.mark.promise("content.one.found")
def test_what_is_stored_here_the_other_tools_find(everything: Server) -> None:
    id = stored(everything, "default", "a lighthouse on the cliff", tags=["sea"])
    assert [node["name"] for node in everything.call("search_nodes", query="lighthouse").value["nodes"]] == [id]
    (hit,) = everything.call("memory_search", query="lighthouse").value["memories"]
    assert (hit["memory_id"], hit["tags"]) == (id, ["sea"])


@pytest.mark.promise("content.one.found")
def test_what_the_other_tools_stored_is_found_and_read_here(everything: Server) -> None:
    everything.call("create_entities", entities=[entity("Ann", "keeps the lighthouse", type="person")])
    memory = everything.call("memory_store", content="a lighthouse lamp").value["memory_id"]
    assert len(found(everything, "default", "lighthouse")) == 2
    shown = get(everything, "default", memory)
    assert shown["content"] == "a lighthouse lamp"
    results = find(everything, "default", "Ann")["results"]
    assert (results[0]["content"]["title"], results[0]["content"]["kind"]) == ("Ann", "person")
    write(everything, "update_content", "default", content_id=memory, updates={"content": "a new lamp"})
    assert everything.call("memory_get", memory_id=memory).value["content"] == "a new lamp"
    assert [one["version"] for one in versions(everything, "default", memory)] == [2, 1]
