"""Stores made by earlier releases: today's server reads all of it, and makes the vectors of its own models."""

from __future__ import annotations

import json
import lzma
import time
from pathlib import Path
from typing import Any

import pytest

from form import mostly_long
from stdio_client import DEADLINE, Place, Server

from .stores import make

pytest.importorskip("onnxruntime")

_STORES = Path(make.__file__).parent
# The release, and the last commit before the models of our own, which has the format of today.
_MADE = ["0.1.0", "0.1.0-6dd8a1c"]
_NOTES = {
    text: make.MOVED[1] if (scope, text) == (make.MOVED[0], make.MOVED[2]) else scope
    for scope, texts in make.NOTES.items()
    for text in texts
}


def _items(server: Server, query: str) -> list[dict[str, Any]]:
    answer = server.call("memory_retrieve", operation="search_content", project_id=make.PROJECT, query=query)
    return [one["content"] for one in answer.structured["results"]]


def _everything_is_there(server: Server) -> None:
    graph = server.graph()
    assert {
        one["name"]: one["observations"] for one in graph["entities"] if one["entityType"] == "subject"
    } == make.ENTITIES
    assert [(one["from"], one["relationType"], one["to"]) for one in graph["relations"]] == make.RELATIONS
    notes = server.call("memory_list_all").structured["memories"]
    assert {one["content"]: one["scope"] for one in notes if one.get("tags") == ["noted"]} == _NOTES
    (deploy, *_), (leave, *_) = _items(server, "nightly pipeline"), _items(server, "휴가 신청은")
    assert deploy["content"] == f"{make.DOCUMENTS['deploy']} {make.REVISED}"
    assert leave["content"] == make.DOCUMENTS["leave"]
    for decision in make.DECISIONS:
        found = next(one for one in _items(server, decision["title"]) if one["title"] == decision["title"])
        assert found["kind"] == "decision"
        assert decision.items() <= found["metadata"]["decision"].items()


def _history_is_there(place: Place, server: Server) -> None:
    told = json.loads(place.run("history", "billing-service", "--json").stdout)
    assert [(one["action"], one["added"]) for one in told] == [
        (action, [text])
        for action, text in zip(("create_entities", "add_observations"), make.ENTITIES["billing-service"], strict=True)
    ]
    id = _items(server, "nightly pipeline")[0]["content_id"]
    versions = server.call(
        "memory_retrieve", operation="get_content_history", project_id=make.PROJECT, content_id=id
    ).structured["versions"]
    assert [one["content"] for one in versions] == [
        f"{make.DOCUMENTS['deploy']} {make.REVISED}",
        make.DOCUMENTS["deploy"],
    ]
    related = server.call(
        "memory_analyze", operation="find_content_relationships", project_id=make.PROJECT, content_id=id
    )
    assert make.DECISIONS[0]["title"] in related.text


@pytest.mark.promise("store.older")
@pytest.mark.parametrize("made", mostly_long(_MADE))
def test_a_store_of_an_earlier_release_is_read_searched_and_embedded_anew(place: Place, made: str) -> None:
    with lzma.open(_STORES / f"{made}.db.xz") as stream:
        place.store.write_bytes(stream.read())
    server = place.serve("all", "--embedder", "auto")
    assert server.graph()["entities"]

    with place.held():  # nobody can write a vector
        for query, name in (("cargo trailer", "Otto"), ("빵집을 운영한다", "김민서")):
            reply = server.call("search_nodes", query=query)
            assert reply.value["nodes"][0]["name"] == name
            assert "pending" in {note["code"] for note in reply.notes}
    _everything_is_there(server)

    end = time.monotonic() + DEADLINE
    while any(note["code"] == "pending" for note in server.call("search_nodes", query="a musician").notes):
        assert time.monotonic() < end
    health = json.loads(place.run("health", "--json", "--embedder", "auto").stdout)
    vectors = health["models"].pop("use-multilingual-3")["vectors"]
    ready = {"vectors": vectors, "pending": 0, "state": "ready", "why": None}
    assert health["models"] == {"polymnia-en-1": ready, "polymnia-multi-2": ready}
    assert health["well"] and vectors

    for query, name in (("who is a musician?", "Mira Vance"), ("누가 악기를 연주하나요?", "Mira Vance")):
        assert server.call("search_nodes", query=query).value["nodes"][0]["name"] == name
    for query, text in (
        ("when do we water the vegetables?", "The tomatoes need water every second evening in July."),
        ("when is the weekly meeting?", "주간 회의는 매주 화요일 오전 열 시에 삼 층에서 한다."),
        ("고혈압 약은 언제 먹어?", make.MOVED[2]),
    ):
        assert server.call("memory_search", query=query).structured["memories"][0]["content"] == text
    assert _items(server, "why do users stay logged in?")[0]["title"] == make.DECISIONS[0]["title"]

    _everything_is_there(server)
    _history_is_there(place, server)
    # A change the old release made can be taken back.
    changes = json.loads(place.run("changes", "--json").stdout)
    deletion = next(one for one in changes if one["action"] == "delete_entities")
    assert place.run("undo", "--change", str(deletion["change"])).returncode == 0
    name, text = make.FORGOTTEN
    (back,) = server.call("open_nodes", names=[name]).value["nodes"]
    assert back["observations"] == [text]
