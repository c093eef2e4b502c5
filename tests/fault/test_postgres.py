"""A store on PostgreSQL whose server, connections or other users fail: nothing is lost, nothing is made twice."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import pytest

import forked
import pgbouncer
import postgres
from form import by_form, each
from stdio_client import Place, Reply, Server, entity
from wire_cutter import WireCutter

_WRITES = by_form(40, 200)


@pytest.fixture(scope="module")
def database_server() -> Iterator[postgres.Server]:
    """A server of this module's own, which its tests stop and start."""
    with postgres.Server() as server:
        yield server


@pytest.fixture
def url(database_server: postgres.Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database."""
    name = f"test_{abs(hash(request.node.nodeid))}"
    with database_server.connect() as admin:
        admin.execute(f"CREATE DATABASE {name}")
    yield database_server.url(name)
    with database_server.connect() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _open(place: Place, url: str, dialect: str = "official", **environment: str) -> Server:
    return place.serve(dialect, environment={"POLYMNIA_STORE": f"{url}?partitions=2", **environment})


def _count(url: str, what: str) -> Any:
    with psycopg.connect(url) as connection:
        return (connection.execute(f"SELECT {what}").fetchone() or ())[0]


_CHANGES = "(SELECT count(*) FROM polymnia.change)"


def _write(server: Server, writer: str, until: Callable[[int], bool]) -> tuple[list[str], list[str]]:
    """Store one memory after another; gives those that were acknowledged, and what was said of the others."""
    made, refused, number = [], [], 0
    while not until(number):
        name = f"{writer}.{number}"
        reply = server.call("create_entities", entities=[entity(name, f"mark {name}")])
        if not reply.failed:
            assert reply.value == [entity(name, f"mark {name}")]
            made.append(name)
        else:
            refused.append(reply.text)
        number += 1
    return made, refused


def _exactly_once(server: Server, url: str, made: list[str]) -> None:
    """Every acknowledged memory is there once, with its text, and so is its change."""
    there = {one["name"]: one["observations"] for one in server.graph()["entities"]}
    assert {name: there.get(name) for name in made} == {name: [f"mark {name}"] for name in made}
    counted = Counter(server.names())
    assert max(counted.values(), default=1) == 1
    assert _count(url, _CHANGES) == len(there)


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_writers_and_readers_go_on_while_the_database_restarts(
    place: Place, url: str, database_server: postgres.Server
) -> None:
    servers = [_open(place, url) for _ in range(2)]
    reader = _open(place, url)
    restarted = threading.Event()
    begun = threading.Barrier(3)

    def until(number: int) -> bool:
        if number == 5:
            begun.wait(postgres.DEADLINE)
        return restarted.is_set() and number >= _WRITES

    def read() -> list[int]:
        sizes = []
        while not restarted.is_set():
            reply = reader.call("read_graph")
            assert not reply.failed, reply.text
            sizes.append(len(reply.value["entities"]))
        return sizes

    with ThreadPoolExecutor() as pool:
        writing = [pool.submit(_write, server, str(n), until) for n, server in enumerate(servers)]
        reading = pool.submit(read)
        try:
            begun.wait(postgres.DEADLINE)
            database_server.restart()
            database_server.kill()
            database_server.start()
        finally:
            restarted.set()
        done = [one.result() for one in writing]
        sizes = reading.result()
    assert [text for _, refused in done for text in refused] == []
    assert sizes == sorted(sizes)
    _exactly_once(reader, url, [name for made, _ in done for name in made])


@pytest.mark.long
def test_eight_writers_over_two_processes_one_killed_and_the_database_restarted(
    place: Place, url: str, database_server: postgres.Server
) -> None:
    servers = [_open(place, url) for _ in range(2)]
    over = threading.Event()
    begun = threading.Barrier(9)
    one_at_a_time = threading.Lock()
    made: list[list[str]] = [[] for _ in range(8)]

    def write(writer: int) -> None:
        server, number = servers[writer % 2], 0
        while not (over.is_set() and number >= _WRITES):
            name = f"{writer}.{number}"
            with suppress(pytest.fail.Exception, OSError, ValueError):  # the killed one answers no more
                with one_at_a_time:
                    call = server.begin_call("create_entities", {"entities": [entity(name, f"mark {name}")]})
                if not server.reply(call).failed:
                    made[writer].append(name)
            if server.process.poll() is not None:
                return
            number += 1
            if number == 5:
                begun.wait(postgres.DEADLINE)

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, writer) for writer in range(8)]
        try:
            begun.wait(postgres.DEADLINE)
            servers[0].process.kill()
            database_server.restart()
        finally:
            over.set()
        for one in writing:
            one.result()
    acknowledged = [name for names in made for name in names]
    assert len(acknowledged) > 4 * _WRITES
    _exactly_once(_open(place, url), url, acknowledged)


@pytest.mark.long
def test_a_stopped_database_is_an_error_that_says_so_and_all_works_when_it_is_back(
    place: Place, url: str, database_server: postgres.Server
) -> None:
    server = _open(place, url, POLYMNIA_BUSY_TIMEOUT="1")
    assert not server.call("create_entities", entities=[entity("before")]).failed
    database_server.stop()
    try:
        begun = time.monotonic()
        refused = [
            server.refused("create_entities", entities=[entity("during")]),
            server.refused("read_graph"),
            _open(place, url).refused("read_graph"),
        ]
        assert time.monotonic() - begun < 20
        for one in refused:
            assert "Cannot connect to the store postgresql://" in one.text
            assert "Check that the server runs" in one.text
    finally:
        database_server.start()
    assert not server.call("create_entities", entities=[entity("after")]).failed
    assert server.names() == ["before", "after"]


# ── a COMMIT that is lost ────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _cutter(server: postgres.Server) -> Iterator[WireCutter]:
    cutter = WireCutter(server.folder)
    try:
        yield cutter
    finally:
        cutter.close()


@pytest.mark.long
@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_change_whose_commit_is_lost_is_made_once(
    place: Place, url: str, database_server: postgres.Server, cut: str
) -> None:
    with _cutter(database_server) as cutter:
        server = _open(place, cutter.url(url.rpartition("/")[2]))
        assert server.names() == []
        key = "AKIA" + "IOSFODNN7EXAMPLE"
        for number in range(3):
            cutter.cut, cutter.times = cut, 1
            reply = server.call("create_entities", entities=[entity(f"memory {number}", f"key {number}: {key}")])
            assert reply.value == [entity(f"memory {number}", f"key {number}: {key}")]
            assert [note["text"].count("observations[0]") for note in reply.notes] == [1], "found once"
        assert cutter.happened == 3
    assert _count(url, _CHANGES) == 3
    assert _open(place, url).names() == ["memory 0", "memory 1", "memory 2"]


def test_commits_that_never_arrive_are_an_error_and_nothing_is_there(
    place: Place, url: str, database_server: postgres.Server
) -> None:
    with _cutter(database_server) as cutter:
        server = _open(place, cutter.url(url.rpartition("/")[2]))
        server.call("create_entities", entities=[entity("there")])
        cutter.cut, cutter.times = "before", 1000
        reply = server.refused("create_entities", entities=[entity("lost")])
        assert "nothing was changed" in reply.text
        cutter.times = 0
        assert server.names() == ["there"]


# ── changes that collide ─────────────────────────────────────────────────────────────────────────────────

_COLLIDE = """
CREATE SEQUENCE tries;
CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('public.tries') <= {times} THEN
    RAISE 'they collide: out of shared memory' USING ERRCODE = '{code}';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER collide AFTER INSERT ON polymnia.observation EXECUTE FUNCTION collide();
"""


@pytest.mark.long
@pytest.mark.parametrize("code", ["serialization_failure", "deadlock_detected", "out_of_memory"])
def test_a_change_that_collides_with_another_is_made_again_once(place: Place, url: str, code: str) -> None:
    server = _open(place, url)
    assert server.names() == []
    with psycopg.connect(url) as connection:
        connection.execute(_COLLIDE.format(times=2, code=code))
    assert server.call("create_entities", entities=[entity("one", "x")]).value == [entity("one", "x")]
    assert _count(url, "last_value FROM tries") == 3
    assert _count(url, _CHANGES) == 1


def test_a_change_that_always_collides_is_refused_and_nothing_is_there(place: Place, url: str) -> None:
    server = _open(place, url)
    assert server.names() == []
    with psycopg.connect(url) as connection:
        connection.execute(_COLLIDE.format(times=1000, code="serialization_failure"))
    said = server.refused("create_entities", entities=[entity("one", "x")]).text
    assert "got in each other's way; nothing was changed" in said
    assert server.names() == []
    assert _count(url, _CHANGES) == 0


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────


def _refusal(place: Place, url: str, **environment: str) -> Reply:
    return _open(place, url, **environment).refused("create_entities", entities=[entity("one")])


@pytest.fixture(scope="module")
def guarded() -> Iterator[postgres.Server]:
    """A server that asks some users for a password, lets others not in, and has few connections for a third."""
    with postgres.Server() as server:
        rules = ["local all guarded scram-sha-256", "local all outsider reject", "local all all trust"]
        (server.folder / "data" / "pg_hba.conf").write_text("\n".join([*rules, ""]))
        with server.connect() as admin:
            admin.execute("CREATE ROLE guarded LOGIN PASSWORD 'right' SUPERUSER")
            admin.execute("CREATE ROLE outsider LOGIN")
            admin.execute("CREATE ROLE single LOGIN CONNECTION LIMIT 0")
            admin.execute("CREATE ROLE newcomer LOGIN")
            admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
            admin.execute("CREATE DATABASE frozen")
            admin.execute("ALTER DATABASE frozen SET default_transaction_read_only = on")
            admin.execute("SELECT pg_reload_conf()")
        yield server


@pytest.mark.long
@each(
    ("user", "database", "why", "advice"),
    [
        ("guarded:wrong", "postgres", "password authentication failed", "Check user and password"),
        ("guarded", "postgres", "no password", "Check user and password"),
        ("outsider", "postgres", "pg_hba.conf", "let this user in"),
        ("stranger", "postgres", 'role "stranger" does not exist', "CREATE ROLE"),
        ("postgres", "missing", 'database "missing" does not exist', "CREATE DATABASE"),
        ("single", "postgres", "too many connections", "PgBouncer"),
        ("newcomer", "postgres", "permission denied for database", "the right CREATE on the database"),
        ("postgres", "frozen", "read-only transaction", "RESET default_transaction_read_only"),
        ("postgres", "latin", "encoded as LATIN1", "ENCODING 'UTF8'"),
        ("postgres", "postgres?sslmod=off", 'parameter: "sslmod"', "sslmode"),
        ("postgres", "postgres?pool=many", "pool", "number from 1 to 1024"),
    ],
)
def test_a_database_that_lets_nobody_in_says_why_and_what_to_do(
    guarded: postgres.Server, place: Place, user: str, database: str, why: str, advice: str
) -> None:
    address = guarded.url(database).replace("postgres@", f"{user}@")
    told = place.run("add", "tea", environment={"POLYMNIA_STORE": address})
    assert told.returncode == 1
    assert why in told.stderr, told.stderr
    assert advice in told.stderr, told.stderr
    assert "wrong" not in told.stderr


@each(
    ("address", "said"),
    [
        ("postgresql://ann:geheim@[::1/db", "postgresql://[::1/db cannot be read"),
        ("postgresql://ann:geheim%zz@host/db", "postgresql://host/db cannot be read: invalid percent-encoded token"),
        ("postgresql://ann:geh@eim/x@127.0.0.1:1/db", "Cannot connect to the store postgresql://127.0.0.1:1/db"),
        ("postgresql://ann:g?eim@127.0.0.1:1/db", "Cannot connect to the store postgresql://127.0.0.1:1/db"),
        ("postgresql://ann:g eim@127.0.0.1:1/db", "Cannot connect to the store postgresql://127.0.0.1:1/db"),
        ("postgresql://127.0.0.1:1/db?password=g eim", "Cannot connect to the store postgresql://127.0.0.1:1/db"),
        ("postgresql://127.0.0.1:1/db?sslmode=maybe", 'invalid sslmode value: "maybe"\nCheck what the address says'),
        ("postgresql://127.0.0.1:1,127.0.0.1:2/db", "Cannot connect to the store postgresql://127.0.0.1:1,127.0.0.1:2"),
        ("postgresql://127.0.0.1:port/db", "Cannot connect to the store postgresql://127.0.0.1:port/db"),
        ("postgresql:///db?host=/nowhere", "Cannot connect to the store postgresql://%2Fnowhere/db"),
        ("postgresql://?host=/nowhere&port=1&dbname=db", "Cannot connect to the store postgresql://%2Fnowhere:1/db"),
        ("postgresql://host/db?schema=pg_own", "'pg_own' of the store's address is not a plain name"),
    ],
)
def test_whatever_is_wrong_with_an_address_is_told_in_a_sentence_without_the_password(
    place: Place, address: str, said: str
) -> None:
    told = place.run("add", "tea", environment={"POLYMNIA_STORE": address, "POLYMNIA_BUSY_TIMEOUT": "0.1"})
    assert told.returncode == 1
    assert said in told.stderr, told.stderr
    assert "Traceback" not in told.stderr and "eim" not in told.stderr, told.stderr


def test_a_schema_with_a_table_of_somebody_else_is_left_alone(place: Place, url: str) -> None:
    with psycopg.connect(url) as admin:
        admin.execute("CREATE TABLE public.store (name text)")
    told = place.run("add", "tea", environment={"POLYMNIA_STORE": f"{url}?schema=public"})
    assert told.returncode == 1
    assert "has a table named store that is not Polymnia's" in told.stderr


@pytest.mark.long
def test_partitions_that_the_server_has_no_room_to_lock_are_refused_with_what_to_set(place: Place) -> None:
    with postgres.Server(max_connections="10", max_locks_per_transaction="10") as server:
        told = place.run("add", "tea", environment={"POLYMNIA_STORE": f"{server.url()}?partitions=64"})
        assert told.returncode == 1
        assert "no room for the locks of 64 partitions; nothing was made" in told.stderr
        assert "max_locks_per_transaction of the server to 128" in told.stderr
        with server.connect() as admin:
            assert admin.execute("SELECT to_regnamespace('polymnia')").fetchone() == (None,)


def test_a_timeout_of_statements_is_named_with_what_to_do(place: Place, url: str) -> None:
    assert place.run("add", "tea", environment={"POLYMNIA_STORE": f"{url}?partitions=1"}).returncode == 0
    with psycopg.connect(url) as admin, psycopg.connect(url) as other:
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET statement_timeout TO '200ms'")
        admin.commit()
        other.execute("LOCK TABLE polymnia.memory")
        told = place.run("add", "more tea", environment={"POLYMNIA_STORE": url})
    assert told.returncode == 1
    assert "broke off a statement" in told.stderr and "nothing was changed" in told.stderr
    assert "statement_timeout" in told.stderr


def test_a_password_in_the_environment_opens_the_store_for_one_client_and_for_many(
    guarded: postgres.Server, place: Place
) -> None:
    address = f"{guarded.url().replace('postgres@', 'guarded:right@')}?partitions=1"
    environment = {**place.environment, "POLYMNIA_STORE": address}
    assert not _open(place, guarded.url().replace("postgres@", "guarded:right@")).call("read_graph").failed
    command = [sys.executable, "-m", "polymnia", "serve", "--port", "0"]
    with forked.start(command, env=environment, cwd=place.folder, stderr=subprocess.PIPE, encoding="utf-8") as serving:
        try:
            assert serving.stderr is not None
            assert serving.stderr.readline().startswith("Serving every dialect at http://127.0.0.1:")
        finally:
            serving.terminate()


def test_a_store_in_a_schema_of_others_is_not_said_to_be_missing(guarded: postgres.Server, place: Place) -> None:
    assert (
        place.run(
            "add", "tea", environment={"POLYMNIA_STORE": f"{guarded.url()}?schema=theirs&partitions=1"}
        ).returncode
        == 0
    )
    newcomer = f"{guarded.url().replace('postgres@', 'newcomer@')}?schema=theirs"
    told = place.run("search", "tea", environment={"POLYMNIA_STORE": newcomer})
    assert told.returncode == 1
    assert "may not use the schema theirs" in told.stderr
    assert "grant" in told.stderr


def test_a_server_for_one_client_that_cannot_open_its_store_says_why_and_ends(place: Place, url: str) -> None:
    told = place.run("stdio", environment={"POLYMNIA_STORE": f"{url}?pool=0"})
    assert told.returncode == 1
    assert told.stderr.startswith("polymnia: pool in the store's address is '0'")
    assert "Traceback" not in told.stderr


@pytest.mark.long
def test_a_store_of_a_newer_format_is_refused_and_left_alone(place: Place, url: str) -> None:
    _open(place, url).names()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE polymnia.store SET version = 999")
    assert "newer" in _refusal(place, url).text
    assert _count(url, "version FROM polymnia.store") == 999


@pytest.mark.long
def test_a_user_who_may_only_read_reads_and_is_told_that_writing_is_not_allowed(
    place: Place, url: str, database_server: postgres.Server
) -> None:
    _open(place, url).call("create_entities", entities=[entity("there")])
    with psycopg.connect(url) as admin:
        admin.execute("DROP ROLE IF EXISTS reader")
        admin.execute("CREATE ROLE reader LOGIN IN ROLE pg_read_all_data")
    server = _open(place, url.replace("postgres@", "reader@"))
    assert server.names() == ["there"]
    said = server.refused("create_entities", entities=[entity("x")]).text
    assert "does not allow it: permission denied" in said
    assert "grant yours rights on the schema" in said
    assert server.names() == ["there"]


def test_a_lock_held_for_too_long_is_an_error_that_says_who_to_look_for(place: Place, url: str) -> None:
    assert not _open(place, url).call("create_entities", entities=[entity("there")]).failed  # has time to make tables
    server = _open(place, url, POLYMNIA_BUSY_TIMEOUT="1")
    assert server.names() == ["there"]
    with psycopg.connect(url) as other:
        other.execute("SELECT * FROM polymnia.project FOR UPDATE")
        said = server.refused("create_entities", entities=[entity("waits")]).text
        assert "has been writing to this project for too long" in said
        assert "nothing was changed" in said
        assert server.names() == ["there"], "reading waits for nobody"
    assert not server.call("create_entities", entities=[entity("waits")]).failed


def test_two_processes_make_one_store_of_an_empty_database(place: Place, url: str) -> None:
    servers = [_open(place, url) for _ in range(4)]
    calls = [
        (server, server.begin_call("create_entities", {"entities": [entity(f"from {number}")]}))
        for number, server in enumerate(servers)
    ]
    for server, call in calls:
        reply = server.reply(call)
        assert not reply.failed, reply.text
    assert sorted(servers[0].names()) == [f"from {number}" for number in range(4)]
    assert _count(url, "count(*) FROM polymnia.store") == 1


def test_a_server_waits_for_the_tables_that_another_makes_longer_than_for_a_lock(place: Place, url: str) -> None:
    with psycopg.connect(url) as maker, psycopg.connect(url, autocommit=True) as watcher, ThreadPoolExecutor() as pool:
        maker.execute("SELECT pg_advisory_xact_lock(hashtextextended('polymnia polymnia', 0))")
        server = _open(place, url, POLYMNIA_BUSY_TIMEOUT="0.1")
        stored = pool.submit(server.call, "create_entities", entities=[entity("patient")])
        waited = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND now() - query_start > '0.3 s'"
        end = time.monotonic() + postgres.DEADLINE
        while watcher.execute(waited).fetchone() is None:
            assert time.monotonic() < end, "nobody waits"
        maker.rollback()
        reply = stored.result()
        assert not reply.failed, reply.text


# ── a pool between ───────────────────────────────────────────────────────────────────────────────────────


def test_two_processes_share_a_store_through_pgbouncer_in_transaction_mode(place: Place, url: str) -> None:
    with pgbouncer.pooled(url) as pooled:
        servers = [_open(place, pooled) for _ in range(2)]
        with ThreadPoolExecutor() as pool:
            done = list(pool.map(lambda n: _write(servers[n], str(n), lambda number: number >= _WRITES), range(2)))
        assert [refused for _, refused in done] == [[], []]
        one, other = servers
        made = [name for names, _ in done for name in names]
        _exactly_once(one, url, made)
        ties = [{"from": "0.0", "to": "1.0", "relationType": "knows"}]
        assert one.call("create_relations", relations=ties).value == ties
        last = f"1.{_WRITES - 1}"
        assert [found["name"] for found in other.call("search_nodes", query=f"mark {last}").value["entities"]] == [last]
        assert other.call("open_nodes", names=["0.0"]).value["entities"] == [entity("0.0", "mark 0.0")]
        other.call("add_observations", observations=[{"entityName": "0.0", "contents": ["more"]}])
        one.call("delete_observations", deletions=[{"entityName": "0.0", "observations": ["mark 0.0"]}])
        assert other.call("open_nodes", names=["0.0"]).value["entities"] == [entity("0.0", "more")]
        one.call("delete_entities", entityNames=["1.0"])
        assert other.graph()["relations"] == []
        undone = place.run("undo", environment={"POLYMNIA_STORE": f"{pooled}?partitions=2"})
        assert undone.returncode == 0, undone.stderr
        assert one.graph()["relations"] == ties
