"""Storing while vectors are still being made: nothing waits for a model, and nothing is left out for good."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server

from .speaking import got, store, stored, until_linked

MODEL = {"POLYMNIA_EMBEDDER": "use"}
OLD = ["The physician examined her patient carefully", "Quarterly revenue grew by nine percent"]
NEW = "A doctor looked after the sick man"


def _older(place: Place) -> list[str]:
    """Memories that were stored where there was no model."""
    server = place.serve("associative")
    ids = [stored(server, text, auto_associate=False) for text in OLD]
    server.close_input()
    assert server.exit_code() == 0
    return ids


def _stored_at_once(place: Place) -> tuple[Server, dict[str, Any]]:
    """A new memory, stored by a server whose first call it is: no model is ready and nothing has a vector."""
    server = place.serve("associative", environment=MODEL)
    answer = store(server, NEW)
    assert answer["associations_pending"] is True
    assert any("Vectors" in note for note in answer["notes"])
    assert answer["associations"] == []
    return server, answer


@pytest.mark.promise("associative.associations.pending")
@pytest.mark.promise("associative.associations.pending_undo")
def test_associations_appear_when_the_vectors_are_there_and_go_with_the_memory(place: Place) -> None:
    doctor, _ = _older(place)
    server, answer = _stored_at_once(place)
    again = store(server, "The physician examined her patient carefully.")
    assert (again["is_duplicate"], again["memory_id"]) == (True, doctor)
    until_linked(server, answer["memory_id"], [doctor])
    (one,) = got(server, answer["memory_id"])["associations"]
    assert 0.4 <= one["similarity_score"] < 1
    later = store(server, "The doctor saw the patient")
    assert "associations_pending" not in later
    assert set(later["associations"]) == {doctor, answer["memory_id"]}

    server.close_input()
    assert server.exit_code() == 0
    for _ in range(2):  # the newest first; what was drawn in the background is no step of its own
        assert place.run("undo").returncode == 0
    server = place.serve("all")
    assert len(server.names()) == 2
    assert server.graph()["relations"] == []
    assert place.run("undo").returncode == 0  # an older one: the two were stored before


@pytest.mark.promise("associative.associations.pending_restart")
def test_what_is_pending_is_drawn_by_the_next_server(place: Place) -> None:
    doctor, _ = _older(place)
    server, answer = _stored_at_once(place)
    server.kill()
    server = place.serve("associative", environment=MODEL)
    assert not server.call("memory_search", query="who fell ill?").failed
    until_linked(server, answer["memory_id"], [doctor])


@pytest.mark.long
@pytest.mark.promise("associative.associations.pending")
def test_an_update_that_draws_associations_anew_does_not_wait_for_a_model_either(place: Place) -> None:
    doctor, revenue = _older(place)
    server = place.serve("associative", environment=MODEL)
    answer = server.call("memory_update", memory_id=revenue, content=NEW, preserve_associations=False).value
    assert answer["associations_pending"] is True
    until_linked(server, revenue, [doctor])


@pytest.mark.promise("associative.duplicates.no_vector")
def test_memories_without_vectors_are_compared_by_their_words(place: Place) -> None:
    _older(place)
    server = place.serve("associative", environment=MODEL)
    answer = store(server, "Carefully the physician examined her patient", similarity_threshold=0.8)
    assert answer["is_duplicate"] is False
    assert [one["content"] for one in answer["similar_memories"]] == [OLD[0]]
