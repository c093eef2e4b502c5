"""The official clients for Node, and the Inspector's command line, as a test talks through them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import npm_peer
from stdio_client import DEADLINE

__all__ = ["converse", "conversing", "inspected"]

_SCRIPT = Path(__file__).parent / "conversation.mjs"
_INSPECTOR = Path("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")


@contextmanager
def conversing(kind: str, url: str, talk: str, *given: str) -> Iterator[Iterator[dict[str, Any]]]:
    """A conversation that is under way: what the client tells, as it comes."""
    with _SCRIPT.open("rb") as script:
        process = subprocess.Popen(
            [str(npm_peer.node()), "--input-type=module", "-", kind, url, talk, *given],
            stdin=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=npm_peer.clients(), text=True,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        yield (json.loads(line) for line in process.stdout)
        _, complaints = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, complaints
    finally:
        process.kill()
        process.communicate()


def converse(kind: str, url: str, talk: str, *given: str) -> dict[str, Any]:
    """A whole conversation: the last thing the client told."""
    with conversing(kind, url, talk, *given) as told:
        found = list(told)
    assert found
    return found[-1]


def inspected(url: str, home: Path, *given: str) -> Any:
    """What the Inspector's command line shows of a server."""
    done = subprocess.run(
        [str(npm_peer.node()), str(npm_peer.clients() / _INSPECTOR), "--cli", url, "--format", "json", *given],
        capture_output=True, text=True, cwd=home, timeout=DEADLINE, stdin=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home), "MCP_CATALOG_PATH": str(home / "catalog.json")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["result"]
