"""Texts that want to be more than text, other sites, and keys that may only read: nothing gets through the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from form import by_form
from network.conftest import MANY
from network.exploring import Api
from network.served import Served, free_port

from .browsing import Tab, expect

SCRIPTS = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "<svg onload=window.hacked=3><a href='javascript:window.hacked=4'>x</a></svg>",
    "</div></body><iframe srcdoc='<script>parent.hacked=5</script>'></iframe>",
    "{{constructor.constructor('window.hacked = 6')()}} ${window.hacked=7}",
    "javascript:window.hacked=8 data:text/html,<script>window.hacked=9</script> [a](javascript:window.hacked=10)",
]
SCREENS = [
    ("search", {}), ("search", {"q": "window hacked"}), ("timeline", {}), ("graph", {}), ("graph", {"whole": "1"}),
    ("review", {"kind": "duplicates"}), ("scopes", {}), ("transfer", {}), ("health", {}),
    ("timeline", {"tab": "compare", "from": "2020-01-01T00:00:00Z"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(api: Api) -> dict[str, str]:
    """A project where every field is an attack; answers the ids by text."""
    ids = {}
    for n, text in enumerate(SCRIPTS):
        name = f"{text} {n}"
        stored = api("store", text=text, name=name, kind=text[:60], tags=[text[:60]], project="hostile")
        ids[text] = str(stored["memory"]["id"])
        api("store", text=text, name=f"again {n}", project="hostile")
        api("relate", from_=name, to=f"again {n}", type=text[:60], project="hostile")
        api("edit", id=ids[text], add=[f"{text} once more"], project="hostile")
    return ids


@pytest.mark.promise("api.page.text")
def test_no_stored_text_becomes_markup_on_any_screen(here: Tab, hostile: dict[str, str]) -> None:
    for screen, given in SCREENS:
        here.go(screen, project="hostile", **given)
        expect(here.page.locator("#main [aria-busy=true], #main .skeleton")).to_have_count(0)
        assert here.page.evaluate("window.hacked") is None, (screen, given)
    for text, id in hostile.items():
        here.go("memory", id, project="hostile")
        expect(here.page.locator(".memory .observations")).to_contain_text(text)
        for version in here.page.locator(".version-list summary").all():
            version.click()
        assert here.page.evaluate("window.hacked") is None, text
        assert here.page.locator("#main iframe, #main script, #main img").count() == 0
        links = here.page.locator("#main a").evaluate_all("links => links.map(link => link.href)")
        assert all(link.startswith(here.home) for link in links), links


def test_files_of_the_graph_hold_texts_and_no_markup_of_theirs(here: Tab, hostile: dict[str, str]) -> None:
    here.go("graph", project="hostile", whole="1")
    expect(here.page.locator(".canvas[data-moving=false]")).to_be_visible()
    for kind in ("SVG", "GraphML"):
        with here.page.expect_download() as told:
            here.button(kind).click()
        text = Path(told.value.path()).read_text("utf-8")
        assert not any(bad in text for bad in ("<script", "<img", "<iframe", "<a ")), kind


@pytest.mark.promise("api.page.text")
def test_an_address_in_a_text_is_a_link_that_tells_nothing(here: Tab, api: Api, project: str) -> None:
    api(
        "store",
        text="See https://example.org/a?b=1. Not ftp://x nor file:///etc/passwd.",
        name="links",
        project=project,
    )
    here.go("memory", "links", project=project)
    link = here.page.locator(".memory section").first.locator(".stored.text a")
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("href", "https://example.org/a?b=1")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")


@pytest.mark.promise("api.page.text")
def test_characters_that_turn_text_around_are_shown_by_their_names(here: Tab, api: Api, project: str) -> None:
    api(
        "store",
        text="invoice\u202egpj.exe \u2066hidden\u2069",
        name="bidi\u202eeman",
        kind="kind\u202ednik",
        project=project,
    )
    here.go("search", project=project)
    hit = here.page.locator(".hit")
    expect(hit).to_contain_text("U+202E")
    expect(hit.locator(".hit-title")).to_contain_text("bidiU+202Eeman")
    expect(hit.locator(".chip")).to_have_text("kindU+202Ednik")
    turned = r"/[\u202A-\u202E\u2066-\u2069]/.test(document.documentElement.outerHTML + document.title)"
    assert not here.page.evaluate(turned)
    hit.locator(".hit-title").click()
    expect(here.page.locator("h1")).to_contain_text("U+202E")
    here.button("Delete").click()
    expect(here.note("Deleted: bidiU+202Eeman")).to_be_visible()
    assert not here.page.evaluate(turned)


@pytest.mark.promise("api.page.text")
def test_a_huge_text_is_cut_shown_in_pieces_and_edited_whole(here: Tab, api: Api, project: str) -> None:
    text = "lorem ipsum dolor " * by_form(20_000, 60_000)  # the long one has more than a megabyte
    api("store", text=text, name="huge", project=project)
    here.go("search", q="lorem", project=project)
    expect(here.page.locator(".hit mark").first).to_be_visible()
    here.go("memory", "huge", project=project)
    shown = here.page.locator(".memory .stored.text").first
    expect(shown).to_contain_text("lorem")
    assert len(shown.inner_text()) < 10_000
    here.button("Load all of it").click()
    here.button(f"Show 100,000 more of {len(text):,} characters", shown).click()
    assert 100_000 < len(shown.inner_text()) < 110_000
    here.press("e")
    here.page.locator(".editor").get_by_label("Tags").fill("large")
    here.button("Save").click()
    expect(here.note("Saved")).to_be_visible()
    kept = api("memory", id="huge", whole=True, project=project)["memory"]
    assert kept["observations"][0]["text"] == text and kept["tags"] == ["large"]


def test_formulas_are_text_in_a_table(here: Tab, api: Api, project: str) -> None:
    formulas = ["=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]
    for n, text in enumerate(formulas):
        api("store", text=text, name=f"f{n}", tags=[text.strip()], project=project)
    here.go("transfer", project=project)
    here.page.get_by_label("Format").select_option("project-csv")
    with here.page.expect_download() as told:
        here.button("Download").click()
    rows = list(csv.reader(io.StringIO(Path(told.value.path()).read_text("utf-8-sig"), newline="")))
    assert len(rows) > len(formulas)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.promise("api.page.alone")
def test_the_page_runs_nothing_inline_and_cannot_be_framed(here: Tab, browser: object) -> None:
    here.go()
    told = here.page.evaluate(
        """async () => {
          const heard = [];
          addEventListener("securitypolicyviolation", event => heard.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
          const link = document.createElement("a");
          link.href = "javascript:window.hacked=2";
          document.body.append(link);
          link.click();
          try { await fetch("https://example.org/") } catch {}
          setTimeout("window.hacked = 3", 0);
          const image = new Image();
          image.src = "https://example.org/pixel.png";
          await new Promise(done => setTimeout(done, 300));
          return [window.hacked ?? null, [...new Set(heard)].sort()];
        }"""
    )
    here.allow("Content Security Policy|Refused to|violates")
    assert told == [None, ["connect-src", "img-src", "script-src", "script-src-elem"]]
    here.requests.clear()


@pytest.mark.promise("api.page.alone")
def test_another_site_can_neither_call_nor_frame_the_explorer(
    tabs: Callable[..., Tab], server: Served, api: Api, project: str
) -> None:
    api("store", text="Stays.", name="stays", project=project)
    there = tabs(server)
    site = f"http://127.0.0.1:{free_port()}/"  # another port is another origin
    there.context.route(
        f"{site}**", lambda route: route.fulfill(content_type="text/html", body="<title>evil</title><body>evil")
    )
    there.page.goto(site)
    there.allow("CORS|ERR_FAILED|frame-ancestors|Failed to load|refused")
    target, body = f"{there.home}api/delete", f'{{"ids":["stays"],"project":"{project}"}}'
    statuses = there.page.evaluate(
        """async ([url, body]) => {
          const tries = [
            { mode: "no-cors", headers: { "Content-Type": "text/plain" } },
            { mode: "no-cors", headers: { "Content-Type": "application/x-www-form-urlencoded" } },
            { headers: { "Content-Type": "application/json" } },
            { headers: { "Content-Type": "application/json" }, credentials: "include" },
          ];
          const told = [];
          for (const one of tries) {
            try { told.push((await fetch(url, { method: "POST", body, ...one })).status) } catch { told.push("failed") }
          }
          return told;
        }""",
        [target, body],
    )
    assert statuses == ["failed"] * 4  # not even a blind answer
    there.page.evaluate(
        """([url, body]) => new Promise(done => {
          const frame = document.createElement("iframe");
          frame.name = "into";
          document.body.append(frame);
          const form = document.createElement("form");
          Object.assign(form, { action: url, method: "POST", enctype: "text/plain", target: "into" });
          const field = document.createElement("input");
          Object.assign(field, { name: body.slice(0, -1) + ',"x":"', value: '"}' });
          form.append(field);
          document.body.append(form);
          frame.onload = done;
          form.submit();
        })""",
        [target, body],
    )
    there.page.evaluate(
        """url => new Promise(done => {
          const frame = document.createElement("iframe");
          frame.name = "framed";
          frame.onload = done;
          frame.src = url;
          document.body.append(frame);
        })""",
        there.home,
    )
    framed = there.page.frame(name="framed")
    assert framed is not None and framed.locator("#main").count() == 0
    assert api("memory", id="stays", project=project)["deleted"] is None
    assert [one["tool"] for one in api("timeline", project=project)["changes"]] == ["store"]
    there.requests[:] = [one for one in there.requests if not one.url.startswith(site)]


@pytest.mark.promise("api.page.rights")
def test_a_key_that_may_only_read_sees_everything_and_nothing_that_writes(
    serving: Callable[..., Served], tabs: Callable[..., Tab]
) -> None:
    server = serving(*MANY)
    api = Api(server)
    for name in ("one", "two"):
        api("store", text="Ann likes green tea very much.", name=name, scope="work/tea", project="shop")
    api("store", text="Which region should the backup be in?", project="shop")
    reader = server.keys.add("reader", projects=("shop",), write=False)[1]
    tab = tabs(server, key=reader)
    words = ["New memory", "Edit", "Delete", "Undo", "Save", "Restore", "Move", "Import", "Add a relation", "New key"]
    words += ["Keep this one", "Answer it", "Not a problem", "Undo a session", "Revoke"]
    places = [
        ("search", None, {}, ".hit"), ("memory", "one", {}, ".version-list > li"), ("timeline", None, {}, ".change"),
        ("graph", None, {}, ".canvas"), ("review", None, {"kind": "duplicates"}, ".review-item"),
        ("review", None, {"kind": "questions"}, ".review-item"), ("scopes", None, {}, "[role=treeitem]"),
        ("transfer", None, {}, "form"), ("health", None, {}, ".figures"),
    ]  # fmt: skip
    for screen, target, given, ready in places:
        tab.go(screen, target, project="shop", **given)
        expect(tab.page.locator(ready).first).to_be_visible()
        tab.press("n", "e")
        assert tab.dialog.count() == 0, screen
        buttons = tab.page.get_by_role("button").evaluate_all(
            "all => all.map(one => one.getAttribute('aria-label') || one.innerText)"
        )
        assert not [one for one in buttons if any(one.startswith(word) for word in words)], (screen, buttons)
        assert tab.page.locator("input[type=file], [draggable=true], .change input").count() == 0, screen
    expect(tab.page.get_by_text("Read only")).to_be_visible()
    tab.go("search", project="shop")
    tab.allow("403")
    status = tab.page.evaluate(
        """() => fetch("api/delete", {
          method: "POST",
          body: JSON.stringify({ ids: ["one"], project: "shop" }),
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${sessionStorage["polymnia.key"]}` },
        }).then(answer => answer.status)"""
    )
    assert status == 403
    tab.picture("search, read only")
