"""What may not be stored: illegal text, and more than the limits allow."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from form import mostly_long
from stdio_client import Place, Server, entity, relation

MIB = 1024 * 1024


def texts_with(bad: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every place where a text may be given, with the field's name."""
    return [
        ("name", "create_entities", {"entities": [entity(f"n{bad}", "x")]}),
        ("entityType", "create_entities", {"entities": [entity("n", "x", type=f"t{bad}")]}),
        ("observations", "create_entities", {"entities": [entity("n", "fine", f"x{bad}")]}),
        ("from", "create_relations", {"relations": [relation(f"a{bad}", "knows", "b")]}),
        ("to", "create_relations", {"relations": [relation("a", "knows", f"b{bad}")]}),
        ("relationType", "create_relations", {"relations": [relation("a", f"k{bad}", "b")]}),
        ("contents", "add_observations", {"observations": [{"entityName": "a", "contents": [f"x{bad}"]}]}),
    ]


def call_as_typed(server: Server, tool: str, arguments: dict[str, Any]) -> Any:
    """Call with every special character written as an escape, as a client in another language may."""
    number = server.fresh_id()
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
    message["params"] = {"name": tool, "arguments": arguments}
    return server.exchange(json.dumps(message, ensure_ascii=True))


@pytest.mark.promise("graph.text.nul")
def test_a_nul_character_is_refused_with_the_name_of_the_field(server: Server) -> None:
    server.call("create_entities", entities=[entity("a", "x"), entity("b", "x")])

    for field, tool, arguments in texts_with("\x00"):
        refusal = server.refused(tool, arguments)
        assert field in refusal.text, (field, refusal.text)
        assert "NUL" in refusal.text or "0000" in refusal.text, refusal.text

    assert server.graph() == {"entities": [entity("a", "x"), entity("b", "x")], "relations": []}


@pytest.mark.promise("graph.text.surrogate")
def test_half_of_a_surrogate_pair_is_refused_with_the_name_of_the_field(server: Server) -> None:
    server.call("create_entities", entities=[entity("a", "x"), entity("b", "x")])

    for field, tool, arguments in texts_with("\ud83d"):
        answer = call_as_typed(server, tool, arguments)
        text = json.dumps(answer)
        assert answer.get("error") or answer["result"]["isError"], text
        assert field in text, text
        assert "surrogate" in text, text

    assert server.graph() == {"entities": [entity("a", "x"), entity("b", "x")], "relations": []}


@pytest.mark.promise("graph.text.surrogate")
def test_a_whole_surrogate_pair_written_as_escapes_is_one_character(server: Server) -> None:
    answer = call_as_typed(server, "create_entities", {"entities": [entity("emoji 😀", "𝒳")]})

    assert "result" in answer
    assert server.graph()["entities"] == [entity("emoji 😀", "𝒳")]


@pytest.mark.promise("graph.limits.batch")
@pytest.mark.parametrize("dialect", mostly_long(["official", "simple", "strict", "bilingual"]))
def test_a_batch_of_10000_is_taken_and_one_more_is_refused_naming_the_limit(server: Server) -> None:
    many = [entity(f"n{i}", "x") for i in range(10_001)]

    refusal = server.refused("create_entities", entities=many)
    assert re.search(r"10[,_ ]?000\b", refusal.text), refusal.text
    assert server.names() == []

    assert not server.call("create_entities", entities=many[1:]).failed
    names = [made["name"] for made in many]
    assert re.search(r"10[,_ ]?000\b", server.refused("delete_entities", entityNames=names).text)
    assert len(server.names()) == 10_000


@pytest.mark.promise("graph.limits.text")
@pytest.mark.parametrize("dialect", mostly_long(["strict", "simple", "bilingual", "official"]))
def test_a_text_of_5_mib_is_kept_and_one_byte_more_is_refused_naming_the_limit(server: Server) -> None:
    longest = "한" * (5 * MIB // 3) + "xx"
    assert len(longest.encode()) == 5 * MIB

    refusal = server.refused("create_entities", entities=[entity("a", "small", longest + "x")])
    assert re.search(r"5[,_ ]?242[,_ ]?880|5 MiB", refusal.text), refusal.text
    assert "observations" in refusal.text
    assert server.names() == []

    server.call("create_entities", entities=[entity("a", longest)])
    assert server.graph()["entities"] == [entity("a", longest)]


@pytest.mark.promise("graph.limits.message")
def test_a_message_over_16_mib_is_refused_naming_the_limit_and_the_server_lives_on(server: Server) -> None:
    texts = ["x" * (4 * MIB + 1000)] * 4
    message = {"jsonrpc": "2.0", "id": "big", "method": "tools/call"}
    message["params"] = {"name": "create_entities", "arguments": {"entities": [entity("a", *texts)]}}

    answer = server.exchange(json.dumps(message))

    assert answer["id"] in ("big", None)
    assert re.search(r"16[,_ ]?777[,_ ]?216|16 MiB", answer["error"]["message"]), answer
    assert server.names() == []


@pytest.mark.long
@pytest.mark.promise("graph.limits.message")
def test_a_message_just_under_16_mib_is_taken(place: Place) -> None:
    server = place.serve("official")
    texts = ["x" * (4 * MIB - 1000)] * 4

    assert not server.call("create_entities", entities=[entity("a", *texts)]).failed
    assert server.names() == ["a"]


@pytest.mark.promise("graph.limits.numbers")
def test_a_number_outside_64_bits_or_not_finite_is_refused(server: Server) -> None:
    for number in ("1e999", "NaN", "Infinity", "-Infinity", str(2**64), "1" * 400):
        answer = server.exchange(
            '{"jsonrpc":"2.0","id":"n","method":"tools/call","params":'
            f'{{"name":"read_graph","arguments":{{"limit":{number}}}}}}}'
        )
        assert answer["id"] in ("n", None), number
        assert "error" in answer or answer["result"]["isError"], number
    assert server.names() == []


@pytest.mark.promise("graph.limits.query")
def test_a_query_as_long_as_a_book_is_refused_and_one_as_long_as_a_chapter_is_not(server: Server) -> None:
    server.call("create_entities", entities=[entity("a", "green tea")])

    server.call("search_nodes", query="green tea " * 6553)
    refusal = server.refused("search_nodes", {"query": "green tea " * 6554})
    assert "65,536" in refusal.text, refusal.text
    assert "query" in refusal.text, refusal.text
