"""search_content by words: filters, pages, order, and why each result is one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from form import each
from stdio_client import Place, Server

from .speaking import find, found, get, refused, stored, write


def day(offset: int = 0) -> str:
    """A date, so many days from today."""
    return (datetime.now(UTC) + timedelta(days=offset)).date().isoformat()


@pytest.fixture(scope="module")
def shelf(shared: Server) -> dict[str, str]:
    """Three items about apples, and one about none; nobody changes them."""
    put = {
        "plain": ("Apple trees need sun", {"tags": ["fruit", "garden"], "metadata": {"author": "Ann", "pages": 3}}),
        "mark": (
            "# Zesty pie\n\nApple pie needs an apple, butter and patience",
            {"tags": ["fruit", "kitchen"], "content_type": "text/markdown", "metadata": {"author": "Bob", "pages": 3}},
        ),
        "html": (
            "<p>Apple cider is pressed in autumn</p>",
            {"content_type": "text/html", "metadata": {"author": "Ann", "where": {"town": "Oslo"}}},
        ),
        "other": ("Boats need wind", {"tags": ["sea"]}),
    }
    return {name: stored(shared, "shelf", text, **more) for name, (text, more) in put.items()}


@pytest.mark.promise("content.search.answer")
def test_an_answer_has_results_a_total_and_its_page(shared: Server, shelf: dict[str, str]) -> None:
    answer = find(shared, "shelf", "apple")
    assert {one["content"]["content_id"] for one in answer["results"]} == {shelf[k] for k in ("plain", "mark", "html")}
    assert (answer["total"], answer["page"], answer["per_page"]) == (3, 1, 10)
    for one in answer["results"]:
        assert one["content"] == get(shared, "shelf", one["content"]["content_id"])
        assert 0 < one["relevance"] <= 1
        assert "highlights" not in one
        assert "context" not in one
    relevances = [one["relevance"] for one in answer["results"]]
    assert relevances == sorted(relevances, reverse=True)


@pytest.mark.promise("content.search.answer")
def test_a_search_without_answers_finds_nothing_and_says_so(shared: Server, shelf: dict[str, str]) -> None:
    answer = find(shared, "shelf", "submarine")
    assert (answer["results"], answer["total"], answer["page"]) == ([], 0, 1)
    assert answer["notes"]


@pytest.mark.promise("content.search.filters")
@each(
    ("filters", "names"),
    [
        ({"content_types": ["text/markdown"]}, ("mark",)),
        ({"content_types": ["text/markdown", "text/html"]}, ("mark", "html")),
        ({"content_types": ["text/css"]}, ()),
        ({"tags": ["fruit"]}, ("plain", "mark")),
        ({"tags": ["garden", "kitchen"]}, ("plain", "mark")),
        ({"tags": ["kitchen", "nothing"]}, ("mark",)),
        ({"tags": ["nothing"]}, ()),
        ({"metadata": {"author": "Ann"}}, ("plain", "html")),
        ({"metadata": {"author": "Ann", "pages": 3}}, ("plain",)),
        ({"metadata": {"pages": 4}}, ()),
        ({"metadata": {"where": {"town": "Oslo"}}}, ("html",)),
        ({"tags": ["fruit"], "content_types": ["text/plain"], "metadata": {"pages": 3}}, ("plain",)),
        ({}, ("plain", "mark", "html")),
    ],
)
@each("query_type", ["keyword", "hybrid"])
def test_every_filter_says_what_may_be_found(
    shared: Server, shelf: dict[str, str], filters: dict[str, Any], names: tuple[str, ...], query_type: str
) -> None:
    answer = find(shared, "shelf", "apple", filters=filters, query_type=query_type)
    assert {one["content"]["content_id"] for one in answer["results"]} == {shelf[name] for name in names}
    assert answer["total"] == len(names)


@pytest.mark.promise("content.search.dates")
@pytest.mark.parametrize(
    ("start", "end", "number"),
    [
        (0, 0, 3),
        (-1, 0, 3),
        (None, 0, 3),
        (-1, None, 3),
        (-3, -2, 0),
        (2, 3, 0),
        (None, -2, 0),
        (2, None, 0),
    ],
)
def test_bare_dates_mean_whole_days(
    shared: Server, shelf: dict[str, str], start: int | None, end: int | None, number: int
) -> None:
    # A day more on either side: midnight may pass between the storing and the search.
    span = {"start": None if start is None else day(start - 1), "end": None if end is None else day(end + 1)}
    if number == 0:
        span = {"start": None if start is None else day(start), "end": None if end is None else day(end)}
    answer = find(shared, "shelf", "apple", filters={"date_range": span})
    assert answer["total"] == number


@pytest.mark.promise("content.search.dates")
def test_moments_are_exact_and_include_both_ends(shared: Server, project: str) -> None:
    first, second = stored(shared, project, "apple one"), stored(shared, project, "apple two")
    one, two = (get(shared, project, id)["created_at"] for id in (first, second))

    def between(start: str, end: str) -> set[str]:
        return set(found(shared, project, "apple", filters={"date_range": {"start": start, "end": end}}))

    assert between(one, one) == {first}
    assert between(one, two) == {first, second}
    assert between(two, two) == {second}
    assert between(one[:10], two[:10]) == {first, second}


@pytest.mark.promise("content.search.pages")
def test_pages_go_through_everything_once(shared: Server, project: str) -> None:
    ids = [stored(shared, project, f"apple number {n}") for n in range(7)]
    seen: list[str] = []
    for offset in range(0, 9, 3):
        answer = find(shared, project, "apple", options={"limit": 3, "offset": offset})
        assert (answer["total"], answer["page"], answer["per_page"]) == (7, offset // 3 + 1, 3)
        seen += [one["content"]["content_id"] for one in answer["results"]]
    assert sorted(seen) == sorted(ids)
    assert seen == found(shared, project, "apple", options={"limit": 100})
    assert found(shared, project, "apple", options={"limit": 3, "offset": 7}) == []
    assert len(found(shared, project, "apple", options={"limit": 1})) == 1
    assert len(found(shared, project, "apple")) == 7


@pytest.mark.promise("content.search.limit")
def test_ten_are_answered_where_nothing_is_said(shared: Server, project: str) -> None:
    for n in range(12):
        stored(shared, project, f"apple number {n}")
    answer = find(shared, project, "apple")
    assert (len(answer["results"]), answer["total"], answer["per_page"]) == (10, 12, 10)


@pytest.mark.long
@pytest.mark.promise("content.search.stable")
@pytest.mark.parametrize("sort", ["relevance", "date", "title"])
def test_pages_stay_as_they_were_while_others_write(place: Place, words: Server, sort: str) -> None:
    ids = {stored(words, "atlas", f"apple number {n}") for n in range(6)}
    other = place.serve("content")
    seen = found(words, "atlas", "apple", options={"limit": 2, "sort_by": sort})
    for number in range(2):
        stored(words, "atlas", f"apple apple apple {number}")
        stored(other, "atlas", f"an apple of others {number}")
        seen += found(words, "atlas", "apple", options={"limit": 2, "offset": 2 + 2 * number, "sort_by": sort})
    assert len(seen) == 6
    assert set(seen) == ids
    assert find(words, "atlas", "apple", options={"limit": 2, "sort_by": sort})["total"] == 10


@pytest.mark.promise("content.search.stable")
def test_what_was_deleted_or_changed_away_meanwhile_is_not_shown(shared: Server, project: str) -> None:
    for number in range(4):
        stored(shared, project, f"apple number {number}")
    order = found(shared, project, "apple")
    found(shared, project, "apple", options={"limit": 2})
    write(shared, "delete_content", project, content_id=order[2])
    assert found(shared, project, "apple", options={"limit": 2, "offset": 2}) == [order[3]]


@pytest.mark.promise("content.search.min_relevance")
def test_what_is_less_relevant_is_left_out(shared: Server, shelf: dict[str, str]) -> None:
    answer = find(shared, "shelf", "apple pie butter")
    relevances = [one["relevance"] for one in answer["results"]]
    assert len(relevances) == 3
    assert relevances[0] > relevances[1]
    middle = (relevances[0] + relevances[1]) / 2
    less = find(shared, "shelf", "apple pie butter", options={"min_relevance": middle})
    assert [one["content"]["content_id"] for one in less["results"]] == [shelf["mark"]]
    assert less["total"] == 1
    assert find(shared, "shelf", "apple pie butter")["total"] == 3
    assert find(shared, "shelf", "apple pie butter", options={"min_relevance": 0})["total"] == 4


@pytest.mark.promise("content.search.sort")
def test_results_are_sorted_as_asked(shared: Server, shelf: dict[str, str]) -> None:
    def order(**options: str) -> list[str]:
        names = {id: name for name, id in shelf.items()}
        return [names[id] for id in found(shared, "shelf", "apple pie", options=options)]

    best = order()
    assert best[0] == "mark"
    assert order(sort_by="relevance", sort_order="desc") == best
    assert order(sort_by="relevance", sort_order="asc") == best[::-1]
    assert order(sort_by="date") == ["html", "mark", "plain"]
    assert order(sort_by="date", sort_order="asc") == ["plain", "mark", "html"]


@pytest.mark.promise("content.search.sort")
def test_titles_are_sorted_as_they_are_shown(shared: Server, project: str) -> None:
    stored(shared, project, "middle apple")
    stored(shared, project, "# Zebra\n\nan apple")
    stored(shared, project, "zz apple", metadata={"title": "Aardvark"})
    answer = find(shared, project, "apple", options={"sort_by": "title"})
    assert [one["content"]["title"] for one in answer["results"]] == ["Aardvark", "middle apple", "Zebra"]
    answer = find(shared, project, "apple", options={"sort_by": "title", "sort_order": "desc"})
    assert [one["content"]["title"] for one in answer["results"]] == ["Zebra", "middle apple", "Aardvark"]


@pytest.mark.promise("content.search.highlights")
def test_highlights_mark_the_words_that_match(shared: Server, shelf: dict[str, str]) -> None:
    (one,) = find(shared, "shelf", "cider", options={"include_highlights": True})["results"]
    assert any("**cider**" in text for text in one["highlights"])
    (one,) = find(shared, "shelf", "cider", options={"include_highlights": False})["results"]
    assert "highlights" not in one


@pytest.mark.promise("content.search.context")
def test_the_context_is_the_text_around_what_matches(shared: Server, project: str) -> None:
    text = "\n\n".join(["Before it " + "sand " * 200, "The needle lies here", "After it " + "hay " * 200])
    stored(shared, project, text)
    (one,) = find(shared, project, "needle", options={"include_context": True})["results"]
    assert "The needle lies here" in one["context"]
    assert one["context"].strip("…") in text
    assert len("The needle lies here") < len(one["context"]) < len(text)
    (one,) = find(shared, project, "needle")["results"]
    assert "context" not in one


@pytest.mark.promise("content.search.explanation")
def test_each_result_says_why_it_is_one(shared: Server, shelf: dict[str, str]) -> None:
    results = find(shared, "shelf", "apple butter")["results"]
    said = {one["content"]["content_id"]: one["explanation"] for one in results}
    assert "apple" in said[shelf["mark"]].lower()
    assert "butter" in said[shelf["mark"]].lower()
    assert "lacks “butter”" in said[shelf["plain"]]


@pytest.mark.promise("content.search.facets")
def test_facets_count_all_that_was_found(shared: Server, shelf: dict[str, str]) -> None:
    facets = find(shared, "shelf", "apple", options={"limit": 1})["facets"]
    counted = {name: {one["value"]: one["count"] for one in facets[name]} for name in facets}
    assert counted["content_types"] == {"text/plain": 1, "text/markdown": 1, "text/html": 1}
    assert counted["tags"] == {"fruit": 2, "garden": 1, "kitchen": 1}
    created = get(shared, "shelf", shelf["plain"])["created_at"]
    assert counted["months"] == {created[:7]: 3}
    facets = find(shared, "shelf", "apple", filters={"tags": ["kitchen"]})["facets"]
    assert [one["value"] for one in facets["content_types"]] == ["text/markdown"]


@pytest.mark.promise("content.search.query_types")
def test_without_a_model_a_semantic_search_does_not_look_like_one(shared: Server, shelf: dict[str, str]) -> None:
    for query_type in ("keyword", "hybrid"):
        assert find(shared, "shelf", "apple", query_type=query_type)["total"] == 3
    fault = refused(shared, "search_content", 502, "shelf", query="apple", query_type="semantic")
    assert fault["data"]["error_type"] == "service_unavailable"


@pytest.mark.promise("content.search.empty")
def test_an_empty_project_is_searched_in_vain(shared: Server, project: str) -> None:
    assert find(shared, project, "apple")["total"] == 0
    refused(shared, "search_content", 422, project, query="")


@pytest.mark.promise("content.search.turns")
def test_a_turn_of_a_dialogue_comes_with_the_turns_around_it(shared: Server, project: str) -> None:
    talk = ["Ann: Did you book it?", "Bob: Yes.", "Ann: When does the ferry leave?", "Bob: At eight, from pier 4."]
    ids = [stored(shared, project, text, session_id="trip") for text in talk]
    stored(shared, project, "Ann: The ferry leaves at noon, I read")
    note = stored(shared, project, "The ferry leaves every day", session_id="trip")

    results = find(shared, project, "when does the ferry leave", session_id="trip")["results"]
    by_id = {one["content"]["content_id"]: one for one in results}

    assert by_id[ids[2]]["previous_turn"] == {"content_id": ids[1], "content": "Yes.", "who": "Bob"}
    assert by_id[ids[2]]["next_turn"] == {"content_id": ids[3], "content": "At eight, from pier 4.", "who": "Bob"}
    assert not {"previous_turn", "next_turn"} & by_id[note].keys()
    # Without the session nothing of it is seen, beside what is found neither.
    (alone,) = find(shared, project, "when does the ferry leave")["results"]
    assert not {"previous_turn", "next_turn"} & alone.keys()
