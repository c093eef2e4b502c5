"""The tools that read keep to max_tokens, say what they leave out, and go on by cursor."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polymnia.engine.text.tokens import tokens
from stdio_client import Place, Server

TEXT = "The kettle in the kitchen is red, and whoever empties it fills it again before the tea is drunk."


@pytest.fixture(scope="module")
def kettles(module_place: Place) -> tuple[Server, list[str]]:
    """A server with 40 memories that have much to do with each other, and their ids."""
    server = module_place.serve("associative")
    ids = []
    for at in range(40):
        stored = server.call(
            "memory_store", content=f"{TEXT} Kettle {at}.", scope=f"home/kitchen/shelf-{at}", tags=["tea"]
        )
        ids.append(stored.structured["memory_id"])
    return server, ids


def _walked(server: Server, tool: str, field: str, most: int, **given: Any) -> list[Any]:
    """What a list has in all, gathered from answers of few tokens."""
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    for turn in range(60):
        reply = server.call(tool, {**given, **cursor, "max_tokens": most})
        assert tokens(reply.text) <= most, tool
        found += reply.structured[field]
        if "next_cursor" not in reply.structured:
            assert turn, f"{tool} left nothing out"
            return found
        assert any(f"{field} are left out" in note for note in reply.structured["notes"])
        assert reply.notes[-1]["code"] == "left_out"
        cursor = {"cursor": reply.structured["next_cursor"]}
    raise AssertionError("there is no end to it")


def _name(one: dict[str, Any]) -> Any:
    return one.get("memory_id", one["scope"])


@pytest.mark.promise("associative.budget.limit")
def test_every_list_without_a_limit_of_its_own_takes_one(kettles: tuple[Server, list[str]]) -> None:
    server, ids = kettles
    whole = server.call("scope_list").structured["scopes"]
    first = server.call("scope_list", limit=3).structured
    assert first["scopes"] == whole[:3]
    assert f"{len(whole) - 3} of {len(whole)} scopes are left out" in first["notes"][-1]
    rest = server.call("scope_list", limit=1000, cursor=first["next_cursor"]).structured
    assert rest["scopes"] == whole[3:]
    assert "next_cursor" not in rest
    assert len(server.call("memory_list_all", per_page=20, limit=2).structured["memories"]) == 2
    assert len(server.call("memory_get", memory_id=ids[0], limit=1).structured["associations"]) == 1
    text = f"{TEXT} Kettle 99."
    assert len(server.call("scope_suggest", content=text, limit=1).structured["alternatives"]) <= 1
    assert "limit" in server.refused("scope_list", limit=0).text
    small = server.call("scope_list", limit=30, max_tokens=300)
    assert tokens(small.text) <= 300
    assert "next_cursor" in small.structured


@pytest.mark.promise("associative.budget.kept", "associative.budget.rest", "associative.budget.none")
def test_every_list_keeps_to_max_tokens_and_goes_on_where_it_ended(kettles: tuple[Server, list[str]]) -> None:
    server, ids = kettles
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("memory_search", "memories", {"query": "red kettle", "limit": 40}),
        ("memory_list_all", "memories", {"per_page": 40}),
        ("memory_discover_associations", "associations", {"memory_id": ids[0], "limit": 30}),
        ("scope_list", "scopes", {}),
    )
    for tool, field, given in calls:
        whole = server.call(tool, given).structured
        assert "next_cursor" not in whole, tool
        most = tokens(json.dumps(whole, separators=(",", ":"))) * 2 // 3
        assert list(map(_name, _walked(server, tool, field, most, **given))) == list(map(_name, whole[field])), tool


@pytest.mark.promise("associative.budget.long")
def test_a_long_text_is_cut_short_and_an_export_is_whole_or_left_out(kettles: tuple[Server, list[str]]) -> None:
    server, _ = kettles
    long = server.call("memory_store", content=f"Unlike all others: {TEXT * 300}").structured["memory_id"]
    reply = server.call("memory_get", memory_id=long, max_tokens=1000)
    assert 500 < tokens(reply.text) <= 1000
    assert reply.structured["content"].startswith("Unlike all others")
    assert reply.structured["content"].endswith("…")
    assert "Cut short" in reply.structured["notes"][-1]
    assert server.call("memory_get", memory_id=long).structured["content"].endswith("drunk.")
    export = server.call("memory_export", max_tokens=1000).structured
    assert "export_data" not in export
    assert "export_data has about" in export["notes"][-1]
    assert "export_data" in server.call("memory_export", max_tokens=1_000_000).structured


@pytest.mark.promise("associative.budget.refused")
def test_a_budget_too_small_and_a_foreign_cursor_are_refused_by_name(kettles: tuple[Server, list[str]]) -> None:
    server, ids = kettles
    for given, word in (({"max_tokens": 1}, "max_tokens"), ({"cursor": "nonsense"}, "cursor")):
        answer = server.answer(server.begin_call("memory_get", {"memory_id": ids[0], **given}))
        assert word in str(answer)
        assert "error" in answer or answer["result"]["isError"]
