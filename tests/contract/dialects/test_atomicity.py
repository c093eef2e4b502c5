"""Every batch is one transaction: all of it or nothing, in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from form import mostly_long
from stdio_client import Place, Server, entity, relation

A, B = entity("a", "one"), entity("b", "two")
AB = relation("a", "knows", "b")

NUL = "bad\x00text"

# Each batch begins with something good and ends with something no dialect may store.
SPOILED: list[tuple[str, dict[str, Any]]] = [
    ("create_entities", {"entities": [entity("c", "good"), entity("d", NUL)]}),
    ("create_relations", {"relations": [relation("b", "knows", "a"), relation("a", NUL, "b")]}),
    (
        "add_observations",
        {
            "observations": [
                {"entityName": "a", "contents": ["good"]},
                {"entityName": "b", "contents": ["good", NUL]},
            ]
        },
    ),
]


@pytest.mark.promise("graph.batch.atomic")
@pytest.mark.parametrize(("tool", "arguments"), SPOILED, ids=[tool for tool, _ in SPOILED])
def test_nothing_of_a_batch_is_stored_when_its_last_item_is_refused(
    server: Server, tool: str, arguments: dict[str, Any]
) -> None:
    server.call("create_entities", entities=[A, B])
    server.call("create_relations", relations=[AB])

    server.refused(tool, arguments)

    assert server.graph() == {"entities": [A, B], "relations": [AB]}


@pytest.mark.promise("graph.batch.atomic")
@pytest.mark.parametrize("dialect", mostly_long(["strict", "simple", "bilingual", "official"]))
def test_another_process_never_sees_half_of_a_batch(place: Place, server: Server) -> None:
    reader = place.serve("official")
    calls = [
        server.begin_call("create_entities", {"entities": [entity(f"{n}-{i}", "x") for i in range(50)]})
        for n in range(12)
    ]

    seen = [len(reader.names())]
    while not all(server.answered(call) for call in calls):
        seen.append(len(reader.names()))
    seen.append(len(reader.names()))

    assert all(count % 50 == 0 for count in seen)
    assert seen[-1] == 600
    for call in calls:
        assert not server.reply(call).failed
