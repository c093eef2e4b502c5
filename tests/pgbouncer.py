"""A real pgbouncer in transaction mode, before a PostgreSQL of the tests; ``python tests/programs.py`` installs it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import psycopg

import postgres
import programs

__all__ = ["pooled"]

_PORT = 6432
"""Names the socket alone: nothing listens on a port."""
_KEEPER = '"$0" -q "$1/pgbouncer.ini" & cat; kill -9 $!; rm -rf "$1"'


@contextmanager
def pooled(url: str) -> Iterator[str]:
    """The address of the same database, through two server connections that change hands after every transaction."""
    parts = urlsplit(url)
    folder = Path(tempfile.mkdtemp(prefix="polymnia-pgbouncer-"))
    given = {
        "unix_socket_dir": str(folder), "listen_port": str(_PORT), "logfile": str(folder / "log"), "auth_type": "any",
        "pool_mode": "transaction", "default_pool_size": "2",
    }  # fmt: skip
    lines = ["[databases]", f"* = host={unquote(parts.hostname or '')} user={parts.username}", "[pgbouncer]"]
    (folder / "pgbouncer.ini").write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in given.items())]))
    copy = shutil.copy(programs.program("pgbouncer"), folder / "pgbouncer")
    if postgres.as_nobody():
        shutil.chown(folder, "nobody")
        (folder / "pgbouncer.ini").chmod(0o644)
    keeper = subprocess.Popen(
        ["sh", "-c", _KEEPER, copy, folder], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, **postgres.as_nobody(),
    )  # fmt: skip
    address = f"postgresql://{parts.username}@{quote(str(folder), safe='')}:{_PORT}{parts.path}"
    try:
        end = time.monotonic() + postgres.DEADLINE
        while True:
            try:
                psycopg.connect(address).close()
                break
            except psycopg.OperationalError as why:
                said = (folder / "log").read_text() if (folder / "log").exists() else ""
                assert time.monotonic() < end, f"pgbouncer did not start: {why}\n{said}"
                time.sleep(0.01)
        yield address
    finally:
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait(postgres.DEADLINE)
