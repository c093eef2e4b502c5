"""Reviewing in the page: what is to be settled side by side, each way to settle it, and its undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from form import each
from network.exploring import Api

from .browsing import Tab, expect


def contents(api: Api, project: str) -> dict[str, Any]:
    """Everything a project holds, without the traces of an undo."""
    hits = api("search", query="", project=project, limit=100)["hits"]
    found = {}
    for hit in hits:
        one = api("memory", id=hit["id"], project=project)
        memory = one["memory"]
        found[memory["id"]] = (
            [text["text"] for text in memory["observations"]], memory["tags"], memory["superseded_by"],
            sorted((link["type"], link["direction"]) for link in one["relations"]),
        )  # fmt: skip
    return found


def conflict(api: Api, project: str) -> None:
    api("store", text="The deploy server listens on port 8080.", project=project)
    api("store", text="The deploy server listens on port 9090.", project=project)


def duplicates(api: Api, project: str) -> None:
    for name, tag in (("one", "a"), ("two", "b")):
        api("store", text="Ann likes green tea very much.", name=name, tags=[tag], project=project)


def question(api: Api, project: str) -> None:
    api("store", text="Which region should the backup cluster be in?", project=project)


def replaced(api: Api, project: str) -> None:
    old = api.store("The harbour has three cranes.", project=project)
    api("edit", id=old, superseded_by=api.store("Four ships came in.", project=project), project=project)


@pytest.mark.promise("api.page.review")
@each(
    ("kind", "fill", "why", "resolution", "left"),
    [
        ("conflicts", conflict, "They differ in a number", "This replaces the other", 2),
        ("conflicts", conflict, "They differ in a number", "Keep this, delete the other", 1),
        ("duplicates", duplicates, "They say exactly the same", "Keep this one", 1),
        ("questions", question, "No memory answers this", "Delete it", 0),
        ("stale", replaced, "It was replaced", "Still true", 2),
        ("stale", replaced, "It was replaced", "Keep this, delete the other", 1),
    ],
)
def test_an_item_is_settled_by_one_click_and_back(
    here: Tab, api: Api, project: str, kind: str, fill: Callable[[Api, str], None], why: str, resolution: str, left: int
) -> None:
    place = f"{project}-{kind}-{resolution.split()[0].lower()}"
    fill(api, place)
    before = contents(api, place)
    here.go("review", project=place, kind=kind, **({"deep": "1"} if kind == "conflicts" else {}))
    item = here.page.locator(".review-item")
    expect(item).to_contain_text(why)
    here.button(resolution, item).last.click()
    expect(here.note("Resolved")).to_be_visible()
    expect(item).to_have_count(0)
    after = contents(api, place)
    assert after != before and len(after) == left
    here.undo("Resolved")
    expect(item).to_have_count(1)
    assert contents(api, place) == before


@pytest.mark.promise("api.page.review")
def test_what_was_replaced_is_deleted_by_a_button_that_says_so(here: Tab, api: Api, project: str) -> None:
    new = api("store", text="Tickets are sold online.", name="new", project=project)["memory"]["id"]
    api("store", text="Tickets are sold at the door.", name="old", project=project)
    api("edit", id="old", superseded_by=new, project=project)
    here.go("review", project=project, kind="stale")
    sides = here.page.locator(".review-item .side-card")
    expect(sides).to_have_count(2)
    kept = sides.filter(has_text="online")
    expect(here.button("Delete it")).to_have_count(0)  # beside two memories nobody would know which
    here.button("Keep this, delete the other", kept).click()
    expect(here.note("Resolved")).to_be_visible()
    assert [one["name"] for one in api("search", query="", project=project)["hits"]] == ["new"]


@pytest.mark.promise("api.page.review")
def test_a_question_is_answered_in_place(here: Tab, api: Api, project: str) -> None:
    question(api, project)
    before = contents(api, project)
    here.go("review", project=project)
    here.tab("Open questions")
    here.button("Answer it").click()
    expect(here.dialog).to_contain_text("Which region")
    here.picture("review answer")
    here.dialog.get_by_label("Your answer").fill("In Seoul.")
    here.button("Store", here.dialog).click()
    expect(here.page.get_by_text("No open questions")).to_be_visible()
    assert len(contents(api, project)) == 2
    here.undo("Resolved")
    expect(here.page.locator(".review-item")).to_have_count(1)
    assert contents(api, project) == before


def test_what_is_no_problem_is_dismissed_and_taken_up_again(here: Tab, api: Api, project: str) -> None:
    duplicates(api, project)
    here.go("review", project=project, kind="duplicates")
    here.button("Not a problem").click()
    expect(here.page.get_by_text("No duplicates")).to_be_visible()
    here.undo("Will not be shown again")
    expect(here.page.locator(".review-item")).to_have_count(1)
    here.button("Not a problem").click()
    here.page.get_by_label("Show dismissed").check()
    here.button("Take it up again").click()
    here.page.get_by_label("Show dismissed").uncheck()
    expect(here.page.locator(".review-item")).to_have_count(1)
