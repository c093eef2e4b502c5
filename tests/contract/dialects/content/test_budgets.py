"""The operations that read keep to max_tokens, say what they leave out, and go on by cursor."""

from __future__ import annotations

from typing import Any

import pytest

from polymnia.engine.text.tokens import tokens
from stdio_client import Server

from .speaking import stored

TEXT = "The harbour office keeps the list of berths, and whoever leaves one says so before noon."


@pytest.fixture
def documents(shared: Server, project: str) -> list[str]:
    """The ids of 30 documents of a project."""
    return [stored(shared, project, f"{TEXT} Berth {at}.") for at in range(30)]


def _walked(server: Server, tool: str, field: str, **given: Any) -> list[Any]:
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    for turn in range(60):
        reply = server.call(tool, {**given, **cursor, "max_tokens": 900})
        assert tokens(reply.text) <= 900, given
        found += reply.structured[field]
        if "next_cursor" not in reply.structured:
            assert turn, f"{given} left nothing out"
            return found
        assert f"{field} are left out" in str(reply.structured["notes"][-1])
        cursor = {"cursor": reply.structured["next_cursor"]}
    raise AssertionError("there is no end to it")


@pytest.mark.promise("content.budget.kept", "content.budget.rest", "content.budget.none")
def test_every_list_keeps_to_max_tokens_and_goes_on_where_it_ended(
    shared: Server, project: str, documents: list[str]
) -> None:
    for at in range(15):
        given = {"content_id": documents[0], "updates": {"content": f"{TEXT} Change {at}."}}
        shared.call("memory_store", operation="update_content", project_id=project, **given)
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("memory_retrieve", "results", {"operation": "search_content", "query": "berth", "options": {"limit": 30}}),
        ("memory_retrieve", "versions", {"operation": "get_content_history", "content_id": documents[0]}),
    )
    for tool, field, given in calls:
        whole = shared.call(tool, {**given, "project_id": project}).structured
        assert "next_cursor" not in whole
        assert _walked(shared, tool, field, **given, project_id=project) == whole[field]


@pytest.mark.promise("content.budget.long")
def test_a_long_document_is_cut_short_and_an_export_is_whole_or_left_out(shared: Server, project: str) -> None:
    id = stored(shared, project, f"Unlike all others: {TEXT * 300}")
    given = {"operation": "get_content", "project_id": project, "content_id": id}
    reply = shared.call("memory_retrieve", {**given, "max_tokens": 1000})
    assert 500 < tokens(reply.text) <= 1000
    assert reply.structured["content"]["content"].endswith("…")
    assert "Cut short" in reply.structured["notes"][-1]
    assert shared.call("memory_retrieve", given).structured["content"]["content"].endswith("noon.")
    export = {"operation": "export_project_data", "project_id": project, "format": "json"}
    answer = shared.call("memory_system", {**export, "max_tokens": 1000}).structured
    assert "data" not in answer
    assert "data has about" in answer["notes"][-1]
    assert "data" in shared.call("memory_system", export).structured
    health = shared.call("memory_system", {"operation": "check_system_health", "detailed": True, "max_tokens": 300})
    assert health.structured["health"]["status"]
