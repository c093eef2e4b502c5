"""Parameters of memory_analyze: what is wrong is refused by its name, what belongs together must be given together."""

from __future__ import annotations

from typing import Any

import pytest

from form import each
from stdio_client import Server

from .analyzing import CONFLICTS, DIMENSIONS, INSIGHTS, PATTERNS, analyze, denied, lasting
from .speaking import RELATIONSHIPS, error, stored

GOOD: dict[str, dict[str, Any]] = {
    "detect_patterns": {},
    "analyze_quality": {"content_id": "x"},
    "find_content_relationships": {"content_id": "x"},
    "detect_conflicts": {},
    "generate_insights": {},
}
WRONG = [
    *[(operation, {field: 5}, field) for operation in GOOD for field in ("session_id", "user_id", "request_id")],
    *[(operation, {"project_id": 5}, "project_id") for operation in GOOD],
    *[(operation, {"project_id": " "}, "project_id") for operation in GOOD],
    *[(operation, {"session_id": "a/b"}, "session_id") for operation in GOOD],
    *[(operation, {"options": []}, "options") for operation in GOOD],
    ("detect_patterns", {"scope": "universe"}, "scope"),
    ("detect_patterns", {"scope": "content_set"}, "scope"),
    ("detect_patterns", {"scope": 5}, "scope"),
    ("detect_patterns", {"content_id": 5}, "content_id"),
    ("detect_patterns", {"pattern_types": "topic_clusters"}, "pattern_types"),
    ("detect_patterns", {"pattern_types": []}, "pattern_types"),
    ("detect_patterns", {"pattern_types": ["topic_clusters", "topics"]}, "pattern_types[1]"),
    ("detect_patterns", {"pattern_types": [5]}, "pattern_types[0]"),
    ("detect_patterns", {"options": {"min_confidence": 1.01}}, "options.min_confidence"),
    ("detect_patterns", {"options": {"min_confidence": -0.1}}, "options.min_confidence"),
    ("detect_patterns", {"options": {"min_confidence": "high"}}, "options.min_confidence"),
    ("detect_patterns", {"options": {"include_explanations": "yes"}}, "options.include_explanations"),
    ("detect_patterns", {"options": {"time_range": "today"}}, "options.time_range"),
    ("detect_patterns", {"options": {"time_range": {"start": "soon"}}}, "options.time_range.start"),
    ("detect_patterns", {"options": {"time_range": {"end": "2025-13-40"}}}, "options.time_range.end"),
    ("detect_patterns", {"options": {"time_range": {"start": 5}}}, "options.time_range.start"),
    (
        "detect_patterns",
        {"options": {"time_range": {"start": "2025-02-01", "end": "2025-01-01"}}},
        "options.time_range.start",
    ),
    ("analyze_quality", {"content_id": 5}, "content_id"),
    ("analyze_quality", {"quality_dimensions": "clarity"}, "quality_dimensions"),
    ("analyze_quality", {"quality_dimensions": []}, "quality_dimensions"),
    ("analyze_quality", {"quality_dimensions": ["beauty"]}, "quality_dimensions[0]"),
    ("analyze_quality", {"options": {"include_suggestions": 1}}, "options.include_suggestions"),
    ("analyze_quality", {"options": {"include_metrics": "no"}}, "options.include_metrics"),
    ("analyze_quality", {"options": {"benchmark_against": "y"}}, "options.benchmark_against"),
    ("analyze_quality", {"options": {"benchmark_against": [5]}}, "options.benchmark_against[0]"),
    ("analyze_quality", {"options": {"benchmark_against": []}}, "options.benchmark_against"),
    ("find_content_relationships", {"content_id": []}, "content_id"),
    ("find_content_relationships", {"relationship_types": "cites"}, "relationship_types"),
    ("find_content_relationships", {"relationship_types": []}, "relationship_types"),
    ("find_content_relationships", {"relationship_types": ["cites", "knows"]}, "relationship_types[1]"),
    ("find_content_relationships", {"max_depth": 0}, "max_depth"),
    ("find_content_relationships", {"max_depth": 6}, "max_depth"),
    ("find_content_relationships", {"max_depth": 1.5}, "max_depth"),
    ("find_content_relationships", {"max_depth": "two"}, "max_depth"),
    ("find_content_relationships", {"limit": 0}, "limit"),
    ("find_content_relationships", {"limit": 501}, "limit"),
    ("find_content_relationships", {"limit": "five"}, "limit"),
    ("find_content_relationships", {"options": {"include_strength": 5}}, "options.include_strength"),
    ("find_content_relationships", {"options": {"include_context": 5}}, "options.include_context"),
    ("find_content_relationships", {"options": {"min_confidence": 2}}, "options.min_confidence"),
    ("detect_conflicts", {"scope": "session"}, "scope"),
    ("detect_conflicts", {"content_ids": "x"}, "content_ids"),
    ("detect_conflicts", {"content_ids": []}, "content_ids"),
    ("detect_conflicts", {"content_ids": ["x", 5]}, "content_ids[1]"),
    ("detect_conflicts", {"conflict_types": []}, "conflict_types"),
    ("detect_conflicts", {"conflict_types": ["factual"]}, "conflict_types[0]"),
    ("detect_conflicts", {"options": {"sensitivity": "extreme"}}, "options.sensitivity"),
    (
        "detect_conflicts",
        {"options": {"include_resolution_suggestions": 5}},
        "options.include_resolution_suggestions",
    ),
    ("generate_insights", {"scope": "content"}, "scope"),
    ("generate_insights", {"content_ids": "x"}, "content_ids"),
    ("generate_insights", {"content_ids": []}, "content_ids"),
    ("generate_insights", {"insight_types": []}, "insight_types"),
    ("generate_insights", {"insight_types": ["gaps"]}, "insight_types[0]"),
    ("generate_insights", {"options": {"depth": "abyss"}}, "options.depth"),
    ("generate_insights", {"options": {"include_recommendations": 5}}, "options.include_recommendations"),
    ("generate_insights", {"options": {"time_horizon": "eternal"}}, "options.time_horizon"),
]


@pytest.mark.promise("analysis.parameters")
@each(("operation", "bad", "field"), WRONG)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    shared: Server, project: str, operation: str, bad: dict[str, Any], field: str
) -> None:
    fault = denied(shared, operation, 422, project, **{**GOOD[operation], **bad})
    assert fault["message"].startswith("Parameter validation failed: ")
    assert field in fault["message"]
    assert fault["data"]["error_type"] == "validation_error"
    assert fault["data"]["details"]["field"] == field, fault


@pytest.mark.promise("analysis.parameters")
@pytest.mark.parametrize("operation", ["analyze_quality", "find_content_relationships"])
def test_an_item_must_be_named_where_the_operation_is_about_one(shared: Server, project: str, operation: str) -> None:
    fault = denied(shared, operation, 422, project)
    assert fault["data"]["details"] == {"field": "content_id", "violation": "required", "provided": None}


@pytest.mark.promise("analysis.parameters")
@pytest.mark.parametrize("operation", GOOD)
def test_a_parameter_or_option_that_nobody_knows_is_refused_by_its_name(
    shared: Server, project: str, operation: str
) -> None:
    for bad, field in (
        ({"colour": "red"}, "colour"),
        ({"options": {"colour": 1}}, "options.colour"),
        ({"options": {"limit": 5}}, "options.limit"),
        ({"filters": {}}, "filters"),
    ):
        details = denied(shared, operation, 422, project, **GOOD[operation], **bad)["data"]["details"]
        assert (details["field"], details["violation"]) == (field, "unknown_parameter")


@pytest.mark.promise("analysis.parameters")
@pytest.mark.parametrize(
    ("operation", "bad", "choices"),
    [
        ("detect_patterns", {"pattern_types": ["x"]}, PATTERNS),
        ("analyze_quality", {"content_id": "x", "quality_dimensions": ["x"]}, DIMENSIONS),
        ("find_content_relationships", {"content_id": "x", "relationship_types": ["x"]}, RELATIONSHIPS),
        ("detect_conflicts", {"conflict_types": ["x"]}, CONFLICTS),
        ("generate_insights", {"insight_types": ["x"]}, INSIGHTS),
        ("detect_conflicts", {"options": {"sensitivity": "x"}}, ("high", "medium", "low")),
        ("generate_insights", {"options": {"depth": "x"}}, ("surface", "deep", "comprehensive")),
        ("generate_insights", {"options": {"time_horizon": "x"}}, ("short", "medium", "long")),
    ],
    ids=lambda one: str(one)[:50],
)
def test_a_choice_that_there_is_not_is_answered_with_those_there_are(
    shared: Server, project: str, operation: str, bad: dict[str, Any], choices: tuple[str, ...]
) -> None:
    fault = denied(shared, operation, 422, project, **bad)
    assert not [one for one in choices if one not in str(fault["data"])]


@pytest.mark.promise("analysis.parameters")
def test_every_wrong_parameter_of_a_call_is_named(shared: Server, project: str) -> None:
    fault = denied(
        shared, "find_content_relationships", 422, project,
        content_id=5, max_depth=9, limit=0, options={"min_confidence": 2, "include_context": "yes"},
    )  # fmt: skip
    named = {one["field"] for one in fault["data"]["details"]["violations"]}
    assert named == {"content_id", "max_depth", "limit", "options.min_confidence", "options.include_context"}


@pytest.mark.promise("analysis.scope")
@each(
    ("operation", "given", "field"),
    [
        ("detect_patterns", {"scope": "session"}, "session_id"),
        ("detect_patterns", {"scope": "content"}, "content_id"),
        ("detect_patterns", {"scope": "project", "content_id": "x"}, "content_id"),
        ("detect_patterns", {"scope": "session", "session_id": "s", "content_id": "x"}, "content_id"),
        ("detect_conflicts", {"scope": "content_set"}, "content_ids"),
        ("detect_conflicts", {"scope": "project", "content_ids": ["x"]}, "content_ids"),
        ("generate_insights", {"scope": "session"}, "session_id"),
        ("generate_insights", {"scope": "content_set"}, "content_ids"),
        ("generate_insights", {"scope": "project", "content_ids": ["x"]}, "content_ids"),
        ("generate_insights", {"scope": "session", "session_id": "s", "content_ids": ["x"]}, "content_ids"),
    ],
)
def test_a_scope_needs_what_it_is_about_and_nothing_else(
    shared: Server, project: str, operation: str, given: dict[str, Any], field: str
) -> None:
    fault = denied(shared, operation, 422, project, **given)
    assert fault["data"]["details"]["field"] == field, fault
    assert fault["data"]["suggestions"]


@pytest.mark.promise("analysis.scope")
def test_the_scope_is_told_and_follows_from_what_is_given(shared: Server, project: str) -> None:
    id = stored(shared, project, "A lighthouse stands on the cliff.")
    told = {
        analyze(shared, "detect_patterns", project, pattern_types=["user_patterns"], **given)["scope"]
        for given in ({"content_id": id}, {"scope": "content", "content_id": id})
    }
    assert told == {"content"}
    assert analyze(shared, "detect_patterns", project, pattern_types=["user_patterns"])["scope"] == "project"
    assert analyze(shared, "detect_conflicts", project)["scope"] == "project"
    assert analyze(shared, "detect_conflicts", project, content_ids=[id])["scope"] == "content_set"
    # With a session the whole project is meant, unless the session alone is asked for.
    with_session = {"pattern_types": ["user_patterns"], "session_id": "s"}
    assert analyze(shared, "detect_patterns", project, **with_session)["scope"] == "project"
    assert analyze(shared, "detect_patterns", project, scope="session", **with_session)["scope"] == "session"


@pytest.mark.promise("analysis.scope")
def test_the_scope_of_insights_is_told_and_follows_from_what_is_given(shared: Server, project: str) -> None:
    id = stored(shared, project, "A lighthouse stands on the cliff.")
    assert analyze(shared, "generate_insights", project)["scope"] == "project"
    assert analyze(shared, "generate_insights", project, content_ids=[id])["scope"] == "content_set"
    assert analyze(shared, "generate_insights", project, session_id="s")["scope"] == "project"
    assert analyze(shared, "generate_insights", project, session_id="s", scope="session")["scope"] == "session"


@pytest.mark.promise("analysis.not_found")
@pytest.mark.parametrize(
    ("operation", "named"),
    [
        ("detect_patterns", lambda id: {"content_id": id}),
        ("analyze_quality", lambda id: {"content_id": id}),
        ("find_content_relationships", lambda id: {"content_id": id}),
        ("detect_conflicts", lambda id: {"content_ids": [id]}),
        ("generate_insights", lambda id: {"content_ids": [id]}),
    ],
    ids=GOOD,
)
def test_what_is_not_there_for_the_caller_is_not_found(
    shared: Server, project: str, operation: str, named: Any
) -> None:
    elsewhere = stored(shared, f"{project} too", "in another project")
    inside = stored(shared, project, "in a session", session_id="s")
    for id, more in (
        ("content_none", {}),
        (elsewhere, {}),
        (elsewhere, {"session_id": "s"}),
        (inside, {}),
        (inside, {"session_id": "t"}),
    ):
        fault = denied(shared, operation, 404, project, **named(id), **more)
        assert fault["data"]["details"] == {"resource_type": "content", "resource_id": id, "project_id": project}
        # What the caller cannot see is not told as the closest there is, either.
        assert not [one for one in fault["data"]["suggestions"] if inside in one or elsewhere in one]


@pytest.mark.promise("analysis.not_found")
def test_each_item_of_a_set_and_of_a_benchmark_must_be_there(shared: Server, project: str) -> None:
    id = stored(shared, project, "A lighthouse stands on the cliff.")
    deleted = stored(shared, project, "A windmill stands on the hill.")
    shared.call("memory_store", operation="delete_content", project_id=project, content_id=deleted)
    for operation, given in (
        ("detect_conflicts", {"content_ids": [id, deleted]}),
        ("generate_insights", {"content_ids": [id, deleted]}),
        ("analyze_quality", {"content_id": id, "options": {"benchmark_against": [deleted]}}),
    ):
        fault = denied(shared, operation, 404, project, **given)
        assert fault["data"]["details"]["resource_id"] == deleted


@pytest.mark.promise("analysis.parameters")
def test_an_item_is_not_compared_with_itself(shared: Server, project: str) -> None:
    id = stored(shared, project, "A lighthouse stands on the cliff.")
    fault = denied(shared, "analyze_quality", 422, project, content_id=id, options={"benchmark_against": [id]})
    assert fault["data"]["details"]["field"] == "options.benchmark_against"


@pytest.mark.promise("analysis.parameters")
def test_null_says_the_same_as_leaving_out_and_twice_the_same_as_once(shared: Server, project: str) -> None:
    id = stored(shared, project, "The ferry leaves at 8.")
    other = stored(shared, project, "The ferry leaves at 9.")
    calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("detect_patterns", {"pattern_types": ["user_patterns"]},
         {"scope": None, "content_id": None, "session_id": None, "pattern_types": ["user_patterns"] * 2,
          "options": {"min_confidence": None, "include_explanations": None, "time_range": None}}),
        ("analyze_quality", {"content_id": id, "options": {"benchmark_against": [other]}},
         {"content_id": id, "quality_dimensions": None,
          "options": {"include_suggestions": None, "include_metrics": None, "benchmark_against": [other, other]}}),
        ("find_content_relationships", {"content_id": id},
         {"content_id": id, "relationship_types": None, "max_depth": None, "limit": None, "options": None}),
        ("detect_conflicts", {"content_ids": [id, other]},
         {"content_ids": [id, other, id], "scope": None, "conflict_types": None, "options": {"sensitivity": None}}),
    ]  # fmt: skip
    for operation, plain, other_words in calls:
        said = lasting(analyze(shared, operation, project, **plain))
        assert lasting(analyze(shared, operation, project, **other_words)) == said


@pytest.mark.promise("analysis.parameters")
def test_an_unknown_operation_is_answered_with_the_closest_one(shared: Server, project: str) -> None:
    for given, closest in (
        ("detect_conflict", "detect_conflicts"),
        ("quality", "analyze_quality"),
        ("find_relationships", "find_content_relationships"),
        ("insights", "generate_insights"),
    ):
        fault = error(shared, "memory_analyze", {"operation": given, "project_id": project})
        assert (fault["code"], fault["data"]["details"]["closest"]) == (400, closest)
        assert fault["data"]["details"]["operations"] == list(GOOD)


@pytest.mark.promise("analysis.tool")
def test_the_tool_lists_every_parameter_and_says_that_it_only_reads(shared: Server) -> None:
    tool = shared.tools()["memory_analyze"]
    taken = tool["inputSchema"]["properties"]
    assert set(taken["operation"]["enum"]) == set(GOOD)
    assert tool["annotations"]["readOnlyHint"] is True
    choices = {
        "pattern_types": PATTERNS,
        "quality_dimensions": DIMENSIONS,
        "relationship_types": RELATIONSHIPS,
        "conflict_types": CONFLICTS,
        "insight_types": INSIGHTS,
    }
    for name, every in choices.items():
        assert set(taken[name]["items"]["enum"]) == set(every), name
    assert set(taken["scope"]["enum"]) == {"project", "session", "content", "content_set"}
    assert set(taken["options"]["properties"]) == {
        "min_confidence", "include_explanations", "time_range", "include_suggestions", "include_metrics",
        "benchmark_against", "include_strength", "include_context", "sensitivity", "include_resolution_suggestions",
        "depth", "include_recommendations", "time_horizon",
    }  # fmt: skip
