"""What ChatGPT's connectors ask of a server, over a real one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polymnia import EntityDraft, connect
from polymnia.engine.text.tokens import tokens
from stdio_client import Place, Server


@pytest.fixture
def asked(place: Place) -> Server:
    with connect(place.address) as memory:
        memory.remember("The quarterly plan is due on 12 June; Ann keeps it.", tags=["plan"], scope="work/plans")
        memory.remember("A template of plans.", metadata={"source": "https://example.com/templates"})
        memory.remember("The ship's log of today. " * 300)
        memory.create_entities([EntityDraft("Ann Lee/Plans", "person", ("Keeps the quarterly plan", "Likes tea"))])
    return place.serve("chatgpt", "--embedder", "none")


def _answer(server: Server, tool: str, **given: str) -> dict[str, Any]:
    result = server.call(tool, given).result
    (only,) = result["content"]
    assert only["type"] == "text"
    answer: dict[str, Any] = json.loads(only["text"])
    assert answer == result["structuredContent"]
    return answer


@pytest.mark.promise("chatgpt.tools")
def test_there_are_two_tools_with_one_parameter_each(asked: Server) -> None:
    tools = asked.tools()
    taken = {
        name: (list(tool["inputSchema"]["properties"]), tool["inputSchema"]["required"]) for name, tool in tools.items()
    }
    assert taken == {"search": (["query"], ["query"]), "fetch": (["id"], ["id"])}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools.values())


@pytest.mark.promise("chatgpt.search", "chatgpt.fetch", "chatgpt.form", "chatgpt.url")
def test_what_is_found_can_be_fetched_and_its_address_read(asked: Server) -> None:
    answer = _answer(asked, "search", query="quarterly plan")
    assert list(answer) == ["results"]
    found = answer["results"]
    assert all(sorted(one) == ["id", "title", "url"] for one in found)
    by_title = {one["title"]: one for one in found}
    for one in found:
        document = _answer(asked, "fetch", id=one["id"])
        assert list(document) == ["id", "title", "text", "url", "metadata"]
        assert [document[key] for key in ("id", "title", "url")] == [one[key] for key in ("id", "title", "url")]
        if one["url"].startswith("memory://"):
            read = asked.request("resources/read", {"uri": one["url"]})["contents"][0]["text"]
            assert read == document["text"]
    ann = _answer(asked, "fetch", id=by_title["Ann Lee/Plans"]["id"])
    assert ann["text"] == "Keeps the quarterly plan\nLikes tea"
    assert ann["url"] == "memory://memory/Ann%20Lee%2FPlans"
    plan = next(one for title, one in by_title.items() if title.startswith("The quarterly plan"))
    about = _answer(asked, "fetch", id=plan["id"])["metadata"]
    assert (about["tags"], about["scope"]) == ("plan", "work/plans")
    (template,) = (one for one in _answer(asked, "search", query="template")["results"] if "template" in one["title"])
    assert template["url"] == "https://example.com/templates"
    assert _answer(asked, "search", query="zebra crossing")["results"] == []


@pytest.mark.promise("chatgpt.budget", "everywhere.budget.more")
def test_a_client_that_knows_of_budgets_may_give_one(asked: Server) -> None:
    whole = _answer(asked, "search", query="plan")["results"]
    assert len(whole) == 3
    first = asked.call("search", query="plan", limit=2).structured
    assert first["results"] == whole[:2]
    assert "1 of 3 results are left out" in first["notes"][-1]
    rest = asked.call("search", query="plan", cursor=first["next_cursor"]).structured
    assert rest["results"] == whole[2:]
    found = asked.call("search", query="ship's log").structured["results"]
    for meta, given in (({}, {"max_tokens": 200}), ({"polymnia/maxTokens": 200}, {})):
        reply = asked.reply(asked.begin_call("fetch", {"id": found[0]["id"], **given}, meta=meta))
        assert tokens(reply.text) <= 200
        assert reply.structured["text"].endswith("…")
        assert "Cut short" in reply.structured["notes"][-1]


@pytest.mark.promise("chatgpt.refused")
def test_an_unknown_id_and_an_empty_query_are_refused(asked: Server) -> None:
    assert "nothing" in asked.refused("fetch", id="nothing").text
    assert "query is empty. Say what to look for." in asked.refused("search", query=" ").text
    assert "query" in asked.refused("search").text
