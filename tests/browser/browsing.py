"""A tab of a real browser at the explorer, which watches everything the page does while a test uses it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from network.served import Served

__all__ = ["PICTURES", "Tab", "expect", "tab"]

PICTURES = Path(__file__).resolve().parents[2] / ".cache" / "explorer-screens"
"""Where a picture of every screen is kept, for whoever wants to look."""
LONGEST = 20_000  # milliseconds; a machine that is busy with other tests is slow
PHONE = {"width": 390, "height": 844}
expect.set_options(timeout=LONGEST)


class Tab:
    """A page of the explorer. Complaints of the browser and requests to elsewhere are kept for the end of the test."""

    def __init__(self, page: Page, context: BrowserContext, server: Served) -> None:
        self.page = page
        self.context = context
        self.server = server
        self.home = f"http://127.0.0.1:{server.port}/"
        self.complaints: list[str] = []
        self.requests: list[Request] = []
        self.allowed: list[re.Pattern[str]] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", lambda request: self.requests.append(request))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _said(self, message: ConsoleMessage) -> None:
        drawing = "GL Driver Message" in message.text  # how the browser draws without a graphics card
        if message.type in ("error", "warning") and not drawing:
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def allow(self, pattern: str) -> None:
        """A complaint this test is about."""
        self.allowed.append(re.compile(pattern))

    def check(self) -> None:
        """Nothing was complained of, and everything came from the server."""
        left = [one for one in self.complaints if not any(pattern.search(one) for pattern in self.allowed)]
        elsewhere = [one.url for one in self.requests if not one.url.startswith((self.home, "blob:", "data:image/"))]
        if left or elsewhere:
            pytest.fail(f"the browser complained: {left}\nasked elsewhere: {elsewhere}")

    # Where it is

    def go(self, screen: str = "search", target: str | None = None, **given: str) -> Tab:
        """Open a screen by its address, as a saved link does."""
        path = f"#/{screen}" + (f"/{quote(target, safe='')}" if target else "")
        self.page.goto(self.home + path + (f"?{urlencode(given)}" if given else ""))
        expect(self.page.locator("#main")).to_be_visible()
        return self

    @property
    def address(self) -> str:
        """The fragment of its address: what a link would restore."""
        return "#" + self.page.url.partition("#")[2]

    # Its controls, as a person knows them

    def button(self, name: str | re.Pattern[str], inside: Locator | None = None, exact: bool = True) -> Locator:
        """A button by its words."""
        return (inside or self.page).get_by_role("button", name=name, exact=exact)

    def link(self, name: str | re.Pattern[str]) -> Locator:
        """A link by its words."""
        return self.page.get_by_role("link", name=name)

    def tab(self, name: str) -> None:
        """Choose a tab of the screen."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.page.get_by_role("dialog")

    def note(self, words: str | re.Pattern[str]) -> Locator:
        """A note that tells what was done."""
        return self.page.locator(".note").filter(has_text=words).last

    def undo(self, words: str | re.Pattern[str]) -> None:
        """Take back what a note tells."""
        self.button("Undo", self.note(words)).click()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def focused(self) -> Any:
        """What has the focus, in words."""
        return self.page.evaluate(
            """() => { const one = document.activeElement;
                return one.getAttribute("aria-label") || one.id || one.textContent.trim() || one.tagName }"""
        )

    def picture(self, name: str, whole: bool = True) -> None:
        """Keep a picture of it."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_load_state("domcontentloaded")
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=whole, animations="disabled")


@contextmanager
def tab(browser: Browser, server: Served, *, key: str | None = None, **options: Any) -> Iterator[Tab]:
    """A tab with nothing remembered. ``options`` are those of a context: colours, language, size."""
    settings = {"viewport": {"width": 1280, "height": 860}, "locale": "en-GB", "timezone_id": "UTC", **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(LONGEST)
    try:
        made = Tab(context.new_page(), context, server)
        if key is not None:
            made.page.goto(f"{made.home}#key={key}")
        yield made
        made.check()
    finally:
        context.close()


def launch_arguments() -> list[str]:
    """What the browser is started with: drawing without a graphics card; root, as in containers, has no sandbox."""
    return ["--enable-unsafe-swiftshader", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
