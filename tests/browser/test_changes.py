"""The timeline in the page: live, filtered, undone after a look, and two moments side by side."""

from __future__ import annotations

import pytest

from network.exploring import Api, archive_with_drawn_relations
from network.served import Served

from .browsing import Tab, expect


def by_an_agent(server: Served, name: str, text: str, project: str) -> None:
    """What another client stores, over the protocol."""
    with server.door("session", f"all?project={project}") as door:
        entity = {"name": name, "entityType": "fact", "observations": [text]}
        door.call("create_entities", {"entities": [entity]})


@pytest.mark.promise("api.page.live")
def test_what_another_client_does_appears_by_itself(here: Tab, api: Api, server: Served, project: str) -> None:
    api("store", text="Was here before.", name="before", project=project)
    here.go("timeline", project=project)
    expect(here.page.locator(".live.on")).to_be_visible()
    by_an_agent(server, "from an agent", "Stored meanwhile.", project)
    first = here.page.locator(".change").first
    expect(first).to_contain_text("from an agent")
    expect(first).to_contain_text("create_entities")
    api("relate", from_="before", to="from an agent", type="precedes", project=project)
    expect(here.page.locator(".change").first).to_contain_text("before → precedes → from an agent")
    here.picture("timeline live")


@pytest.mark.promise("api.page.live")
def test_changes_are_filtered_by_client_and_tool(here: Tab, api: Api, server: Served, project: str) -> None:
    api("store", text="By the page.", name="page", project=project)
    by_an_agent(server, "agent", "By an agent.", project)
    api("edit", id="page", tags=["x"], project=project)
    here.go("timeline", project=project)
    changes = here.page.locator(".change")
    expect(changes).to_have_count(3)
    here.page.get_by_label("Client").select_option("explorer")
    expect(changes).to_have_count(2)
    here.page.get_by_label("Tool").select_option("edit")
    expect(changes).to_have_count(1)
    api("store", text="Passes no filter.", project=project)
    api("edit", id="page", tags=["y"], project=project)
    expect(changes).to_have_count(2)  # what is heard is filtered, too
    assert "client=explorer" in here.address and "tool=edit" in here.address


@pytest.mark.promise("api.page.preview")
def test_an_undo_is_shown_before_it_is_done(here: Tab, api: Api, project: str) -> None:
    api("store", text="Costs 10.", name="price", project=project)
    api("edit", id="price", text="Costs 12.", project=project)
    here.go("timeline", project=project)
    first = here.page.locator(".change").first
    here.button("Details of change", first, exact=False).click()
    expect(first.locator(".change-details del")).to_have_text("10")
    here.button("Undo change", first, exact=False).click()
    expect(here.dialog).to_contain_text("This takes back 1 change")
    expect(here.dialog).to_contain_text("sets back")
    assert api("memory", id="price", project=project)["memory"]["observations"][0]["text"] == "Costs 12."
    here.button("Undo 1 change", here.dialog).click()
    expect(here.note("Undone")).to_be_visible()
    assert api("memory", id="price", project=project)["memory"]["observations"][0]["text"] == "Costs 10."
    expect(here.page.locator(".change.undone")).to_have_count(1)
    here.undo("Undone")
    expect(here.page.locator(".change")).to_have_count(4)
    assert api("memory", id="price", project=project)["memory"]["observations"][0]["text"] == "Costs 12."


@pytest.mark.promise("api.page.preview")
def test_several_changes_and_all_since_one_are_undone(here: Tab, api: Api, project: str) -> None:
    for name in ("one", "two", "three"):
        api("store", text=f"Is {name}.", name=name, project=project)
    here.go("timeline", project=project)
    boxes = here.page.get_by_label("Choose change", exact=False)
    boxes.nth(0).check()
    boxes.nth(2).check()
    here.button("Undo 2 changes").click()
    expect(here.dialog.locator(".step")).to_have_count(2)
    here.button("Undo 2 changes", here.dialog).click()
    expect(here.note("Undone")).to_be_visible()
    assert [one["name"] for one in api("search", query="", project=project)["hits"]] == ["two"]
    row = here.page.locator(".change").filter(has_text="two")
    here.button("Details of change", row, exact=False).click()
    here.button("Undo this and all after it", row).click()
    here.button("Undo 1 change", here.dialog).click()
    expect(here.page.locator(".change.undone")).to_have_count(3)
    assert api("search", query="", project=project)["hits"] == []


@pytest.mark.promise("api.page.preview")
def test_a_session_is_undone_after_a_look(here: Tab, api: Api, server: Served, project: str) -> None:
    with server.door("session", f"all?project={project}") as door:
        for text in ("Noted in the meeting.", "Decided in the meeting."):
            door.call("memory_store", {"content": text, "scope": "session/standup/notes"})
    api("store", text="The harbour has four cranes.", project=project)
    here.go("timeline")  # all projects
    here.button("Undo a session").click()
    here.dialog.get_by_label("Project").select_option(project)
    session = here.dialog.get_by_role("combobox", name="Session")
    expect(here.dialog.locator("datalist option")).to_have_text(["2 memories"])  # it is offered
    session.fill("standup")
    here.button("Show", here.dialog).click()
    expect(here.dialog).to_contain_text("Noted in the meeting.")
    here.picture("undo")
    here.button("Undo 2 changes", here.dialog).click()
    expect(here.note("Undone")).to_be_visible()
    assert [one["title"] for one in api("search", query="", project=project)["hits"]] == [
        "The harbour has four cranes."
    ]


def test_what_builds_on_a_change_is_named_and_goes_with_it(here: Tab, api: Api, project: str) -> None:
    api("store", text="Has rooms.", name="house", project=project)
    api("edit", id="house", add=["Has a garden."], project=project)
    here.go("timeline", project=project)
    here.allow("409")
    here.button("Undo change", here.page.locator(".change").last, exact=False).click()
    here.button("Undo 1 change", here.dialog).click()
    expect(here.dialog.get_by_role("alert")).to_contain_text("later changes build on it")
    here.button("Take those back, too", here.dialog).click()
    here.button("Undo 2 changes", here.dialog).click()
    expect(here.page.locator(".change.undone")).to_have_count(2)
    assert api("memory", id="house", project=project)["deleted"]


def test_two_moments_are_compared(here: Tab, api: Api, project: str) -> None:
    api("store", text="Blue.", name="colour", project=project)
    api("store", text="Gone soon.", name="gone", project=project)
    between = api("memory", id="gone", project=project)["memory"]["created"]
    api("edit", id="colour", text="Green.", project=project)
    api("delete", ids=["gone"], project=project)
    api("store", text="New.", name="new", project=project)
    here.go("timeline", project=project)
    here.tab("Compare")
    here.button("Last hour").click()
    expect(here.page.locator(".timeline h2")).to_have_text(["Added 2"])  # an hour ago there was nothing
    here.go("timeline", project=project, tab="compare", **{"from": between})
    expect(here.page.locator(".timeline h2")).to_have_text(["Added 1", "Changed 1", "Deleted 1"])
    expect(here.page.locator("section", has_text="Changed").locator("ins")).to_have_text("Green")


def test_what_was_undone_meanwhile_is_told_and_not_redone(here: Tab, api: Api, project: str) -> None:
    made = api("store", text="Only once.", project=project)["changes"]
    here.go("timeline", project=project)
    here.button(f"Undo change {made[0]}").click()
    expect(here.dialog.locator(".step")).to_be_visible()
    (by,) = api("undo", changes=made, project=project)["changes"]
    here.allow("409")
    here.button("Undo 1 change", here.dialog).click()
    expect(here.dialog).to_contain_text(f"Change {made[0]} was undone meanwhile by change {by}")
    expect(here.button("Take those back, too")).to_have_count(0)
    expect(here.button("Undo 1 change", here.dialog)).to_have_count(0)


def test_relations_that_the_server_drew_are_counted_not_listed(here: Tab, api: Api, project: str) -> None:
    api("import", name="drawn.json", data=archive_with_drawn_relations(), project=project)
    here.go("timeline", project=project)
    effects = here.page.locator(".change .effects")
    expect(effects).to_contain_text("Crane 0 stands in the harbour. → older_than → Crane 8 stands in the harbour.")
    expect(effects).to_contain_text("7 relations drawn by the server")
    expect(effects).not_to_contain_text("associated_with")
    here.button("Details of change", exact=False).click()
    expect(here.page.locator(".change-details .effects")).to_contain_text("associated_with")
    here.button("Undo change", exact=False).click()
    expect(here.dialog).to_contain_text("7 relations drawn by the server")
    expect(here.dialog).not_to_contain_text("associated_with")


def test_what_is_compared_is_one_project_and_the_page_says_which(here: Tab, api: Api, project: str) -> None:
    api("store", text="There.", project=project)
    here.go("timeline")
    chosen = here.page.get_by_label("Project")
    expect(chosen).to_have_value("")  # all
    here.tab("Compare")
    expect(chosen).to_have_value("default")
    chosen.select_option(project)
    here.button("Last hour").click()
    expect(here.page.locator(".timeline h2")).to_have_text(["Added 1"])


@pytest.mark.promise("api.page.live")
def test_the_timeline_is_there_again_as_soon_as_the_server_is(here: Tab, api: Api, project: str) -> None:
    api("store", text="Was stored before.", project=project)
    here.allow("ERR_FAILED|Failed to load")
    here.page.route("**/api/timeline", lambda route: route.abort())
    here.page.route("**/api/events", lambda route: route.abort())
    here.go("timeline", project=project)
    expect(here.page.get_by_role("alert")).to_contain_text("The server does not answer")
    here.page.unroute("**/api/timeline")
    here.page.unroute("**/api/events")
    expect(here.page.locator(".change")).to_have_count(1)  # without a click
