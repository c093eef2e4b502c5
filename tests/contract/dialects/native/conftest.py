"""Servers of the native dialect: by words alone, each of its own, and with the model, shared by a module."""

from __future__ import annotations

import pytest

from stdio_client import MODEL, Place, Server


@pytest.fixture
def words(place: Place) -> Server:
    """A server of this test's own that goes by words alone."""
    return place.serve("native")


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    """The same for tests that keep to projects of their own."""
    return module_place.serve("native")


@pytest.fixture(scope="module")
def meaning(module_place: Place) -> Server:
    """A server that goes by meaning too, shared by the tests of a module."""
    return module_place.serve("native", environment={"POLYMNIA_EMBEDDER": MODEL})
