"""Several processes on one port: whichever is asked, sessions, subscriptions and limits are those of one server."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest
from mcp.client import Client

import postgres
from form import mostly_long
from polymnia.keys import KeyFile
from stdio_client import DEADLINE, MODERN, entity, envelope

from .conftest import MANY
from .served import Answer, Events, Message, Served, ask, eventually, initialize, request
from .test_asking_the_client import ASKS, BOTH, YES, hello, keep, question, value
from .waiting import GRAPH, create, held

TWO = ("--workers", "2", "--log-level", "notice")
READ = request("tools/call", {"name": "open_nodes", "arguments": {"names": ["x"]}})
HEAVY = request("tools/call", {"name": "memory_export", "arguments": {}})
EITHER = "application/json, text/event-stream"


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """The flags for a store of each engine."""
    if request.param == "sqlite":
        yield ()
        return
    with postgres.database() as url:
        yield ("--store", f"{url}?partitions=2")


@pytest.fixture(scope="module")
def served(serving: Callable[..., Served], engine: tuple[str, ...]) -> Served:
    """A server of two processes, with tools that ask."""
    return serving(*MANY, *TWO, *engine, before=ASKS)


@pytest.fixture
def mortal(serving: Callable[..., Served], engine: tuple[str, ...]) -> Served:
    """The same for one test alone, which may end its processes."""
    return serving(*MANY, *TWO, *engine)


def pids(served: Served) -> dict[int, int]:
    """The process ids by the numbers of the processes that have ever run."""
    events = [json.loads(line) for line in served.lines if '"process joined"' in line]
    return {event["process"]: event["pid"] for event in events}


def whose(made: http.client.HTTPConnection) -> int:
    """The number of the process that answers on a connection."""
    return int(ask(made, "GET", "/healthz").value["process"])


@contextmanager
def asking(served: Served, process: int) -> Iterator[http.client.HTTPConnection]:
    """A connection that this process answers on."""
    end = time.monotonic() + DEADLINE
    with ExitStack() as others:
        made = others.enter_context(served.connection())
        while whose(made) != process:
            assert time.monotonic() < end, f"process {process} never answered:\n{served.log}"
            made = others.enter_context(served.connection())
        yield made


def both(served: Served) -> tuple[int, int]:
    """The numbers of the two processes that answer."""
    seen: set[int] = set()
    end = time.monotonic() + DEADLINE
    with ExitStack() as others:
        while len(seen) < 2:
            assert time.monotonic() < end, f"only {seen} answered:\n{served.log}"
            seen.add(whose(others.enter_context(served.connection())))
    first, second = sorted(seen)
    return first, second


def post(made: http.client.HTTPConnection, message: Any, path: str = "/mcp", **headers: str) -> Answer:
    """A message on a connection."""
    given = {"Content_Type": "application/json", "Accept": "application/json", **headers}
    return ask(made, "POST", path, json.dumps(message), **given)


def begin(served: Served, process: int, first: Message | None = None, path: str = "/mcp", **headers: str) -> str:
    """Begin a session at a process; answers its id."""
    with asking(served, process) as made:
        answer = post(made, first or initialize(), path, **headers)
        assert answer.status == 200, answer
        return answer.headers["mcp-session-id"]


@contextmanager
def listening(served: Served, process: int, session: str, **headers: str) -> Iterator[Events]:
    """The stream of a session, asked for at a process."""
    with asking(served, process) as made:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        made.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": session, **given})
        with made.getresponse() as answer:
            assert answer.status == 200, answer.read()
            yield Events(answer)


def stored(served: Served) -> list[str]:
    """The names of all that is stored."""
    found = served.post(request("resources/read", {"uri": GRAPH})).value
    return [one["name"] for one in json.loads(found["result"]["contents"][0]["text"])["entities"]]


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def kill(served: Served, process: int) -> None:
    """Kill a process without a word; it is gone when this returns."""
    pid = pids(served)[process]
    os.kill(pid, signal.SIGKILL)
    served.wait_for_line(f'"event":"process died","pid":{pid},')


# ── sessions ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.promise("network.workers.sessions")
def test_fifty_calls_of_a_session_on_fresh_connections_are_served_by_both_processes(served: Served) -> None:
    session = begin(served, both(served)[0])
    asked = set()
    for at in range(50):
        with served.connection() as made:
            asked.add(whose(made))
            answer = post(made, {**READ, "id": at}, Mcp_Session_Id=session)
        assert (answer.status, answer.value["id"]) == (200, at)
        assert "result" in answer.value
    for process in {*both(served)} - asked:  # however connections were dealt out
        with asking(served, process) as made:
            assert post(made, READ, Mcp_Session_Id=session).status == 200


@pytest.mark.promise("network.workers.sessions")
def test_the_writes_of_a_session_are_done_in_order_whoever_is_asked(served: Served, mine: str) -> None:
    first, second = both(served)
    session = begin(served, first)
    with asking(served, first) as here, asking(served, second) as there:
        for at in range(10):
            made = (here, there)[at % 2]
            assert "result" in post(made, create(f"{mine} {at}", at), Mcp_Session_Id=session).value
            found = post((there, here)[at % 2], request("resources/read", {"uri": GRAPH}), Mcp_Session_Id=session).value
            assert f"{mine} {at}" in found["result"]["contents"][0]["text"]


@pytest.mark.promise("network.workers.sessions")
def test_a_session_ended_at_one_process_is_over_at_both(served: Served) -> None:
    first, second = both(served)
    session = begin(served, first)
    with listening(served, second, session) as events:
        assert events.next() is not None
        with asking(served, second) as made:
            assert ask(made, "DELETE", "/mcp", Mcp_Session_Id=session).status == 204
        while events.next() is not None:
            pass
    for process in (first, second):
        with asking(served, process) as made:
            assert post(made, READ, Mcp_Session_Id=session).status == 404


@pytest.mark.promise("network.workers.sessions")
def test_the_messages_of_an_older_stream_may_go_to_the_other_process(served: Served, mine: str) -> None:
    first, second = both(served)
    with asking(served, first) as made, asking(served, second) as other:
        made.request("GET", "/sse", headers={"Accept": "text/event-stream"})
        with made.getresponse() as answer:
            events = Events(answer)
            opened = events.next()
            assert opened is not None
            assert post(other, initialize(), opened["data"]).status == 202
            hello = events.message()
            assert hello is not None
            assert hello["id"] == 0
            assert post(other, create(mine, 5), opened["data"]).status == 202
            done = events.message()
            assert done is not None
            assert done["id"] == 5
        made.close()
        gone = eventually(
            lambda: post(other, READ, opened["data"]).status == 404, "the stream is over and its session not"
        )
        assert gone


@pytest.mark.promise("network.workers.sessions", "network.sessions.owner")
def test_a_session_is_its_keys_alone_at_every_process(serving: Callable[..., Served], tmp_path: Path) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    owner, other = (f"Bearer {file.add(name)[1]}" for name in ("owner", "other"))
    served = serving(*MANY, *TWO, folder=tmp_path)
    first, second = both(served)
    session = begin(served, first, Authorization=owner)
    for process in (first, second):
        with asking(served, process) as made:
            assert post(made, READ, Mcp_Session_Id=session, Authorization=other).status == 404
            assert post(made, READ, "/mcp/strict", Mcp_Session_Id=session, Authorization=owner).status == 404
            assert post(made, READ, Mcp_Session_Id=session).status == 401
            assert post(made, READ, Mcp_Session_Id=session, Authorization=owner).status == 200
    kill(served, first)
    with asking(served, second) as made:
        assert post(made, READ, Mcp_Session_Id=session, Authorization=other).status == 404
        assert post(made, READ, Mcp_Session_Id=session, Authorization=owner).status == 200


@pytest.mark.promise("network.workers.private")
def test_nobody_can_pretend_to_be_another_process(served: Served) -> None:
    first, second = both(served)
    session = begin(served, first)
    origin = {"id": "x", "client": ["10.0.0.1", 1], "server": None, "scheme": "http", "root_path": ""}
    forged = f"{'0' * 64} {second} {json.dumps(origin)}"
    with asking(served, second) as made:
        answer = post(made, READ, Mcp_Session_Id=session, X_Polymnia_Forwarded=forged)
        assert answer.status == 200
        assert answer.headers["x-request-id"] != "x"
        assert post(made, READ, Mcp_Session_Id="no such session").status == 404


# ── streams and subscriptions ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.workers.subscriptions")
@pytest.mark.parametrize(("listens", "writes"), mostly_long([(0, 1), (0, 0), (1, 0), (1, 1)]))
def test_a_subscriber_is_told_of_writes_through_any_process(
    served: Served, mine: str, listens: int, writes: int
) -> None:
    processes = both(served)
    session = begin(served, processes[0])
    with asking(served, processes[1]) as made:
        assert post(made, request("resources/subscribe", {"uri": GRAPH}), Mcp_Session_Id=session).status == 200
    with listening(served, processes[listens], session) as events:
        with asking(served, processes[writes]) as made:
            assert "result" in post(made, create(mine)).value
        told = events.message()
        assert told is not None
        assert told["params"]["uri"] == GRAPH


@pytest.mark.promise("network.workers.subscriptions")
def test_there_is_one_stream_of_a_session_over_all_processes(served: Served) -> None:
    first, second = both(served)
    session = begin(served, first)
    with listening(served, second, session) as events:
        assert events.next() is not None
        for process in (first, second):
            with asking(served, process) as made:
                answer = ask(made, "GET", "/mcp", Accept="text/event-stream", Mcp_Session_Id=session)
                assert answer.status == 409


@pytest.mark.long
@pytest.mark.promise("network.workers.subscriptions")
def test_the_python_client_hears_of_a_write_through_another_process(served: Served, mine: str) -> None:
    news: list[anyio.Event] = []

    async def handle(message: object) -> None:
        if getattr(message, "method", None) == "notifications/resources/updated":
            news[0].set()

    def write_elsewhere() -> None:
        for process in both(served):
            with asking(served, process) as made:
                assert "result" in post(made, create(f"{mine} {process}")).value

    async def main() -> None:
        news.append(anyio.Event())
        with anyio.fail_after(DEADLINE):
            async with Client(f"http://127.0.0.1:{served.port}/mcp", mode="legacy", message_handler=handle) as client:
                with pytest.warns(Warning, match="subscribe"):
                    await client.subscribe_resource(GRAPH)
                for at in range(20):
                    made = await client.call_tool("create_entities", {"entities": [entity(f"{mine} own {at}", "x")]})
                    assert not made.is_error
                await anyio.to_thread.run_sync(write_elsewhere)
                await news[0].wait()

    anyio.run(main)
    assert f"{mine} own 19" in stored(served)


# ── questions ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.workers.asking")
@pytest.mark.parametrize("calls", [0, 1])
def test_an_answer_reaches_the_process_that_asks(served: Served, mine: str, calls: int) -> None:
    processes = both(served)
    session = begin(served, processes[0], hello(), "/mcp/strict")
    with asking(served, processes[calls]) as made, asking(served, processes[1 - calls]) as other:
        headers = {"Content-Type": "application/json", "Accept": EITHER, "Mcp-Session-Id": session}
        made.request("POST", "/mcp/strict", json.dumps(keep(mine)), headers)
        with made.getresponse() as answer:
            events = Events(answer)
            asked = question(events)
            response = {"jsonrpc": "2.0", "id": asked["id"], "result": YES}
            assert post(other, response, "/mcp/strict", Mcp_Session_Id=session).status == 202
            assert value(events.message()) is True
    assert mine in stored(served)


@pytest.mark.promise("network.workers.asking")
def test_without_a_session_a_call_asked_by_one_process_is_finished_by_the_other(served: Served, mine: str) -> None:
    first, second = both(served)
    meta = envelope(**{"io.modelcontextprotocol/clientCapabilities": BOTH})
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "keep"}
    params = {"name": "keep", "arguments": {"name": mine}, "_meta": meta}
    with asking(served, first) as made:
        asked = post(made, request("tools/call", params), "/mcp/strict", **headers).value["result"]
    given = {"inputResponses": dict.fromkeys(asked["inputRequests"], YES), "requestState": asked["requestState"]}
    with asking(served, second) as made:
        assert value(post(made, request("tools/call", {**params, **given}), "/mcp/strict", **headers).value) is True


# ── limits ────────────────────────────────────────────────────────────────────────────────────────────────


def passed(served: Served, message: Message, times: int, **headers: str) -> list[int]:
    """The statuses of so many messages, to both processes in turn."""
    first, second = both(served)
    with asking(served, first) as here, asking(served, second) as there:
        return [post((here, there)[at % 2], message, **headers).status for at in range(times)]


@pytest.mark.promise("network.workers.rates")
def test_of_130_calls_of_a_session_exactly_100_pass_at_both_processes_together(serving: Callable[..., Served]) -> None:
    served = serving(*TWO)
    session = begin(served, both(served)[0])
    assert passed(served, READ, 130, Mcp_Session_Id=session) == [200] * 100 + [429] * 30


@pytest.mark.promise("network.workers.rates")
def test_of_heavy_calls_exactly_10_pass_at_both_processes_together(serving: Callable[..., Served]) -> None:
    served = serving(*TWO)
    assert passed(served, HEAVY, 14) == [200] * 10 + [429] * 4


@pytest.mark.promise("network.workers.rates")
def test_of_calls_without_a_session_never_more_pass_than_the_limit_and_few_less(serving: Callable[..., Served]) -> None:
    served = serving(*TWO)
    statuses = passed(served, READ, 150)
    assert 75 < statuses.count(200) <= 100
    assert statuses[-10:] == [429] * 10
    with asking(served, both(served)[0]) as made:
        refused = post(made, READ)
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert 1 <= int(refused.headers["retry-after"]) <= 60


# ── a process that dies ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.promise("network.workers.killed")
def test_a_killed_process_is_replaced_and_its_sessions_go_on_with_their_subscriptions(
    mortal: Served, mine: str
) -> None:
    first, second = both(mortal)
    session = begin(mortal, first)
    with asking(mortal, first) as made:
        assert post(made, request("resources/subscribe", {"uri": GRAPH}), Mcp_Session_Id=session).status == 200
        assert post(made, request("logging/setLevel", {"level": "debug"}), Mcp_Session_Id=session).status == 200
        for at in range(5):
            assert "result" in post(made, create(f"{mine} {at}", at), Mcp_Session_Id=session).value
    with listening(mortal, second, session) as events:
        last = events.next()
        assert last is not None
        kill(mortal, first)
        while (event := events.next()) is not None:
            last = event
    with listening(mortal, second, session, Last_Event_ID=last["id"]) as events:
        told = events.message()  # of what may have been missed
        assert told is not None
        assert told["params"]["uri"] == GRAPH
        with asking(mortal, second) as made:
            assert "result" in post(made, create(f"{mine} after", 9), Mcp_Session_Id=session).value
        told = events.message()
        assert told is not None
        assert told["params"]["uri"] == GRAPH
    assert {f"{mine} {at}" for at in range(5)} <= {*stored(mortal)}
    third = max(both(mortal))
    assert third > second
    with asking(mortal, third) as made:
        assert "result" in post(made, READ, Mcp_Session_Id=session).value


@pytest.mark.promise("network.workers.killed")
def test_many_at_once_take_one_session_over_once(serving: Callable[..., Served], mine: str) -> None:
    served = serving(*MANY, "--workers", "3", "--log-level", "notice")
    first = both(served)[0]
    session = begin(served, first)
    statuses: list[int] = []

    def call(at: int) -> None:
        statuses.append(served.post({**READ, "id": at}, Mcp_Session_Id=session).status)

    kill(served, first)
    callers = [Thread(target=call, args=(at,)) for at in range(16)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(DEADLINE)
    assert statuses == [200] * 16
    assert served.log.count('"session taken over"') == 1


@pytest.mark.promise("network.workers.killed")
def test_a_call_that_dies_with_its_process_is_refused_in_a_sentence(mortal: Served, mine: str) -> None:
    first, second = both(mortal)
    served = mortal
    session = begin(served, first)
    served.post(create(f"{mine} first"))
    answers: list[Answer] = []

    def call() -> None:
        with asking(served, second) as made:
            answers.append(post(made, create(mine), Mcp_Session_Id=session))

    with held(served):
        caller = Thread(target=call)
        caller.start()
        eventually(lambda: running(served, first) == 1, "the call never reached its process")
        kill(served, first)
        caller.join(DEADLINE)
    assert answers[0].status == 503
    assert "ended before it answered" in answers[0].value["error"]["message"]
    assert "retry-after" in answers[0].headers


def running(served: Served, process: int) -> float:
    """How many calls a process runs, as any of them knows."""
    page = served.request("GET", "/metrics").body.decode()
    start = f'polymnia_calls_running{{process="{process}"}} '
    return next((float(line.removeprefix(start)) for line in page.splitlines() if line.startswith(start)), 0)


@pytest.mark.promise("network.workers.killed")
def test_processes_end_when_their_parent_is_killed(mortal: Served) -> None:
    both(mortal)
    mortal.process.kill()
    mortal.process.wait(DEADLINE)
    for pid in pids(mortal).values():
        eventually(lambda pid=pid: not is_alive(pid), "a process goes on without its parent")


# ── the start and the end ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("network.workers.stopping")
@pytest.mark.parametrize("sign", mostly_long([signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_all_processes_and_calls_under_way_are_answered(mortal: Served, mine: str, sign: int) -> None:
    processes = both(mortal)
    sessions = {process: begin(mortal, processes[0]) for process in processes}
    mortal.post(create(f"{mine} first"))
    answers: list[Answer] = []

    def call(process: int) -> None:
        with asking(mortal, process) as made:
            answers.append(post(made, create(f"{mine} {process}", process), Mcp_Session_Id=sessions[process]))

    with held(mortal):
        callers = [Thread(target=call, args=(process,)) for process in processes]
        for caller in callers:
            caller.start()
        eventually(lambda: running(mortal, processes[0]) == 2, "the calls never began")
        mortal.process.send_signal(sign)
    for caller in callers:
        caller.join(DEADLINE)
    assert mortal.code() == 0
    assert [answer.status for answer in answers] == [200, 200]
    assert not [pid for pid in pids(mortal).values() if is_alive(pid)]
    assert "Traceback" not in mortal.log


@pytest.mark.promise("network.workers.starting")
def test_a_server_whose_processes_do_not_start_says_so_and_ends(serving: Callable[..., Served]) -> None:
    broken = "import polymnia.app.network as network; network.private = lambda path: 1 / 0"
    served = serving("--workers", "2", before=broken, wait=False)
    assert served.code() == 1
    assert "did not start" in served.log
    assert "Serving" not in served.log


@pytest.mark.promise("network.workers.starting")
def test_processes_that_cannot_reach_their_database_say_why_and_what_to_do(serving: Callable[..., Served]) -> None:
    served = serving("--workers", "2", "--store", "postgresql://ann@%2Fnowhere/memory", wait=False)
    assert served.code() == 1
    assert "Cannot connect to the store postgresql://%2Fnowhere/memory" in served.log
    assert "Check that the server runs" in served.log
    assert "did not start" in served.log
    assert "workers.py" not in served.log


@pytest.mark.promise("network.workers.starting")
def test_where_processes_cannot_be_forked_several_are_refused(serving: Callable[..., Served]) -> None:
    served = serving("--workers", "2", before="import os; del os.fork", wait=False)
    assert served.code() != 0
    assert "--workers" in served.log
    assert "fork" in served.log
    assert "Traceback" not in served.log


@pytest.mark.promise("network.workers.metrics")
def test_the_figures_of_every_process_are_on_the_page_of_each(served: Served) -> None:
    first, second = both(served)
    for process in (first, second):
        with asking(served, process) as made:
            page = ask(made, "GET", "/metrics").body.decode()
            assert all(f'polymnia_sessions{{process="{one}"}}' in page for one in (first, second))


@pytest.mark.promise("network.workers.one")
def test_one_process_has_no_number_and_no_others(serving: Callable[..., Served]) -> None:
    served = serving("--workers", "1", "--log-level", "notice")
    assert served.request("GET", "/healthz").value == {"status": "alive"}
    assert 'process="' not in served.request("GET", "/metrics").body.decode()
    assert "process joined" not in served.log
