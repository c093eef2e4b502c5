"""While an analysis runs: it tells how far it is, it can be called off, and it keeps nobody waiting."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import polymnia
from polymnia import EntityDraft
from stdio_client import DEADLINE, Place, Server

from .analyzing import PATTERNS, analyze
from .speaking import get, stored

MANY = 600


@pytest.fixture(scope="module")
def crowd(module_place: Place) -> str:
    """A project of many items, made at once."""
    draw = Random(1)
    words = ["".join(draw.choice("bcdfglmnprst") + draw.choice("aeiou") for _ in range(3)) for _ in range(900)]
    with polymnia.connect(module_place.address, project="crowd") as memory:
        memory.create_entities(
            [EntityDraft(f"n{at}", "note", (f"{' '.join(draw.sample(words, 10))}.",)) for at in range(MANY)]
        )
    return "crowd"


def begin(server: Server, operation: str, project: str, token: str, /, **more: Any) -> int:
    """Begin a call that is to tell how far it is."""
    asked = {"operation": operation, "project_id": project, **more}
    return server.begin_call("memory_analyze", asked, meta={"progressToken": token})


@pytest.mark.long
@pytest.mark.promise("analysis.progress")
@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("detect_patterns", {"pattern_types": [one for one in PATTERNS if one != "topic_clusters"]}),
        ("detect_conflicts", {}),
        ("generate_insights", {"insight_types": ["content_gaps", "efficiency_opportunities"]}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_progress_is_told_and_never_goes_back(
    shared: Server, crowd: str, operation: str, given: dict[str, Any]
) -> None:
    number = begin(shared, operation, crowd, operation, **given)
    assert not shared.reply(number).failed
    reports = [
        one["params"]
        for one in shared.notifications
        if one["method"] == "notifications/progress" and one["params"]["progressToken"] == operation
    ]
    assert reports
    steps = [one["progress"] for one in reports]
    assert steps == sorted(set(steps))
    assert len({one["total"] for one in reports}) == 1
    assert all(0 <= one["progress"] <= one["total"] for one in reports)
    assert steps[-1] == reports[-1]["total"]
    last = max(at for at, one in enumerate(shared.arrivals) if one.get("method") == "notifications/progress")
    assert last < next(at for at, one in enumerate(shared.arrivals) if one.get("id") == number)


@pytest.mark.promise("analysis.progress")
def test_nobody_who_did_not_ask_hears_of_progress(place: Place, crowd: str) -> None:
    server = place.serve("content")
    stored(server, "atlas", "The ferry leaves at noon.")
    analyze(server, "detect_patterns", "atlas")
    assert server.notifications == []


@pytest.mark.long
@pytest.mark.promise("analysis.cancelled")
def test_an_analysis_that_waits_for_its_turn_is_called_off_at_once(place: Place) -> None:
    server = place.serve("content")
    id = stored(server, "atlas", "The ferry leaves at noon.")
    with place.held():
        slow = server.begin_call(
            "memory_store", {"operation": "store_content", "project_id": "atlas", "content": "The ferry leaves at 9."}
        )
        waiting = begin(server, "detect_conflicts", "atlas", "w")
        server.notify("notifications/cancelled", {"requestId": waiting, "reason": "changed my mind"})
        assert server.answer(waiting)["error"]["code"] == -32800
    assert not server.reply(slow).failed
    assert analyze(server, "detect_conflicts", "atlas")["looked_at"]["items"] == 2
    assert get(server, "atlas", id)["content"] == "The ferry leaves at noon."
    assert server.answers_to(waiting) == 1


@pytest.mark.promise("analysis.cancelled")
def test_an_analysis_that_runs_is_called_off_and_the_server_serves_on(module_place: Place, crowd: str) -> None:
    server = module_place.serve("content")
    number = begin(server, "generate_insights", crowd, "run", options={"depth": "comprehensive"})
    server.notification("notifications/progress", lambda one: one["params"]["progressToken"] == "run")
    server.notify("notifications/cancelled", {"requestId": number})
    assert server.answer(number)["error"]["code"] == -32800
    assert server.answers_to(number) == 1
    # What was called off is not kept.
    answer = analyze(server, "generate_insights", crowd, insight_types=["content_gaps"])
    assert (answer["cached"], answer["looked_at"]["memories"]) == (False, MANY)


@pytest.mark.promise("analysis.cancelled")
def test_cancelling_what_is_already_answered_changes_nothing(shared: Server, project: str) -> None:
    stored(shared, project, "The ferry leaves at noon.")
    done = shared.begin_call("memory_analyze", {"operation": "detect_conflicts", "project_id": project})
    shared.reply(done)
    shared.notify("notifications/cancelled", {"requestId": done})
    assert analyze(shared, "detect_conflicts", project)["cached"] is True
    assert shared.answers_to(done) == 1


@pytest.mark.promise("analysis.waits_for_nobody")
def test_an_analysis_does_not_wait_for_a_writer(place: Place) -> None:
    server = place.serve("content")
    id = stored(server, "atlas", "The ferry leaves at noon.")
    get(server, "atlas", id)
    with place.held():
        for operation, more in (
            ("detect_patterns", {"pattern_types": ["usage_patterns"]}),
            ("analyze_quality", {"content_id": id}),
            ("detect_conflicts", {}),
        ):
            assert analyze(server, operation, "atlas", **more)["success"]


@pytest.mark.promise("analysis.waits_for_nobody")
def test_the_newest_text_is_analysed_at_once(shared: Server, project: str) -> None:
    stored(shared, project, "The harbour office opens at 8.")
    for hour in (9, 10, 11):
        id = stored(shared, project, f"The harbour office opens at {hour}.")
        conflicts = analyze(shared, "detect_conflicts", project, content_ids=[id])["conflicts"]
        assert conflicts
        assert all(id in {side["content_id"] for side in one["statements"]} for one in conflicts)


@pytest.mark.promise("analysis.official_client")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_analyses(place: Place, mode: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "polymnia", "stdio", "--dialect", "content"],
        env=place.environment,
        cwd=place.folder,
    )

    async def main(errors: Path) -> None:
        with errors.open("w") as log, anyio.fail_after(DEADLINE):
            async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
                whose = {"project_id": "atlas"}
                for text in ("The door code is 4711.", "The door code is 8155."):
                    await client.call_tool("memory_store", {"operation": "store_content", "content": text, **whose})
                told = await client.call_tool("memory_analyze", {"operation": "detect_conflicts", **whose})
                assert not told.is_error
                assert told.structured_content["counts"]["factual_conflicts"] == 1
                assert json.loads(told.content[0].text) == told.structured_content

    errors = place.folder / "client-stderr.txt"
    anyio.run(main, errors)
    assert "Traceback" not in errors.read_text()
