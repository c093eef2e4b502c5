"""Names that look like others: they are stored, and the reply says so."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server, entity

LOOK_ALIKES = {
    "case": "Admin",
    "cyrillic": "\u0430dmin",
    "fullwidth": "\uff41\uff44\uff4d\uff49\uff4e",
    "zero width space": "ad\u200bmin",
    "soft hyphen": "ad\u00admin",
}


@pytest.mark.promise("graph.names.look_alike", "graph.notes")
@pytest.mark.parametrize("other", LOOK_ALIKES.values(), ids=LOOK_ALIKES.keys())
def test_a_look_alike_is_stored_and_the_reply_carries_a_note(server: Server, other: str) -> None:
    server.call("create_entities", entities=[entity("admin", "the real one")])

    reply = server.call("create_entities", entities=[entity(other, "the other one")])

    assert server.graph()["entities"] == [entity("admin", "the real one"), entity(other, "the other one")]
    assert len(reply.notes) == 1
    assert "admin" in json.dumps(reply.notes, ensure_ascii=False)
    assert len(reply.result["content"]) == 1


@pytest.mark.promise("graph.names.look_alike")
def test_a_name_that_resembles_nothing_brings_no_note(server: Server) -> None:
    server.call("create_entities", entities=[entity("admin", "x"), entity("관리자", "x")])

    for name in ("adm1n2", "admins", "관리", "root"):
        reply = server.call("create_entities", entities=[entity(name, "x")])
        assert reply.notes == [], name
        assert len(reply.result["content"]) == 1, name


@pytest.mark.promise("graph.names.look_alike")
def test_replacing_an_entity_is_no_look_alike_of_itself(simple: Server) -> None:
    simple.call("create_entities", entities=[entity("admin", "x")])

    assert simple.call("create_entities", entities=[entity("admin", "y")]).notes == []


@pytest.mark.long
@pytest.mark.promise("graph.names.look_alike")
def test_a_look_alike_in_another_project_brings_no_note(place: Place, server: Server) -> None:
    server.call("create_entities", entities=[entity("admin", "x")])

    other = place.serve("strict", "--project", "other")

    assert other.call("create_entities", entities=[entity("Admin", "x")]).notes == []
