"""Servers of the content dialect: by words alone, each of its own or shared, and with the model."""

from __future__ import annotations

from itertools import count

import pytest

from stdio_client import MODEL, Place, Server

_projects = count(1)


@pytest.fixture
def words(place: Place) -> Server:
    """A server of this test's own that goes by words alone."""
    return place.serve("content")


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    """The same for tests that keep to projects of their own."""
    return module_place.serve("content")


@pytest.fixture(scope="module")
def meaning(module_place: Place) -> Server:
    """A server that goes by meaning too, shared by the tests of a module."""
    return module_place.serve("content", environment={"POLYMNIA_EMBEDDER": MODEL})


@pytest.fixture
def project() -> str:
    """A project of this test's own."""
    return f"project {next(_projects)}"
