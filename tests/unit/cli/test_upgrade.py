"""``polymnia upgrade``: how to upgrade, and what an index says; the index is one on loopback."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from polymnia import __version__

from .desk import Desk


class Index:
    """An index of packages that answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: bytes = b"{}"
        self.status = 200
        self.asked: list[tuple[str, str]] = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append((self.path, self.headers["User-Agent"]))
                self.send_response(index.status)
                self.end_headers()
                self.wfile.write(index.answer)

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/pypi"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def release(self, **versions: dict[str, Any]) -> None:
        """What the index has; ``v1_2`` is 1.2."""
        files = {name[1:].replace("_", "."): [file] for name, file in versions.items()}
        self.answer = json.dumps({"info": {"version": "0"}, "releases": {**files, "0.0.1": []}}).encode()


@pytest.fixture
def index() -> Iterator[Index]:
    """An index on loopback."""
    made = Index()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_without_check_nobody_is_asked_and_the_way_to_upgrade_is_told(desk: Desk, index: Index) -> None:
    told = desk.run("upgrade", "--json")
    assert (told.code, told.value["installed"]) == (0, __version__)
    assert told.value["upgrade"]
    assert "newest" not in told.value
    refused = desk.run("upgrade", "--index", index.url)
    assert (refused.code, index.asked) == (1, [])
    assert "--check" in refused.err


def test_a_newer_version_is_named_unless_it_was_withdrawn_or_is_for_another_python(desk: Desk, index: Index) -> None:
    index.release(
        v99_10={}, v99_9={"requires_python": ">=3.11"}, v99_11={"yanked": True}, v99_12={"requires_python": ">=4.0"},
        v100_0rc1={},
    )  # fmt: skip
    told = desk.run("upgrade", "--check", "--index", index.url, "--json").value
    assert (told["newest"], told["newer"]) == ("99.10", True)
    assert index.asked == [("/pypi/polymnia/json", f"polymnia/{__version__}")]
    assert told["upgrade"] in desk.run("upgrade", "--check", "--index", index.url).out


def test_the_newest_version_is_said_to_be_that(desk: Desk, index: Index) -> None:
    index.release(**{f"v{__version__.replace('.', '_')}": {}})
    told = desk.run("upgrade", "--check", "--index", index.url)
    assert (told.code, "newest version" in told.out) == (0, True)


@pytest.mark.parametrize(
    ("here", "newer"),
    [("1.2.0rc1", True), ("1.2.dev3", True), ("1.2", False), ("1.2.0+local.7", False), ("1.2.0", False)],
)
def test_a_release_is_newer_than_what_came_before_it(
    desk: Desk, index: Index, monkeypatch: pytest.MonkeyPatch, here: str, newer: bool
) -> None:
    monkeypatch.setattr("polymnia.cli.upgrade.__version__", here)
    index.release(v1_2_0={}, v1_1_9={})
    assert desk.run("upgrade", "--check", "--index", index.url, "--json").value["newer"] is newer


@pytest.mark.parametrize(
    ("status", "answer", "says"),
    [
        (404, b"", "no package polymnia"),
        (503, b"", "status 503"),
        (200, b"<html>", "no JSON"),
        (200, b"[]", "no description"),
        (200, b"{}", "no list"),
    ],
)
def test_an_index_that_fails_is_named_with_the_reason(
    desk: Desk, index: Index, status: int, answer: bytes, says: str
) -> None:
    index.status, index.answer = status, answer
    told = desk.run("upgrade", "--check", "--index", index.url)
    assert told.code == 1
    assert index.url in told.err
    assert says in told.err


def test_an_index_that_is_not_there_is_named(desk: Desk, index: Index) -> None:
    index.server.server_close()
    told = desk.run("upgrade", "--check", "--index", index.url)
    assert (told.code, "cannot be reached" in told.err) == (1, True)
    assert desk.run("upgrade", "--check", "--index", "ftp://x").code == 1


@pytest.mark.parametrize(
    ("mark", "command"),
    [("uv-receipt.toml", "uv tool upgrade"), ("pipx_metadata.json", "pipx upgrade"), ("archive-v0/x", "uvx polymnia@"),
     ("Cellar/polymnia/1", "brew upgrade")],
)  # fmt: skip
def test_the_installer_is_known_by_what_it_left(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, command: str
) -> None:
    place = tmp_path / mark
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("")
    monkeypatch.setattr(sys, "prefix", str(place if "/" in mark else tmp_path))
    assert desk.run("upgrade", "--json").value["upgrade"].startswith(command)
