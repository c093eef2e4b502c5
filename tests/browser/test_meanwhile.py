"""Answers that come late, break off or meet what somebody else did meanwhile: nothing is lost, doubled or mixed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from playwright.sync_api import Error, Request, Route

from network.conftest import MANY
from network.exploring import Api
from network.served import Served, eventually

from .browsing import Tab, expect

READY = {"status": 200, "content_type": "text/event-stream", "body": "event: ready\ndata: {}\n\n"}


@contextmanager
def held(tab: Tab, operation: str, which: Callable[[Request], bool] = lambda request: True) -> Iterator[list[Any]]:
    """What the server answers to an operation is kept from the page until the end of the block."""
    kept: list[Any] = []

    def keep(route: Route) -> None:
        if which(route.request):
            kept.append((route, route.fetch()))
        else:
            route.continue_()

    tab.page.route(f"**/api/{operation}", keep)
    try:
        yield kept
    finally:
        for route, answer in kept:
            with suppress(Error):  # the page may have given it up
                route.fulfill(response=answer)
                if response := route.request.response():
                    response.finished()
        tab.page.unroute(f"**/api/{operation}")
        drawn(tab)


def drawn(tab: Tab) -> None:
    """The page has taken up what it was answered."""
    tab.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def waits(tab: Tab, kept: list[Any], number: int = 1) -> None:
    """So many answers are kept."""
    eventually(lambda: tab.page.evaluate("1") and len(kept) >= number, "a question")


def goes_on(request: Request) -> bool:
    """Whether it asks for a further page."""
    return bool(request.post_data_json.get("cursor"))


@pytest.mark.promise("api.page.search")
def test_more_of_a_search_that_was_left_is_not_shown_with_another(here: Tab, api: Api, project: str) -> None:
    for number in range(34):
        api("store", text=f"Ship number {number} came in.", project=project)
    api("store", text="A crane stands there.", kind="machine", project=project)
    here.go(project=project)
    hits = here.page.locator(".hit")
    expect(hits).to_have_count(30)
    with held(here, "search", goes_on) as kept:
        here.button("Show more").click()
        waits(here, kept)
        here.button("machine 1").click()
        expect(hits).to_have_count(1)
    expect(hits).to_have_count(1)
    here.button("machine 1").click()
    expect(hits).to_have_count(30)
    here.button("Show more").click()
    expect(hits).to_have_count(35)


@pytest.mark.promise("api.page.keyboard")
def test_a_hit_of_a_further_page_is_deleted_alone_and_the_place_kept(here: Tab, api: Api, project: str) -> None:
    for number in range(40):
        api("store", text=f"Ship number {number:02} came in.", project=project)
    here.go(project=project)
    hits = here.page.locator(".hit-title")
    expect(hits).to_have_count(30)
    here.button("Show more").click()
    expect(hits).to_have_count(40)
    hits.filter(has_text="number 05").focus()
    here.page.keyboard.down("Delete")
    expect(hits).to_have_count(39)
    following = hits.filter(has_text="number 04")
    expect(following).to_be_focused()
    here.page.keyboard.down("Delete")  # it is still held
    drawn(here)
    expect(following).to_be_focused()
    here.page.keyboard.up("Delete")
    assert api("search", query="", project=project)["total"] == 39
    assert sum(one.url.endswith("/api/delete") for one in here.requests) == 1


@pytest.mark.promise("api.page.live")
def test_more_of_a_timeline_that_was_left_is_not_shown_with_another(here: Tab, api: Api, project: str) -> None:
    for number in range(55):
        api("store", text=f"Ship number {number} came in.", project=project)
    api("store", text="Elsewhere.", project=f"{project}-other")
    here.go("timeline", project=project)
    changes = here.page.locator(".change")
    expect(changes).to_have_count(50)
    with held(here, "timeline", goes_on) as kept:
        here.button("Show more").click()
        waits(here, kept)
        here.page.get_by_label("Project").select_option(f"{project}-other")
        expect(changes).to_have_count(1)
    expect(changes).to_have_count(1)


@pytest.mark.promise("api.page.live")
def test_what_happened_while_nobody_listened_is_shown(here: Tab, api: Api, project: str) -> None:
    api("store", text="Was here before.", project=project)
    here.page.route("**/api/events", lambda route: route.fulfill(**READY))  # it ends at once
    here.go("timeline", project=project)
    expect(here.page.locator(".change")).to_have_count(1)
    here.page.unroute("**/api/events")
    here.page.route("**/api/events", lambda route: route.abort())
    here.allow("ERR_FAILED|Failed to load")
    api("store", text="Came meanwhile.", project=project)
    here.page.unroute("**/api/events")
    expect(here.page.locator(".live.on")).to_be_visible()
    expect(here.page.locator(".change")).to_have_count(2)


@pytest.mark.promise("api.page.live")
def test_an_older_answer_takes_no_change_away_that_was_heard_since(here: Tab, api: Api, project: str) -> None:
    api("store", text="Was here before.", project=project)
    here.go("timeline", project=project)
    expect(here.page.locator(".live.on")).to_be_visible()
    here.button("Undo change", exact=False).click()
    with held(here, "timeline") as kept:
        here.button("Undo 1 change", here.dialog).click()
        waits(here, kept)
        api("store", text="Came after the answer.", project=project)
        newest = here.page.locator(".change").filter(has_text="Came after the answer.")
        expect(newest).to_be_visible()
    expect(newest).to_be_visible()
    expect(here.page.locator(".change")).to_have_count(3)


@pytest.mark.promise("api.page.search")
def test_a_project_that_is_made_meanwhile_can_be_chosen(here: Tab, api: Api, project: str) -> None:
    api("store", text="Was here before.", project=project)
    here.go(project=project)
    expect(here.page.locator(".hit")).to_contain_text("Was here before.")
    api("store", text="Came meanwhile.", project=f"{project}-new")
    choice = here.page.get_by_label("Project", exact=True)
    choice.focus()
    choice.select_option(f"{project}-new")
    expect(here.page.get_by_text("Came meanwhile.")).to_be_visible()


@pytest.mark.promise("api.page.review")
def test_an_item_is_settled_once_however_often_it_is_pressed(here: Tab, api: Api, project: str) -> None:
    old = api.store("The harbour has three cranes.", project=project)
    api("edit", id=old, superseded_by=api.store("Four ships came in.", project=project), project=project)
    here.go("review", project=project, kind="stale")
    with held(here, "resolve") as kept:
        here.button("Still true").click()
        waits(here, kept)
        here.button("Still true").click()
        here.button("Keep this, delete the other").first.click()
    expect(here.note("Resolved")).to_be_visible()
    assert sum(one.url.endswith("/api/resolve") for one in here.requests) == 1


@pytest.mark.promise("api.page.review")
def test_an_answer_is_stored_once(here: Tab, api: Api, project: str) -> None:
    api("store", text="Which region should the backup cluster be in?", project=project)
    here.go("review", project=project, kind="questions")
    here.button("Answer", exact=False).click()
    here.dialog.get_by_role("textbox").fill("In Seoul.")
    with held(here, "resolve") as kept:
        here.button("Store", here.dialog).click()
        waits(here, kept)
        here.dialog.locator("form").evaluate("form => form.requestSubmit()")
    expect(here.note("Resolved")).to_be_visible()
    assert sum(one.url.endswith("/api/resolve") for one in here.requests) == 1


@pytest.mark.promise("api.page.review")
def test_more_of_a_review_that_was_left_is_not_shown_with_another(here: Tab, api: Api, project: str) -> None:
    for number in range(60):
        api("store", text=f"Which of the ships in dock {number} is the oldest one?", project=project)
    here.go("review", project=project, kind="questions")
    items = here.page.locator(".review-item")
    expect(items.first).to_be_visible()
    with held(here, "review", goes_on) as kept:
        here.button("Show more").click()
        waits(here, kept)
        here.tab("Stale")
        expect(items).to_have_count(0)
    expect(items).to_have_count(0)


@pytest.mark.promise("api.page.review")
def test_what_is_dismissed_among_the_dismissed_stays(here: Tab, api: Api, project: str) -> None:
    for number in (1, 2):
        api("store", text=f"Which of the ships in dock {number} is the oldest one?", project=project)
    here.go("review", project=project, kind="questions", dismissed="1")
    items = here.page.locator(".review-item")
    expect(items).to_have_count(2)
    here.button("Not a problem", items.first).click()
    expect(here.button("Take it up again")).to_have_count(1)
    expect(items).to_have_count(2)


@pytest.mark.promise("api.page.edit")
def test_an_edit_that_is_saved_anyway_changes_what_was_typed_alone(here: Tab, api: Api, project: str) -> None:
    for name in ("shop", "street"):
        api("store", text=f"The {name}.", name=name, kind="place", project=project)
    here.go("memory", "shop", project=project)
    here.button("Edit").click()
    text = here.page.locator(".editor").get_by_label("Text")
    text.fill("The shop opens at eight.")
    api("edit", id="shop", tags=["by an agent"], kind="building", project=project)
    here.button("Add a relation").click()  # which asks for the memory again
    here.dialog.get_by_label("To which memory").fill("street")
    here.button("Add a relation", here.dialog).last.click()
    expect(here.page.locator(".memory-head .tag")).to_have_text(["#by an agent"])
    expect(text).to_have_value("The shop opens at eight.")
    here.allow("409")
    here.button("Save").click()
    taken = here.page.locator(".editor [role=alert]")
    expect(taken).to_contain_text("by an agent")  # what somebody changed, not what was changed here
    here.button("Save mine anyway").click()
    expect(here.note("Saved")).to_be_visible()
    now = api("memory", id="shop", project=project)["memory"]
    assert [one["text"] for one in now["observations"]] == ["The shop opens at eight."]
    assert (now["tags"], now["kind"]) == (["by an agent"], "building")


@pytest.mark.promise("api.page.edit")
def test_an_edit_of_what_was_deleted_meanwhile_is_saved_once_it_is_back(here: Tab, api: Api, project: str) -> None:
    api("store", text="The shop.", name="shop", project=project)
    here.go("memory", "shop", project=project)
    here.button("Edit").click()
    text = here.page.locator(".editor").get_by_label("Text")
    text.fill("The shop opens at eight.")
    api("delete", ids=["shop"], project=project)
    here.allow("404|409")
    here.button("Save").click()
    here.button("Restore", here.page.locator(".banner")).click()
    expect(here.note("Restored")).to_be_visible()
    expect(text).to_have_value("The shop opens at eight.")
    expect(here.page.locator("article > .banner")).to_have_count(0)
    here.button("Save").click()
    here.button("Save mine anyway").click()
    expect(here.note("Saved")).to_be_visible()
    (now,) = api("memory", id="shop", project=project)["memory"]["observations"]
    assert now["text"] == "The shop opens at eight."


@pytest.mark.promise("api.page.edit")
def test_an_undo_that_did_not_arrive_can_be_pressed_again(here: Tab, api: Api, project: str) -> None:
    api("store", text="Is there.", name="here", project=project)
    here.go("memory", "here", project=project)
    here.button("Delete").click()
    expect(here.note("Deleted: here")).to_be_visible()
    here.allow("ERR_FAILED|Failed to load")
    here.page.route("**/api/undo", lambda route: route.abort())
    here.undo("Deleted: here")
    expect(here.page.locator(".note.bad")).to_contain_text("The server does not answer")
    here.page.unroute("**/api/undo")
    here.undo("Deleted: here")
    expect(here.note("Undone")).to_be_visible()
    assert not api("memory", id="here", project=project)["deleted"]


def test_an_answer_that_breaks_off_is_told_in_words(here: Tab, api: Api, project: str) -> None:
    api("store", text="Is there.", name="here", project=project)
    broken = {"status": 200, "content_type": "application/json", "body": '{"memory": {"id'}
    here.page.route("**/api/memory", lambda route: route.fulfill(**broken))
    here.go("memory", "here", project=project)
    expect(here.page.get_by_role("alert")).to_contain_text("The server does not answer")
    here.page.unroute("**/api/memory")
    here.button("Try again").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("here")


@pytest.fixture(scope="module")
def keyed(serving: Callable[..., Served]) -> tuple[Served, str]:
    """A server with keys, and one that manages the others."""
    served = serving(*MANY, "--rate-limit-explorer", "1000000")
    return served, served.keys.add("boss", manage=True)[1]


@pytest.mark.promise("api.page.keys")
def test_a_refusal_of_the_key_before_does_not_ask_for_the_new_one(
    tabs: Callable[..., Tab], keyed: tuple[Served, str]
) -> None:
    server, boss = keyed
    api = Api(server, boss)
    api("store", text="Is there.", project="kept")
    made = api("create_key", name="old", access="read")
    tab = tabs(server, key=made["secret"])
    tab.go(project="kept")
    expect(tab.page.locator(".hit")).to_have_count(1)
    api("revoke_key", id=made["key"]["id"])
    tab.allow("401")
    current = tab.page.get_by_text("this one")
    with held(tab, "memory") as kept:
        tab.link("Is there.").click()
        waits(tab, kept)
        tab.page.goto(f"{tab.home}#/health")
        tab.page.get_by_label("Key", exact=True).fill(boss)
        tab.press("Enter")
        expect(current).to_be_visible()
    expect(current).to_be_visible()


@pytest.mark.promise("api.page.keys")
def test_a_link_with_a_key_opens_a_page_that_waits_for_one(tabs: Callable[..., Tab], keyed: tuple[Served, str]) -> None:
    server, boss = keyed
    tab = tabs(server)
    tab.allow("401")
    tab.page.goto(tab.home)
    expect(tab.page.get_by_label("Key", exact=True)).to_be_visible()
    tab.page.evaluate("key => { location.hash = '#key=' + key }", boss)
    expect(tab.page.locator("#query")).to_be_visible()
    assert boss not in tab.page.url


@pytest.mark.promise("api.page.keys")
def test_who_makes_the_first_key_reads_it_also_after_another_that_is_gone(
    tabs: Callable[..., Tab], serving: Callable[..., Served]
) -> None:
    server = serving(*MANY, "--rate-limit-explorer", "1000000")
    tab = tabs(server, key="pk_of_another_server")
    tab.go("health")
    tab.button("New key").click()
    tab.dialog.get_by_label("Name").fill("boss")
    tab.button("New key", tab.dialog).click()
    secret = tab.page.locator(".secret").inner_text()
    tab.button("Close", tab.dialog).click()
    expect(tab.page.locator("tr", has_text="boss")).to_contain_text("this one")
    assert Api(server, secret)("about")["access"]["manage"] is True
