"""Scopes, files, health and keys in the page."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error, Route

from network.conftest import MANY
from network.exploring import Api
from network.served import Served, eventually

from .browsing import Tab, expect

GRAPH = "\n".join(
    [
        '{"type":"entity","name":"harbour","entityType":"place","observations":["Has four cranes."]}',
        '{"type":"entity","name":"crane","entityType":"machine","observations":["Lifts 40 tonnes.","Is yellow."]}',
        '{"type":"relation","from":"crane","to":"harbour","relationType":"stands_in"}',
    ]
)


def paths(api: Api, project: str) -> list[str]:
    """The scopes of a project that hold something."""
    (tree,) = api("tree", project=project)["projects"]
    return [one["path"] for one in tree["scopes"] if one["memories"]]


@pytest.mark.promise("api.page.move")
def test_a_scope_is_dragged_onto_another_and_back(here: Tab, api: Api, project: str) -> None:
    for scope in ("work/api", "home"):
        api("store", text=f"In {scope}.", scope=scope, project=project)
    here.go("scopes", project=project)
    row = here.page.get_by_role("treeitem")
    expect(row).to_have_count(3)
    row.filter(has_text="home").drag_to(row.filter(has_text="work"))
    expect(here.note("1 moved to work/home")).to_be_visible()
    assert paths(api, project) == ["work/api", "work/home"]
    expect(row).to_have_text(["work2Move", "api1Move", "home1Move"])
    here.undo("1 moved")
    expect(row).to_have_text(["home1Move", "work1Move", "api1Move"])
    assert paths(api, project) == ["home", "work/api"]
    row.filter(has_text="api").drag_to(here.page.get_by_role("heading", name=project))  # to the top
    expect(here.note("1 moved to api")).to_be_visible()
    assert paths(api, project) == ["api", "home"]


@pytest.mark.promise("api.page.move")
def test_the_keyboard_walks_the_tree_and_moves_a_scope(here: Tab, api: Api, project: str) -> None:
    for scope in ("a/one", "a/two", "b"):
        api("store", text=f"In {scope}.", scope=scope, project=project)
    here.go("scopes", project=project)
    rows = here.page.get_by_role("treeitem")
    expect(rows).to_have_count(4)
    rows.first.focus()
    here.press("ArrowDown", "ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    here.press("ArrowLeft", "ArrowLeft")
    expect(rows).to_have_count(2)
    here.press("ArrowRight")
    expect(rows).to_have_count(4)
    here.press("End", "m")
    field = here.dialog.get_by_label("New path")
    expect(field).to_be_focused()
    field.fill("a/one")
    expect(here.dialog).to_contain_text("both will be joined")
    field.fill("a/b")
    here.press("Enter")
    expect(here.note("1 moved to a/b")).to_be_visible()
    assert paths(api, project) == ["a/b", "a/one", "a/two"]
    rows.first.focus()
    here.press("Enter")
    expect(here.page.locator(".hit")).to_have_count(3)
    assert "scope=a" in here.address


@pytest.mark.promise("api.page.preview")
def test_an_import_is_shown_before_it_happens_and_undone_after(
    here: Tab, api: Api, project: str, tmp_path: Path
) -> None:
    api("store", text="Has three cranes.", name="harbour", project=project)
    file = tmp_path / "memory.jsonl"
    file.write_text(GRAPH, "utf-8")
    here.go("transfer", project=project)
    here.page.locator("input[type=file]").set_input_files(file)
    preview = here.page.locator(".preview")
    expect(preview).to_contain_text("New memories1")
    expect(preview).to_contain_text("Memories that get more1")
    expect(preview).to_contain_text("New relations1")
    expect(preview).to_contain_text("crane")
    here.picture("import preview")
    assert len(api("search", query="", project=project)["hits"]) == 1  # nothing has happened yet
    here.page.get_by_label("What is there already").select_option("keep")
    expect(preview).not_to_contain_text("Memories that get more1")
    here.page.get_by_label("What is there already").select_option("merge")
    expect(preview).to_contain_text("Memories that get more1")
    here.button("Import").click()
    expect(here.note("Imported")).to_be_visible()
    assert len(api("search", query="", project=project)["hits"]) == 2
    here.undo("Imported")
    expect(here.note("Undone")).to_be_visible()
    assert len(api("search", query="", project=project)["hits"]) == 1


@pytest.mark.promise("api.page.preview")
def test_a_preview_is_of_the_choice_that_was_made_last(here: Tab, api: Api, project: str, tmp_path: Path) -> None:
    api("store", text="Has three cranes.", name="harbour", project=project)
    file = tmp_path / "memory.jsonl"
    file.write_text(GRAPH, "utf-8")
    here.go("transfer", project=project)
    held: list[Route] = []
    here.page.route("**/api/import_preview", lambda route: held.append(route))
    here.page.locator("input[type=file]").set_input_files(file)
    eventually(lambda: here.page.evaluate("1") and held, "the first question")
    here.page.unroute("**/api/import_preview")
    here.page.get_by_label("What is there already").select_option("keep")
    preview = here.page.locator(".preview")
    expect(preview).to_contain_text("New memories1")
    with contextlib.suppress(Error):  # the browser has given it up
        held[0].continue_()
    expect(preview).not_to_contain_text("Memories that get more1")
    expect(here.page.get_by_text("The file will hold 1 memory")).to_be_visible()
    here.button("Import").click()
    expect(here.page.get_by_text("The file will hold 2 memories")).to_be_visible()
    here.page.locator("input[type=file]").evaluate("input => { if (input.value) throw input.value }")  # the same again


def test_a_file_that_is_none_is_refused_in_words(here: Tab, api: Api, project: str, tmp_path: Path) -> None:
    api("store", text="There.", project=project)
    file = tmp_path / "holiday.jpg"
    file.write_bytes(b"\xff\xd8\xff\xe0 no memory at all")
    here.go("transfer", project=project)
    here.allow("422|400")
    here.page.locator("input[type=file]").set_input_files(file)
    said = here.page.locator(".note.bad")
    expect(said).to_contain_text("without memories in it. Knowledge graphs")
    expect(here.button("Import")).to_be_disabled()


@pytest.mark.promise("api.page.preview")
def test_a_download_says_what_it_will_hold_and_is_taken_back(here: Tab, api: Api, project: str) -> None:
    api("import", name="memory.jsonl", data=GRAPH, project=project)
    api("store", text="Elsewhere.", scope="work/api", project=project)
    here.go("transfer", project=project)
    expect(here.page.get_by_text("The file will hold 3 memories, 1 relation")).to_be_visible()
    here.page.get_by_label("Scope").fill("work")
    expect(here.page.get_by_text("The file will hold 1 memory")).to_be_visible()
    here.page.get_by_label("Scope").fill("")
    here.page.get_by_label("Format").select_option("graph-jsonl")
    with here.page.expect_download() as told:
        here.button("Download").click()
    data = Path(told.value.path()).read_text("utf-8")
    assert told.value.suggested_filename.endswith(".jsonl")
    assert {json.loads(line).get("name") for line in data.splitlines()} >= {"harbour", "crane"}
    assert api("import", name="again.jsonl", data=data, project=f"{project}-copy")["imported"]["entities_new"] == 3


def test_a_download_has_the_name_of_its_project(here: Tab, api: Api) -> None:
    api("store", text="배포는 화요일에 한다.", project="배포/서울 #1")
    here.go("transfer", project="배포/서울 #1")
    with here.page.expect_download() as told:
        here.button("Download").click()
    assert told.value.suggested_filename == "배포-서울--1-project.json"


def test_a_file_that_cannot_be_read_is_told(here: Tab, api: Api, project: str, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(GRAPH, "utf-8")
    here.go("transfer", project=project)
    here.page.evaluate("() => { Blob.prototype.arrayBuffer = async () => { throw new Error('It is a folder') } }")
    here.page.locator("input[type=file]").set_input_files(file)
    expect(here.page.locator(".note.bad")).to_contain_text("It is a folder")


def test_health_tells_sizes_clients_and_limits(here: Tab, api: Api, project: str) -> None:
    api("store", text="There.", project=project)
    here.go("health")
    page = here.page
    expect(page.locator(".figures")).to_contain_text("ready")
    row = page.locator("tr", has_text=project)
    expect(row.first).to_contain_text("1")
    expect(page.locator("section", has_text="Clients")).to_contain_text("explorer")
    api("store", text="Elsewhere.", project=f"{project}-other")
    here.go("health", project=project)
    expect(page.get_by_role("region", name="Project").locator("tbody tr")).to_have_count(1)
    expect(page.locator("section", has_text="Limits")).to_contain_text("Calls a minute")
    expect(page.locator("section", has_text="Server")).to_contain_text("SQLite")


@pytest.mark.promise("api.page.keys")
def test_keys_are_made_used_and_revoked(serving: Callable[..., Served], tabs: Callable[..., Tab], project: str) -> None:
    server = serving(*MANY)
    Api(server).store("There.", project=project)
    first = tabs(server)
    first.go("health")
    first.button("New key").click()
    expect(first.dialog).to_contain_text("every call needs one")
    first.dialog.get_by_label("Name").fill("boss")
    expect(first.dialog.get_by_label(project)).to_have_count(0)  # it opens all
    first.button("New key", first.dialog).dblclick()
    boss = first.page.locator(".secret").inner_text()
    first.picture("new key", whole=False)
    first.button("Close", first.dialog).click()
    expect(first.page.locator("tr", has_text="boss")).to_contain_text("this one")  # the page took the key for itself
    assert len(Api(server, boss)("keys")["keys"]) == 1
    tab = tabs(server)
    tab.allow("401")
    tab.page.goto(tab.home + "#/health")
    expect(tab.page.get_by_label("Key")).to_be_focused()
    tab.picture("key wanted")
    tab.page.keyboard.type("pk_wrong")
    tab.press("Enter")
    expect(tab.page.get_by_role("status")).to_contain_text("does not know this key")
    tab.page.get_by_label("Key").fill("열쇠")  # nothing that a header could carry
    tab.press("Enter")
    expect(tab.page.get_by_role("status")).to_contain_text("does not know this key")
    tab.page.reload()
    expect(tab.page.get_by_label("Key")).to_be_focused()
    tab.allow("403")
    tab.page.get_by_label("Key").fill(Api(server, boss)("create_key", name="meter", access="metrics")["secret"])
    tab.press("Enter")
    expect(tab.page.get_by_role("alert")).to_contain_text("This key may not do that")
    tab.button("Use another key").click()
    tab.page.get_by_label("Key").fill(boss)
    tab.press("Enter")
    row = tab.page.locator("tr", has_text="boss")
    expect(row).to_contain_text("this one")
    tab.button("New key").click()
    tab.dialog.get_by_label("Name").fill("reader")
    tab.dialog.get_by_label("Rights").select_option("read")
    tab.dialog.get_by_label(project).check()
    tab.button("New key", tab.dialog).click()
    reader = tab.page.locator(".secret").inner_text()
    tab.button("Close", tab.dialog).click()
    expect(tab.page.locator("tr", has_text="reader")).to_contain_text(project)
    assert Api(server, reader)("about")["access"]["write"] is False
    tab.picture("keys")
    tab.button("Revoke the key reader").click()
    tab.button("Revoke", tab.dialog).click()
    expect(tab.note("Key revoked")).to_be_visible()
    expect(tab.page.locator("tr", has_text="reader")).to_have_count(0)
    assert Api(server, reader).answer("about").status == 401
    tab.button("Forget the key", exact=False).click()
    expect(tab.page.get_by_label("Key")).to_be_visible()
