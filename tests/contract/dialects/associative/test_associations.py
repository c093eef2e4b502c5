"""Associations: drawn by themselves, drawn by hand, discovered, and gone with either end."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server, entity, relation

from .speaking import archive, got, linked, store, stored, told, until_linked

LANTERN = "the golden lantern of the lighthouse keeper"


def discovered(server: Server, id: str, **more: Any) -> dict[str, dict[str, Any]]:
    """What is discovered around a memory, by id."""
    reply = server.call("memory_discover_associations", memory_id=id, **more)
    assert not reply.failed, reply.text
    return {one["memory_id"]: one for one in reply.value["associations"]}


@pytest.mark.promise("associative.associations.most")
def test_at_most_ten_associations_are_drawn_for_a_memory_and_the_nearest_of_all_scopes(words: Server) -> None:
    others = [stored(words, f"{LANTERN} number {n}", scope=f"s{n}", auto_associate=False) for n in range(15)]
    answer = store(words, LANTERN, scope="elsewhere")
    assert len(answer["associations"]) == 10
    assert set(answer["associations"]) <= set(others)
    assert linked(words, answer["memory_id"]) == answer["associations"]
    scores = [one["similarity_score"] for one in got(words, answer["memory_id"])["associations"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.promise("associative.associations.meaning")
def test_associations_go_by_meaning(meaning: Server) -> None:
    doctor = stored(meaning, "The physician examined her patient carefully", scope="hospital")
    stored(meaning, "Quarterly revenue grew by nine percent", scope="office")
    answer = store(meaning, "A doctor looked after the sick man", scope="notes")
    until_linked(meaning, answer["memory_id"], [doctor])


@pytest.mark.promise("associative.associations.project")
def test_associations_never_lead_into_another_project(place: Place) -> None:
    one, two = (place.serve("associative", "--project", project) for project in ("one", "two"))
    stored(one, LANTERN)
    answer = store(two, f"{LANTERN} too")
    assert answer["associations"] == []
    assert discovered(two, answer["memory_id"], similarity_threshold=0) == {}


@pytest.mark.promise("associative.associations.relations")
def test_associations_are_relations_that_the_graph_tools_show(place: Place) -> None:
    server = place.serve("all")
    one = stored(server, LANTERN)
    two = stored(server, f"{LANTERN} again")
    drawn = relation(two, "associated_with", one)
    assert [{k: r[k] for k in drawn} for r in server.graph()["relations"]] == [drawn]
    (node,) = server.call("open_nodes", names=[one]).value["nodes"]
    assert [{k: r[k] for k in drawn} for r in node["relations"]] == [drawn]
    (found,) = [node for node in server.call("search_nodes", query="again").value["nodes"] if node["name"] == two]
    assert len(found["relations"]) == 1


@pytest.mark.promise("associative.associations.update")
def test_an_update_keeps_associations_or_draws_them_anew(words: Server) -> None:
    lantern, bears = stored(words, LANTERN), stored(words, "seven brown bears in the forest")
    id = stored(words, f"{LANTERN} again")
    for preserve in (None, True):
        words.call("memory_update", memory_id=id, content="seven brown bears", preserve_associations=preserve)
        assert linked(words, id) == [lantern]
    words.call("memory_update", memory_id=id, content="brown bears in the forest", preserve_associations=False)
    assert linked(words, id) == [bears]
    assert linked(words, lantern) == []


@pytest.mark.promise("associative.associations.update")
def test_what_somebody_linked_by_hand_stays_when_associations_are_drawn_anew(place: Place) -> None:
    server = place.serve("all")
    one, two = stored(server, "an oak"), stored(server, "a cloud")
    server.call("create_relations", relations=[relation(one, "belongs_to", two)])
    server.call("memory_update", memory_id=one, content="a birch", preserve_associations=False)
    assert linked(server, one) == [two]


@pytest.mark.promise("associative.associations.gone")
@pytest.mark.parametrize("end", ["source", "target"])
def test_associations_go_with_either_end(words: Server, end: str) -> None:
    target = stored(words, LANTERN)
    source = stored(words, f"{LANTERN} again")
    assert linked(words, target) == [source]
    gone, left = (source, target) if end == "source" else (target, source)
    words.call("memory_delete", memory_id=gone)
    assert linked(words, left) == []
    assert gone not in archive(words)
    (hit,) = words.call("memory_search", query="lantern").value["memories"]
    assert hit["associations"] == []


@pytest.mark.promise("associative.associations.moved")
def test_associations_stay_when_a_memory_is_moved(words: Server) -> None:
    one = stored(words, LANTERN)
    two = stored(words, f"{LANTERN} again")
    words.call("memory_move", memory_ids=[one], target_scope="far/away")
    assert linked(words, two) == [one]


@pytest.mark.promise("associative.discover.explicit")
@pytest.mark.parametrize("ends", ["a memory and an entity", "two memories"])
def test_a_relation_drawn_by_hand_is_explicit_and_invents_no_number(place: Place, ends: str) -> None:
    server = place.serve("all")
    id = stored(server, "The launch is planned for spring")
    if ends == "two memories":
        other = name = stored(server, "It burns kerosene")
    else:
        server.call("create_entities", entities=[entity("Rocket", "burns kerosene")])
        name = "Rocket"
        other = got(server, name)["memory_id"]
    server.call("create_relations", relations=[relation(id, "needs", name)])
    around = discovered(server, id)[other]
    assert (around["association_type"], around["relation_type"], around["direction"]) == (
        "explicit",
        "needs",
        "outgoing",
    )
    assert around["similarity_score"] < 0.5
    assert other in discovered(server, id, similarity_threshold=0.9)
    (link,) = got(server, id)["associations"]
    assert (link["similarity_score"], link["relation_type"], link["direction"]) == (None, "needs", "outgoing")
    assert "strength" not in link
    assert [one["direction"] for one in got(server, other)["associations"]] == ["incoming"]
    assert "needs" in around["reason"]
    assert around.get("name", other) == name
    assert linked(server, id) == [other]
    assert linked(server, other) == [id]
    assert discovered(server, other)[id]["association_type"] == "explicit"


@pytest.mark.promise("associative.discover.types")
def test_every_type_of_association_is_told_with_its_reason(place: Place, words: Server) -> None:
    id = stored(words, "The plumbing of Villa Rosa leaks", tags=["repairs", "house"], auto_associate=False)
    tagged = stored(words, "Buy nails", tags=["repairs", "house"], auto_associate=False)
    named = stored(words, "Guests love Villa Rosa because of Rosa", auto_associate=False)
    near = stored(words, "the plumbing of the villa leaks again", auto_associate=False)
    moment = stored(words, "unrelated otherwise", auto_associate=False)
    around = discovered(words, id, similarity_threshold=0.05)
    assert around[tagged]["association_type"] == "contextual"
    assert "repairs" in around[tagged]["reason"]
    assert "Villa" in around[named]["reason"]
    assert around[near]["association_type"] == "semantic"
    assert around[moment]["association_type"] == "temporal"
    assert all(0 < one["similarity_score"] <= 1 for one in around.values())


@pytest.mark.promise("associative.discover.stats")
def test_the_figures_of_a_discovery_are_counted(words: Server) -> None:
    id = stored(words, LANTERN, auto_associate=False)
    alone = words.call("memory_discover_associations", memory_id=id).value
    assert alone["associations"] == []
    assert alone["discovery_stats"] == {"total_candidates": 0, "filtered_results": 0, "avg_similarity": 0}
    for number in range(5):
        stored(words, f"{LANTERN} part {number}", auto_associate=False)
    value = words.call("memory_discover_associations", memory_id=id, limit=3).value
    scores = [one["similarity_score"] for one in value["associations"]]
    assert value["discovery_stats"]["total_candidates"] == 5
    assert value["discovery_stats"]["filtered_results"] == len(scores) == 3
    assert value["discovery_stats"]["avg_similarity"] == pytest.approx(sum(scores) / 3, abs=1e-3)


@pytest.mark.promise("associative.discover.reads")
def test_discovering_changes_nothing(place: Place, words: Server) -> None:
    ids = [stored(words, f"{LANTERN} part {number}", auto_associate=False) for number in range(3)]
    before = (archive(words), told(place, "changes"))
    assert len(discovered(words, ids[0])) == 2
    assert (archive(words), told(place, "changes")) == before


@pytest.mark.promise("associative.discover.meaning")
def test_discovery_goes_by_meaning_and_does_not_answer_the_memory_itself(meaning: Server) -> None:
    dog = stored(meaning, "My puppy barks at the mailman", scope="pets", auto_associate=False)
    id = stored(meaning, "The dog is loud when letters arrive", scope="other", auto_associate=False)
    around = discovered(meaning, id)
    assert id not in around
    assert around[dog]["association_type"] == "semantic"
    assert around[dog]["scope"] == "pets"


@pytest.mark.promise("associative.associations.long")
def test_of_a_long_memory_beside_another_the_beginning_is_shown(words: Server) -> None:
    long = f"{LANTERN} " * 100
    one = stored(words, long)
    two = stored(words, LANTERN)
    (link,) = got(words, two)["associations"]
    assert (link["memory_id"], link["truncated"]) == (one, True)
    assert len(link["content"]) < 400
    assert got(words, one)["content"] == long
