"""Servers on several machines with one database, behind a load balancer that knows nothing of sessions.

Each is a process with a port, a pool and a connection that listens of its own; nothing else joins them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest

import pgbouncer
import postgres
from form import mostly_long
from stdio_client import DEADLINE

from .conftest import MANY
from .proxy import Cable, cable
from .served import Answer, Events, Served, ask, eventually, initialize, request
from .test_workers import READ, post
from .waiting import GRAPH, create

pytestmark = pytest.mark.promise("network.machines")

_LISTENING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
_FOLLOWED = "SELECT pg_current_wal_lsn() <= (SELECT replay_lsn FROM pg_stat_replication)"


class Machines:
    """Two servers that were started at once on an empty database, and the balancer before them."""

    def __init__(self, first: Served, second: Served, balancer: Cable) -> None:
        self.servers = first, second
        self.balancer = balancer

    def __call__(self, message: object, **headers: str) -> Answer:
        """One message on a connection of its own, to whichever server has its turn."""
        with self.servers[0].connection() as made:
            made.port = self.balancer.port
            return post(made, message, **headers)

    def process(self) -> int:
        """The number of the process that has its turn."""
        with self.servers[0].connection() as made:
            made.port = self.balancer.port
            return int(ask(made, "GET", "/healthz").value["process"])

    def begin(self) -> str:
        """Begin a session, wherever."""
        return self(initialize()).headers["mcp-session-id"]

    def listening(self, session: str) -> AbstractContextManager[Events]:
        """The stream of a session, asked for at whichever server has its turn."""
        return _listening(self.servers[0], session, self.balancer.port)


@contextmanager
def _listening(served: Served, session: str, port: int | None = None) -> Iterator[Events]:
    """The stream of a session."""
    with served.connection() as made:
        made.port = port or made.port
        made.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": session})
        with made.getresponse() as answer:
            assert answer.status == 200, answer.read()
            yield Events(answer)


@contextmanager
def _machines(serving: Callable[..., Served], *flags: str) -> Iterator[Machines]:
    with postgres.database() as url:
        both = [serving(*flags, "--store", f"{url}?partitions=2", wait=False) for _ in range(2)]
        for one in both:
            one.wait_for_line("Serving")
        with cable(*(one.port for one in both)) as balancer:
            yield Machines(*both, balancer)
        for one in both:
            one.stop()


@pytest.fixture(scope="module")
def machines(serving: Callable[..., Served]) -> Iterator[Machines]:
    """Two machines for all tests that leave them alone."""
    with _machines(serving, *MANY) as made:
        yield made


def test_servers_that_start_at_once_on_an_empty_database_take_turns(machines: Machines) -> None:
    assert len({machines.process() for _ in range(4)}) == 2


def test_every_call_of_a_session_is_answered_wherever_it_goes(machines: Machines, mine: str) -> None:
    session = machines.begin()
    for at in range(12):
        assert "result" in machines(create(f"{mine} {at}", at), Mcp_Session_Id=session).value
    for _ in range(2):
        read = machines(request("resources/read", {"uri": GRAPH}), Mcp_Session_Id=session).value
        names = [one["name"] for one in json.loads(read["result"]["contents"][0]["text"])["entities"]]
        assert [name for name in names if name.startswith(mine)] == [f"{mine} {at}" for at in range(12)]


def test_a_subscriber_of_one_machine_is_told_of_a_write_on_the_other(machines: Machines, mine: str) -> None:
    session = machines.begin()
    assert machines(request("resources/subscribe", {"uri": GRAPH}), Mcp_Session_Id=session).status == 200
    with machines.listening(session) as events:
        for at in range(2):  # one on each
            assert "result" in machines(create(f"{mine} {at}")).value
            told = events.message()
            assert told is not None
            assert told["params"]["uri"] == GRAPH


@pytest.mark.long
def test_a_session_goes_on_when_its_machine_is_gone(serving: Callable[..., Served], mine: str) -> None:
    with _machines(serving, *MANY) as machines:
        session = machines.servers[0].begin()
        stored = machines.servers[0].post(create(mine), Mcp_Session_Id=session)
        assert "result" in stored.value
        machines.servers[0].process.kill()
        machines.servers[0].process.wait(DEADLINE)
        for _ in range(3):
            assert "result" in machines(READ, Mcp_Session_Id=session).value


@pytest.mark.long
def test_a_limit_is_one_limit_for_all_machines(serving: Callable[..., Served]) -> None:
    with _machines(serving, "--rate-limit-session", "20") as machines:
        session = machines.begin()
        statuses = [machines(READ, Mcp_Session_Id=session).status for _ in range(25)]
    assert statuses == [200] * 20 + [429] * 5


_BY_WORD_ALONE = {"polymnia.transports.subscriptions._TOLD_SECONDS": 3600.0}  # nobody looks for changes meanwhile


@pytest.mark.parametrize("direct", mostly_long([True, False]))
def test_behind_a_pooler_subscribers_are_told_of_writes_on_the_other_machine(
    serving: Callable[..., Served], mine: str, direct: bool
) -> None:
    """At once through a connection of its own that the address names; without one when the server next looks."""
    with postgres.database() as url, pgbouncer.pooled(url) as pooled:
        store = f"{pooled}?partitions=2"
        if direct:
            store += f"&direct={urlsplit(url).hostname}:5432"
        options: dict[str, Any] = {"changes": _BY_WORD_ALONE} if direct else {}
        writer, reader = serving(*MANY, "--store", store), serving(*MANY, "--store", store, **options)
        session = reader.begin()
        assert reader.post(request("resources/subscribe", {"uri": GRAPH}), Mcp_Session_Id=session).status == 200
        if direct:  # the pooler gives a connection that listens to others, whose statements are seen in place of LISTEN
            with psycopg.connect(url, autocommit=True) as admin:
                eventually(lambda: admin.execute(_LISTENING).fetchone(), "nobody listens")
        with _listening(reader, session) as events:
            assert "result" in writer.post(create(mine)).value
            told = events.message()
            assert told is not None
            assert told["params"]["uri"] == GRAPH
        for one in (writer, reader):
            one.stop()


def _goes_on(served: Served, session: str) -> bool:
    return served.post(READ, Mcp_Session_Id=session).status == 200


@pytest.mark.long
def test_sessions_go_on_and_servers_start_when_a_standby_takes_over(serving: Callable[..., Served], mine: str) -> None:
    with postgres.Server() as primary, postgres.Server(follows=primary) as standby:
        hosts = ",".join(quote(str(one.folder), safe="") for one in (primary, standby))
        store = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write&partitions=2"
        first = serving(*MANY, "--store", store)
        session = first.begin()
        assert "result" in first.post(create(f"{mine} before"), Mcp_Session_Id=session).value
        with primary.connect() as admin:
            eventually(lambda: admin.execute(_FOLLOWED).fetchone() == (True,), "the standby did not follow")
        primary.kill()
        standby.promote()
        assert "result" in first.post(create(f"{mine} after"), Mcp_Session_Id=session).value
        second = serving(*MANY, "--store", store)
        for one in (first, second):
            eventually(partial(_goes_on, one, session), "the session was lost")
        for one in (first, second):
            one.stop()
