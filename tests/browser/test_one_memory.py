"""A memory in the page: edited in place, set back, related, deleted, and every step of it undone."""

from __future__ import annotations

import pytest

from network.exploring import Api

from .browsing import Tab, expect


def texts(api: Api, name: str, project: str) -> list[str]:
    """What a memory says."""
    return [one["text"] for one in api("memory", id=name, project=project)["memory"]["observations"]]


@pytest.mark.promise("api.page.edit")
def test_a_memory_is_edited_in_place_and_the_edit_undone(here: Tab, api: Api, project: str) -> None:
    api("store", text="The port is 8080.", name="deploy", kind="fact", tags=["ops"], project=project)
    here.go("memory", "deploy", project=project)
    page = here.page
    here.button("Edit").click()
    editor = page.locator(".editor")
    editor.get_by_label("Text").fill("The port is 9090.")
    editor.get_by_label("Tags").fill("ops, ports")
    editor.get_by_label("Kind").fill("rule")
    here.button("Save").click()
    expect(here.note("Saved")).to_be_visible()
    expect(page.locator(".memory .card .stored.text").first).to_have_text("The port is 9090.")
    expect(page.locator(".memory-head .meta")).to_contain_text("rule")
    expect(page.locator(".memory-head .tag")).to_have_text(["#ops", "#ports"])
    difference = page.locator(".version-list li").first
    expect(difference.locator("del").filter(has_text="8080")).to_be_visible()
    expect(difference.locator("ins").filter(has_text="9090")).to_be_visible()
    assert texts(api, "deploy", project) == ["The port is 9090."]
    here.undo("Saved")
    expect(page.locator(".memory .card .stored.text").first).to_have_text("The port is 8080.")
    assert texts(api, "deploy", project) == ["The port is 8080."]


@pytest.mark.promise("api.page.keyboard")
def test_observations_are_added_and_removed_by_the_keyboard(here: Tab, api: Api, project: str) -> None:
    api("store", text="Likes tea.", name="Ann", project=project)
    api("edit", id="Ann", add=["Lives in Seoul."], project=project)
    here.go("memory", "Ann", project=project)
    expect(here.page.locator(".version-list > li")).to_have_count(2)
    here.press("e")
    expect(here.page.get_by_label("Observation 1", exact=True)).to_be_focused()
    here.button("Remove observation 1").click()
    here.button("Add an observation").click()
    here.page.get_by_label("Observation 2", exact=True).fill("Works at the harbour.")
    here.press("Escape")
    expect(here.note("There are changes")).to_be_visible()  # nothing that was typed is thrown away
    here.page.get_by_label("Observation 2", exact=True).focus()
    here.press("Control+Enter")
    expect(here.note("Saved")).to_be_visible()
    assert texts(api, "Ann", project) == ["Lives in Seoul.", "Works at the harbour."]


@pytest.mark.promise("api.page.edit")
def test_an_edit_that_was_left_is_there_when_one_comes_back(here: Tab, api: Api, project: str) -> None:
    api("store", text="Opens at nine.", name="shop", project=project)
    here.go("timeline", project=project)
    here.link("shop").first.click()
    text = here.page.locator(".editor").get_by_label("Text")
    here.button("Edit").click()
    text.fill("Opens at eight.")
    here.page.go_back()
    expect(here.page.locator(".change")).to_have_count(1)
    api("edit", id="shop", text="Opens at ten.", project=project)
    here.page.go_forward()
    expect(text).to_have_value("Opens at eight.")
    here.allow("409")
    here.button("Save").click()  # it began before the other change, which is not overwritten
    expect(here.page.get_by_role("alert")).to_contain_text("Somebody changed this memory meanwhile")
    here.button("Cancel").click()
    expect(here.page.locator(".editor")).to_have_count(0)
    assert texts(api, "shop", project) == ["Opens at ten."]


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(here: Tab, api: Api, project: str) -> None:
    api("store", text="Opens at nine.", name="shop", project=project)
    here.go("memory", "shop", project=project)
    here.button("Edit").click()
    here.page.locator(".editor").get_by_label("Text").fill("Opens at eight.")
    api("edit", id="shop", text="Opens at ten.", project=project)
    here.allow("409")
    here.button("Save").click()
    expect(here.page.get_by_role("alert")).to_contain_text("Somebody changed this memory meanwhile")
    assert texts(api, "shop", project) == ["Opens at ten."]
    here.button("Save mine anyway").click()
    expect(here.note("Saved")).to_be_visible()
    assert texts(api, "shop", project) == ["Opens at eight."]


@pytest.mark.promise("api.page.edit")
def test_a_version_is_restored_and_that_undone(here: Tab, api: Api, project: str) -> None:
    api("store", text="First.", name="draft", project=project)
    api("edit", id="draft", text="Second.", project=project)
    api("edit", id="draft", text="Third.", project=project)
    here.go("memory", "draft", project=project)
    versions = here.page.locator(".version-list > li")
    expect(versions).to_have_count(3)
    versions.nth(2).locator("summary").click()
    here.button("Restore this version", versions.nth(2)).click()
    expect(here.note("Restored")).to_be_visible()
    expect(versions).to_have_count(4)
    assert texts(api, "draft", project) == ["First."]
    here.undo("Restored")
    expect(versions).to_have_count(5)
    assert texts(api, "draft", project) == ["Third."]


@pytest.mark.promise("api.page.edit")
def test_a_deleted_memory_is_shown_and_comes_back(here: Tab, api: Api, project: str) -> None:
    for name in ("here", "there"):
        api("store", text=f"Is {name}.", name=name, project=project)
    api("relate", from_="here", to="there", type="near", project=project)
    here.go("search", project=project)
    here.page.locator(".hit-title").filter(has_text="here").last.click()  # a link by its id
    here.button("Delete").click()
    here.allow("404")  # by its id it is not there any more
    expect(here.page.locator(".banner")).to_contain_text("Deleted")
    expect(here.page.locator(".version-list > li")).to_have_count(1)
    here.undo("Deleted: here")
    expect(here.page.locator(".banner")).to_have_count(0)
    here.button("Delete").click()
    expect(here.page.locator(".banner")).to_contain_text("Deleted")
    here.go("search", project=project)
    here.go("memory", "here", project=project)
    here.button("Restore", here.page.locator(".banner")).click()
    expect(here.page.locator(".banner")).to_have_count(0)
    expect(here.page.locator(".relations")).to_contain_text("there")


@pytest.mark.promise("api.page.edit")
def test_relations_are_made_and_taken_away(here: Tab, api: Api, project: str) -> None:
    for name in ("cat", "catalogue"):
        api("store", text=f"A {name}.", name=name, project=project)
    here.go("memory", "cat", project=project)
    here.button("Add a relation").click()
    here.dialog.get_by_label("Type").fill("listed_in")
    here.dialog.get_by_label("To which memory").fill("catalogue")
    here.button("Add a relation", here.dialog).last.click()
    expect(here.note("Related")).to_be_visible()
    expect(here.page.locator(".relations > li")).to_contain_text("listed_in")
    here.button("Remove the relation listed_in").click()
    expect(here.page.locator(".relations > li")).to_have_count(0)
    here.undo("Relation removed")
    expect(here.page.locator(".relations > li")).to_have_count(1)
    here.link("catalogue").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("catalogue")


def test_a_new_memory_is_stored_from_anywhere(here: Tab, api: Api, project: str) -> None:
    api("store", text="There.", project=project)
    here.go("timeline", project=project)
    here.press("n")
    expect(here.dialog.get_by_label("Text")).to_be_focused()
    here.page.keyboard.type("The office is on the fourth floor.")
    here.dialog.get_by_label("Tags").fill("office, floor")
    here.dialog.get_by_label("Scope").fill("work/building")
    here.button("Store", here.dialog).click()
    expect(here.page.get_by_role("heading", level=1)).to_contain_text("fourth floor")
    expect(here.page.locator(".crumbs")).to_contain_text("building")
    expect(here.page.locator(".memory-head .tag")).to_have_text(["#office", "#floor"])
    here.undo("Stored")
    expect(here.page.locator(".hit")).to_have_count(1)


@pytest.mark.promise("api.page.edit")
def test_a_new_memory_survives_a_key_that_was_revoked(here: Tab, api: Api, project: str) -> None:
    here.go("timeline", project=project)
    here.press("n")
    here.dialog.get_by_label("Text").fill("A long thought.")
    revoked = {"status": 401, "content_type": "application/json", "body": '{"error": {"message": "Unknown key"}}'}
    here.page.route("**/api/store", lambda route: route.fulfill(**revoked))
    here.allow("401")
    here.button("Store", here.dialog).click()
    here.page.get_by_label("Key", exact=True).fill("pk_another")
    here.page.unroute("**/api/store")
    here.press("Enter")
    expect(here.dialog.get_by_label("Text")).to_have_value("A long thought.")
    here.button("Cancel", here.dialog).click()
    here.press("n")
    expect(here.dialog.get_by_label("Text")).to_have_value("")  # cancelled is cancelled


@pytest.mark.promise("api.page.edit")
def test_one_of_several_that_were_deleted_together_comes_back_alone(here: Tab, api: Api, project: str) -> None:
    ids = [api.store(f"Text of {name}.", name=name, project=project) for name in ("one", "two")]
    api("delete", ids=ids, project=project)
    here.go("memory", ids[0], project=project)
    here.button("Restore").click()
    expect(here.note("Restored")).to_be_visible()
    expect(here.page.locator("article .banner")).to_have_count(0)
    assert [bool(api("memory", id=id, project=project)["deleted"]) for id in ids] == [False, True]


def test_a_double_click_is_one_and_what_changed_nothing_says_so(here: Tab, api: Api, project: str) -> None:
    for name in ("gone", "away"):
        api("store", text=f"The {name} one.", name=name, project=project)
    here.go("memory", "gone", project=project)
    here.button("Delete").dblclick()
    expect(here.note("Deleted: gone")).to_be_visible()
    here.button("Restore").dblclick()
    expect(here.note("Restored")).to_be_visible()
    here.go("memory", "away", project=project)
    expect(here.button("Delete")).to_be_visible()
    api("delete", ids=["away"], project=project)
    here.allow("404")
    here.button("Delete").click()
    expect(here.button("Restore")).to_be_visible()
    expect(here.page.locator(".note > span")).to_have_text(["Deleted: gone", "Restored", "It was deleted already"])
    assert [one["tool"] for one in api("timeline", project=project)["changes"]] == [
        "delete", "restore", "delete", "store", "store",
    ]  # fmt: skip


@pytest.mark.promise("api.page.edit")
def test_an_edit_leaves_alone_what_nobody_typed_in(here: Tab, api: Api, project: str) -> None:
    id = api.store("The shop opens at nine.", tags=["open, daily", "shop"], project=project)
    here.go("memory", id, project=project)
    here.button("Edit").click()
    text = here.page.locator(".editor").get_by_label("Text")
    text.fill("  ")
    here.button("Save").click()
    expect(here.note("No text is left")).to_be_visible()
    text.fill("The shop opens at ten.")
    here.button("Save").click()
    expect(here.note("Saved")).to_be_visible()
    now = api("memory", id=id, project=project)["memory"]
    assert (texts(api, id, project), now["tags"]) == (["The shop opens at ten."], ["open, daily", "shop"])
