"""create_relationship: twelve types between two items that exist."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import RELATIONSHIPS, get, refused, related, stored, told, write

SHOWN = {"options": {"include_relationships": True}}


@pytest.mark.promise("content.relationships.types")
@pytest.mark.parametrize("type", RELATIONSHIPS)
def test_each_of_the_twelve_types_is_drawn_and_shown_at_both_ends(shared: Server, project: str, type: str) -> None:
    one, two = stored(shared, project, "one"), stored(shared, project, "two")
    answer = write(shared, "create_relationship", project, source_id=one, target_id=two, type=type)
    assert (answer["created"], answer["message"]) == (True, "Relationship created successfully")
    for id in (one, two):
        (shown,) = get(shared, project, id, **SHOWN)["relationships"]
        assert shown == answer["relationship"]
        assert (shown["source_id"], shown["target_id"], shown["type"]) == (one, two, type)
        assert (shown["relationship_id"], shown["origin"]) == (answer["relationship_id"], "manual")


@pytest.mark.promise("content.relationships.details")
@pytest.mark.parametrize("strength", [0, 0.5, 1])
def test_strength_context_and_metadata_are_kept(shared: Server, project: str, strength: float) -> None:
    one, two = stored(shared, project, "one"), stored(shared, project, "two")
    related(shared, project, one, two, strength=strength, context="둘 다 🦊", metadata={"by": "hand"})
    (shown,) = get(shared, project, one, **SHOWN)["relationships"]
    assert (shown["strength"], shown["context"], shown["metadata"]) == (strength, "둘 다 🦊", {"by": "hand"})


@pytest.mark.promise("content.relationships.details")
def test_what_was_not_given_is_not_made_up(shared: Server, project: str) -> None:
    one, two = stored(shared, project, "one"), stored(shared, project, "two")
    related(shared, project, one, two)
    (shown,) = get(shared, project, one, **SHOWN)["relationships"]
    assert not {"strength", "context", "metadata", "deleted"} & set(shown)


@pytest.mark.promise("content.relationships.again")
def test_the_same_relationship_again_is_drawn_anew(shared: Server, project: str) -> None:
    one, two = stored(shared, project, "one"), stored(shared, project, "two")
    related(shared, project, one, two, strength=0.2, context="old")
    again = write(shared, "create_relationship", project, source_id=one, target_id=two, type="references", strength=0.9)
    assert again["created"] is False
    (shown,) = get(shared, project, one, **SHOWN)["relationships"]
    assert shown["strength"] == 0.9
    assert "context" not in shown
    related(shared, project, one, two, "cites")
    related(shared, project, two, one, "references")
    assert len(get(shared, project, one, **SHOWN)["relationships"]) == 3


@pytest.mark.promise("content.relationships.ends")
def test_both_ends_must_exist(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "here")
    for source, target, missing in ((id, "content_none", ["content_none"]), ("content_none", id, ["content_none"]),
                                    ("content_a", "content_b", ["content_a", "content_b"])):  # fmt: skip
        fault = refused(words, "create_relationship", 404, "atlas", source_id=source, target_id=target, type="cites")
        details = fault["data"]["details"]
        assert (fault["message"], details["resource_id"]) == ("Content not found", missing[0])
        assert details.get("resource_ids", missing) == missing
        assert details["project_id"] == "atlas"
    assert len(told(place, "atlas", "changes")) == 1
    assert get(words, "atlas", id, **SHOWN)["relationships"] == []


@pytest.mark.promise("content.relationships.undo")
def test_a_relationship_can_be_undone(place: Place, words: Server) -> None:
    one, two = stored(words, "atlas", "one"), stored(words, "atlas", "two")
    related(words, "atlas", one, two)
    told(place, "atlas", "undo")
    assert get(words, "atlas", one, **SHOWN)["relationships"] == []
