"""Every screen, wide and on a phone, light and dark, in English and Korean: a picture of each, and what axe finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

import npm_peer
from network.exploring import Api
from network.served import Served

from .browsing import PHONE, Tab, expect
from .sample import fill

SCREENS: dict[str, tuple[str, dict[str, str], str]] = {
    "search": ("search", {"q": "tokens"}, ".hit mark"),
    "nothing found": ("search", {"q": "", "tags": "nobody"}, ".empty"),
    "memory": ("memory", {}, ".version-list > li"),
    "timeline": ("timeline", {}, ".change"),
    "compare": ("timeline", {"tab": "compare", "from": "2020-01-01T00:00:00Z"}, ".compared > li"),
    "graph": ("graph", {}, ".canvas[data-moving=false]"),
    "review": ("review", {"kind": "conflicts", "deep": "1"}, ".review-item"),
    "duplicates": ("review", {"kind": "duplicates"}, ".review-item"),
    "scopes": ("scopes", {}, ".tree"),
    "transfer": ("transfer", {}, ".drop"),
    "health": ("health", {}, ".figures"),
}
"""Each screen: its address, and what is there when it is ready."""
OPENED = {
    "editor": ("memory", "Edit"),
    "relation": ("memory", "Add a relation"),
    "undo": ("timeline", re.compile("^Undo change")),
    "undo a session": ("timeline", "Undo a session"),
    "move": ("scopes", "Move"),
    "new key": ("health", "New key"),
    "new memory": ("search", "New memory"),
    "keyboard": ("search", "Keyboard"),
}
"""What opens on a screen: the screen, and the button that opens it."""


@pytest.fixture(scope="module")
def filled(api: Api) -> dict[str, str]:
    """The project that is shown."""
    return fill(api, "shop")


def findings(page: Page, *rules: str) -> list[str]:
    """What axe finds that is serious."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(npm_peer.axe().read_text("utf-8"))
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found: list[dict[str, Any]] = page.evaluate(
        "options => axe.run(document, {resultTypes: ['violations'], ...options}).then(told => told.violations)", options
    )
    return [
        f"{one['id']}: {one['help']} {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def open_screen(tab: Tab, name: str, ids: dict[str, str]) -> None:
    """Open a screen and wait until it is there."""
    screen, given, ready = SCREENS[name]
    tab.go(screen, ids["auth-service"] if screen == "memory" else None, project="shop", **given)
    expect(tab.page.locator(ready).first).to_be_visible()


@pytest.mark.promise("api.page.accessible")
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_keeps_nobody_out(here: Tab, filled: dict[str, str], name: str) -> None:
    open_screen(here, name, filled)
    here.picture(f"{name} light")
    assert findings(here.page) == []
    here.page.emulate_media(color_scheme="dark")
    here.picture(f"{name} dark")
    assert findings(here.page, "color-contrast") == []


@pytest.mark.promise("api.page.accessible")
@pytest.mark.parametrize("name", OPENED)
def test_what_opens_on_a_screen_keeps_nobody_out(here: Tab, filled: dict[str, str], name: str) -> None:
    screen, button = OPENED[name]
    open_screen(here, screen, filled)
    here.button(button).first.click()
    expect(here.page.locator("dialog .dialog-body, .editor").first).to_be_visible()
    expect(here.page.locator(".skeleton")).to_have_count(0)
    here.picture(f"{name} open")
    assert findings(here.page) == []
    here.page.emulate_media(color_scheme="dark")
    assert findings(here.page, "color-contrast") == []


@pytest.mark.promise("api.page.accessible")
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_fits_a_phone(tabs: Callable[..., Tab], server: Served, filled: dict[str, str], name: str) -> None:
    phone = tabs(server, viewport=PHONE, locale="ko-KR", has_touch=True, is_mobile=True, device_scale_factor=2)
    open_screen(phone, name, filled)
    phone.picture(f"{name} phone")
    page = phone.page
    assert page.evaluate("document.documentElement.lang") == "ko"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert findings(page) == []
