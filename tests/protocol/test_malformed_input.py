"""Input that no client should send: each kind gets its JSON-RPC error, and the server lives on."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from form import each
from stdio_client import Place, Server

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    """One server takes all the abuse of this module: it has to outlive every test."""
    return module_place.serve("strict")


@pytest.fixture(autouse=True)
def _the_server_lives_on(shared: Server) -> Iterator[None]:
    yield
    assert shared.request("ping") == {}


def call(arguments: str, id: str = '"mine"', tool: str = "create_entities") -> str:
    """A tools/call whose arguments are given as JSON text."""
    return f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'


@pytest.mark.promise("protocol.malformed.json")
@each(
    "line",
    [
        "hello",
        "{",
        "}",
        '{"jsonrpc":"2.0","id":1,"method":"ping"',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}}',
        '{"jsonrpc":"2.0","id":1 "method":"ping"}',
        "{'jsonrpc':'2.0','id':1,'method':'ping'}",
        '"unfinished',
        '{"jsonrpc":"2.0","id":1,"method":"ping",}',
        "\x00",
        "[1,2",
        "nul",
        '{"jsonrpc":"2.0","id":1,"method":"\x01"}',
    ],
)
def test_a_line_that_is_no_json_gets_a_parse_error_without_an_id(shared: Server, line: str) -> None:
    answer = shared.exchange(line)

    assert answer["error"]["code"] == PARSE_ERROR
    assert answer["id"] is None
    assert answer["error"]["message"]


@pytest.mark.promise("protocol.malformed.binary")
def test_random_bytes_get_parse_errors(shared: Server) -> None:
    chance = random.Random(7)

    for _ in range(20):
        noise = bytes(chance.choice([b for b in range(256) if b not in (10, 13)]) for _ in range(200))
        answer = shared.exchange(b"\x80" + noise)
        assert answer["error"]["code"] == PARSE_ERROR
        assert answer["id"] is None


@pytest.mark.promise("protocol.malformed.binary")
def test_bytes_that_are_not_utf_8_inside_a_string_get_a_parse_error(shared: Server) -> None:
    answer = shared.exchange(b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}')

    assert answer["error"]["code"] == PARSE_ERROR


@pytest.mark.promise("protocol.malformed.blank_lines")
def test_blank_lines_and_windows_line_ends_are_no_error(shared: Server) -> None:
    shared.send_bytes(b"\n\r\n  \n")

    answer = shared.exchange(b'{"jsonrpc":"2.0","id":"crlf","method":"ping"}\r')

    assert answer == {"jsonrpc": "2.0", "id": "crlf", "result": {}}


@pytest.mark.promise("protocol.malformed.shape")
@each(
    ("line", "id"),
    [
        ("1", None),
        ('"ping"', None),
        ("null", None),
        ("true", None),
        ("{}", None),
        ('{"jsonrpc":"2.0"}', None),
        ('{"jsonrpc":"2.0","id":"a"}', "a"),
        ('{"id":"a","method":"ping"}', "a"),
        ('{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
        ('{"jsonrpc":2.0,"id":"a","method":"ping"}', "a"),
        ('{"jsonrpc":"2.0","id":"a","method":5}', "a"),
        ('{"jsonrpc":"2.0","id":"a","method":null}', "a"),
        ('{"jsonrpc":"2.0","id":"a","method":["ping"]}', "a"),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
    ],
)
def test_json_that_is_no_request_gets_invalid_request(shared: Server, line: str, id: Any) -> None:
    answer = shared.exchange(line)

    assert answer["error"]["code"] == INVALID_REQUEST, answer
    assert answer["id"] == id


@pytest.mark.promise("protocol.malformed.params")
@pytest.mark.parametrize("params", ['["read_graph"]', '"x"', "5", "true"])
def test_params_that_are_no_object_are_refused(shared: Server, params: str) -> None:
    answer = shared.exchange(f'{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{params}}}')

    assert answer["error"]["code"] in (INVALID_REQUEST, INVALID_PARAMS)
    assert answer["id"] == "a"


@pytest.mark.promise("protocol.malformed.null_id")
def test_a_request_whose_id_is_null_is_refused(shared: Server) -> None:
    answer = shared.exchange('{"jsonrpc":"2.0","id":null,"method":"ping"}')

    assert answer["id"] is None
    assert answer["error"]["code"] == INVALID_REQUEST


@pytest.mark.promise("protocol.malformed.method")
def test_an_unknown_method_is_named_in_the_refusal(shared: Server) -> None:
    for method in ("no/such", "", "tools/List", "rpc.discover", "__init__", "\\u0000", "\\ud800"):
        answer = shared.exchange(f'{{"jsonrpc":"2.0","id":"m","method":"{method}"}}')
        assert answer["id"] == "m", method
        allowed = (METHOD_NOT_FOUND, INVALID_REQUEST) if "\\" in method else (METHOD_NOT_FOUND,)
        assert answer["error"]["code"] in allowed, method
    assert "no/such" in shared.refusal("no/such")["message"]


@pytest.mark.promise("protocol.malformed.call")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"name": 5},
        {"name": None, "arguments": {}},
    ],
)
def test_a_tool_call_without_a_name_is_invalid_params(shared: Server, params: dict[str, Any] | None) -> None:
    assert shared.refusal("tools/call", params)["code"] == INVALID_PARAMS


@pytest.mark.promise("protocol.malformed.call")
@pytest.mark.parametrize("arguments", [[], "x", 7, True])
def test_arguments_that_are_no_object_are_refused_by_the_tool(shared: Server, arguments: Any) -> None:
    result = shared.request("tools/call", {"name": "read_graph", "arguments": arguments})

    assert result["isError"] is True
    assert "arguments" in result["content"][0]["text"]


@pytest.mark.promise("protocol.malformed.long_line")
def test_a_line_of_100_mb_is_refused_naming_the_limit_and_the_next_is_answered(shared: Server) -> None:
    head = b'{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"name":"search_nodes","arguments":{"query":"'

    answer = shared.exchange(head + b"x" * 100_000_000 + b'"}}}')

    assert answer["error"]["code"] in (INVALID_REQUEST, PARSE_ERROR)
    assert answer["id"] in ("huge", None)
    assert "16" in answer["error"]["message"]


@pytest.mark.promise("protocol.malformed.surrogates")
def test_a_lone_surrogate_is_refused_under_the_id_of_its_request(shared: Server) -> None:
    for escape in ("\\ud800", "\\udfff", "x\\udc00\\ud800y", "\\ud83d"):
        answer = shared.exchange(call(f'{{"entities":[{{"name":"{escape}","entityType":"t","observations":["o"]}}]}}'))
        assert answer["id"] == "mine", escape
        refused = "error" in answer or answer["result"]["isError"]
        assert refused, escape
    assert shared.names() == []


@pytest.mark.promise("protocol.malformed.surrogates")
def test_a_surrogate_encoded_as_raw_bytes_is_refused(shared: Server) -> None:
    answer = shared.exchange(
        b'{"jsonrpc":"2.0","id":"raw","method":"tools/call",'
        b'"params":{"name":"search_nodes","arguments":{"query":"\xed\xa0\x80"}}}'
    )

    assert answer["id"] in ("raw", None)
    assert "error" in answer or answer["result"]["isError"]


@pytest.mark.promise("protocol.malformed.big_integer")
def test_an_integer_of_5000_digits_is_refused_under_the_id_of_its_request(shared: Server) -> None:
    for arguments in (f'{{"limit":{"7" * 5000}}}', f'{{"limit":-{"7" * 5000}}}', f'{{"x":[{"7" * 5000}]}}'):
        answer = shared.exchange(call(arguments, tool="read_graph"))
        assert answer["id"] == "mine"
        if "error" in answer:
            assert answer["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS)
        else:
            assert answer["result"].get("isError") or '"x"' in arguments


@pytest.mark.promise("protocol.malformed.nesting")
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_deep_nesting_is_refused_under_the_id_of_its_request(shared: Server, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        value = opening * depth + "1" + closing * depth
        answer = shared.exchange(call(f'{{"entities":{value}}}'))
        assert answer["id"] == "mine"
        if "error" in answer:
            assert answer["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS)
        else:
            assert answer["result"]["isError"]


@pytest.mark.promise("protocol.malformed.duplicate_ids")
def test_two_requests_with_one_id_get_two_answers(shared: Server) -> None:
    ping = {"jsonrpc": "2.0", "id": "twin", "method": "ping"}

    shared.send(ping, ping)
    shared.answer("twin")
    shared.answer("twin")
    shared.request("ping")

    assert shared.answers_to("twin") == 2


@pytest.mark.promise("protocol.malformed.duplicate_keys")
def test_a_request_with_a_repeated_key_gets_exactly_one_answer(shared: Server) -> None:
    answer = shared.exchange('{"jsonrpc":"2.0","id":"k1","id":"k2","method":"ping"}')
    shared.request("ping")

    assert answer["id"] in ("k1", "k2", None)
    assert shared.answers_to("k1") + shared.answers_to("k2") <= 1


@pytest.mark.promise("protocol.notifications.silent")
def test_notifications_are_never_answered(shared: Server) -> None:
    before = len(shared.arrivals)
    shared.send(
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/no_such_thing", "params": {"x": 1}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never asked"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"jsonrpc": "2.0", "method": "ping"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "read_graph"}},
        {"jsonrpc": "2.0", "method": "no/such"},
    )

    shared.request("ping")

    assert len(shared.arrivals) == before + 1


@pytest.mark.promise("protocol.responses.ignored")
def test_answers_to_questions_the_server_never_asked_are_ignored(shared: Server) -> None:
    before = len(shared.arrivals)
    shared.send_line('{"jsonrpc":"2.0","id":99,"result":{}}')
    shared.send_line('{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}')

    shared.request("ping")

    assert len(shared.arrivals) == before + 1


@pytest.mark.promise("protocol.ids")
@pytest.mark.parametrize("id", [0, -1, 2**53, 2**63 - 1, "", "0", "한", "a" * 5000, "\U0001f600"])
def test_any_string_or_integer_id_comes_back_as_it_was(shared: Server, id: Any) -> None:
    shared.send({"jsonrpc": "2.0", "id": id, "method": "ping"})

    answer = shared.answer(id)

    assert answer["result"] == {}
    assert type(answer["id"]) is type(id)


@pytest.mark.promise("protocol.batch")
def test_a_batch_is_answered_with_an_array_of_the_answers_to_its_requests(shared: Server) -> None:
    shared.send_line(
        json.dumps(
            [
                {"jsonrpc": "2.0", "id": "b1", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": "b2", "method": "no/such"},
                {"jsonrpc": "2.0", "id": "b3", "method": "tools/call", "params": {"name": "read_graph"}},
                7,
            ]
        )
    )

    answers = shared.batch_answer()

    by_id = {answer["id"]: answer for answer in answers}
    assert set(by_id) == {"b1", "b2", "b3", None}
    assert len(answers) == 4
    assert by_id["b1"]["result"] == {}
    assert by_id["b2"]["error"]["code"] == METHOD_NOT_FOUND
    assert by_id["b3"]["result"]["content"]
    assert by_id[None]["error"]["code"] == INVALID_REQUEST


@pytest.mark.promise("protocol.batch")
@pytest.mark.promise("everywhere.one_answer")
@pytest.mark.parametrize(
    "bad", ['"\\ud800"', "[" * 1000 + "]" * 1000, "7" * 5000], ids=["surrogate", "nesting", "integer"]
)
def test_one_bad_request_in_a_batch_does_not_take_the_others_with_it(shared: Server, bad: str) -> None:
    spoiled = call(f'{{"names":[{bad}]}}', '"bad"', "open_nodes")

    answers = shared.exchange(f'[{{"jsonrpc":"2.0","id":"good","method":"ping"}},{spoiled}]')

    by_id = {answer["id"]: answer for answer in answers}
    assert set(by_id) == {"good", "bad"}
    assert "error" in by_id["bad"] or by_id["bad"]["result"]["isError"]


@pytest.mark.promise("protocol.batch")
def test_an_empty_batch_is_an_invalid_request(shared: Server) -> None:
    answer = shared.exchange("[]")

    assert answer["error"]["code"] == INVALID_REQUEST
    assert answer["id"] is None


@pytest.mark.promise("protocol.batch")
def test_a_batch_of_notifications_is_not_answered(shared: Server) -> None:
    before = len(shared.arrivals)
    shared.send_line('[{"jsonrpc":"2.0","method":"notifications/initialized"}]')

    shared.request("ping")

    assert len(shared.arrivals) == before + 1


@pytest.mark.promise("protocol.malformed.last_line")
def test_a_last_line_without_a_line_end_is_still_answered(place: Place) -> None:
    server = place.serve("strict")

    server.send_bytes(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    server.close_input()

    assert server.answer("last")["result"] == {}
    assert server.exit_code() == 0
