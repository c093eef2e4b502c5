"""Everything by the keyboard: in an order that makes sense, with the focus always seen, and Escape the way back."""

from __future__ import annotations

import pytest

from network.exploring import Api

from .browsing import Tab, expect
from .sample import fill

_VISIBLE = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const style = getComputedStyle(one), bar = getComputedStyle(one.closest(".search-bar, .drop") ?? one);
  const inner = ["date", "datetime-local"].includes(one.type);  // the browser rings the button inside of it
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const seen = inner || ring || bar.boxShadow !== "none" || bar.borderStyle === "dashed";
  const box = one.getBoundingClientRect();
  return [one.tagName + "." + one.className, seen, box.width > 0 && box.height > 0];
}"""


@pytest.fixture(scope="module")
def filled(api: Api) -> dict[str, str]:
    """A project to walk through."""
    return fill(api, "shop")


@pytest.mark.promise("api.page.keyboard")
@pytest.mark.parametrize("screen", ["search", "memory", "timeline", "graph", "review", "scopes", "transfer", "health"])
def test_tab_goes_through_a_screen_and_is_always_seen(here: Tab, filled: dict[str, str], screen: str) -> None:
    here.go(screen, filled["auth-service"] if screen == "memory" else None, project="shop")
    expect(here.page.locator("#main [aria-busy=true], #main .skeleton")).to_have_count(0)
    here.page.locator(".skip").focus()
    passed = []
    for _ in range(60):
        here.press("Tab")
        told = here.page.evaluate(_VISIBLE)
        if told is None or "skip" in told[0]:
            break
        passed.append(told)
    assert len(passed) > 10
    assert [one for one in passed if not one[1]] == []
    # Nothing with the mouse that the keyboard cannot do: whatever reacts to a click can be reached.
    assert (
        here.page.evaluate(
            """() => [...document.querySelectorAll("#main [role=button], #main [onclick]")]
             .filter(one => one.tabIndex < 0 && !["BUTTON", "A"].includes(one.tagName)).length"""
        )
        == 0
    )


@pytest.mark.promise("api.page.keyboard")
def test_numbers_go_to_screens_and_escape_closes_what_is_open(here: Tab, filled: dict[str, str]) -> None:
    here.go("timeline", project="shop")
    for key, heading in (("3", "Graph"), ("4", "Review"), ("5", "Scopes"), ("6", "Import and export"), ("7", "Health")):
        here.press(key)
        expect(here.page.get_by_role("heading", level=1)).to_have_text(heading)
        assert "project=shop" in here.address
    here.press("?")
    expect(here.dialog).to_contain_text("Walk through the results")
    here.press("Escape")
    expect(here.dialog).to_have_count(0)
    here.button("New memory").focus()
    here.press("Enter")
    expect(here.dialog).to_be_visible()
    for _ in range(12):
        here.press("Tab")
        assert here.page.evaluate(
            "[document.body, document.querySelector('dialog')].some(one => one === document.activeElement)"
            " || document.querySelector('dialog').contains(document.activeElement)"
        )
    here.press("Escape")
    expect(here.button("New memory")).to_be_focused()  # back where it came from


def test_the_first_tab_stop_skips_to_the_content(here: Tab, filled: dict[str, str]) -> None:
    here.go("scopes", project="shop")
    expect(here.page.get_by_role("treeitem").first).to_be_visible()
    here.press("Tab", "Enter")
    assert here.page.evaluate("document.activeElement.id") == "main"


def test_language_and_colours_are_chosen_and_remembered(here: Tab, filled: dict[str, str]) -> None:
    here.go("timeline", project="shop")
    here.button("한국어").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("타임라인")
    assert here.page.evaluate("document.documentElement.lang") == "ko"
    here.button("색상: 시스템 설정").click()
    here.button("색상: 밝게").click()
    assert here.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 25)"
    here.page.reload()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("타임라인")
    assert here.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 25)"


@pytest.mark.promise("api.page.keyboard")
def test_escape_keeps_what_was_typed_into_a_dialog(here: Tab, api: Api, filled: dict[str, str]) -> None:
    here.go("timeline", project="shop")
    here.press("n")
    expect(here.dialog.get_by_label("Text")).to_be_focused()
    here.page.keyboard.type("Half a thought")
    here.press("Escape")
    note = here.dialog.locator(".note").filter(has_text="save them or cancel")  # in the dialog, where it can be read
    expect(note).to_be_visible()
    here.page.mouse.click(5, 5)  # beside the dialog
    expect(here.dialog.get_by_label("Text")).to_have_value("Half a thought")
    here.button("Close", note.last).click()
    here.button("Cancel", here.dialog).click()
    expect(here.dialog).to_have_count(0)


@pytest.mark.promise("api.page.keyboard")
def test_letters_are_shortcuts_in_hangul_and_with_caps_lock(here: Tab, filled: dict[str, str]) -> None:
    here.go("timeline", project="shop")
    expect(here.page.locator(".change").first).to_be_visible()
    hangul = "key => dispatchEvent(new KeyboardEvent('keydown', {...key, bubbles: true}))"
    for press in (lambda: here.press("Shift+N"), lambda: here.page.evaluate(hangul, {"key": "ㅜ", "code": "KeyN"})):
        press()
        expect(here.dialog).to_be_visible()
        here.press("Escape")
        expect(here.dialog).to_have_count(0)


@pytest.mark.promise("api.page.keyboard")
def test_escape_goes_back_from_a_memory(here: Tab, filled: dict[str, str]) -> None:
    here.go("search", project="shop", q="tokens")
    here.page.locator(".hit-title").first.click()
    expect(here.page.locator(".version-list")).to_be_visible()
    here.press("Escape")
    expect(here.page.locator(".hit-title").first).to_be_visible()
    assert "q=tokens" in here.address
    here.page.goto("about:blank")
    here.go("memory", filled["auth-service"], project="shop")  # by a link: there is nothing of ours to go back to
    expect(here.page.locator(".version-list")).to_be_visible()
    here.press("Escape")
    expect(here.page.locator(".hit-title").first).to_be_visible()
