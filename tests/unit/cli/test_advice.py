"""Where a command cannot do what was asked, it says what to do instead."""

from __future__ import annotations

import socket

import pytest

from .desk import Desk


def test_an_option_that_is_not_there_is_told_with_the_nearest(desk: Desk) -> None:
    desk.add("Ann likes green tea", "--scope", "people")
    for words, meant in (
        (("search", "tea", "--limt", "3"), "search has no option --limt; did you mean --limit?"),
        (("list", "--scop", "people"), "list has no option --scop; did you mean --scope?"),  # no abbreviations either
        (("move", "x", "--too", "y"), "move has no option --too; did you mean --to?"),
        (("search", "--limt=3"), "did you mean --limit?"),
    ):
        told = desk.run(*words)
        assert (told.code, told.out) == (2, ""), told
        assert meant in told.err
    assert "stands in quotes" in desk.run("add", "Ann", "likes", "tea").err
    assert desk.run("add", "--", "--limt is no option here").code == 0


def test_a_project_that_is_not_there_is_told_with_the_nearest(desk: Desk) -> None:
    desk.add("Ann likes green tea", "--project", "kitchen")
    for words in (("list",), ("search", "tea"), ("scopes",), ("export", "x.json"), ("changes",), ("sessions",)):
        told = desk.run(*words, "--project", "kichen")
        assert (told.code, told.out) == (1, ""), (words, told)
        assert "Did you mean kitchen?" in told.err
    assert desk.run("list").code == 0  # the default project need not have anything in it


def test_a_memory_that_was_not_there_at_a_time_is_told_with_when_it_was(desk: Desk) -> None:
    id = desk.add("Ann likes green tea")
    for name in (id, id[:8]):
        told = desk.run("show", name, "--at", "2020-01-01")
        assert told.code == 1
        assert "did not exist at 2020-01-01" in told.err
        assert "It was created at 20" in told.err
    desk.run("delete", id)
    assert "It was deleted at 20" in desk.run("show", id, "--at", "2099-01-01").err
    assert "did not exist" not in desk.run("show", "nobody", "--at", "2020-01-01").err


def test_a_file_that_cannot_be_written_is_blamed_and_not_the_store(desk: Desk) -> None:
    desk.add("Ann likes green tea")
    (desk.folder / "taken").write_text("a file, no folder")
    for words in (("backup", "taken/b.db"), ("backup", "none/b.db"), ("export", "none/x.json"),
                  ("export", "--archive", "none/x.json")):  # fmt: skip
        told = desk.run(*words)
        assert told.code == 1
        assert "older" in told.err
        assert words[-1].partition("/")[0] in told.err
        assert "--store" not in told.err, told.err


def test_files_and_folders_are_told_from_stores(desk: Desk) -> None:
    assert "`polymnia add`" in desk.run("list").err
    told = desk.run("add", "Ann likes green tea", "--store", str(desk.folder))
    assert f"--store {desk.folder / 'memory.db'}" in told.err
    desk.add("Ann likes green tea")
    desk.run("export", "--archive", "all.json")
    told = desk.run("restore", "all.json")
    assert told.code == 1
    assert "polymnia import all.json" in told.err


def test_a_search_for_nothing_is_refused_unless_something_is_filtered(desk: Desk) -> None:
    desk.add("Ann likes green tea", "--tag", "tea")
    told = desk.run("search", "")
    assert (told.code, told.out) == (1, "")
    assert "polymnia list" in told.err
    assert "Ann likes" in desk.run("search", "", "--tag", "tea").out
    assert "What matches scores below 1." in desk.run("search", "tea", "--threshold", "1").err


def test_a_server_that_cannot_listen_says_what_to_do(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = desk.run("serve", "--port", str(taken.getsockname()[1]))
    assert told.code == 2
    assert "--port" in told.err
    told = desk.run("serve", "--host", "0.0.0.0", "--port", "0", "--keys", "my keys.json")
    assert told.code == 2
    assert "polymnia keys add NAME --keys 'my keys.json'" in told.err


@pytest.mark.promise("files.import.contents")
def test_what_import_project_data_takes_can_be_imported_as_a_file(desk: Desk) -> None:
    (desk.folder / "table.csv").write_text('Name;Text;Shelf\nTea;"Green tea; loose";4\nRice;Basmati rice;2\n')
    (desk.folder / "list.json").write_text('[{"content": "Bread is baked on Friday", "tags": ["bread"]}]')
    (desk.folder / "notes.md").write_text("# Cellar\n\nPotatoes are kept dark.\n")
    for name, count in (("table.csv", 2), ("list.json", 1), ("notes.md", 1)):
        new = {"items_new": count, "items_updated": 0, "items_kept": 0, "relationships_new": 0}
        assert desk.run("import", name, "--json").value["imported"] == new
        again = {**new, "items_new": 0, "items_kept": count}
        assert desk.run("import", name, "--json").value["imported"] == again
    (found,) = desk.run("search", "Green tea; loose", "--json", "--limit", "1").value["hits"]
    assert found["observations"] == ["Green tea; loose"]
    assert found["metadata"]["Shelf"] == "4"


def test_a_file_that_breaks_off_is_told_as_such(desk: Desk) -> None:
    line = '{"type":"entity","name":"%s","entityType":"person","observations":["likes tea"]}\n'
    (desk.folder / "cut.jsonl").write_text((line % "Ann" + line % "Bob")[:-20])
    told = desk.run("import", "cut.jsonl")
    assert "it ends in the middle of line 2" in told.out
    assert "storage file" not in told.out


def test_a_variable_of_another_server_that_is_not_obeyed_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMNIA_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(desk.folder))
    monkeypatch.setenv("MEMORY_FILE_PATH", str(desk.folder / "mine.jsonl"))
    from polymnia import app

    (told,) = app.ignored_variables(app.settings({}))
    assert "--dialect official" in told
    assert not app.ignored_variables(app.settings({"dialect": "official"}))
    assert not app.ignored_variables(app.settings({"store": "here.db"}))


def test_a_command_that_lacks_something_says_so_without_a_screen_of_options(desk: Desk) -> None:
    for words, what in (
        (("add",), "required: TEXT"), (("list", "--page", "0"), "'0' is no whole number"),
        (("sessions", "foo"), "'foo' must be one of"),
    ):  # fmt: skip
        told = desk.run(*words)
        assert told.code == 2
        first, second = told.err.splitlines()
        assert what in first
        assert second == f"See: polymnia {words[0]} --help"
    assert "--allow-duplicates" in desk.run("help", "add").out
    assert "COMMAND" in desk.run("help").out


def test_an_empty_or_unknown_scope_is_told_with_where_to_look(desk: Desk) -> None:
    desk.add("Vents open at noon", "--scope", "garden/greenhouse")
    assert "1 memory below: --below" in desk.run("list", "--scope", "garden").err
    for words in (("scopes", "gardn"), ("move", "--scope", "gardn", "--to", "x"), ("search", "x", "--scope", "gardn")):
        told = desk.run(*words)
        assert told.code == 1
        assert "Did you mean garden?" in told.err


def test_a_memory_that_was_deleted_is_told_with_how_to_bring_it_back(desk: Desk) -> None:
    id = desk.add("Vents open at noon")
    desk.run("delete", id)
    told = desk.run("show", id)
    assert "was deleted at 20" in told.err
    change = told.err.partition("--change ")[2].partition("`")[0]
    assert desk.run("undo", "--change", change).code == 0
    assert "Vents open" in desk.run("show", id).out
