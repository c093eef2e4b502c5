"""A browser, servers with the explorer, and tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest
from playwright.sync_api import Browser, sync_playwright

from network.conftest import MANY, serving
from network.exploring import Api
from network.served import Served
from programs import program

from .browsing import Tab, launch_arguments, tab

__all__ = ["serving"]

_counted = count()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; its event loop ends with this folder, so that other tests can have their own."""
    path = program("chromium")
    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=path, args=launch_arguments())


@pytest.fixture(scope="module")
def server(serving: Callable[..., Served]) -> Served:
    """A server without keys for the tests of one module, each of which has a project of its own."""
    return serving(*MANY, "--rate-limit-explorer", "1000000")


@pytest.fixture(scope="module")
def api(server: Served) -> Api:
    """The same server as another client uses it."""
    return Api(server)


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Callable[..., Tab]]:
    """Open tabs; each is checked when the test is over."""
    with ExitStack() as open_tabs:
        yield lambda server, **options: open_tabs.enter_context(tab(browser, server, **options))


@pytest.fixture
def here(tabs: Callable[..., Tab], server: Served) -> Tab:
    """One tab, wide and light, in English."""
    return tabs(server)


@pytest.fixture
def project() -> str:
    """A project nobody else uses."""
    return f"project-{next(_counted)}"
