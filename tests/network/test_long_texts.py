"""Long texts: whoever stores or analyses one holds up nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from .conftest import MANY
from .served import Answer, Served, eventually, request
from .waiting import create, under_way

SENTENCE = "On day {n} the quick brown fox met Ada Smith of team {n} at http://example.org/{n} and left by 2024-03-01. "
LONG = "".join(SENTENCE.format(n=n) for n in range(5_000))


@pytest.fixture(scope="module")
def everything(serving: Callable[..., Served]) -> Served:
    """A server of all dialects, with somebody in its memory."""
    served = serving("--dialect", "all", *MANY)
    served.post(create("somebody"))
    return served


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": tool, "arguments": arguments}, 7)


def store(text: str) -> dict[str, Any]:
    return call("memory_store", operation="store_content", project_id="p", content=text, content_type="text/plain")


def told(answer: Answer) -> dict[str, Any]:
    result = answer.value["result"]
    assert not result.get("isError"), result
    return dict(json.loads(result["content"][0]["text"]))


@pytest.mark.promise("protocol.concurrency.long_text")
def test_others_read_and_write_while_a_long_text_is_stored(everything: Served) -> None:
    answers: list[Answer] = []
    long = Thread(target=lambda: answers.append(everything.post(store(LONG), Mcp_Session_Id=everything.begin())))
    other = everything.begin()
    long.start()
    eventually(lambda: under_way(everything) == 1, "the long text is being stored")

    assert not everything.post(create("another"), Mcp_Session_Id=other).value["result"].get("isError")
    found = everything.post(call("open_nodes", names=["another"]), Mcp_Session_Id=other)
    assert b"another" in found.body and not found.value["result"].get("isError")
    assert not answers

    long.join()
    assert told(answers[0])["content_id"]


@pytest.mark.long
@pytest.mark.promise("protocol.concurrency.long_text")
def test_a_long_text_holds_up_no_analysis_of_another(everything: Served) -> None:
    told(everything.post(store("a" * 160_000)))
    short = told(everything.post(store("The budget of the team is 40 euros a month. Ada approves it.")))["content_id"]
    asked = {"operation": "analyze_quality", "project_id": "p", "content_id": short}
    assert told(everything.post(call("memory_analyze", **asked)))["overall_score"] > 0
