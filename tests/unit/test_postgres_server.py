"""The PostgreSQL that tests run on: it is there, it loses nothing, and nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import postgres

_TESTS = Path(postgres.__file__).parent
_WRITE = "INSERT INTO memory.text (project, text) VALUES (%s, %s)"


def _made(url: str) -> None:
    """What an engine makes: partitions, a sequence, a trigger, a row it starts with."""
    with psycopg.connect(url) as connection:
        connection.execute("""
            CREATE SCHEMA memory;
            SET search_path = memory;
            CREATE TABLE meta (version int, changes int);
            INSERT INTO meta VALUES (7, 0);
            CREATE TABLE text (project bigint, id bigserial, text text, PRIMARY KEY (project, id))
              PARTITION BY HASH (project);
            CREATE TABLE text_0 PARTITION OF text FOR VALUES WITH (MODULUS 2, REMAINDER 0);
            CREATE TABLE text_1 PARTITION OF text FOR VALUES WITH (MODULUS 2, REMAINDER 1);
            CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN UPDATE memory.meta SET changes = changes + 1; RETURN NULL; END $$;
            CREATE TRIGGER counted AFTER INSERT OR DELETE ON text FOR EACH ROW EXECUTE FUNCTION memory.counted();
        """)


def _state(connection: psycopg.Connection[object]) -> list[object]:
    asked = ("TABLE memory.meta", "TABLE memory.text", "SELECT last_value, is_called FROM memory.text_id_seq")
    return [connection.execute(one).fetchall() for one in asked]


def _until(done: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + postgres.DEADLINE
    while not done():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_every_database_is_as_it_was_made() -> None:
    """A used one comes back with its first rows and numbers, under another name; nobody else is connected to it."""
    with postgres.database(_made) as url, psycopg.connect(url) as connection:
        first = _state(connection)
        connection.execute("INSERT INTO memory.text (project, text) SELECT n, 'x' FROM generate_series(1, 50) n")
        assert _state(connection) != first
    left_over = psycopg.connect(url)
    with postgres.database(_made) as again, psycopg.connect(again) as connection:
        assert again != url
        assert _state(connection) == first
        with pytest.raises(psycopg.OperationalError):
            left_over.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(url)
    left_over.close()


def test_what_changed_its_tables_is_not_used_again() -> None:
    with postgres.database(_made) as url, psycopg.connect(url) as connection:
        connection.execute("ALTER TABLE memory.text ADD COLUMN more text")
    with postgres.database(_made) as again, psycopg.connect(again) as connection:
        connection.execute(_WRITE, (1, "x"))
        assert connection.execute("TABLE memory.text").fetchall() == [(1, 1, "x")]


def test_two_databases_at_once() -> None:
    with postgres.database() as one, postgres.database() as other, psycopg.connect(one) as connection:
        connection.execute("CREATE TABLE only_here ()")
        connection.commit()
        with psycopg.connect(other) as elsewhere:
            assert elsewhere.execute("SELECT to_regclass('only_here')").fetchone() == (None,)


@pytest.mark.long
@pytest.mark.parametrize("version", [16, 18])
def test_a_killed_server_keeps_what_it_acknowledged(version: int) -> None:
    with postgres.Server(version) as server:
        _made(server.url())
        with psycopg.connect(server.url()) as connection:
            assert connection.info.server_version // 10000 == version
            connection.execute(_WRITE, (1, "acknowledged"))
            connection.commit()
            connection.execute(_WRITE, (1, "not yet"))
            server.kill()
            with pytest.raises(psycopg.OperationalError):
                connection.commit()
        server.start()
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("SELECT text FROM memory.text").fetchall() == [("acknowledged",)]
            server.restart()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        with psycopg.connect(server.url()) as connection:
            assert connection.execute("TABLE memory.meta").fetchall() == [(7, 1)]
    assert not server.folder.exists()


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_killed_test_run(how: signal.Signals) -> None:
    code = "import postgres, psycopg, sys; url = postgres.server(); print(url, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=_TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        url = run.stdout.readline().strip()
        with psycopg.connect(url) as connection:
            folder, pid = connection.execute(
                "SELECT current_setting('data_directory'), pg_read_file('postmaster.pid')"
            ).fetchone() or ("", "")
        run.send_signal(how)
    _until(lambda: not _runs(int(pid.split()[0])), "the server outlived the test run")
    _until(lambda: not Path(folder).parent.exists(), "the folder outlived the test run")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    except ProcessLookupError:
        return False
