"""Fixtures every test may use: isolated places, and servers of each dialect in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import one_model
from form import LONG_FORM
from stdio_client import STORE, Place, Server

GRAPH_DIALECTS = ("simple", "strict", "bilingual", "official")

_LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is marked long to the long form, unless a test is asked for by its name.

    On PostgreSQL, what is marked as being about SQLite has to fail, for the reason it gives.
    """
    for item in items:
        if (mark := item.get_closest_marker("sqlite")) is not None and _kept_by(item) == "postgres":
            item.add_marker(pytest.mark.xfail(strict=True, reason=mark.args[0]))
    if LONG_FORM or any("::" in argument for argument in config.args):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.stash[_LEFT_OUT] = len(long)
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


def _kept_by(item: pytest.Item) -> str:
    return str(item.callspec.params.get("kept_by", STORE)) if hasattr(item, "callspec") else STORE


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints how much this one left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker how much it left out; every worker collects the same."""
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[_LEFT_OUT] = left_out


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was left for the long form."""
    if left_out := config.stash.get(_LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} long cases were left for `make test-all`")


@pytest.fixture(autouse=True, scope="session")
def no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nobody's file of settings is read: neither by a test nor by what it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA"):
            patch.setenv(variable, str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True, scope="session")
def one_model_for_all() -> None:
    """What opens a memory in this process shares the model with all that did before."""
    one_model.share()


@pytest.fixture(scope="module")
def transport() -> str:
    """How servers are talked to; contract/dialects has more ways."""
    return "stdio"


@pytest.fixture(scope="module")
def kept_by() -> str:
    """What keeps the stores of places; a few modules of contract/dialects run on each."""
    return STORE


@pytest.fixture
def place(tmp_path: Path, transport: str, kept_by: str) -> Iterator[Place]:
    """An empty folder of this test's own, in which servers and commands run."""
    place = Place(tmp_path, transport, kept_by)
    yield place
    place.close()


@pytest.fixture(scope="module")
def module_place(tmp_path_factory: pytest.TempPathFactory, transport: str, kept_by: str) -> Iterator[Place]:
    """As ``place``, shared by the tests of one module: for tests that only read, or use their own names."""
    place = Place(tmp_path_factory.mktemp("place"), transport, kept_by)
    yield place
    place.close()


@pytest.fixture
def simple(place: Place) -> Server:
    """A server that speaks `simple` on the place's store."""
    return place.serve("simple")


@pytest.fixture
def strict(place: Place) -> Server:
    """A server that speaks `strict` on the place's store."""
    return place.serve("strict")


@pytest.fixture
def bilingual(place: Place) -> Server:
    """A server that speaks `bilingual` on the place's store."""
    return place.serve("bilingual")


@pytest.fixture
def official(place: Place) -> Server:
    """A server that speaks `official` on the place's store."""
    return place.serve("official")


@pytest.fixture(params=GRAPH_DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """Each of the four graph dialects in turn."""
    return str(request.param)


@pytest.fixture
def server(place: Place, dialect: str) -> Server:
    """A server of each graph dialect in turn, on the place's store."""
    return place.serve(dialect)
