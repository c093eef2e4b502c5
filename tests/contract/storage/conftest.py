"""A fresh store of each engine for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from polymnia.engine.ports import Store
from stdio_client import STORE

from .engines import ENGINES, Engine
from .project import Project

_LONG = ("test_substring", "test_journal", "test_undo", "test_atomicity", "test_purge", "test_words", "test_isolation")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the walks on PostgreSQL, which take minutes, to `make test-postgres`."""
    for item in items if STORE == "sqlite" else []:
        if item.path.parent == Path(__file__).parent and item.path.stem in _LONG and "[postgres" in item.name:
            item.add_marker("long")


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn, in an empty place."""
    with closing(ENGINES[request.param](tmp_path)) as engine:
        yield engine


@pytest.fixture
def store(engine: Engine) -> Iterator[Store]:
    """A fresh store."""
    store = engine.open()
    yield store
    store.close()


@pytest.fixture
def project(store: Store) -> Project:
    """An empty project of a fresh store."""
    return Project(store, "default")
