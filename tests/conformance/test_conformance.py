"""The official conformance suite passes for both eras, but for what is left out on purpose."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import npm_peer
from form import mostly_long
from network.conftest import MANY
from network.served import Served

from .fixtures import SERVE

REVISIONS = ("2025-11-25", "2026-07-28")
BASELINE = Path(__file__).parent / "expected-failures.yml"
LEFT_OUT = re.compile(r"sampling|elicitation|roots|input-required")
_SECONDS = 120


class Run:
    """What the suite said of one requirement set."""

    def __init__(self, served: Served, revision: str, folder: Path) -> None:
        suite = npm_peer.clients() / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        done = subprocess.run(
            [str(npm_peer.node()), str(suite), "server", "--url", f"http://127.0.0.1:{served.port}/mcp",
             "--requirements", revision, "--expected-failures", str(BASELINE)],
            cwd=folder, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
        )  # fmt: skip
        self.code = done.returncode
        self.said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        summary = self.said.partition("=== SUMMARY ===")[2]
        scored, _, rest = summary.partition("\nTotal:")
        self.ran = set(re.findall(r"^[✓✗] ([\w-]+):", scored, re.MULTILINE))
        self.excused = set(re.findall(r"^ +~ ([\w-]+)", rest, re.MULTILINE))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, serving: Callable[..., Served]) -> Iterator[Callable[[str], Run]]:
    """The runs of the suite, each made once, against one server with the suite's fixtures."""
    served = serving(*MANY, before=SERVE)
    yield cache(lambda revision: Run(served, revision, tmp_path_factory.mktemp("suite")))
    assert served.is_well()
    assert "Traceback" not in served.log, served.log


@pytest.mark.promise("network.conformance")
@pytest.mark.parametrize("revision", mostly_long(sorted(REVISIONS, reverse=True)))
def test_the_suite_passes_but_for_what_is_left_out_on_purpose(runs: Callable[[str], Run], revision: str) -> None:
    run = runs(revision)
    assert run.code == 0, run.said[-6000:]
    assert len(run.ran) >= 30, run.said[-6000:]  # it did run


@pytest.mark.long
@pytest.mark.promise("network.conformance")
def test_whatever_is_excused_fails_and_asks_something_of_the_client(runs: Callable[[str], Run]) -> None:
    listed = set(re.findall(r"^ +- (\S+)", BASELINE.read_text(), re.MULTILINE))
    assert listed == set().union(*(runs(revision).excused for revision in REVISIONS))
    assert all(LEFT_OUT.search(name) for name in listed)
