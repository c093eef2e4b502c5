"""Reviewing in the explorer: what is to be settled, its resolutions, and that each of them can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import MANY
from .exploring import Api
from .served import Served


@pytest.fixture(scope="module")
def api(serving: Callable[..., Served]) -> Api:
    """A server of its own, whose projects are the tests'."""
    return Api(serving(*MANY, "--rate-limit-explorer", "1000000"))


def named(item: dict[str, Any], name: str, keeps: int | None = None) -> list[Any]:
    """The steps of a resolution."""
    return next(
        list(one["steps"])
        for one in item["resolutions"]
        if one["name"] == name and (keeps is None or one["keeps"] == keeps)
    )


def items(api: Api, kind: str, project: str, **given: Any) -> list[Any]:
    """What is to be settled."""
    return list(api("review", kind=kind, project=project, **given)["items"])


@pytest.mark.promise("api.review.duplicates", "api.resolve")
def test_duplicates_are_settled_in_one_go_and_back(api: Api) -> None:
    api("store", text="Ann likes green tea very much.", name="one", tags=["a"], project="twice")
    api("store", text="Ann likes green tea very much.", name="two", tags=["b"], project="twice")
    (item,) = items(api, "duplicates", "twice")
    assert [one["memory"]["name"] for one in item["sides"]] == ["one", "two"]
    assert item["why"]["code"] == "same_text"
    done = api("resolve", steps=named(item, "keep_first"), project="twice")
    assert items(api, "duplicates", "twice") == []
    assert sorted(api("memory", id="one", project="twice")["memory"]["tags"]) == ["a", "b"]
    assert api("memory", id="two", project="twice")["deleted"]
    api("undo", changes=done["changes"], project="twice")
    assert api("memory", id="one", project="twice")["memory"]["tags"] == ["a"]
    assert len(items(api, "duplicates", "twice")) == 1


@pytest.mark.promise("api.resolve")
def test_a_resolution_that_fails_leaves_nothing_behind(api: Api) -> None:
    api("store", text="stays", name="here", project="half")
    steps = [{"do": "edit", "id": "here", "add": ["more"]}, {"do": "delete", "id": "nobody"}]
    status, data = api.refused("resolve", steps=steps, project="half")
    assert (status, data["error_type"]) == (404, "not_found")
    assert [one["text"] for one in api("memory", id="here", project="half")["memory"]["observations"]] == ["stays"]
    assert api.refused("resolve", steps=[], project="half")[0] == 400
    assert api.refused("resolve", steps=[{"do": "delete"}], project="half")[0] == 400


@pytest.mark.promise("api.review.stale")
def test_what_was_replaced_is_stale(api: Api) -> None:
    old = api.store("The port is 8080.", project="old")
    new = api.store("The port is 9090 now.", project="old")
    api("edit", id=old, superseded_by=new, project="old")
    (item,) = items(api, "stale", "old")
    assert [one["memory"]["id"] for one in item["sides"]] == [old, new]
    assert item["why"]["code"] == "superseded_by"
    assert api("memory", id=old, project="old")["memory"]["superseded_by"]["id"] == new
    renewed = api("resolve", steps=named(item, "renew"), project="old")
    assert items(api, "stale", "old") == []
    api("undo", changes=renewed["changes"], project="old")
    api("resolve", steps=named(item, "archive"), project="old")
    assert api("memory", id=old, project="old")["deleted"]


@pytest.mark.promise("api.review.questions", "api.dismiss")
def test_an_open_question_is_answered_or_dismissed(api: Api) -> None:
    asked = api.store("Which region should the backup cluster be in?", project="asked", scope="ops")
    (item,) = items(api, "questions", "asked")
    assert item["sides"][0]["quote"] == "Which region should the backup cluster be in?"
    api("dismiss", item=item["item"], project="asked")
    assert items(api, "questions", "asked") == []
    assert [one["dismissed"] for one in items(api, "questions", "asked", dismissed=True)] == [True]
    api("dismiss", item=item["item"], dismissed=False, project="asked")
    assert len(items(api, "questions", "asked")) == 1
    api("dismiss", item=item["item"], project="asked")
    api("edit", id=asked, tags=["open"], project="asked")
    assert len(items(api, "questions", "asked")) == 1  # it has changed
    (step,) = named(item, "answer")
    done = api("resolve", steps=[{**step, "text": "The backup cluster is in Seoul."}], project="asked")
    assert len(done["changes"]) == 2
    found = api("memory", id=asked, project="asked")
    assert [(one["type"], one["direction"]) for one in found["relations"]] == [("answers", "in")]


@pytest.mark.promise("api.review.conflicts")
def test_conflicts_are_shown_side_by_side(api: Api) -> None:
    older = api.store("The deploy server listens on port 8080.", project="clash")
    newer = api.store("The deploy server listens on port 9090.", project="clash")
    assert items(api, "conflicts", "clash") == []  # none was noted when they were stored
    found = api("review", kind="conflicts", project="clash", deep=True)
    (item,) = found["items"]
    assert {one["memory"]["id"] for one in item["sides"]} == {older, newer}
    assert item["why"]["values"]["differs"] and found["at"]
    keeps = next(at for at, one in enumerate(item["sides"]) if one["memory"]["id"] == newer)
    done = api("resolve", steps=named(item, "supersede", keeps), project="clash")
    assert api("memory", id=older, project="clash")["memory"]["superseded_by"]["id"] == newer
    api("undo", changes=done["changes"], project="clash")
    assert api("memory", id=older, project="clash")["memory"]["superseded_by"] is None
