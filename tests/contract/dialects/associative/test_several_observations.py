"""An entity with several observations: one text never takes the place of all of them."""

from __future__ import annotations

import pytest

from stdio_client import Place, entity

from .speaking import fault, got


@pytest.mark.promise("associative.update.many_texts")
@pytest.mark.promise("content.update.many_texts")
def test_a_new_text_for_an_entity_with_several_observations_is_refused_with_what_to_call(place: Place) -> None:
    server = place.serve("all")
    server.call("create_entities", entities=[entity("Ann", "one", "two", "three")])
    id = got(server, "Ann")["memory_id"]
    told = fault(server.call("memory_update", memory_id="Ann", content="only this", tags=["lost"]))
    assert told["error"] == "VALIDATION_ERROR"
    assert told["data"] == {"field": "content", "name": "Ann", "observations": 3}
    for call in ("add_observations", "delete_observations"):
        assert call in told["message"]
    update = {"operation": "update_content", "project_id": "default", "content_id": id}
    refused = server.refusal(
        "tools/call", {"name": "memory_store", "arguments": {**update, "updates": {"content": "only this"}}}
    )
    assert refused["code"] == 409
    assert "add_observations" in str(refused["data"]["suggestions"])
    assert server.graph()["entities"][0]["observations"] == ["one", "two", "three"]
    assert got(server, "Ann")["tags"] == []

    changed = server.call("memory_update", memory_id="Ann", tags=["kept"], category="person").value
    assert (changed["tags"], changed["category"]) == (["kept"], "person")
    anew = {"updates": {"summary": "a person"}, "options": {"regenerate_embeddings": True}}
    assert server.call("memory_store", {**update, **anew}).structured["success"] is True
    assert server.graph()["entities"][0]["observations"] == ["one", "two", "three"]
    same = server.call("memory_update", memory_id="Ann", content="one\ntwo\nthree")
    assert not same.failed
    server.call("delete_observations", deletions=[{"entityName": "Ann", "observations": ["two", "three"]}])
    assert server.call("memory_update", memory_id="Ann", content="now one").value["content"] == "now one"
