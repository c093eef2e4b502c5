"""Whatever ids of one project are thrown at every operation in another: nothing is there to read, find or link."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from form import mostly_long
from stdio_client import Place, Server

WORDS = ("harbour", "kettle", "등대", "orchard", "🦊", "ledger", "violin", "glacier")
ROUNDS = 24


class _Project:
    """One project of a server, and what was stored in it."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.ids: list[str] = []

    def ask(self, operation: str, **more: Any) -> dict[str, Any]:
        reads = operation.startswith(("search_", "get_", "find_"))
        arguments = {"operation": operation, "project_id": self.name, **more}
        number = self.server.begin_call("memory_retrieve" if reads else "memory_store", arguments)
        return self.server.answer(number)

    def done(self, operation: str, **more: Any) -> dict[str, Any]:
        answer = self.ask(operation, **more)
        assert "result" in answer, answer
        value: dict[str, Any] = answer["result"]["structuredContent"]
        return value

    def grow(self, dice: random.Random, mark: str) -> None:
        """Store, decide, change, delete or relate something at random."""
        words = " ".join(dice.choices(WORDS, k=4))
        more: dict[str, Any] = {"session_id": "s"} if dice.random() < 0.3 else {}
        step = dice.choice(("store", "store", "decide", "update", "relate", "delete"))
        if step == "store" or len(self.ids) < 2:
            tags, metadata = [dice.choice(WORDS), mark], {"of": mark}
            done = self.done("store_content", content=f"{mark} {words}", tags=tags, metadata=metadata,
                             request_id=f"r{dice.randrange(10**9)}", **more)  # fmt: skip
        elif step == "decide":
            done = self.done("store_decision", title=f"{mark} {words}", context=words, decision=words,
                             rationale=mark, **more)  # fmt: skip
        else:
            id, other = dice.sample(self.ids, 2)
            if step == "update":
                self.ask("update_content", content_id=id, updates={"content": f"{mark} {words}"}, session_id="s")
            elif step == "relate":
                self.ask("create_relationship", source_id=id, target_id=other, type="cites", context=mark,
                         session_id="s")  # fmt: skip
            else:
                self.ask("delete_content", content_id=id, options={"hard": dice.random() < 0.5}, session_id="s")
            return
        self.ids.append(done["content_id"])

    def state(self) -> str:
        """Everything that can be read of the project."""
        seen: list[Any] = []
        for id in self.ids:
            answer = self.ask("get_content", content_id=id, session_id="s", include_refs=True, include_history=True,
                              options={"include_relationships": True})  # fmt: skip
            seen.append(answer.get("error") or answer["result"]["structuredContent"]["content"])
        return json.dumps(seen, sort_keys=True)


def _missing(answer: dict[str, Any], id: str, project: str) -> None:
    assert "error" in answer, answer
    error = answer["error"]
    assert (error["code"], error["data"]["error_type"]) == (404, "resource_not_found"), error
    assert error["data"]["details"]["project_id"] == project
    assert error["data"]["details"]["resource_id"] == id
    assert id not in str(error["data"]["suggestions"])


@pytest.mark.long
@pytest.mark.promise("content.projects.isolated")
@pytest.mark.parametrize("seed", mostly_long([1, 2, 3]))
def test_ids_of_one_project_are_nothing_in_another(place: Place, seed: int) -> None:
    dice = random.Random(seed)
    server = place.serve("content")
    ours, secret = _Project(server, "ours"), _Project(server, "secret")
    for _ in range(ROUNDS):
        # In turns, so that their ids lie as near to each other as they can.
        ours.grow(dice, "Ours")
        secret.grow(dice, "Zanzibar Quetzal")
    before = secret.state(), ours.state()
    session: dict[str, Any]
    for _ in range(ROUNDS):
        id, own = dice.choice(secret.ids), dice.choice(ours.ids)
        session = dice.choice(({}, {"session_id": "s"}))
        for operation, more in (
            ("get_content", {"include_refs": True, "include_history": True}),
            ("get_content_history", {"include_diffs": True}),
            ("find_similar_content", {"options": {"include_self": True}}),
            ("update_content", {"updates": {"content": "taken over"}}),
            ("update_content", {"updates": {"tags": []}, "options": {"preserve_previous": False}}),
            ("delete_content", {}),
            ("delete_content", {"options": {"hard": True}}),
            ("delete_content", {"options": {"preserve_references": True}}),
        ):
            _missing(ours.ask(operation, content_id=id, **more, **session), id, "ours")
        live = "error" not in ours.ask("get_content", content_id=own, **session)
        ends = ((id, own), (own, id), (id, id))
        for source, target in ends if live else ends[-1:]:
            answer = ours.ask("create_relationship", source_id=source, target_id=target, type="references", **session)
            _missing(answer, id, "ours")
        for query in ("Zanzibar", id, f"Zanzibar {dice.choice(WORDS)}"):
            for query_type in ("keyword", "hybrid"):
                # The same question was just answered in the other project; neither its pages nor its counts leak.
                paged = {"query": query, "query_type": query_type, **session}
                secret.done("search_content", **paged, options={"limit": 1})
                for offset in (0, 1):
                    found = ours.done("search_content", **paged, options={"limit": 5, "offset": offset})
                    # The word that was asked for may be told again; its neighbour there is known to nobody here.
                    assert "Quetzal" not in json.dumps(found)
                    assert all(one["content"]["content_id"] in ours.ids for one in found["results"])
                    assert found["total"] <= len(ours.ids)
                    assert "Zanzibar Quetzal" not in [one["value"] for one in found["facets"]["tags"]]
        only = ours.done("search_content", query="Zanzibar", query_type="keyword", **session)
        assert (only["results"], only["total"]) == ([], 0)
        filters = {"metadata": {"of": "Zanzibar Quetzal"}}
        filtered = ours.done("search_content", query=dice.choice(WORDS), filters=filters, **session)
        assert filtered["total"] == 0
        alike = ours.done("find_similar_content", content=f"Zanzibar {dice.choice(WORDS)}", limit=100, **session)
        assert all(one["content"]["content_id"] in ours.ids for one in alike["results"])
        excluded = ours.done("find_similar_content", content="Zanzibar", options={"exclude_ids": [id]}, **session)
        assert id not in json.dumps(excluded)
    assert (secret.state(), ours.state()) == before


@pytest.mark.promise("content.projects.isolated")
def test_an_empty_project_does_not_tell_what_others_have(place: Place) -> None:
    server = place.serve("content")
    full, empty = _Project(server, "full"), _Project(server, "empty")
    for number in range(5):
        full.done("store_content", content=f"a kettle {number}", request_id=f"r{number}")
    full.done("search_content", query="kettle", options={"limit": 2})
    for offset in (0, 2):
        found = empty.done("search_content", query="kettle", options={"limit": 2, "offset": offset})
        assert (found["results"], found["total"]) == ([], 0)
        assert not any(found["facets"].values())
        assert "kettle 1" not in json.dumps(found)
    # A request_id of another project is nobody's here.
    assert "repeated" not in empty.done("store_content", content="a kettle 1", request_id="r1")
    assert empty.done("search_content", query="kettle")["total"] == 1
