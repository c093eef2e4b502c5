"""Searching in the page: as one types, by the keyboard, narrowed down, and kept as a link."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Request, Route

from network.exploring import Api
from network.served import Served

from .browsing import Tab, expect
from .sample import fill


@pytest.fixture(scope="module")
def filled(api: Api) -> dict[str, str]:
    """A project to search."""
    return fill(api, "shop")


def searched(words: str, effort: str) -> Callable[[Request], bool]:
    """Whether a request searches for words, at a key stroke ("quick") or once the fingers rest ("balanced")."""

    def asks(request: Request) -> bool:
        given = request.post_data_json if request.url.endswith("/api/search") else None
        return bool(given) and (given["query"], given["effort"]) == (words, effort)

    return asks


@pytest.mark.promise("api.page.search")
def test_what_is_typed_is_found_marked_and_explained(here: Tab, filled: dict[str, str]) -> None:
    here.go(project="shop")
    page = here.page
    expect(page.locator("#search-state")).to_contain_text("newest first")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("tokens signed")
    expect(page.locator(".hit-title").first).to_have_text("auth-service")
    expect(page.locator(".hit mark").first).to_have_text("Tokens")
    expect(page.locator(".hit .why").first).to_contain_text("“tokens”")
    expect(page.locator(".hit .meta").first).to_contain_text("explorer")
    expect(page).to_have_title("tokens signed · Polymnia")
    page.locator("#query").fill("결제 팀")
    expect(page.locator(".hit-title").first).to_have_text("Kim Minji")
    expect(page.locator(".hit mark").first).to_contain_text("결제")


@pytest.mark.promise("api.page.search")
def test_a_day_is_one_of_this_place_and_a_month_the_one_that_was_counted(
    tabs: Callable[..., Tab], server: Served, api: Api, project: str
) -> None:
    memories = [
        {"id": f"at {at}", "content": f"Noted at {at}.", "created_at": f"2026-{at}:00Z"}
        for at in ("02-28T16:00", "03-01T14:59", "03-01T15:00", "03-02T14:59", "03-02T15:00")
    ]
    archive = json.dumps({"format": "polymnia-memories", "version": 1, "memories": memories})
    api("import", name="days.json", data=archive, project=project)
    tab = tabs(server, timezone_id="Asia/Seoul")  # nine hours ahead of UTC
    tab.go(project=project)
    titles = tab.page.locator(".hit-title")
    expect(titles).to_have_count(5)
    tab.page.get_by_label("From").fill("2026-03-02")
    tab.page.get_by_label("Until").fill("2026-03-02")
    expect(titles).to_have_text(["Noted at 03-02T14:59.", "Noted at 03-01T15:00."])
    tab.button("Remove the filter", exact=False).last.click()
    tab.button("Remove the filter", exact=False).last.click()
    tab.button("February 2026 1").click()
    expect(titles).to_have_text(["Noted at 02-28T16:00."])
    expect(tab.button("February 2026 1")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.locator(".chosen")).to_contain_text("2026-02-28")


@pytest.mark.promise("api.page.search")
def test_a_link_that_somebody_mistyped_is_told_or_shown(here: Tab, api: Api, project: str) -> None:
    api("store", text="There.", name="there", project=project)
    here.allow("400|does not conform")
    here.go("search", project=project, since="2026-13-45")
    expect(here.page.get_by_role("alert")).to_contain_text("2026-13-45")
    here.page.goto(f"{here.home}#/graph?project={project}&hide=%25")
    expect(here.page.locator(".canvas-state")).to_contain_text("1 memory")


@pytest.mark.promise("api.page.search")
def test_counts_narrow_a_search_down_and_a_link_restores_it(
    here: Tab, tabs: Callable[..., Tab], server: Served, filled: dict[str, str]
) -> None:
    here.go(project="shop")
    facets = here.page.locator(".facets")
    here.button("service 2", facets).click()
    expect(here.page.locator(".hit")).to_have_count(2)
    here.page.locator("#query").fill("card")
    expect(here.page.locator(".hit-title")).to_have_text(["billing-service"])
    here.button("billing 1", facets).click()
    expect(here.button("billing 1", facets)).to_have_attribute("aria-pressed", "true")
    here.page.get_by_label("Order").select_option(label="Newest first")
    here.context.grant_permissions(["clipboard-read", "clipboard-write"])
    here.button("Copy link").click()
    expect(here.note("Link copied")).to_be_visible()
    link = here.page.evaluate("navigator.clipboard.readText()")
    elsewhere = tabs(server)
    elsewhere.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    elsewhere.page.goto(link)  # as over HTTP from another machine, where a page has no clipboard
    elsewhere.button("Copy link").click()
    expect(elsewhere.note("Link copied")).to_be_visible()
    elsewhere.page.locator("#query").fill("")
    elsewhere.page.locator("#query").press("Control+v")
    expect(elsewhere.page.locator("#query")).to_have_value(link)
    again = tabs(server)
    again.page.goto(link)
    expect(again.page.locator("#query")).to_have_value("card")
    expect(again.page.locator(".chosen .chip")).to_have_count(3)
    expect(again.page.locator(".hit-title")).to_have_text(["billing-service"])
    expect(again.page.get_by_label("Order")).to_have_value("date")
    again.button("Remove the filter Tag").click()
    again.button("Clear filters").click()
    expect(again.page.locator(".chosen")).to_have_count(0)
    expect(again.page.locator("#query")).to_have_value("card")


def test_a_time_and_a_tag_of_a_hit_are_filters_too(here: Tab, filled: dict[str, str]) -> None:
    here.go(project="shop")
    here.button("#storage", here.page.locator(".hits")).click()
    expect(here.page.locator(".hit-title")).to_have_text(["postgres-main"])
    here.page.get_by_label("Until").fill("2001-01-01")
    here.page.keyboard.press("Tab")
    expect(here.page.get_by_text("Nothing found")).to_be_visible()
    here.page.go_back()
    expect(here.page.locator(".hit-title")).to_have_text(["postgres-main"])


@pytest.mark.promise("api.page.keyboard")
def test_the_keyboard_alone_finds_walks_opens_and_deletes(here: Tab, api: Api, filled: dict[str, str]) -> None:
    for n in range(3):
        api("store", text=f"Parking lot {n} is behind the house.", name=f"lot {n}", project="parking")
    here.go("timeline", project="parking")
    expect(here.page.locator(".change")).to_have_count(3)
    here.press("/")
    expect(here.page.locator("#query")).to_be_focused()
    here.page.keyboard.type("parking lot")
    expect(here.page.locator("mark", has_text="lot").first).to_be_visible()
    expect(here.page.locator(".hit")).to_have_count(3)
    here.press("ArrowDown", "ArrowDown")
    expect(here.page.locator(".hit-title").nth(1)).to_be_focused()
    second, third = here.page.locator(".hit-title").all_inner_texts()[1:]
    here.press("Delete")
    expect(here.note(f"Deleted: {second}")).to_be_visible()
    expect(here.page.locator(".hit")).to_have_count(2)
    expect(here.page.locator(".hit-title").nth(1)).to_be_focused()
    expect(here.page.locator(".hit-title").nth(1)).to_have_text(third)
    here.undo(f"Deleted: {second}")
    expect(here.page.locator(".hit")).to_have_count(3)
    here.page.locator("#query").focus()
    here.press("ArrowDown", "Escape")
    expect(here.page.locator("#query")).to_be_focused()
    first = here.page.locator(".hit-title").first.inner_text()
    here.press("Enter")
    expect(here.page.get_by_role("heading", level=1)).to_have_text(first)


@pytest.mark.promise("api.page.keyboard")
def test_who_walks_through_hits_stays_on_theirs_whatever_arrives_meanwhile(here: Tab, api: Api) -> None:
    for n in range(3):
        api("store", text=f"Parking lot {n} is behind the house.", name=f"lot {n}", project="parking")
    page, titles, held = here.page, here.page.locator(".hit-title"), list[Route]()
    better, newer, last = (
        searched(words, effort)
        for words, effort in (("parking", "balanced"), ("parking lot", "quick"), ("parking lot is", "quick"))
    )

    def hold(route: Route) -> None:
        if any(one(route.request) for one in (better, newer, last)):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold)

    def answer(change: Callable[[list[Any]], list[Any]]) -> None:
        route = held.pop()
        answered = route.fetch()
        found = answered.json()
        with page.expect_response(lambda response: response.request == route.request):
            route.fulfill(response=answered, json={**found, "hits": change(found["hits"])})
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")

    here.go(project="parking")
    expect(page.locator("#query")).to_be_focused()
    with page.expect_request(better):
        page.keyboard.type("parking")
    expect(titles).to_have_count(3)
    here.press("ArrowDown", "ArrowDown")
    expect(titles.nth(1)).to_be_focused()
    order = titles.all_inner_texts()
    # The slower, better search answers: its order would put something else under the finger.
    answer(lambda hits: hits[::-1])
    expect(titles.nth(1)).to_be_focused()
    assert titles.all_inner_texts() == order

    # What other words find is shown, and the hit keeps the focus wherever it moves.
    page.locator("#query").focus()
    with page.expect_request(newer):
        page.keyboard.type(" lot")
    here.press("ArrowDown")
    expect(titles.first).to_be_focused()
    focused = titles.first.inner_text()
    answer(lambda hits: sorted(hits, key=lambda hit: hit["title"] == focused))
    expect(titles.nth(2)).to_have_text(focused)
    expect(titles.nth(2)).to_be_focused()

    # And where it is not found any more, what took its place has it.
    page.locator("#query").focus()
    with page.expect_request(last):
        page.keyboard.type(" is")
    here.press("ArrowDown")
    gone = titles.first.inner_text()
    answer(lambda hits: [hit for hit in hits if hit["title"] != gone])
    expect(titles).to_have_count(2)
    expect(titles.first).to_be_focused()


def test_a_page_goes_on_where_the_first_one_ends(here: Tab, api: Api) -> None:
    for n in range(33):
        api("store", text=f"Number {n} of many.", project="many")
    here.go(project="many")
    expect(here.page.locator(".hit")).to_have_count(30)
    here.button("Show more").click()
    expect(here.page.locator(".hit")).to_have_count(33)


@pytest.mark.promise("api.page.search")
def test_who_leaves_while_typing_is_not_brought_back(here: Tab, filled: dict[str, str]) -> None:
    here.go(project="shop")
    expect(here.page.locator("#query")).to_be_focused()
    # Another screen is asked for in the very moment in which the words come to rest: the page has just set its title.
    here.page.evaluate(
        """() => Object.defineProperty(document, "title", {
          set: (title) => { if (title.startsWith("auth")) location.hash = "#/timeline?project=shop"; },
        })"""
    )
    here.page.keyboard.type("auth")
    expect(here.page.locator(".change").first).to_be_visible()
    assert here.address == "#/timeline?project=shop"


@pytest.mark.promise("api.page.search")
def test_going_back_finds_the_results_as_they_were_left(here: Tab, api: Api) -> None:
    for n in range(40):
        api("store", text=f"Entry {n} of a long list.", project="list")
    here.go(project="list")
    page = here.page
    expect(page.get_by_label("Order")).to_have_count(0)  # without a search there is one order, and it is told
    here.button("Show more").click()
    expect(page.locator(".hit")).to_have_count(40)
    link = page.locator(".hit-title").nth(35)
    link.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("[scrollY, document.activeElement.id]") == [0, "main"]
    name = page.get_by_role("heading", level=1).inner_text()
    here.button("Delete").click()
    here.undo("Deleted")
    page.go_back()
    expect(page.locator(".hit")).to_have_count(40)
    expect(link).to_be_focused()
    expect(link).to_have_text(name)
    expect(link).to_be_in_viewport()


def test_what_went_wrong_is_told_in_the_language_of_the_page(
    serving: Callable[..., Served], tabs: Callable[..., Tab]
) -> None:
    server = serving("--rate-limit-heavy", "1")
    Api(server).store("There.", project="shop")
    tab = tabs(server, locale="ko-KR")
    tab.allow("429|ERR_")
    tab.go("review", project="shop", kind="stale")
    expect(tab.page.get_by_text("할 일이 없습니다")).to_be_visible()
    tab.page.get_by_role("tab", name="중복").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("초 뒤에 다시 시도하세요")
    tab.go("memory", "nobody", project="shop")
    tab.allow("404")
    tab.link("검색하기").click()
    expect(tab.page.locator("#query")).to_have_value("nobody")
    tab.allow("503")  # a server that stops takes no more searches
    server.stop()
    tab.page.locator("#query").fill("somebody")
    expect(tab.page.get_by_role("alert")).to_contain_text("서버가 응답하지 않습니다")


def test_what_is_found_in_a_text_from_right_to_left_stays_a_sentence(here: Tab, api: Api, project: str) -> None:
    api("store", text="הפגישה הבאה תתקיים ביום שלישי בשעה עשר.", name="meeting", project=project)
    here.go("search", project=project, q="שלישי")
    mark = here.page.locator(".fragment mark")
    expect(mark).to_have_text("שלישי")
    order = """mark => {
      const range = document.createRange();
      const left = node => { range.selectNode(node); return range.getBoundingClientRect().left };
      return [left(mark.previousSibling), left(mark), left(mark.nextSibling)];
    }"""
    before, found, after = mark.evaluate(order)
    assert before > found > after  # what comes first is on the right
