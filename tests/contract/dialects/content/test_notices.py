"""What the content tools point out that a caller may not have meant, and advice that can be followed."""

from __future__ import annotations

import pytest

from stdio_client import Server

from .analyzing import analyze
from .speaking import error, find, read, refused, stored


@pytest.mark.promise("content.projects.unknown")
def test_a_project_that_is_not_there_is_told_with_the_nearest(shared: Server) -> None:
    id = stored(shared, "weather station", "Rain is measured at seven")
    unknown = "There is no project 'wether station' yet, so it has no content; did you mean 'weather station'?"
    assert find(shared, "wether station", "rain")["notes"][0] == unknown
    for tool, operation, more in (
        ("memory_system", "export_project_data", {"format": "json"}),
        ("memory_analyze", "detect_conflicts", {}),
    ):
        given = {"operation": operation, "project_id": "wether station", **more}
        assert shared.call(tool, given).structured["notes"][0] == unknown, operation
    assert unknown in refused(shared, "get_content", 404, "wether station", content_id=id)["data"]["suggestions"]
    assert "notes" not in read(shared, "get_content", "weather station", content_id=id)


@pytest.mark.promise("content.relationships.self")
def test_a_content_is_not_related_to_itself(shared: Server, project: str) -> None:
    id = stored(shared, project, "Wind is measured at ten metres")
    told = refused(shared, "create_relationship", 422, project, source_id=id, target_id=id, type="references")
    assert "same content" in told["message"]


@pytest.mark.promise("content.parameters.required")
@pytest.mark.promise("content.parameters.unknown")
def test_a_refusal_names_the_choices_and_where_a_parameter_belongs(shared: Server, project: str) -> None:
    told = error(shared, "memory_system", {"operation": "export_project_data", "project_id": project})
    assert "`format` is required (one of csv, json, markdown, zip)" in told["message"]
    told = refused(shared, "update_content", 422, project, content_id="content_x", content="New")
    assert "did you mean `updates.content`?" in told["message"]
    assert "Use updates.content instead of content" in told["data"]["suggestions"]


@pytest.mark.promise("analysis.patterns.conflicts")
def test_patterns_count_the_conflicts_that_detect_conflicts_tells(shared: Server, project: str) -> None:
    for text in (
        "The nightly build runs at 02:00 UTC.", "The nightly build runs at 04:00 UTC.",
        "Kim prefers window seats.", "Kim prefers aisle seats.",
    ):  # fmt: skip
        stored(shared, project, text)
    conflicts = analyze(shared, "detect_conflicts", project)
    found = analyze(shared, "detect_patterns", project, pattern_types=["quality_issues"])["patterns"]
    (told,) = [one for one in found if one["name"] == "contradictory"]
    assert told["evidence"]["conflicts"] == len(conflicts["conflicts"]) > 0
    assert told["evidence"]["by_reason"] == {type: count for type, count in conflicts["counts"].items() if count}


@pytest.mark.promise("analysis.patterns.swapped")
def test_the_same_words_in_another_order_are_not_called_the_same(shared: Server, project: str) -> None:
    rest = "in the loop that fills the frame before the codec reads it from the shared buffer of the decoder thread"
    for call in ("memcpy(dst, src, n)", "memcpy(src, dst, n)"):
        stored(shared, project, f"The driver calls {call} {rest}")
    for text in (f"The driver waits {rest}", f"The driver waits {rest}!"):
        stored(shared, project, text)
    found = analyze(shared, "detect_patterns", project, pattern_types=["quality_issues"])["patterns"]
    (told,) = [one for one in found if one["name"] == "duplicated"]
    assert told["content_count"] == 2, told


@pytest.mark.promise("analysis.quality.little")
def test_a_title_that_is_shown_is_not_called_missing(shared: Server, project: str) -> None:
    id = stored(shared, project, "Rain gauges are emptied every morning at seven by whoever is on duty.")
    answer = analyze(shared, "analyze_quality", project, content_id=id)
    assert answer["title"]
    assert "has no title" not in str(answer)


@pytest.mark.promise("content.search.explanation")
def test_a_year_in_an_identifier_is_no_time_that_is_asked_for(shared: Server, project: str) -> None:
    stored(shared, project, "The identifier INV-2024-0017 belongs to the March invoice.")
    (found,) = find(shared, project, "INV-2024-0017")["results"]
    assert "time asked for" not in found["explanation"]
