"""An answer of success means that the change is on disk; a change that could not be kept is an error."""

from __future__ import annotations

import sys

import pytest

from form import mostly_long
from stdio_client import Place, Server, entity, relation


@pytest.mark.promise("everywhere.durable")
def test_what_was_acknowledged_survives_a_kill_right_after_the_answer(
    place: Place, server: Server, dialect: str
) -> None:
    server.call("create_entities", entities=[entity("a", "x"), entity("b", "y")])
    server.call("create_relations", relations=[relation("a", "knows", "b")])
    server.call("add_observations", observations=[{"entityName": "a", "contents": ["z"]}])
    server.kill()

    assert place.serve(dialect).graph() == {
        "entities": [entity("a", "x", "z"), entity("b", "y")],
        "relations": [relation("a", "knows", "b")],
    }


@pytest.mark.promise("everywhere.write_failure")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of files is limited through prlimit")
@pytest.mark.parametrize("dialect", mostly_long(["strict", "simple", "bilingual", "official"]))
def test_a_write_that_cannot_be_kept_is_an_error_and_the_next_one_works(server: Server, place: Place) -> None:
    server.call("create_entities", entities=[entity("before", "x")])
    many = [entity(f"n{i}", *(f"observation {i} {j} " + "x" * 500 for j in range(5))) for i in range(1000)]
    with place.without_space(server):
        refusal = server.refused("create_entities", entities=many)

    assert refusal.text
    assert server.names() == ["before"]
    server.call("create_entities", entities=[entity("after", "x")])
    assert server.names() == ["before", "after"]
