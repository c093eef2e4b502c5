"""limit and cursor of read_graph, search_nodes and open_nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stdio_client import Place, Reply, Server, entity, relation

TOTAL = 57


def nodes_of(reply: Reply) -> list[str]:
    value = reply.value
    nodes = value if isinstance(value, list) else value.get("nodes", value.get("entities"))
    return [node["name"] for node in nodes]


def fill(server: Server) -> list[str]:
    names = [f"page {i:02}" for i in range(TOTAL)]
    server.call("create_entities", entities=[entity(name, "on a page") for name in names])
    server.call(
        "create_relations",
        relations=[relation(names[i], "precedes", names[i + 1]) for i in range(TOTAL - 1)],
    )
    return names


def walk(
    server: Server,
    tool: str,
    arguments: dict[str, Any],
    limit: int,
    between: Callable[[int], object] = lambda _: None,
) -> list[Reply]:
    """Every page from the first to the last."""
    pages = [server.call(tool, {**arguments, "limit": limit})]
    while pages[-1].next_cursor is not None:
        between(len(pages))
        pages.append(server.call(tool, {**arguments, "limit": limit, "cursor": pages[-1].next_cursor}))
        assert len(pages) <= 1000
    return pages


def reads(names: list[str]) -> list[tuple[str, dict[str, Any]]]:
    return [("read_graph", {}), ("search_nodes", {"query": "page"}), ("open_nodes", {"names": names})]


@pytest.mark.promise("graph.paging.all")
def test_without_a_limit_everything_is_answered_and_there_is_no_cursor(server: Server) -> None:
    names = fill(server)

    for tool, arguments in reads(names):
        reply = server.call(tool, arguments)
        assert sorted(nodes_of(reply)) == names, tool
        assert reply.next_cursor is None, tool


@pytest.mark.promise("graph.paging.walk")
def test_walking_the_pages_gives_each_entity_once_and_full_pages(server: Server) -> None:
    names = fill(server)

    for tool, arguments in reads(names):
        whole = nodes_of(server.call(tool, arguments))
        for limit in (1, 10, TOTAL, TOTAL + 1, 10_000) if tool == "read_graph" else (10, TOTAL):
            pages = [nodes_of(page) for page in walk(server, tool, arguments, limit)]
            assert [name for page in pages for name in page] == whole, (tool, limit)
            assert all(len(page) == limit for page in pages[:-1]), (tool, limit)


@pytest.mark.promise("graph.paging.relations")
def test_walking_read_graph_gives_each_relation_once(place: Place, server: Server) -> None:
    fill(server)
    place.serve("simple").call(
        "create_relations",
        relations=[relation("nobody", "knows", "nothing"), relation("page 03", "x", "godot")],
    )
    whole = server.graph()["relations"]

    pages = walk(server, "read_graph", {}, 10)

    walked = [link for page in pages for link in page.value["relations"]]
    assert sorted(map(str, walked)) == sorted(map(str, whole))


@pytest.mark.promise("graph.paging.cursor_place")
def test_the_cursor_travels_where_the_shape_of_the_answer_has_room_for_it(server: Server, dialect: str) -> None:
    names = fill(server)

    for tool, arguments in reads(names):
        reply = server.call(tool, {**arguments, "limit": 5})
        assert isinstance(reply.structured["nextCursor"], str), tool
        if isinstance(reply.value, dict):
            assert reply.value["nextCursor"] == reply.structured["nextCursor"], tool
        else:
            assert len(reply.value) == 5, tool
            assert reply.result["_meta"]["polymnia/nextCursor"] == reply.structured["nextCursor"], tool


@pytest.mark.promise("graph.paging.stable")
@pytest.mark.parametrize("tool", ["read_graph", "search_nodes"])
def test_nothing_is_missed_or_seen_twice_while_others_insert_and_delete(
    place: Place, server: Server, tool: str
) -> None:
    names = fill(server)
    writer = place.serve("simple")
    arguments = {} if tool == "read_graph" else {"query": "page"}
    first = nodes_of(server.call(tool, {**arguments, "limit": 1}))

    def disturb(page: int) -> None:
        writer.call("create_entities", entities=[entity(f"new page {page}-{i}", "on a page") for i in range(3)])
        if page == 1:
            writer.call("delete_entities", entityNames=first)

    pages = walk(server, tool, arguments, 10, disturb)

    seen = [name for page in pages for name in nodes_of(page)]
    assert len(set(seen)) == len(seen)
    assert set(names) <= set(seen)


@pytest.mark.promise("graph.paging.bad_limit")
def test_a_limit_that_is_no_number_from_1_to_10000_is_refused_by_name(server: Server) -> None:
    fill(server)

    for limit in (0, -1, 10_001, 1.5, "ten", True, [], 2**70):
        for tool, arguments in reads(["page 01"]):
            refusal = server.refused(tool, {**arguments, "limit": limit})
            assert "limit" in refusal.text, (tool, limit)
            assert "$" not in refusal.text, (tool, limit)


@pytest.mark.promise("graph.paging.bad_cursor")
def test_a_cursor_the_server_never_gave_is_refused_by_name(server: Server) -> None:
    fill(server)

    for cursor in ("nonsense", "", "999", "한", 'x"; drop', 7):
        for tool, arguments in reads(["page 01"]):
            reply = server.call(tool, {**arguments, "limit": 5, "cursor": cursor})
            assert reply.failed, (tool, cursor)
            assert "cursor" in reply.text, (tool, cursor)


@pytest.mark.promise("graph.paging.null")
def test_null_means_that_no_limit_and_no_cursor_were_given(server: Server) -> None:
    names = fill(server)

    for tool, arguments in reads(names):
        reply = server.call(tool, {**arguments, "limit": None, "cursor": None})
        assert not reply.failed, (tool, reply.text)
        assert len(nodes_of(reply)) == TOTAL, tool
