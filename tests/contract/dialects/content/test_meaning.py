"""What goes by meaning: three kinds of query, three measures of similarity, and embeddings made when asked for."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Server

from .speaking import find, found, get, refused, similar, stored, write

TEXTS = {
    "boat": ("The sailing boat left the harbour at dawn", "text/plain"),
    "ship": ("A ship departed from the port early in the morning", "text/markdown"),
    "bread": ("Knead the dough and let the bread rise overnight", "text/plain"),
    "tax": ("The income tax return is due in April", "text/html"),
}
MEASURES = ("cosine", "euclidean", "manhattan")
SHOWN = {"options": {"include_embeddings": True}}


@pytest.fixture(scope="module")
def quay(meaning: Server) -> dict[str, str]:
    """Two items that say nearly the same in other words, and two about something else; nobody changes them."""
    return {
        name: stored(meaning, "quay", text, content_type=kind, options={"generate_embeddings": True})
        for name, (text, kind) in TEXTS.items()
    }


@pytest.mark.long
@pytest.mark.promise("content.search.query_types")
def test_meaning_finds_what_shares_no_word(meaning: Server, quay: dict[str, str]) -> None:
    query = "vessel setting out"
    assert found(meaning, "quay", query, query_type="keyword") == []
    for query_type in ("semantic", "hybrid"):
        assert set(found(meaning, "quay", query, query_type=query_type)[:2]) == {quay["boat"], quay["ship"]}
    assert found(meaning, "quay", query) == found(meaning, "quay", query, query_type="hybrid")


@pytest.mark.promise("content.search.query_types")
def test_a_keyword_search_goes_by_words_alone(meaning: Server, quay: dict[str, str]) -> None:
    assert found(meaning, "quay", "harbour", query_type="keyword") == [quay["boat"]]
    (one,) = find(meaning, "quay", "harbour", query_type="keyword")["results"]
    assert "meaning" not in one["explanation"]
    best = find(meaning, "quay", "harbour", query_type="semantic")["results"][0]
    assert "meaning" in best["explanation"]


@pytest.mark.promise("content.similar.measures")
@pytest.mark.parametrize("measure", MEASURES)
def test_the_same_text_is_one_and_everything_is_from_zero_to_one(
    meaning: Server, quay: dict[str, str], measure: str
) -> None:
    options = {"similarity_method": measure}
    same = similar(meaning, "quay", content=TEXTS["boat"][0], options=options)
    assert list(same)[:2] == [quay["boat"], quay["ship"]]
    assert same[quay["boat"]] == 1.0
    assert all(0 <= value <= 1 for value in same.values())
    assert list(same.values()) == sorted(same.values(), reverse=True)
    assert same[quay["ship"]] < 1
    assert same[quay["ship"]] > max(same.get(quay[name], 0) for name in ("bread", "tax"))


@pytest.mark.promise("content.similar.measures")
def test_the_three_are_three_measures(meaning: Server, quay: dict[str, str]) -> None:
    values = {
        measure: similar(meaning, "quay", content_id=quay["boat"], options={"similarity_method": measure})
        for measure in MEASURES
    }
    assert len({values[measure][quay["ship"]] for measure in MEASURES}) == 3
    cosine, euclidean = values["cosine"][quay["ship"]], values["euclidean"][quay["ship"]]
    # Of unit vectors the distance follows from the cosine, d² = 2 - 2 cos; both count from what unrelated texts have.
    assert euclidean == pytest.approx(1 - (1 - cosine) ** 0.5, abs=0.01)
    assert similar(meaning, "quay", content_id=quay["boat"]) == values["cosine"]


@pytest.mark.promise("content.similar.self")
@pytest.mark.parametrize("measure", MEASURES)
def test_the_item_itself_is_answered_only_when_asked_for(meaning: Server, quay: dict[str, str], measure: str) -> None:
    options = {"similarity_method": measure}
    assert quay["boat"] not in similar(meaning, "quay", content_id=quay["boat"], options=options)
    off = {"include_self": False, **options}
    assert quay["boat"] not in similar(meaning, "quay", content_id=quay["boat"], options=off)
    with_self = similar(meaning, "quay", content_id=quay["boat"], options={"include_self": True, **options})
    assert next(iter(with_self.items())) == (quay["boat"], 1.0)


@pytest.mark.promise("content.similar.self")
def test_the_same_text_is_answered_with_1_whoever_asks(meaning: Server, project: str) -> None:
    one = stored(meaning, project, "The ferry runs every hour")
    other = stored(meaning, project, "The ferry runs every hour")
    far = stored(meaning, project, "The ferry runs every two hours")
    by_text = similar(meaning, project, content="The ferry runs every hour")
    assert (by_text[one], by_text[other]) == (1, 1)
    assert by_text[far] < 1
    assert similar(meaning, project, content_id=one)[other] == 1


@pytest.mark.promise("content.similar.filters")
def test_types_and_ids_say_what_may_be_answered(meaning: Server, quay: dict[str, str]) -> None:
    def answered(**options: Any) -> set[str]:
        return set(similar(meaning, "quay", content="A boat leaves the harbour", options=options))

    assert {quay["boat"], quay["ship"]} <= answered()
    assert answered(content_types=["text/markdown"]) == {quay["ship"]}
    assert answered(content_types=["text/markdown", "text/html"]) == {quay["ship"], quay["tax"]}
    assert quay["boat"] not in answered(exclude_ids=[quay["boat"]])
    assert quay["ship"] in answered(exclude_ids=[quay["boat"], "content_none"])
    assert answered(content_types=["image/png"]) == set()


@pytest.mark.promise("content.similar.limits")
@pytest.mark.parametrize("measure", MEASURES)
def test_limit_and_threshold_cut_the_list(meaning: Server, quay: dict[str, str], measure: str) -> None:
    options = {"similarity_method": measure}
    whole = similar(meaning, "quay", content_id=quay["boat"], options=options)
    assert len(similar(meaning, "quay", content_id=quay["boat"], limit=1, options=options)) == 1
    best = whole[quay["ship"]]
    assert list(similar(meaning, "quay", content_id=quay["boat"], threshold=best - 0.001, options=options)) == [
        quay["ship"]
    ]
    assert similar(meaning, "quay", content_id=quay["boat"], threshold=0, options=options) == whole
    assert similar(meaning, "quay", content_id=quay["boat"], threshold=1, options=options) == {}


@pytest.mark.promise("content.similar.limits")
def test_a_limit_is_reached_where_much_is_excluded(meaning: Server, project: str) -> None:
    ids = [stored(meaning, project, f"The boat number {n} leaves the harbour") for n in range(12)]
    answer = similar(meaning, project, content="The boat leaves the harbour", limit=5, options={"exclude_ids": ids[:7]})
    assert set(answer) == set(ids[7:])
    assert len(similar(meaning, project, content="The boat leaves the harbour")) == 10


@pytest.mark.promise("content.similar.words")
def test_without_a_model_shared_words_decide(shared: Server, project: str) -> None:
    same, near = stored(shared, project, "a quiet red barn"), stored(shared, project, "a loud red barn door")
    stored(shared, project, "an income form")
    answer = similar(shared, project, content="a quiet red barn")
    assert next(iter(answer)) == same
    assert answer[same] == 1.0
    assert 0 < answer[near] < 1
    assert same not in similar(shared, project, content_id=same)
    assert refused(shared, "find_similar_content", 404, project, content_id="content_none")


@pytest.mark.promise("content.store.embeddings")
def test_embeddings_are_there_when_asked_for(meaning: Server, project: str) -> None:
    id = stored(meaning, project, "A boat in the harbour", options={"generate_embeddings": True})
    vectors = get(meaning, project, id, **SHOWN)["embeddings"]
    assert vectors
    for rows in vectors.values():
        assert rows
        assert all(len(row) > 50 and all(isinstance(x, float) for x in row) for row in rows)
    assert "embeddings" not in get(meaning, project, id, options={"include_embeddings": False})


@pytest.mark.promise("content.store.embeddings")
def test_without_embeddings_an_item_is_found_by_its_words_only(meaning: Server, project: str) -> None:
    id = stored(meaning, project, "A boat in the harbour", options={"generate_embeddings": False})
    assert not any(get(meaning, project, id, **SHOWN)["embeddings"].values())
    assert found(meaning, project, "vessel at the port", query_type="semantic") == []
    assert found(meaning, project, "harbour") == [id]


@pytest.mark.promise("content.store.embeddings")
def test_by_itself_an_item_gets_its_embeddings_soon(meaning: Server, project: str) -> None:
    id = stored(meaning, project, "A boat in the harbour")
    assert found(meaning, project, "vessel at the port", query_type="semantic") == [id]
    assert any(get(meaning, project, id, **SHOWN)["embeddings"].values())


@pytest.mark.promise("content.update.embeddings")
def test_regenerated_embeddings_are_those_of_the_new_text(meaning: Server, project: str) -> None:
    id = stored(meaning, project, TEXTS["boat"][0], options={"generate_embeddings": True})
    old = get(meaning, project, id, **SHOWN)["embeddings"]
    updates, options = {"content": TEXTS["tax"][0]}, {"regenerate_embeddings": True}
    write(meaning, "update_content", project, content_id=id, updates=updates, options=options)
    assert get(meaning, project, id, **SHOWN)["embeddings"] != old
    assert similar(meaning, project, content=TEXTS["tax"][0])[id] == 1.0


@pytest.mark.promise("content.update.embeddings")
def test_without_regenerating_the_new_text_has_none(meaning: Server, project: str) -> None:
    id = stored(meaning, project, TEXTS["boat"][0], options={"generate_embeddings": True})
    updates, options = {"content": TEXTS["tax"][0]}, {"regenerate_embeddings": False}
    write(meaning, "update_content", project, content_id=id, updates=updates, options=options)
    assert found(meaning, project, "vessel at the port", query_type="semantic") == []
    assert not any(get(meaning, project, id, **SHOWN)["embeddings"].values())
    assert found(meaning, project, "income tax") == [id]


@pytest.mark.promise("content.update.embeddings")
def test_embeddings_may_be_made_later_for_the_same_text(meaning: Server, project: str) -> None:
    id = stored(meaning, project, TEXTS["boat"][0], options={"generate_embeddings": False})
    updates, options = {"tags": ["sea"]}, {"regenerate_embeddings": True}
    write(meaning, "update_content", project, content_id=id, updates=updates, options=options)
    assert any(get(meaning, project, id, **SHOWN)["embeddings"].values())
    assert found(meaning, project, "vessel at the port", query_type="semantic") == [id]


@pytest.mark.promise("content.search.languages")
def test_a_korean_question_finds_its_answer(meaning: Server, project: str) -> None:
    id = stored(meaning, project, "배포는 매주 화요일 오후 세 시에 진행한다")
    stored(meaning, project, "점심은 구내식당에서 먹는다")
    assert found(meaning, project, "언제 배포하나요?")[0] == id
    assert next(iter(similar(meaning, project, content="배포는 매주 화요일 오후 세 시에 진행한다"))) == id


@pytest.mark.promise("content.sessions.seen", "content.projects.isolated")
def test_by_meaning_nothing_of_another_session_or_project_is_near(
    meaning: Server, quay: dict[str, str], project: str
) -> None:
    ours = stored(meaning, project, TEXTS["bread"][0], options={"generate_embeddings": True})
    mine = stored(meaning, project, TEXTS["boat"][0], options={"generate_embeddings": True}, session_id="one")
    for session, seen in (({}, set()), ({"session_id": "two"}, set()), ({"session_id": "one"}, {mine})):
        # Beside what is near, what is faintly near may be shown.
        assert set(found(meaning, project, "vessel setting out", query_type="semantic", **session)) in (
            seen,
            seen | {ours},
        )
        near = similar(meaning, project, content=TEXTS["ship"][0], limit=100, **session)
        assert set(near) == seen | {ours}
    with_self = {"include_self": True}
    assert set(similar(meaning, project, content_id=mine, session_id="one", options=with_self)) == {ours, mine}
    refused(meaning, "find_similar_content", 404, project, content_id=quay["boat"])
