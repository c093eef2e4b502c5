"""A real pgbouncer in transaction mode, in front of a PostgreSQL of the tests.

It has to be one whose prepared statements psycopg can use: 1.22 or newer. Where the system has an older one, as Debian
12 has, or none, ``python tests/pgbouncer.py`` builds a pinned one into ``.cache``, which takes a minute and apt.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from urllib.request import urlopen

__all__ = ["install", "pooled"]

_BUILT = Path(__file__).resolve().parent.parent / ".cache" / "pgbouncer"
_SOURCE = "pool/main/p/pgbouncer/pgbouncer_1.24.1.orig.tar.gz"
_DIGEST = "da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0"
_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", str(_BUILT)))
_PORT = 6432
"""Names the socket alone: nothing listens on a port."""
_KEEPER = '"$0" -q "$1/pgbouncer.ini" & cat; kill -9 $!; rm -rf "$1"'


@contextmanager
def pooled(url: str, **settings: str) -> Iterator[str]:
    """The address of the same database, through two server connections that change hands after every transaction."""
    import psycopg

    import postgres

    program, parts = _program(), urlsplit(url)
    folder = Path(tempfile.mkdtemp(prefix="polymnia-pgbouncer-"))
    given = {
        "unix_socket_dir": str(folder), "listen_port": str(_PORT), "logfile": str(folder / "log"), "auth_type": "any",
        "pool_mode": "transaction", "default_pool_size": "2", "max_prepared_statements": "100", **settings,
    }  # fmt: skip
    lines = ["[databases]", f"* = host={unquote(parts.hostname or '')} user={parts.username}", "[pgbouncer]"]
    (folder / "pgbouncer.ini").write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in given.items())]))
    copy = shutil.copy(program, folder / "pgbouncer")
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


def _found() -> str | None:
    """A pgbouncer that knows prepared statements."""
    for folder in _PATH.split(os.pathsep):
        if program := shutil.which("pgbouncer", path=folder):
            said = subprocess.run([program, "-V"], capture_output=True, text=True).stdout
            version = re.search(r"PgBouncer (\d+)\.(\d+)", said)
            if version and (int(version[1]), int(version[2])) >= (1, 22):
                return program
    return None


def _program() -> str:
    import pytest

    if program := _found():
        return program
    missing = pytest.fail if "POLYMNIA_CI" in os.environ else pytest.skip
    raise missing.Exception(
        f"no pgbouncer from 1.22 on was found; `{Path(sys.executable).name} tests/pgbouncer.py` installs one"
    )


def install() -> str:
    """Make sure that there is one; answers which."""
    if program := _found():
        return program
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    packages = ("gcc", "libevent-dev", "make", "pkg-config")
    subprocess.run(["apt-get", "install", "-qq", "-y", *packages], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_source())) as source:
            source.extractall(folder, filter="data")
        (home,) = Path(folder).iterdir()
        without = ("--without-openssl", "--without-cares", "--without-systemd")
        for command in (["./configure", *without], ["make", "pgbouncer"]):
            done = subprocess.run(command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise OSError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
        _BUILT.mkdir(parents=True, exist_ok=True)
        shutil.copy(home / "pgbouncer", _BUILT)
    return str(_BUILT / "pgbouncer")


def _source() -> bytes:
    """The pinned source, from whichever of the machine's package archives has it."""
    asked = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True)
    for archive in sorted(set(asked.stdout.split())):
        with suppress(OSError), urlopen(archive + _SOURCE, timeout=60) as answer:
            source: bytes = answer.read()
            if hashlib.sha256(source).hexdigest() == _DIGEST:
                return source
    raise OSError(
        f"none of the package archives of this machine has {_SOURCE}: install pgbouncer 1.22 or newer by hand"
    )


if __name__ == "__main__":
    try:
        print(f"pgbouncer: {install()}")
    except (OSError, subprocess.CalledProcessError) as why:
        sys.exit(f"error: {why}")
