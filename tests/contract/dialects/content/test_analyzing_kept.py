"""Results are kept for as long as the project stays what it is, and made anew after any change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymnia
from stdio_client import Place, Server

from .analyzing import analyze, lasting
from .speaking import related, stored

TEXTS = ("The harbour office opens at 8.", "The harbour office opens at 10.", "The ferry leaves at noon.")


def calls(ids: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """A call of every operation."""
    return [
        ("detect_patterns", {"pattern_types": ["quality_issues", "user_patterns"]}),
        ("analyze_quality", {"content_id": ids[0]}),
        ("find_content_relationships", {"content_id": ids[0]}),
        ("detect_conflicts", {}),
        ("detect_conflicts", {"content_ids": ids[:2]}),
        ("generate_insights", {"insight_types": ["content_gaps"]}),
    ]


@pytest.fixture
def ids(shared: Server, project: str) -> list[str]:
    """Three items of a project of this test's own."""
    return [stored(shared, project, text) for text in TEXTS]


@pytest.mark.long
@pytest.mark.promise("analysis.kept.again")
def test_the_same_question_again_is_answered_as_before(shared: Server, project: str, ids: list[str]) -> None:
    for operation, given in calls(ids):
        first = analyze(shared, operation, project, **given)
        again = analyze(shared, operation, project, **given, request_id="r", user_id="Ann")
        assert (first["cached"], again["cached"]) == (False, True), operation
        assert again.pop("request_id") == "r"
        assert again["analyzed_at"] == first["analyzed_at"]
        assert first["analyzed_at"] <= first["timestamp"] < again["timestamp"]
        assert lasting(again) == lasting(first)


@pytest.mark.promise("analysis.kept.again")
def test_another_question_is_another_result(shared: Server, project: str, ids: list[str]) -> None:
    questions: list[tuple[str, dict[str, Any]]] = [
        *calls(ids),
        ("detect_conflicts", {"options": {"sensitivity": "high"}}),
        ("detect_conflicts", {"options": {"include_resolution_suggestions": False}}),
        ("detect_conflicts", {"conflict_types": ["factual_conflicts"]}),
        ("detect_conflicts", {"session_id": "s"}),
        ("detect_conflicts", {"content_ids": [ids[0]]}),
        ("analyze_quality", {"content_id": ids[1]}),
        ("analyze_quality", {"content_id": ids[0], "quality_dimensions": ["clarity"]}),
        ("analyze_quality", {"content_id": ids[0], "options": {"benchmark_against": [ids[1]]}}),
        ("find_content_relationships", {"content_id": ids[0], "max_depth": 3}),
        ("find_content_relationships", {"content_id": ids[0], "limit": 3}),
        ("find_content_relationships", {"content_id": ids[0], "relationship_types": ["cites"]}),
        ("find_content_relationships", {"content_id": ids[0], "options": {"min_confidence": 0.9}}),
        ("generate_insights", {"insight_types": ["content_gaps"], "options": {"depth": "deep"}}),
        ("generate_insights", {"insight_types": ["content_gaps"], "options": {"time_horizon": "long"}}),
        ("generate_insights", {"insight_types": ["content_gaps"], "content_ids": ids[:1]}),
        ("detect_patterns", {"pattern_types": ["temporal_patterns"]}),
        ("detect_patterns", {"pattern_types": ["temporal_patterns"], "session_id": "s", "scope": "session"}),
        (
            "detect_patterns",
            {"pattern_types": ["temporal_patterns"], "options": {"time_range": {"end": "2030-01-01"}}},
        ),
    ]
    assert not [
        (operation, given) for operation, given in questions if analyze(shared, operation, project, **given)["cached"]
    ]


def _store(server: Server, project: str, ids: list[str]) -> None:
    stored(server, project, "The harbour office opens at 9.")


def _update(server: Server, project: str, ids: list[str]) -> None:
    server.call("memory_store", operation="update_content", project_id=project, content_id=ids[1],
                updates={"content": "The harbour office opens at 8."})  # fmt: skip


def _tags(server: Server, project: str, ids: list[str]) -> None:
    server.call("memory_store", operation="update_content", project_id=project, content_id=ids[1],
                updates={"tags": ["harbour"]})  # fmt: skip


def _delete(server: Server, project: str, ids: list[str]) -> None:
    server.call("memory_store", operation="delete_content", project_id=project, content_id=ids[1])


def _relate(server: Server, project: str, ids: list[str]) -> None:
    related(server, project, ids[0], ids[2], "cites")


@pytest.mark.promise("analysis.kept.changed")
@pytest.mark.parametrize("change", [_store, _update, _tags, _delete, _relate])
def test_any_change_makes_it_anew(
    shared: Server, project: str, ids: list[str], change: Callable[[Server, str, list[str]], None]
) -> None:
    asked = [one for one in calls(ids) if change is not _delete or ids[1] not in str(one)]
    before = {operation + str(given): analyze(shared, operation, project, **given) for operation, given in asked}
    change(shared, project, ids)
    for operation, given in asked:
        answer = analyze(shared, operation, project, **given)
        assert answer["cached"] is False, operation
        assert answer["analyzed_at"] > before[operation + str(given)]["analyzed_at"]


@pytest.mark.promise("analysis.kept.changed")
def test_the_answer_follows_the_project(shared: Server, project: str, ids: list[str]) -> None:
    def conflicts() -> int:
        return len(analyze(shared, "detect_conflicts", project)["conflicts"])

    assert conflicts() == 1
    _update(shared, project, ids)
    assert conflicts() == 0
    stored(shared, project, "The harbour office opens at 9.")
    assert conflicts() > 0


@pytest.mark.promise("analysis.kept.changed")
def test_what_another_process_changes_and_undoes_is_seen(module_place: Place, shared: Server, project: str) -> None:
    ids = [stored(shared, project, text) for text in TEXTS]

    def conflicts() -> tuple[int, bool]:
        answer = analyze(shared, "detect_conflicts", project)
        return len(answer["conflicts"]), answer["cached"]

    assert [conflicts(), conflicts()] == [(1, False), (1, True)]
    with polymnia.connect(module_place.address, project=project) as memory:
        memory.update_item(ids[1], text="The harbour office opens at 8.")
        assert [conflicts(), conflicts()] == [(0, False), (0, True)]
        memory.undo()
        assert [conflicts(), conflicts()] == [(1, False), (1, True)]


@pytest.mark.promise("analysis.kept.changed")
def test_what_changes_elsewhere_leaves_it_as_it_is(shared: Server, project: str, ids: list[str]) -> None:
    first = analyze(shared, "detect_conflicts", project)
    stored(shared, f"{project} too", "The harbour office opens at 9.")
    again = analyze(shared, "detect_conflicts", project)
    assert (again["cached"], again["analyzed_at"]) == (True, first["analyzed_at"])


@pytest.mark.promise("analysis.kept.reads")
def test_reading_makes_what_tells_of_use_anew(shared: Server, project: str, ids: list[str]) -> None:
    def used() -> dict[str, Any]:
        return analyze(shared, "detect_patterns", project, pattern_types=["usage_patterns"])

    assert [used()["cached"], used()["cached"]] == [False, True]
    shared.call("memory_retrieve", operation="get_content", project_id=project, content_id=ids[0])
    after = used()
    assert (after["cached"], after["looked_at"]["usage_patterns"]["opened"]) == (False, 1)
    shared.call("memory_retrieve", operation="search_content", project_id=project, query="ferry")
    found = used()
    assert (found["cached"], found["looked_at"]["usage_patterns"]["found"]) == (False, 1)
    assert used()["cached"] is True
