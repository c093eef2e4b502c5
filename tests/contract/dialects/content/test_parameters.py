"""Parameters: what is wrong is refused by its name, and nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest

from form import each
from stdio_client import Place, Server

from .speaking import error, find, get, refused, stored, told, write

DECISION = {"title": "t", "context": "c", "decision": "d", "rationale": "r"}
GOOD: dict[str, dict[str, Any]] = {
    "store_content": {"content": "x"},
    "update_content": {"content_id": "x", "updates": {"content": "y"}},
    "delete_content": {"content_id": "x"},
    "store_decision": DECISION,
    "create_relationship": {"source_id": "x", "target_id": "y", "type": "cites"},
    "search_content": {"query": "x"},
    "get_content": {"content_id": "x"},
    "find_similar_content": {"content": "x"},
    "get_content_history": {"content_id": "x"},
}
REQUIRED = [
    (operation, field)
    for operation, fields in GOOD.items()
    for field in fields
    if operation != "find_similar_content"
]  # fmt: skip
WRONG = [
    *[(operation, {field: 5}, field) for operation in GOOD for field in ("session_id", "user_id", "request_id")],
    *[(operation, {"project_id": 5}, "project_id") for operation in GOOD],
    *[(operation, {"project_id": "p" * 201}, "project_id") for operation in GOOD],
    *[(operation, {"request_id": ""}, "request_id") for operation in GOOD],
    *[(operation, {"session_id": ""}, "session_id") for operation in GOOD],
    ("store_content", {"session_id": "a/b"}, "session_id"),
    ("store_content", {"content_type": ""}, "content_type"),
    ("find_similar_content", {"content": ""}, "content"),
    ("find_similar_content", {"content": " "}, "content"),
    ("store_content", {"content": 5}, "content"),
    ("store_content", {"content": ""}, "content"),
    ("store_content", {"content": " \n"}, "content"),
    ("store_content", {"summary": 5}, "summary"),
    ("store_content", {"content_type": 5}, "content_type"),
    ("store_content", {"tags": "a"}, "tags"),
    ("store_content", {"tags": ["a", 5]}, "tags[1]"),
    ("store_content", {"tags": ["a", ""]}, "tags[1]"),
    ("store_content", {"metadata": []}, "metadata"),
    ("store_content", {"options": []}, "options"),
    ("store_content", {"options": {"generate_embeddings": "yes"}}, "options.generate_embeddings"),
    ("store_content", {"options": {"detect_relationships": 1}}, "options.detect_relationships"),
    ("store_content", {"options": {"extract_metadata": "no"}}, "options.extract_metadata"),
    ("update_content", {"content_id": 5}, "content_id"),
    ("update_content", {"updates": {}}, "updates"),
    ("update_content", {"updates": "text"}, "updates"),
    ("update_content", {"updates": {"content": 5}}, "updates.content"),
    ("update_content", {"updates": {"content": " "}}, "updates.content"),
    ("update_content", {"updates": {"tags": "a"}}, "updates.tags"),
    ("update_content", {"updates": {"metadata": 5}}, "updates.metadata"),
    ("update_content", {"options": {"regenerate_embeddings": 5}}, "options.regenerate_embeddings"),
    ("update_content", {"options": {"update_relationships": 5}}, "options.update_relationships"),
    ("update_content", {"options": {"preserve_previous": 5}}, "options.preserve_previous"),
    ("delete_content", {"options": {"hard": "yes"}}, "options.hard"),
    ("delete_content", {"options": {"delete_relationships": 5}}, "options.delete_relationships"),
    ("delete_content", {"options": {"preserve_references": 5}}, "options.preserve_references"),
    ("store_decision", {"title": 5}, "title"),
    ("store_decision", {"title": ""}, "title"),
    ("store_decision", {"alternatives": "a"}, "alternatives"),
    ("store_decision", {"impact": 5}, "impact"),
    ("store_decision", {"stakeholders": [5]}, "stakeholders[0]"),
    ("store_decision", {"tags": 5}, "tags"),
    ("store_decision", {"metadata": 5}, "metadata"),
    ("create_relationship", {"type": "knows"}, "type"),
    ("create_relationship", {"type": 5}, "type"),
    ("create_relationship", {"strength": "high"}, "strength"),
    ("create_relationship", {"strength": 1.01}, "strength"),
    ("create_relationship", {"strength": -0.1}, "strength"),
    ("create_relationship", {"context": 5}, "context"),
    ("create_relationship", {"metadata": 5}, "metadata"),
    ("search_content", {"query": 5}, "query"),
    ("search_content", {"query": " "}, "query"),
    ("search_content", {"query_type": "fuzzy"}, "query_type"),
    ("search_content", {"filters": {"content_types": "text/plain"}}, "filters.content_types"),
    ("search_content", {"filters": {"tags": "a"}}, "filters.tags"),
    ("search_content", {"filters": {"date_range": "today"}}, "filters.date_range"),
    ("search_content", {"filters": {"date_range": {"start": "soon"}}}, "filters.date_range.start"),
    ("search_content", {"filters": {"date_range": {"end": "2025-13-40"}}}, "filters.date_range.end"),
    ("search_content", {"filters": {"metadata": 5}}, "filters.metadata"),
    ("search_content", {"options": {"limit": 0}}, "options.limit"),
    ("search_content", {"options": {"limit": 101}}, "options.limit"),
    ("search_content", {"options": {"limit": "five"}}, "options.limit"),
    ("search_content", {"options": {"offset": -1}}, "options.offset"),
    ("search_content", {"options": {"min_relevance": 1.5}}, "options.min_relevance"),
    ("search_content", {"options": {"include_context": 5}}, "options.include_context"),
    ("search_content", {"options": {"include_highlights": 5}}, "options.include_highlights"),
    ("search_content", {"options": {"sort_by": "size"}}, "options.sort_by"),
    ("search_content", {"options": {"sort_order": "up"}}, "options.sort_order"),
    ("get_content", {"include_refs": 5}, "include_refs"),
    ("get_content", {"include_history": 5}, "include_history"),
    ("get_content", {"options": {"format": "long"}}, "options.format"),
    ("get_content", {"options": {"include_embeddings": 5}}, "options.include_embeddings"),
    ("get_content", {"options": {"include_relationships": 5}}, "options.include_relationships"),
    ("get_content", {"options": {"include_metadata": 5}}, "options.include_metadata"),
    ("find_similar_content", {"content": 5}, "content"),
    ("find_similar_content", {"content_id": "x"}, "content_id"),
    ("find_similar_content", {"limit": 0}, "limit"),
    ("find_similar_content", {"limit": 101}, "limit"),
    ("find_similar_content", {"threshold": 2}, "threshold"),
    ("find_similar_content", {"options": {"include_self": 5}}, "options.include_self"),
    ("find_similar_content", {"options": {"content_types": 5}}, "options.content_types"),
    ("find_similar_content", {"options": {"exclude_ids": "x"}}, "options.exclude_ids"),
    ("find_similar_content", {"options": {"similarity_method": "jaccard"}}, "options.similarity_method"),
    ("get_content_history", {"limit": 0}, "limit"),
    ("get_content_history", {"include_diffs": 5}, "include_diffs"),
]  # fmt: skip


@pytest.mark.promise("content.parameters.required")
@each(("operation", "field"), REQUIRED)
def test_a_required_parameter_that_is_missing_is_named(
    shared: Server, project: str, operation: str, field: str
) -> None:
    given = {key: value for key, value in GOOD[operation].items() if key != field}
    fault = refused(shared, operation, 422, project, **given)
    assert fault["message"].startswith("Parameter validation failed: ")
    assert field in fault["message"]
    assert fault["data"]["details"] == {"field": field, "violation": "required", "provided": None}
    assert fault["data"]["suggestions"] == [f"Provide a valid {field} parameter"]


@pytest.mark.promise("content.parameters.wrong")
@each(("operation", "bad", "field"), WRONG)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    shared: Server, project: str, operation: str, bad: dict[str, Any], field: str
) -> None:
    fault = refused(shared, operation, 422, project, **{**GOOD[operation], **bad})
    assert fault["message"].startswith("Parameter validation failed: ")
    assert field in fault["message"], "a client may show nothing else"
    assert fault["data"]["error_type"] == "validation_error"
    assert fault["data"]["details"]["field"] == field, fault
    assert fault["data"]["suggestions"]
    assert "documentation_url" in fault["data"]


@pytest.mark.promise("content.parameters.wrong")
def test_a_choice_that_there_is_not_is_answered_with_those_there_are(shared: Server, project: str) -> None:
    fault = refused(shared, "create_relationship", 422, project, source_id="x", target_id="y", type="knows")
    assert "similar_to" in str(fault["data"])
    assert "describes" in str(fault["data"])
    fault = refused(shared, "get_content", 422, project, content_id="x", options={"format": "long"})
    assert "minimal" in str(fault["data"])


@pytest.mark.promise("content.parameters.wrong")
def test_every_wrong_parameter_of_a_call_is_named(shared: Server, project: str) -> None:
    fault = refused(shared, "search_content", 422, project, query=5, options={"limit": 1000, "sort_by": "size"})
    named = {one["field"] for one in fault["data"]["details"]["violations"]}
    assert named == {"query", "options.limit", "options.sort_by"}


@pytest.mark.promise("content.parameters.wrong")
def test_what_is_refused_stores_nothing(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "as it was", tags=["a"])
    before = told(place, "atlas", "changes")
    refused(words, "store_content", 422, "atlas", content="new", tags=["a", 5])
    refused(words, "update_content", 422, "atlas", content_id=id, updates={"content": "new", "tags": ["a", ""]})
    assert told(place, "atlas", "changes") == before
    assert get(words, "atlas", id)["content"] == "as it was"


@pytest.mark.promise("content.parameters.unknown")
@pytest.mark.parametrize("operation", GOOD)
def test_a_parameter_that_nobody_knows_is_refused_by_its_name(shared: Server, project: str, operation: str) -> None:
    fault = refused(shared, operation, 422, project, **GOOD[operation], colour="red")
    details = fault["data"]["details"]
    assert (details["field"], details["violation"]) == ("colour", "unknown_parameter")


@pytest.mark.promise("content.parameters.unknown")
@each(
    ("operation", "bad", "field"),
    [
        *[(one, {"options": {"colour": 1}}, "options.colour") for one in GOOD
          if one not in ("store_decision", "create_relationship", "get_content_history")],
        ("store_content", {"content_id": "x"}, "content_id"),
        ("store_content", {"options": {"hard": True}}, "options.hard"),
        ("update_content", {"updates": {"content_type": "text/html"}}, "updates.content_type"),
        ("search_content", {"filters": {"author": "Ann"}}, "filters.author"),
        ("search_content", {"filters": {"date_range": {"from": "2025-01-01"}}}, "filters.date_range.from"),
        ("search_content", {"limit": 5}, "limit"),
        ("get_content_history", {"options": {}}, "options"),
    ],
)  # fmt: skip
def test_a_parameter_of_another_place_is_refused_too(
    shared: Server, project: str, operation: str, bad: dict[str, Any], field: str
) -> None:
    fault = refused(shared, operation, 422, project, **{**GOOD[operation], **bad})
    details = fault["data"]["details"]
    assert (details["field"], details["violation"]) == (field, "unknown_parameter")


@pytest.mark.promise("content.parameters.null")
def test_null_says_the_same_as_leaving_out(shared: Server, project: str) -> None:
    id = stored(shared, project, "plain", summary=None, content_type=None, tags=None, metadata=None, options=None,
                session_id=None, user_id=None, request_id=None)  # fmt: skip
    assert get(shared, project, id, include_refs=None, options={"format": None})["content_type"] == "text/plain"
    options = {"limit": None, "sort_by": None, "min_relevance": None}
    assert find(shared, project, "plain", query_type=None, filters=None, options=options)["total"] == 1


@pytest.mark.promise("content.errors.unknown_operation")
@pytest.mark.parametrize(
    ("tool", "given", "closest"),
    [
        ("memory_store", "store_contents", "store_content"),
        ("memory_store", "delete", "delete_content"),
        ("memory_store", "create_relation", "create_relationship"),
        ("memory_retrieve", "searchContent", "search_content"),
        ("memory_retrieve", "get_contents", "get_content"),
        ("memory_retrieve", "content_history", "get_content_history"),
        ("memory_retrieve", "find_similar", "find_similar_content"),
    ],
)
def test_an_unknown_operation_is_answered_with_the_closest_one(
    shared: Server, project: str, tool: str, given: str, closest: str
) -> None:
    fault = error(shared, tool, {"operation": given, "project_id": project})
    assert (fault["code"], fault["data"]["error_type"]) == (400, "unknown_operation")
    assert given in fault["message"]
    details = fault["data"]["details"]
    assert (details["operation"], details["closest"]) == (given, closest)
    assert closest in details["operations"]
    assert closest in fault["data"]["suggestions"][0]


@pytest.mark.promise("content.errors.unknown_operation")
def test_an_operation_of_the_other_tool_is_none_of_this_one(shared: Server, project: str) -> None:
    fault = error(shared, "memory_store", {"operation": "get_content", "project_id": project, "content_id": "x"})
    assert fault["code"] == 400
    assert set(fault["data"]["details"]["operations"]) == {
        "store_content", "update_content", "delete_content", "store_decision", "create_relationship",
    }  # fmt: skip


@pytest.mark.promise("content.parameters.required")
def test_a_call_without_an_operation_is_told_which_there_are(shared: Server, project: str) -> None:
    fault = error(shared, "memory_retrieve", {"project_id": project})
    assert fault["data"]["details"]["field"] == "operation"
    assert fault["code"] == 422


@pytest.mark.promise("content.parameters.wrong")
def test_contradictions_are_refused(shared: Server, project: str) -> None:
    fault = refused(shared, "find_similar_content", 422, project)
    assert fault["data"]["details"]["field"] in ("content", "content_id")
    id = stored(shared, project, "stays")
    both = {"delete_relationships": True, "preserve_references": True}
    refused(shared, "delete_content", 422, project, content_id=id, options=both)
    assert get(shared, project, id)["content"] == "stays"
    period = {"start": "2025-02-01", "end": "2025-01-01"}
    fault = refused(shared, "search_content", 422, project, query="x", filters={"date_range": period})
    assert fault["data"]["details"]["field"] == "filters.date_range.start"


@pytest.mark.promise("content.parameters.wrong")
def test_the_project_may_have_any_name_but_an_empty_one(shared: Server) -> None:
    for name in ("a/b", "프로젝트", "x" * 200, "🦊", "%", "'; --"):
        id = stored(shared, name, "here")
        assert get(shared, name, id)["content"] == "here"
    for name in ("", " "):
        fault = refused(shared, "store_content", 422, name, content="x")
        assert fault["data"]["details"]["field"] == "project_id"
    assert write(shared, "store_content", "default", content="the default project is one like any other")


@pytest.mark.promise("content.errors.closest")
def test_an_id_with_a_slip_is_answered_with_the_closest_one_that_the_caller_may_see(
    shared: Server, project: str
) -> None:
    mine = stored(shared, project, "mine", session_id="one")
    for id, session in ((mine, {"session_id": "one"}), (stored(shared, project, "here"), {})):
        slip = id[:-1] + ("0" if id[-1] != "0" else "1")
        assert id in str(
            refused(shared, "get_content", 404, project, content_id=slip, **session)["data"]["suggestions"]
        )
    slip = mine[:-1] + ("0" if mine[-1] != "0" else "1")
    assert mine not in str(refused(shared, "get_content", 404, project, content_id=slip))
    assert mine not in str(refused(shared, "get_content", 404, f"{project} too", content_id=slip, session_id="one"))


@pytest.mark.promise("content.parameters.wrong")
def test_what_was_provided_is_told_as_it_was_provided(shared: Server, project: str) -> None:
    given: list[tuple[dict[str, Any], Any]] = [
        ({"options": {"limit": 1000}}, 1000),
        ({"options": {"limit": "many"}}, "many"),
        ({"query_type": "fuzzy"}, "fuzzy"),
        ({"options": {"include_context": [1, 2]}}, [1, 2]),
        ({"optoins": {"limit": 5}}, {"limit": 5}),
    ]
    for bad, provided in given:
        details = refused(shared, "search_content", 422, project, query="tea", **bad)["data"]["details"]
        assert details["provided"] == provided, details


@pytest.mark.promise("content.parameters.unknown")
def test_a_misspelt_parameter_is_named_with_the_nearest(shared: Server, project: str) -> None:
    fault = refused(shared, "search_content", 422, project, query="tea", option={"limit": 5})
    assert "`option` is no parameter here (did you mean `options`?)" in fault["message"]
    assert fault["data"]["suggestions"] == ["Use options instead of option"]
    fault = refused(shared, "search_content", 422, project, query="tea", options={"minRelevance": 0.5})
    assert "did you mean `min_relevance`?" in fault["message"]


@pytest.mark.promise("content.parameters.unquoted")
def test_what_is_sent_as_text_is_read_as_what_it_says(shared: Server, project: str) -> None:
    stored = shared.call(
        "memory_store", operation="store_content", project_id=project, content="5", tags='["a", "b"]',
        metadata='{"n": "5"}',
    )  # fmt: skip
    assert "`tags` (array), `metadata` (object)" in stored.notes[0]["text"]
    asked = {"operation": "search_content", "project_id": project, "query": "5", "options": '{"limit": "1"}'}
    assert len(shared.call("memory_retrieve", asked).structured["results"]) == 1
    id = stored.structured["content_id"]
    asked = {"operation": "get_content", "project_id": project, "content_id": id, "include_history": "true"}
    read = shared.call("memory_retrieve", asked).structured["content"]["history"][0]
    assert (read["content"], read["tags"], read["metadata"]["n"]) == ("5", ["a", "b"], "5")
