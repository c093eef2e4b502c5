"""Answers keep to a budget of tokens, say what they leave out and how to go on, and are sent once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from polymnia import app
from polymnia.engine.text.tokens import tokens
from polymnia.settings import GRAPHS
from polymnia.transports.server import describe
from stdio_client import Place, Reply, Server, entity, relation

NAMES = [f"Sprint {at}" for at in range(60)]
TEXT = "Planning of the sprint, and who answers for which part of it until the review."


def _planted(server: Server) -> None:
    server.call("create_entities", entities=[entity(name, TEXT, f"{name} went well") for name in NAMES])
    server.call("create_relations", relations=[relation(one, "precedes", other) for one, other in pairwise(NAMES)])


def _items(reply: Reply) -> list[dict[str, Any]]:
    answer = reply.value
    return list(answer if isinstance(answer, list) else answer.get("nodes", answer.get("entities")))


def _walked(server: Server, tool: str, **given: Any) -> list[Reply]:
    """The answers of a tool until there is nothing left."""
    replies = [server.call(tool, given)]
    while (cursor := replies[-1].next_cursor) is not None:
        replies.append(server.call(tool, {**given, "cursor": cursor}))
        assert len(replies) < 100
    return replies


@pytest.mark.promise("graph.budget.kept", "graph.budget.rest")
def test_graph_answers_keep_to_max_tokens_and_a_walk_gives_everything_once(server: Server) -> None:
    _planted(server)
    for tool, given in (("read_graph", {}), ("open_nodes", {"names": NAMES}), ("search_nodes", {"query": "planning"})):
        replies = _walked(server, tool, **given, max_tokens=700)
        assert len(replies) > 3, tool
        for reply in replies:
            assert tokens(reply.text) <= 700, tool
        names = [one["name"] for reply in replies for one in _items(reply)]
        assert sorted(names) == sorted(NAMES), tool
    pages = _walked(server, "read_graph", max_tokens=700)
    assert sum(len(page.value["relations"]) for page in pages) == len(NAMES) - 1
    note = pages[0].notes[-1]
    assert note["code"] == "left_out"
    assert f"of {len(NAMES)} entities are left out: pass cursor {pages[0].next_cursor}" in note["text"]
    assert pages[0].result["content"][1]["text"] == note["text"]


@pytest.mark.promise("graph.budget.none")
def test_graph_answers_without_max_tokens_are_whole(server: Server) -> None:
    _planted(server)
    server.call("add_observations", observations=[{"entityName": NAMES[0], "contents": [TEXT * 1000]}])
    reply = server.call("read_graph")
    assert len(_items(reply)) == len(NAMES)
    assert len(reply.result["content"]) == 1
    assert len(_items(server.call("read_graph", max_tokens=1_000_000))) == len(NAMES)


@pytest.mark.promise("graph.budget.long")
def test_one_entity_over_the_budget_is_cut_short_and_the_answer_says_so(server: Server) -> None:
    server.call("create_entities", entities=[entity("Long", *(f"{at} {TEXT * 20}" for at in range(50)))])
    reply = server.call("open_nodes", names=["Long"], max_tokens=500)
    assert tokens(reply.text) <= 500
    (one,) = _items(reply)
    assert one["name"] == "Long"
    assert one["observations"][0].endswith("…")
    assert "cut short" in reply.result["content"][1]["text"]
    refused = server.refused("read_graph", max_tokens=5)
    assert "max_tokens" in refused.text


@pytest.mark.promise("graph.budget.hub", "graph.budget.whole")
def test_one_entity_with_many_relations_leaves_room_for_others(server: Server) -> None:
    server.call("create_entities", entities=[entity(f"Person {at}", TEXT, f"Met at sprint {at}") for at in range(200)])
    ties = [relation("Person 0", "knows", f"Person {at}") for at in range(1, 200)]
    server.call("create_relations", relations=ties)
    for tool, given in (("read_graph", {}), ("search_nodes", {"query": "sprint"})):
        reply = server.call(tool, given, max_tokens=2_000)
        assert tokens(reply.text) <= 2_000, tool
        assert len(_items(reply)) > 5, tool
        said = reply.result["content"][1]["text"]
        assert "entities are left out" in said, tool
        assert tool == "search_nodes" or "relations, which only a larger max_tokens brings" in said
        following = server.call(tool, {**given, "cursor": reply.next_cursor, "max_tokens": 2_000})
        assert not {one["name"] for one in _items(following)} & {one["name"] for one in _items(reply)}, tool
    whole = server.call("read_graph", max_tokens=1_000_000)
    assert len(whole.value["relations"]) == len(ties)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = Place(tmp_path_factory.mktemp("everything"))
    server = place.serve("all", "--embedder", "none")
    many = [entity(f"Sprint {at}", *(f"{TEXT} Part {part} of {at}." for part in range(5))) for at in range(500)]
    server.call("create_entities", entities=many)
    yield server
    place.close()


@pytest.mark.promise("everywhere.budget.all", "everywhere.once.all")
def test_an_answer_of_all_has_8000_tokens_at_most_and_is_sent_once(everything: Server) -> None:
    calls: dict[str, dict[str, Any]] = {
        "read_graph": {}, "search_nodes": {"query": "sprint"}, "memory_list_all": {"per_page": 100},
        "memory_search": {"query": "sprint", "limit": 100}, "scope_list": {}, "memory_export": {},
        "open_nodes": {"names": [f"Sprint {at}" for at in range(500)]},
    }  # fmt: skip
    for tool, given in calls.items():
        reply = everything.call(tool, given)
        assert set(reply.result) <= {"content", "_meta"}, tool
        assert 200 < tokens(reply.text) <= 8_000 or tool in ("scope_list", "memory_export"), tool
        said = json.dumps(reply.result)
        assert "left out" in said or tool == "scope_list", tool
    assert "outputSchema" not in json.dumps(everything.tools())
    content = {"operation": "search_content", "project_id": "default", "query": "sprint", "options": {"limit": 100}}
    reply = everything.call("memory_retrieve", content)
    assert set(reply.result) <= {"content", "_meta"}
    assert tokens(reply.text) <= 8_000
    assert "results are left out" in reply.value["notes"][-1]


@pytest.mark.promise("everywhere.budget.all")
def test_an_error_of_all_has_8000_tokens_at_most_and_says_what_to_do(everything: Server) -> None:
    essay = " ".join(f"word{at}" for at in range(20_000))
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("add_observations", {"observations": [{"entityName": f"No {at}", "contents": ["x"]} for at in range(3_000)]},
         "check name spelling"),
        ("memory_get", {"memory_id": essay}, "MEMORY_NOT_FOUND"),
        ("memory_store", {essay: 1}, "VALIDATION_ERROR"),
        ("memory_retrieve", {"operation": "get_content", "project_id": "p", "content_id": essay}, "suggestions"),
        ("memory_import", {"import_data": json.dumps({"memories": [{"x": at} for at in range(3_000)]})}, "nothing was"),
        (essay, {}, "Unknown tool"),
    ]  # fmt: skip
    for tool, given, said in calls:
        answer = json.dumps(everything.answer(everything.begin_call(tool, given)), ensure_ascii=False)
        assert tokens(answer) <= 8_000, tool
        assert said in answer, tool


@pytest.mark.promise("everywhere.budget.all")
def test_a_prompt_of_all_has_8000_tokens_at_most(everything: Server) -> None:
    long = " ".join(f"Word{at}" for at in range(2_000))
    everything.call("create_entities", {"entities": [entity(f"Saga {at}", long, long) for at in range(16)]})
    for topic in ({}, {"topic": "saga"}):
        said = json.dumps(everything.request("prompts/get", {"name": "start_from_memory", "arguments": topic}))
        assert "open_nodes shows it whole" in said
        assert tokens(said) <= 8_000
    everything.call("delete_entities", {"entityNames": [f"Saga {at}" for at in range(16)]})


@pytest.mark.promise("everywhere.budget.all")
def test_a_larger_budget_is_offered_only_where_it_can_be_given(place: Place) -> None:
    scopes = [{"text": f"note {at}", "scope": f"session/s{at}"} for at in range(300)]
    place.serve("native").call("remember", memories=scopes)
    server = place.serve("all", "--embedder", "none")
    listed = server.call("session_manage", action="list")
    assert tokens(listed.text) <= 8_000
    assert "Cut short" in listed.text
    assert "max_tokens" not in listed.text
    assert "larger max_tokens" in server.call("scope_list", max_tokens=500).text


@pytest.mark.promise("everywhere.budget.more")
def test_a_call_can_ask_all_for_more_and_a_program_for_everything(everything: Server) -> None:
    assert len(_items(everything.call("read_graph", max_tokens=1_000_000))) == 500
    whole = everything.reply(everything.begin_call("read_graph", {}, meta={"polymnia/maxTokens": 0}))
    assert len(_items(whole)) == 500
    few = everything.reply(everything.begin_call("read_graph", {}, meta={"polymnia/maxTokens": 500}))
    assert tokens(few.text) <= 500
    answer = everything.answer(everything.begin_call("read_graph", {}, meta={"polymnia/maxTokens": "many"}))
    assert "polymnia/maxTokens" in answer["error"]["message"]


@pytest.mark.promise("everywhere.once.setting")
def test_structured_content_is_a_setting(place: Place) -> None:
    both = place.serve("all", "--structured", "on")
    assert "outputSchema" in both.tools()["read_graph"]
    answer = both.call("read_graph").result
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
    once = place.serve("strict", "--structured", "off")
    assert "outputSchema" not in once.tools()["read_graph"]
    result = once.answer(once.begin_call("read_graph"))["result"]
    assert "structuredContent" not in result


def _fields(schema: dict[str, Any], path: str = "") -> set[str]:
    """Every parameter of a schema, with all that is in it."""
    found = set()
    for name, part in schema.get("items", schema).get("properties", {}).items():
        found |= {f"{path}{name}", *_fields(part, f"{path}{name}.")}
    return found


@pytest.mark.promise("everywhere.listing.all")
@pytest.mark.parametrize("graph", GRAPHS)
def test_all_describes_every_tool_and_parameter_in_few_tokens(place: Place, graph: str) -> None:
    server = place.start("--dialect", "all", "--graph", graph)
    hello = server.initialize()
    registry = app.dialect(app.settings({"graph": graph}, {}))
    registry.rewrite = None
    full = {tool["name"]: tool for tool in json.loads(describe(registry))}
    listed = server.tools()
    assert list(listed) == list(full)
    for name, tool in listed.items():
        assert _fields(tool["inputSchema"]) == _fields(full[name]["inputSchema"]), name
        assert tool["inputSchema"].get("required", []) == full[name]["inputSchema"].get("required", []), name
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed.values()]
    # A real vocabulary counts 4,488 (decision 0173); our estimate is a tenth above it.
    assert tokens(json.dumps(read, separators=(",", ":"), ensure_ascii=False)) <= 5_000
    assert tokens(hello["instructions"]) <= 250
    assert not {"undo", "undone"} & set(hello["instructions"].split())
