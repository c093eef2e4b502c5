"""Connections to a database: fewer than there are calls, and whatever the surroundings are set to."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue
from random import Random
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg_pool import PoolTimeout

import postgres
from polymnia import EntityDraft, connect
from polymnia.errors import Interrupted, Unavailable
from polymnia.storage.postgres import PostgresStore, shared
from polymnia.storage.postgres.connections import DatabaseConnection
from polymnia.storage.postgres.faults import unreachable
from polymnia.storage.postgres.shared import PostgresSharedState

_OURS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'polymnia'"
_OURS_AT_WORK = f"{_OURS} AND state <> 'idle'"
_END_OURS = _OURS.replace("1", "pg_terminate_backend(pid)", 1)
_WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    monkeypatch.setenv("POLYMNIA_BUSY_TIMEOUT", "10")


@pytest.mark.parametrize("pool", [1, 3])
def test_more_calls_at_once_than_connections_take_turns(pool: int) -> None:
    def call(number: int) -> int:
        memory.remember(f"the bird numbered {number} sings at dawn")
        return len(memory.search("bird").hits)

    with postgres.store() as url, connect(f"{url}&pool={pool}") as memory, ThreadPoolExecutor(8) as calls:
        assert min(calls.map(call, range(40))) > 0
        assert memory.count()[0] == 40  # a few may be associated by their words, whichever came first


def test_a_change_larger_than_what_is_sent_at_once_is_committed() -> None:
    """What it sends last is its words: as many as fill the way to the server several times."""
    draw = Random(1)

    def text(length: int) -> str:
        ranges = (0x20, 0x7E), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)
        return "".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(length))

    with postgres.store() as url, connect(url) as memory:
        for length in (20_000, 80_000, 300_000):  # the first ones have the statements prepared
            memory.remember(text(length))
        assert memory.count()[0] == 3


def test_a_connection_to_listen_on_that_leads_nowhere_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(shared, "_PAUSES", (0.01, 0.01))
    monkeypatch.setattr(shared._LOG, "warning", told.put)
    with postgres.store() as url, closing(PostgresStore(f"{url}&direct=127.0.0.1:1")) as store:
        store.watch(lambda project: None)
        assert "look at direct=" in told.get(timeout=60)


def test_what_processes_share_gives_up_a_machine_that_says_nothing_as_soon_as_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_connection(timeout: float) -> NoReturn:
        raise PoolTimeout(f"{timeout}")

    def say_nothing(_url: str, **given: Any) -> NoReturn:
        asked.append(given)
        raise psycopg.OperationalError("connection timeout expired")

    asked: list[dict[str, Any]] = []
    with postgres.store() as url, closing(PostgresSharedState(url, idle=100)) as state:
        assert state.take("key", 1, 10, 60).granted == 1
        run, _ = state._pool.begin(writes=False, first=lambda run: None)
        asked.append(run.connection.info.get_parameters())
        state._pool.end(run)
        monkeypatch.setattr(state._pool._open(), "getconn", no_connection)
        monkeypatch.setattr(DatabaseConnection, "connect", say_nothing)
        with pytest.raises(Unavailable, match="Cannot connect"):
            state.take("key", 1, 10, 60)
    assert [(int(given["connect_timeout"]), int(given["tcp_user_timeout"])) for given in asked] == [(2, 2000)] * 2


@pytest.mark.promise("store.watch")
def test_a_change_made_before_the_first_connection_listens_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: SimpleQueue[str] = SimpleQueue()

    def connect_after_a_change(address: str) -> DatabaseConnection:
        with connect(url, project="mine") as memory:
            memory.remember("tea")
        return DatabaseConnection.connect(address, autocommit=True)

    monkeypatch.setattr(shared, "connect", connect_after_a_change)
    with postgres.store() as url, closing(PostgresStore(url)) as store:
        store.watch(told.put)
        assert told.get(timeout=20) == "mine"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_several_make_one_store_whatever_the_isolation_of_the_database_is(isolation: str) -> None:
    def add(number: int) -> None:
        with connect(f"{url}?partitions=1", project=f"project {number}") as memory:
            memory.remember("tea")

    with postgres.database() as url, psycopg.connect(url) as admin:
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_isolation TO '{isolation}'")
        admin.commit()
        with ThreadPoolExecutor(4) as several:
            list(several.map(add, range(4)))
        assert admin.execute("SELECT count(*) FROM polymnia.project").fetchone() == (4,)


def test_a_timeout_of_transactions_is_named_with_what_to_set() -> None:
    with postgres.store() as url, psycopg.connect(url.partition("?")[0], autocommit=True) as admin:
        store = PostgresStore(f"{url}&options=-c%20idle_in_transaction_session_timeout%3D50ms")
        with closing(store), pytest.raises(Interrupted) as raised, store.read("default") as snapshot:
            end = time.monotonic() + postgres.DEADLINE
            while admin.execute(_WAITING).fetchone() is not None:
                assert time.monotonic() < end, "the transaction was never ended"
            snapshot.count()
    assert "nothing was changed" in raised.value.message
    assert "SET idle_in_transaction_session_timeout" in raised.value.hint


def test_a_read_leaves_no_transaction_open_and_the_next_one_survives_a_lost_connection() -> None:
    """The answer to the COMMIT of a read is awaited by whoever takes the connection next."""
    with postgres.store() as url, psycopg.connect(url.partition("?")[0], autocommit=True) as admin:
        with connect(f"{url}&pool=1") as memory:
            memory.remember("the bird sings at dawn")
            for _ in range(3):
                assert memory.count() == (1, 0)
                end = time.monotonic() + postgres.DEADLINE
                while admin.execute(_OURS_AT_WORK).fetchone() is not None:
                    assert time.monotonic() < end, "a transaction is still open"
                admin.execute(_END_OURS)
            memory.remember("the owl sings at night")
            assert memory.count() == (2, 0)
        end = time.monotonic() + postgres.DEADLINE
        while admin.execute(_OURS).fetchone() is not None:
            assert time.monotonic() < end, "a closed memory keeps a connection"


@pytest.mark.parametrize("setting", ["standard_conforming_strings", "array_nulls"])
def test_texts_are_found_however_the_database_reads_literals_and_arrays(setting: str) -> None:
    with postgres.store() as url, connect(f"{url}&options=-c%20{setting}%3Doff") as memory:
        drafts = [("Weiß 1", "Straße 1"), ("plain", "in English"), ("Weiß 2", "Straße 2")]
        memory.create_entities([EntityDraft(name, "thing", (text,)) for name, text in drafts])
        assert {hit.record.name for hit in memory.search("STRASSE").hits} == {"Weiß 1", "Weiß 2"}
        assert [hit.record.name for hit in memory.search("english").hits] == ["plain"]
        assert not [one for one in memory.validate().findings if one.severity != "info"]


def test_texts_are_kept_whatever_encoding_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with postgres.store() as url, connect(url, project="프로젝트 é") as memory:
        memory.remember("서울에는 강이 있다, né à Paris")
        assert [hit.record.observations for hit in memory.search("서울").hits] == [("서울에는 강이 있다, né à Paris",)]
        assert memory.store.projects() == ["프로젝트 é"]


def test_of_several_hosts_with_ports_the_one_that_answers_is_taken_and_so_is_one_named_by_a_parameter() -> None:
    with postgres.store() as url:
        parts = urlsplit(url)
        user, _, folder = parts.netloc.partition("@")
        path, query = parts.path, parts.query
        with connect(f"postgresql://{user}@{quote('/nowhere', safe='')}:5432,{folder}:5432{path}?{query}") as memory:
            memory.remember("tea")
        with connect(f"postgresql://{path}?user={user}&host={folder}&{query}") as memory:
            assert memory.count() == (1, 0)


@pytest.mark.parametrize("state", ["starting up", "shutting down", "not yet accepting connections", "in recovery mode"])
def test_who_comes_while_the_database_restarts_is_told_to_try_again(state: str) -> None:
    why = psycopg.OperationalError(f"connection failed: FATAL:  the database system is {state}")
    assert "try again in a moment" in unreachable(why, "postgresql://host/db").hint
