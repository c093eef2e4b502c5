"""find_content_relationships: what was drawn and what the texts show, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Server

from .analyzing import analyze
from .speaking import RELATIONSHIPS, related, stored

CHAIN = (("cites", 0.9), ("part_of", 0.8), ("follows", 0.5), ("causes", 0.5), ("describes", 0.5), ("cites", 0.5))
INVERSE = {"contains": "part_of", "part_of": "contains", "follows": "precedes", "precedes": "follows"}
NAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo")


def connections(server: Server, project: str, id: str, /, **more: Any) -> dict[str, dict[str, Any]]:
    """What an item is related to, by the titles of the others, in the order of the answer."""
    answer = analyze(server, "find_content_relationships", project, content_id=id, **more)
    assert answer["content_id"] == id
    return {one["title"]: one for one in answer["relationships"]}


@pytest.fixture(scope="module")
def chain(shared: Server) -> list[str]:
    """Seven items, each related to the next; nobody changes them."""
    ids = [stored(shared, "chain", f"# {name}\n\nLeaves of {name}.") for name in NAMES]
    for at, (type, strength) in enumerate(CHAIN):
        context = f"{NAMES[at]} comes before {NAMES[at + 1]}"
        related(shared, "chain", ids[at], ids[at + 1], type, strength=strength, context=context)
    return ids


@pytest.mark.promise("analysis.relationships.paths")
def test_each_is_told_with_the_way_that_leads_there(shared: Server, chain: list[str]) -> None:
    found = connections(shared, "chain", chain[0], max_depth=5)
    assert [(one["title"], one["depth"]) for one in found.values()] == [(NAMES[n], n) for n in range(1, 6)]
    cedar = found["Cedar"]
    assert (cedar["content_id"], cedar["type"], cedar["direction"], cedar["origin"]) == (
        chain[2], "part_of", "outgoing", "manual",
    )  # fmt: skip
    assert [(step["start"], step["type"], step["end"]) for step in cedar["path"]] == [
        (chain[0], "cites", chain[1]),
        (chain[1], "part_of", chain[2]),
    ]
    assert cedar["strength"] == pytest.approx(0.9 * 0.8)
    assert (cedar["confidence"], cedar["context"]) == (1.0, "Birch comes before Cedar")


@pytest.mark.promise("analysis.relationships.paths")
def test_relationships_are_followed_against_their_direction_too(shared: Server, chain: list[str]) -> None:
    found = connections(shared, "chain", chain[2], max_depth=1)
    assert {title: one["direction"] for title, one in found.items()} == {"Birch": "incoming", "Dogwood": "outgoing"}


@pytest.mark.promise("analysis.relationships.depth")
def test_they_are_followed_as_far_as_asked(shared: Server, chain: list[str]) -> None:
    for depth in range(1, 6):
        assert list(connections(shared, "chain", chain[0], max_depth=depth)) == list(NAMES[1 : depth + 1])
    assert list(connections(shared, "chain", chain[0])) == ["Birch", "Cedar"]


@pytest.mark.promise("analysis.relationships.limit")
def test_a_limit_keeps_the_strongest_and_says_that_there_are_more(shared: Server, chain: list[str]) -> None:
    given = {"content_id": chain[0], "max_depth": 5}
    answer = analyze(shared, "find_content_relationships", "chain", **given, limit=2)
    assert [one["title"] for one in answer["relationships"]] == ["Birch", "Cedar"]
    whole = analyze(shared, "find_content_relationships", "chain", **given, limit=5)
    assert len(whole["relationships"]) == 5
    assert set(whole["notes"]) < set(answer["notes"])


@pytest.mark.promise("analysis.relationships.options")
def test_strength_and_context_are_told_unless_they_are_not_wanted(shared: Server, chain: list[str]) -> None:
    given = {"max_depth": 2}
    bare = {"include_strength": False, "include_context": False}
    whole = connections(shared, "chain", chain[0], **given)["Cedar"]
    plain = connections(shared, "chain", chain[0], **given, options=bare)["Cedar"]
    assert set(whole) - set(plain) == {"strength", "context"}
    assert all("strength" in step for step in whole["path"])
    assert not [step for step in plain["path"] if "strength" in step]
    no_context = connections(shared, "chain", chain[0], **given, options={"include_context": False})["Cedar"]
    assert set(whole) - set(no_context) == {"context"}


@pytest.mark.long
@pytest.mark.promise("analysis.relationships.types")
@pytest.mark.parametrize("type", RELATIONSHIPS)
def test_only_the_types_asked_for_are_followed(shared: Server, project: str, type: str) -> None:
    middle = stored(shared, project, "# Middle\n\nRoots.")
    for number, other in enumerate(RELATIONSHIPS):
        related(shared, project, middle, stored(shared, project, f"# Leaf {number} {other}\n\nSap."), other)
    assert len(connections(shared, project, middle)) == len(RELATIONSHIPS)
    found = connections(shared, project, middle, relationship_types=[type])
    told = {one["type"]: one["title"].split()[-1] for one in found.values()}
    # What contains a thing has it as a part: a type that is another one seen from the other end counts too.
    assert told == {one: one for one in (type, INVERSE.get(type, type))}


@pytest.mark.promise("analysis.relationships.discovered")
@pytest.mark.parametrize("drawn", [False, True], ids=["discovered", "drawn"])
def test_what_shows_it_is_quoted_in_whole_words(shared: Server, project: str, drawn: bool) -> None:
    stored(shared, project, "# Harbour rules of the northern pier\n\nShips pay at the counter.")
    text = (
        "Now and then the unconditionally valid Harbour rules of the northern pier notwithstanding, quarrels remain "
        "about it, which the harbour office settles on Mondays between ten and noon at the counter."
    )
    naming = stored(shared, project, text, options={"detect_relationships": drawn})
    (one,) = analyze(shared, "find_content_relationships", project, content_id=naming)["relationships"]
    assert (one["type"], one["origin"] == "discovered") == ("references", not drawn)
    quoted = one["context"].partition("“")[2].rpartition("”")[0]
    assert "Harbour rules of the northern pier" in quoted
    assert set(quoted.split()) <= set(text.split())


@pytest.mark.promise("analysis.relationships.types")
def test_types_hold_for_every_step_of_a_way(shared: Server, chain: list[str]) -> None:
    assert list(connections(shared, "chain", chain[0], max_depth=5, relationship_types=["cites"])) == ["Birch"]
    both = connections(shared, "chain", chain[0], max_depth=5, relationship_types=["cites", "part_of"])
    assert list(both) == ["Birch", "Cedar"]


@pytest.mark.promise("analysis.relationships.discovered")
def test_what_the_texts_show_is_discovered_with_its_evidence_and_not_drawn(shared: Server, project: str) -> None:
    target = stored(shared, project, "# Harbour rules\n\nShips pay at the counter.")
    text = f"The rules in {target} hold for small boats as well."
    naming = stored(shared, project, text)
    stored(shared, project, "Violins are tuned in fifths.")
    (one,) = analyze(shared, "find_content_relationships", project, content_id=naming)["relationships"]
    assert (one["content_id"], one["origin"], one["direction"]) == (target, "discovered", "outgoing")
    quoted = one["context"].partition("“")[2].rpartition("”")[0]
    assert target in quoted
    assert quoted in text
    assert 0 < one["confidence"] < 1
    # Seen from the other end it is the same.
    (back,) = analyze(shared, "find_content_relationships", project, content_id=target)["relationships"]
    assert (back["content_id"], back["type"], back["direction"]) == (naming, one["type"], "incoming")
    shown = shared.call("memory_retrieve", operation="get_content", project_id=project, content_id=naming,
                        options={"include_relationships": True})  # fmt: skip
    assert shown.structured["content"]["relationships"] == []


@pytest.mark.long
@pytest.mark.promise("analysis.relationships.discovered")
def test_the_same_said_again_in_other_words_is_similar(meaning: Server, project: str) -> None:
    text = "The northern lighthouse was rebuilt after the storm with a stronger lamp and a taller tower of white stone."
    one = stored(meaning, project, text, options={"generate_embeddings": True})
    two = stored(meaning, project, text.replace("white", "grey"), options={"generate_embeddings": True})
    stored(meaning, project, "Violins are tuned in fifths.")
    (found,) = analyze(meaning, "find_content_relationships", project, content_id=one)["relationships"]
    assert (found["content_id"], found["type"], found["origin"]) == (two, "similar_to", "discovered")


@pytest.mark.promise("analysis.relationships.none")
def test_where_texts_have_nothing_in_common_nothing_is_told(shared: Server, project: str) -> None:
    ids = [
        stored(shared, project, text)
        for text in ("Violins are tuned in fifths.", "The ferry leaves at eight.", "Rye bread needs a sour dough.")
    ]
    for id in ids:
        answer = analyze(shared, "find_content_relationships", project, content_id=id, max_depth=5)
        assert (answer["relationships"], answer["message"]) == ([], "Found no relationships")
        assert any(note.startswith("No relationship is drawn here") for note in answer["notes"])


@pytest.mark.promise("analysis.relationships.options")
def test_what_is_less_certain_is_left_out(shared: Server, project: str) -> None:
    target = stored(shared, project, "# Harbour rules\n\nShips pay at the counter.")
    middle = stored(shared, project, f"The rules in {target} hold for small boats as well.")
    drawn = stored(shared, project, "Violins are tuned in fifths.")
    related(shared, project, middle, drawn, "causes")

    def told(least: float) -> set[str]:
        found = connections(shared, project, middle, options={"min_confidence": least})
        assert all(one["confidence"] >= least for one in found.values())
        return {one["content_id"] for one in found.values()}

    assert told(0.0) == {target, drawn}
    assert told(1.0) == {drawn}
