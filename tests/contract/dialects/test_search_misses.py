"""Scores as chances, and answers that say so when nothing stored fits the question; in two languages, at every door."""

from __future__ import annotations

import json
from typing import Any

import pytest

from form import each
from stdio_client import Place, Reply, Server

NOTES = [
    "The boiler in the cellar was serviced on 4 May by Kestrel Heating.",
    "Mara prefers the window seat on long train rides.",
    "The spare key hangs behind the blue cupboard in the hallway.",
    "Our landlord wants the rent on the first of each month.",
    "Jonas is allergic to walnuts and hazelnuts.",
    "The wifi password of the cabin is written on the fridge.",
    "할머니의 재봉틀은 작년 가을에 솔빛 공방에서 고쳤다.",
    "수진이는 새우를 먹으면 두드러기가 난다.",
    "주말농장의 물탱크 열쇠는 우체통 밑에 있다.",
    "토요일 합창 연습은 마을 회관 2층에서 한다.",
]
ANSWERED = [
    ("Which nuts must Jonas avoid?", "Jonas"),
    ("Where can I find the extra key for our flat?", "spare key"),
    ("Who looked after the heating?", "Kestrel"),
    ("재봉틀은 어디에서 수리했어?", "솔빛"),
    ("합창 연습은 어디서 하나요?", "회관"),
    ("수진이가 못 먹는 음식은 뭐야?", "새우"),
]
SHARING_WORDS = [
    ("Who was the first president of Brazil?", "first"),
    ("How many moons does the blue planet Neptune have?", "blue"),
]
"""Questions that nothing answers, each with a word that a note has."""
KOREAN = ("가을에 북극곰은 무엇을 사냥하나요?", "가을")
"""The same. The cross-encoder for other languages is less sure that nothing answers, so `quick` is asked."""


@pytest.fixture(scope="module")
def filled(module_place: Place) -> Place:
    """A store with the notes, all of them read by the models."""
    entities = [
        json.dumps({"type": "entity", "name": f"note {i}", "entityType": "note", "observations": [text]})
        for i, text in enumerate(NOTES)
    ]
    file = module_place.folder / "notes.jsonl"
    file.write_text("\n".join(entities), encoding="utf-8")
    for command in (("import", str(file)), ("reindex",)):
        done = module_place.run(*command, environment={"POLYMNIA_EMBEDDER": None})
        assert done.returncode == 0, done.stderr
    return module_place


@pytest.fixture(scope="module", params=["quick", "balanced"])
def server(request: pytest.FixtureRequest, filled: Place) -> Server:
    """A server with the tools of all dialects and the models every install has."""
    return filled.serve("all", "--effort", request.param, environment={"POLYMNIA_EMBEDDER": None})


def nodes(reply: Reply) -> list[str]:
    """The texts that search_nodes found."""
    return [node["observations"][0] for node in reply.value["nodes"]]


def codes(reply: Reply) -> set[str]:
    return {note["code"] for note in reply.notes}


def memories(server: Server, query: str, **more: Any) -> tuple[list[tuple[str, float]], str]:
    """What memory_search finds with its scores, and what it says beside."""
    value = server.call("memory_search", query=query, **more).value
    found = [(one["content"], one["similarity_score"]) for one in value["memories"]]
    return found, " ".join(value.get("notes", ()))


def contents(server: Server, query: str, **options: Any) -> tuple[list[tuple[str, float]], str]:
    """The same of search_content."""
    value = server.call(
        "memory_retrieve", operation="search_content", project_id="default", query=query, options=options
    ).value
    found = [(one["content"]["content"], one["relevance"]) for one in value["results"]]
    return found, " ".join(value.get("notes", ()))


@pytest.mark.long
@pytest.mark.promise("search.nothing_fits")
@each(("question", "answer"), ANSWERED)
def test_a_question_that_is_answered_is_not_called_unanswered(server: Server, question: str, answer: str) -> None:
    reply = server.call("search_nodes", query=question)
    assert answer in nodes(reply)[0]
    assert codes(reply) == set()
    for found, notes in (memories(server, question), contents(server, question)):
        assert answer in found[0][0]
        assert notes == ""


@pytest.mark.promise("search.nothing_fits")
@each(("question", "word"), SHARING_WORDS)
def test_where_nothing_fits_the_answer_says_so_and_shows_the_nearest(server: Server, question: str, word: str) -> None:
    _nothing_fits(server, question, word)


@pytest.mark.promise("search.nothing_fits")
def test_where_nothing_fits_in_korean_the_answer_says_so_too(filled: Place) -> None:
    _nothing_fits(filled.serve("all", "--effort", "quick", environment={"POLYMNIA_EMBEDDER": None}), *KOREAN)


def _nothing_fits(server: Server, question: str, word: str) -> None:
    reply = server.call("search_nodes", query=question)
    assert any(word in text for text in nodes(reply))
    assert codes(reply) == {"nothing_fits"}
    for found, notes in (memories(server, question), contents(server, question)):
        assert any(word in text for text, _ in found), "what has a word of the query is shown"
        assert max(score for _, score in found) < 0.1
        assert "seems to answer this" in notes
        assert f"{found[0][1]:.2f}" in notes


@pytest.mark.promise("associative.search.threshold")
def test_a_threshold_that_was_given_hides_what_is_below_it(server: Server) -> None:
    for question, _ in SHARING_WORDS:
        found, notes = memories(server, question, similarity_threshold=0.1)
        assert found == []
        assert "scores below 0.1" in notes
        every, notes = memories(server, question, similarity_threshold=0, limit=100)
        assert len(every) == len(NOTES)
        assert "seems to answer this" in notes


@pytest.mark.promise("search.nothing_fits")
def test_nothing_is_said_where_the_models_cannot_tell(server: Server) -> None:
    """What holds the query as it stands, what is of the time asked for, and a misspelt word."""
    for query in ("cupboard in the", "열쇠", "what was stored today?", "hazlenuts"):
        reply = server.call("search_nodes", query=query)
        assert nodes(reply), query
        assert "nothing_fits" not in codes(reply), query


@pytest.mark.promise("search.nothing_fits")
def test_without_a_model_nothing_is_said_about_what_fits(filled: Place) -> None:
    words = filled.serve("all", environment={"POLYMNIA_EMBEDDER": "none"})
    for question, word in SHARING_WORDS:
        reply = words.call("search_nodes", query=question)
        assert any(word in text for text in nodes(reply))
        assert "nothing_fits" not in codes(reply)
