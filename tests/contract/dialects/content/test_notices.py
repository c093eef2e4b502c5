"""What the content tools point out that a caller may not have meant, and advice that can be followed."""

from __future__ import annotations

import pytest

from stdio_client import Server

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
