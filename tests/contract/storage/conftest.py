"""A fresh store of each engine for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia.engine.ports import Store

from .engines import ENGINES, Engine
from .project import Project


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """Each engine in turn, in an empty place."""
    return ENGINES[request.param](tmp_path)


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
