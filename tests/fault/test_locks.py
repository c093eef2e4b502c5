"""Waiting for each other: in turn, without an error, and not for ever."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import apsw
import pytest

from stdio_client import Place, entity


class Hold(Protocol):
    """Some way in which another process keeps a store from being written."""

    def __call__(self, store: Path) -> AbstractContextManager[None]: ...


@contextmanager
def _queue(store: Path) -> Iterator[None]:
    """Another Polymnia has its turn to write."""
    with open(f"{store}-lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _database(store: Path) -> Iterator[None]:
    """A program that knows nothing of our queue writes to the database."""
    connection = apsw.Connection(str(store))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


_each_way = pytest.mark.parametrize("hold", [_queue, _database], ids=lambda hold: hold.__name__[1:])


@_each_way
def test_a_write_waits_for_its_turn_and_readers_do_not(place: Place, hold: Hold) -> None:
    server, reader = place.serve("strict"), place.serve("strict")
    server.call("create_entities", entities=[entity("before", "text")])
    with hold(place.store):
        write = server.begin_call("create_entities", {"entities": [entity("after", "text")]})
        # Many answers pass while the write waits. A read of the same client would rightly wait behind it.
        for _ in range(20):
            assert reader.names() == ["before"]
            assert server.request("ping") == {}
        assert not server.answered(write)
    assert not server.reply(write).failed
    assert server.names() == ["before", "after"]


@_each_way
def test_several_waiting_writes_of_several_processes_are_all_done_in_the_end(place: Place, hold: Hold) -> None:
    servers = [place.serve("official") for _ in range(3)]
    servers[0].call("create_entities", entities=[entity("shared")])
    with hold(place.store):
        begun = [
            (
                server,
                server.begin_call(
                    "add_observations",
                    {"observations": [{"entityName": "shared", "contents": [f"{who} {number}"]}]},
                ),
            )
            for number in range(4)
            for who, server in enumerate(servers)
        ]
        for server in servers:
            assert server.request("ping") == {}
        assert not any(server.answered(call) for server, call in begun)
    assert not any(server.reply(call).failed for server, call in begun)
    (shared,) = servers[0].graph()["entities"]
    assert len(shared["observations"]) == len(begun)


@_each_way
def test_a_holder_that_never_lets_go_leads_to_a_clear_error(place: Place, dialect: str, hold: Hold) -> None:
    server = place.serve(dialect, environment={"POLYMNIA_BUSY_TIMEOUT": "0.2"})
    server.call("create_entities", entities=[entity("before", "text")])
    with hold(place.store):
        refusal = server.refused("create_entities", entities=[entity("refused", "text")])
        assert re.search(r"[Aa]nother process", refusal.text), refusal.text
        assert "database is locked" not in refusal.text
        assert server.names() == ["before"]
    # What was refused stays refused when the way is free again, and the server goes on.
    assert not server.call("create_entities", entities=[entity("after", "text")]).failed
    assert server.names() == ["before", "after"]


def test_a_holder_that_dies_is_no_obstacle(place: Place) -> None:
    dying, server = place.serve("official"), place.serve("official")
    for number in range(40):
        dying.begin_call("create_entities", {"entities": [entity(f"{number}", "text")]})
    dying.kill()
    assert not server.call("create_entities", entities=[entity("after", "text")]).failed
