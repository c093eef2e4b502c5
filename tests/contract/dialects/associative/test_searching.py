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
    assert hits[0]["similarity_score"] == 1
    assert all(0 <= hit["similarity_score"] <= 1 for hit in hits)
    scores = {hit["content"]: hit["similarity_score"] for hit in hits}
    assert scores.get("My grandmother likes gardening", 0) < scores["Elevators are convenient in tall buildings"] < 0.95


@pytest.mark.long
@pytest.mark.promise("associative.search.scores")
def test_scores_fall_with_the_order_and_thresholds_are_on_their_scale(meaning: Server) -> None:
    texts = [
        "ADR-011: we deploy from the main branch", "ADR-012: PostgreSQL keeps the orders", "ADR-013 replaces ADR-012",
        "The orders of the shop are kept in PostgreSQL", "주문은 PostgreSQL에 저장한다", "회의는 월요일 아침에 있다",
        "Die Bestellungen liegen in einer Datenbank", "注文はデータベースに保存される", "Bread needs an hour to rise",
    ]  # fmt: skip
    for text in texts:
        stored(meaning, text, scope="falling", similarity_threshold=1)
    for query in [
        *texts, "ADR-012", "where are the orders kept?", "주문은 어디에 있나요?", "Wo liegen die Bestellungen?",
        "database", "When is the meeting?", "zzqx", "postgre", "会議はいつ",
    ]:  # fmt: skip
        arguments = {"query": query, "scope": "falling", "limit": 100}
        every = meaning.call("memory_search", **arguments, similarity_threshold=0).value["memories"]
        scores = [one["similarity_score"] for one in every]
        assert len(every) == len(texts), query
        assert scores == sorted(scores, reverse=True), query
        ones = [one["content"] for one in every if one["similarity_score"] == 1]
        assert ones == ([query] if query in texts else [texts[1]] if query == "ADR-012" else []), query
        some = meaning.call("memory_search", **arguments).value["memories"]
        assert [one["memory_id"] for one in some] == [
            one["memory_id"] for one in every if one["similarity_score"] >= 0.1
        ], query


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


@pytest.mark.promise("associative.search.turns")
def test_a_turn_of_a_dialogue_comes_with_the_turns_around_it(words: Server) -> None:
    talk = [
        "user: I am planning the trip to Busan.",
        "assistant: When do you want to go?",
        "user: Which ferry is the fastest one?",
        "assistant: The Nina Queen, " + "which takes less than three hours " * 20,
    ]
    ids = [stored(words, text, scope="session/trip") for text in talk]
    for text in ("Ferry: the fastest one is blue", "Budget: 4,000 for the trip", "Hotel: near the harbour"):
        stored(words, text, scope="notes")

    reply = words.call("memory_search", query="fastest ferry")
    hits = {hit["content"]: hit for hit in reply.value["memories"]}

    asked = hits[talk[2]]
    assert asked["previous_turn"] == {"memory_id": ids[1], "content": "When do you want to go?", "who": "assistant"}
    answer = asked["next_turn"]
    assert (answer["memory_id"], answer["who"], answer["truncated"]) == (ids[3], "assistant", True)
    assert answer["content"].startswith("The Nina Queen")
    assert len(answer["content"]) < 250
    assert not {"previous_turn", "next_turn"} & hits["Ferry: the fastest one is blue"].keys()
