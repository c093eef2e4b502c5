"""Floods: exactly as many calls pass as a limit says, whichever way they come."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from polymnia.keys import KeyFile

from .served import DOORS, Served, ask, initialize, request

READ = request("tools/call", {"name": "open_nodes", "arguments": {"names": ["x"]}})
HEAVY = request("tools/call", {"name": "memory_export", "arguments": {}})
RATES = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-type")


@pytest.fixture
def limited(serving: Callable[..., Served]) -> Served:
    """A server with the limits as they come."""
    return serving()


def flood(served: Served, message: dict[str, Any], times: int, **headers: str) -> list[Any]:
    """So many messages on one connection; answers all answers."""
    found = []
    headers = {"Content_Type": "application/json", "Accept": "application/json", **headers}
    with served.connection() as made:
        for _ in range(times):
            found.append(ask(made, "POST", "/mcp", json.dumps(message), **headers))
    return found


@pytest.mark.promise("network.rates.session", "network.rates.refused")
@pytest.mark.parametrize("shakes", [False, True])
def test_of_130_calls_of_a_session_exactly_100_pass(limited: Served, shakes: bool) -> None:
    headers = {"Mcp_Session_Id": limited.begin()} if shakes else {}
    answers = flood(limited, READ, 130, **headers)
    assert [answer.status for answer in answers] == [200] * 100 + [429] * 30
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert left == [*range(99, -1, -1), *[0] * 30]
    last = answers[-1]
    error = last.value["error"]
    assert (error["code"], last.value["id"]) == (503, READ["id"])
    assert last.headers["retry-after"] == str(error["data"]["retry_after"])
    assert 1 <= error["data"]["retry_after"] <= 60
    assert last.headers["x-ratelimit-type"] == "session"


@pytest.mark.promise("network.rates.session")
def test_another_session_is_another_count(limited: Served) -> None:
    first, second = limited.begin(), limited.begin()
    assert flood(limited, READ, 101, Mcp_Session_Id=first)[-1].status == 429
    assert flood(limited, READ, 1, Mcp_Session_Id=second)[0].status == 200


@pytest.mark.promise("network.rates.session", "network.rates.refused")
@pytest.mark.parametrize("kind", ["ws", "sse"])
def test_on_a_socket_or_a_stream_the_error_comes_alone(limited: Served, kind: str) -> None:
    with limited.door(kind) as door:
        answers = [door.send({**READ, "id": at + 1}) for at in range(130)]
        assert ["result" in answer for answer in answers] == [True] * 100 + [False] * 30
        assert {answer["error"]["code"] for answer in answers[100:]} == {503}
        assert answers[-1]["error"]["data"]["retry_after"] >= 1
        assert door.send(request("ping"))["result"] == {}


@pytest.mark.promise("network.rates.talk", "network.rates.refused")
@pytest.mark.parametrize("method", ["ping", "tools/list", "no/such/method"])
def test_of_130_requests_that_call_nothing_exactly_100_pass(limited: Served, method: str) -> None:
    answers = flood(limited, request(method), 130)
    assert [answer.status == 429 for answer in answers] == [False] * 100 + [True] * 30
    assert [int(answer.headers["x-ratelimit-remaining"]) for answer in answers] == [*range(99, -1, -1), *[0] * 30]
    error = answers[-1].value["error"]
    assert (error["code"], error["data"]["details"]["type"]) == (503, "session")
    assert answers[-1].headers["retry-after"] == str(error["data"]["retry_after"])


@pytest.mark.long
@pytest.mark.promise("network.rates.talk")
@pytest.mark.parametrize("kind", DOORS)
def test_what_calls_nothing_takes_no_call_away(limited: Served, kind: str) -> None:
    with limited.door(kind) as door:
        talk = [door.send(request("tools/list", id=at + 1)) for at in range(130)]
        calls = [door.send({**READ, "id": at + 1000}) for at in range(130)]
    shaken = kind in ("session", "sse")  # whose handshake is one of them
    assert sum("result" in answer for answer in talk) == 100 - shaken
    assert sum("result" in answer for answer in calls) == 100


@pytest.mark.promise("network.rates.global")
def test_of_all_calls_together_exactly_1000_pass(limited: Served) -> None:
    passed = 0
    with ExitStack() as stack:
        sockets = [stack.enter_context(limited.socket()) for _ in range(11)]
        for made in sockets:
            for at in range(100):
                made.send(json.dumps({**READ, "id": at}))
        for made in sockets:
            answers = [json.loads(made.recv()) for _ in range(100)]
            passed += sum("result" in answer for answer in answers)
            types = {answer["error"]["data"]["details"]["type"] for answer in answers if "error" in answer}
            assert types <= {"global"}
    assert passed == 1000
    refused = flood(limited, READ, 1)[0]
    assert (refused.status, refused.headers["x-ratelimit-type"], refused.headers["x-ratelimit-limit"]) == (
        429, "global", "1000",
    )  # fmt: skip
    assert limited.is_well()


@pytest.mark.promise("network.rates.heavy")
def test_of_heavy_calls_exactly_10_pass_however_many_sessions_they_come_by(limited: Served) -> None:
    statuses = []
    for _ in range(4):
        statuses += [answer.status for answer in flood(limited, HEAVY, 4, Mcp_Session_Id=limited.begin())]
    assert statuses == [200] * 10 + [429] * 6
    for kind in ("ws", "sse", "bare", "stateless"):
        with limited.door(kind) as door:
            error = door.send(HEAVY)["error"]
            assert (error["code"], error["data"]["details"]["type"]) == (503, "heavy")
            assert "result" in door.send(READ)
    refused = flood(limited, HEAVY, 1)[0]
    assert (refused.headers["x-ratelimit-type"], refused.headers["x-ratelimit-limit"]) == ("heavy", "10")


@pytest.mark.promise("network.rates.heavy")
def test_heavy_calls_of_one_key_leave_another_key_its_own(serving: Callable[..., Served], tmp_path: Path) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    first, second = file.add("first")[1], file.add("second")[1]
    served = serving(folder=tmp_path)
    statuses = [served.post(HEAVY, key=first).status for _ in range(12)]
    assert statuses == [200] * 10 + [429] * 2
    assert served.post(HEAVY, key=second).status == 200


@pytest.mark.promise("network.rates.heavy")
def test_analyses_exports_and_imports_are_heavy() -> None:
    from polymnia import app
    from polymnia.dialects.content import TOOLS

    associative = app.dialect(app.settings({"dialect": "associative"}, {})).operations
    heavy = {name for name, tool in associative.items() if tool.is_heavy(b"{}")}
    content = {name for tool in TOOLS.values() for name, one in tool.operations().items() if one.heavy}
    assert heavy == {"memory_export", "memory_import"}
    assert content == {*TOOLS["memory_analyze"].operations(), "export_project_data", "import_project_data"}


@pytest.mark.promise("network.rates.batch")
def test_the_calls_of_a_batch_are_counted_one_by_one(limited: Served) -> None:
    batch = [{**READ, "id": at} for at in range(130)]
    answers = limited.post(batch).value
    assert sum("result" in answer for answer in answers) == 100
    assert sum(answer.get("error", {}).get("code") == 503 for answer in answers) == 30


@pytest.mark.promise("network.rates.headers")
def test_every_answer_tells_where_the_caller_stands(limited: Served) -> None:
    session = limited.begin()
    events = {"Accept": "text/event-stream"}
    for method, path, headers, status in (
        ("GET", "/healthz", {}, 200),
        ("GET", "/readyz", {}, 200),
        ("GET", "/metrics", {}, 200),
        ("GET", "/nothing", {}, 404),
        ("PUT", "/mcp", {}, 405),
        ("GET", "/healthz", {"Host": "evil.example"}, 421),
        ("GET", "/healthz", {"Origin": "http://evil.example"}, 403),
        ("POST", "/mcp", {"Content_Type": "text/plain"}, 415),
        ("GET", "/mcp", {**events, "Mcp_Session_Id": session}, 200),
        ("GET", "/sse", events, 200),
        ("POST", "/sse/messages?session_id=x", {}, 404),
        ("DELETE", "/mcp", {"Mcp_Session_Id": session}, 204),
    ):
        assert limited.status(method, path, **headers) == status, (method, path)
        assert all(name in limited.last for name in RATES), (method, path, limited.last)
    notified = limited.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert notified.status == 202
    assert all(name in notified.headers for name in RATES)
    for junk in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 70000 + b"\r\n\r\n"):
        assert b"x-ratelimit-limit" in limited.exchange(junk)


@pytest.mark.promise("network.rates.headers")
def test_a_refused_stranger_is_told_too(serving: Callable[..., Served], tmp_path: Path) -> None:
    KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json")).add("first")
    served = serving(folder=tmp_path)
    for method in ("GET", "WS"):
        assert served.status(method, "/ws" if method == "WS" else "/metrics") == 401
        assert all(name in served.last for name in RATES)


@pytest.mark.promise("network.rates.headers", "network.log.request")
@pytest.mark.parametrize(("path", "status"), [("/ws", 101), ("/mcp", 404), ("/nowhere", 404)])
def test_an_upgrade_tells_where_the_caller_stands(limited: Served, path: str, status: int) -> None:
    assert limited.status("WS", path) == status
    assert all(name in limited.last for name in RATES)
    assert "x-request-id" in limited.last


@pytest.mark.promise("network.rates.begin", "network.rates.refused")
def test_a_handshake_too_many_is_refused_by_its_own_id(serving: Callable[..., Served]) -> None:
    served = serving("--rate-limit-session", "2")
    answers = flood(served, {**initialize(), "id": "the third"}, 3)
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert (answers[-1].value["id"], answers[-1].value["error"]["code"]) == ("the third", 503)


@pytest.mark.promise("network.rates.settings", "network.rates.begin")
def test_the_limits_are_settings(serving: Callable[..., Served]) -> None:
    served = serving("--rate-limit-session", "3", "--rate-limit-heavy", "1", "--rate-limit", "20")
    assert [answer.status for answer in flood(served, READ, 4)] == [200] * 3 + [429]
    session = served.begin()
    assert [answer.status for answer in flood(served, HEAVY, 2, Mcp_Session_Id=session)] == [200, 429]
    assert [answer.status for answer in flood(served, initialize(), 3)] == [200, 200, 429]
    assert served.status("GET", "/sse", Accept="text/event-stream") == 429
    assert int(served.last["retry-after"]) >= 1
    assert (served.last["x-ratelimit-type"], served.last["x-ratelimit-remaining"]) == ("session", "0")


@pytest.mark.promise("network.rates.headers")
def test_a_heavy_call_is_told_of_the_limit_it_is_nearest_to(limited: Served) -> None:
    heavy = limited.post(HEAVY).headers
    assert (heavy["x-ratelimit-type"], heavy["x-ratelimit-limit"], heavy["x-ratelimit-remaining"]) == (
        "heavy",
        "10",
        "9",
    )
    light = limited.post(READ).headers
    assert (light["x-ratelimit-type"], light["x-ratelimit-remaining"]) == ("session", "98")


@pytest.mark.long
@pytest.mark.promise("network.rates.session")
def test_sessions_of_the_memory_have_counts_of_their_own_without_a_handshake(serving: Callable[..., Served]) -> None:
    served = serving("--rate-limit-session", "2")

    def search(session: str | None) -> int:
        named = {} if session is None else {"session_id": session}
        arguments = {"operation": "search_content", "project_id": "p", "query": "x", **named}
        return served.post(request("tools/call", {"name": "memory_retrieve", "arguments": arguments})).status

    assert [search("one") for _ in range(3)] == [200, 200, 429]
    assert [search("two") for _ in range(3)] == [200, 200, 429]
    assert [search(None) for _ in range(3)] == [200, 200, 429]
