"""Search: by meaning, in a scope that is searched whole, with scores that say something."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server

from .speaking import found, refused, stored


@pytest.mark.promise("associative.search.meaning")
def test_search_goes_by_meaning_in_several_languages(meaning: Server) -> None:
    texts = {
        "The invoice must be paid within thirty days": "deadline for settling the bill",
        "고양이가 소파에서 자고 있다": "어디에서 고양이가 쉬고 있나요?",
        "Der Zug nach Hamburg fährt um acht Uhr ab": "When does the train to Hamburg leave?",
    }
    ids = {text: stored(meaning, text, scope="languages") for text in texts}
    for text, question in texts.items():
        assert found(meaning, question, scope="languages")[0] == ids[text]


@pytest.mark.promise("associative.search.first")
def test_the_first_search_of_a_server_goes_by_meaning_whoever_stored_what_it_finds(place: Place, words: Server) -> None:
    id = stored(words, "Die Heizung im Keller ist kaputt")
    stored(words, "My grandmother likes gardening")
    fresh = place.serve("associative", environment={"POLYMNIA_EMBEDDER": "use"})
    reply = fresh.call("memory_search", query="the heater downstairs is broken")
    assert reply.value["memories"][0]["memory_id"] == id
    assert reply.notes == []


@pytest.mark.promise("associative.search.scores")
def test_scores_are_from_0_to_1_and_equal_texts_come_first(meaning: Server) -> None:
    exact = stored(meaning, "The elevator is out of order", scope="scores")
    stored(meaning, "Elevators are convenient in tall buildings", scope="scores")
    stored(meaning, "My grandmother likes gardening", scope="scores")
    query = "The elevator is out of order"
    hits = meaning.call("memory_search", query=query, scope="scores", similarity_threshold=0).value["memories"]
    assert hits[0]["memory_id"] == exact
    assert hits[0]["similarity_score"] > 0.95
    assert all(0 <= hit["similarity_score"] <= 1 for hit in hits)
    scores = {hit["content"]: hit["similarity_score"] for hit in hits}
    assert scores.get("My grandmother likes gardening", 0) < scores["Elevators are convenient in tall buildings"] < 0.95


@pytest.mark.promise("associative.search.inside")
def test_a_scope_is_searched_whole_however_much_there_is_elsewhere(words: Server) -> None:
    texts = [{"content": f"an okapi, number {number}", "scope": "crowd"} for number in range(700)]
    data = json.dumps({"memories": [*texts, {"content": "a lonely okapi", "scope": "a/b"}]})
    assert words.call("memory_import", import_data=data).value["imported_count"] == 701
    value = words.call("memory_search", query="okapi number", scope="a", include_child_scopes=True).value
    assert [one["content"] for one in value["memories"]] == ["a lonely okapi"]
    assert value["total_found"] == 1
    assert words.call("memory_search", query="okapi", scope="crowd", limit=100).value["total_found"] == 700


@pytest.mark.promise("associative.search.empty")
def test_an_empty_query_is_refused_and_one_without_answers_finds_nothing(shared: Server) -> None:
    for query in ("", "   "):
        assert "query" in refused(shared, "memory_search", "VALIDATION_ERROR", query=query)["message"]
    value = shared.call("memory_search", query="qzxvwk", scope="nowhere/at/all").value
    assert "There is no scope 'nowhere/at/all'" in value.pop("notes")[0]
    assert value == {"memories": [], "total_found": 0, "search_scope": "nowhere/at/all"}
