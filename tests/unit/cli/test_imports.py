"""polymnia import: a file is told by its content, and one of no known form is refused for what it is."""

from __future__ import annotations

import base64
import gzip
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from polymnia import connect

from .desk import Desk

GRAPH = {
    "entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}],
    "relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}],
}


def _database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


UNKNOWN: dict[str, tuple[bytes, str]] = {
    "typed chat.json": (
        b'{"name": "Tea", "type": "chat", "messages": [{"role": "user", "content": "Hi"}]}',
        "conversation",
    ),
    "turns.jsonl": (b'{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Ho"}\n', "JSON lines"),
    "people.json": (b'[{"name": "Ann", "age": 3}, {"name": "Bob", "age": 4}]', "'name', 'age'"),
    "settings.json": (b'{"theme": "dark", "size": 3}', "'theme', 'size'"),
    "labels.json": (b'{"entities": [{"text": "Ann", "label": "PERSON"}]}', "'entities'"),
    "notes": (b"# Tea\n\nGreen tea is brewed at 70 degrees.\n", "a Markdown text"),
    "letter.txt": (b"dear text, and name\nthe same, again\n", "columns"),
    "notes.txt": (b"Green tea is brewed at 70 degrees.\n", "a text"),
    "table.csv": (b"day,cups\nMonday,3\nTuesday,4\n", "'day', 'cups'"),
    "broken.json": (b'{"theme": "dark", "size":', "breaks off"),
    "graph.json.gz": (gzip.compress(json.dumps(GRAPH).encode()), "a gzip file of a knowledge graph"),
    "picture.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data"),
    "windows.json": ('[{"id": "1", "memory": "Likes tea", "user_id": "ann"}]'.encode("utf-16"), "save it as UTF-8"),
    "paper.pdf": (b"%PDF-1.7\n", "a PDF document"),
    "open.csv": (b'content,n\n"not closed,1\n', "a table whose first row does not fit its columns 'content', 'n'"),
    "wide.csv": (b"n;text\n1;a;b\n", "a table whose first row does not fit its columns 'n', 'text'"),
}


@pytest.mark.promise("files.import.unknown")
def test_a_file_of_no_known_form_is_refused_for_what_it_is(desk: Desk) -> None:
    for name, (data, _) in UNKNOWN.items():
        (desk.folder / name).write_bytes(data)
    _database(desk.folder / "other.db")
    desk.add("Ann likes green tea")
    before = desk.run("changes").out
    for name, what in [*((name, what) for name, (_, what) in UNKNOWN.items()), ("other.db", "an SQLite database"),
                       ("memory.db", "a Polymnia store")]:  # fmt: skip
        told = desk.run("import", name)
        assert told.code == 1, (name, told)
        assert told.out == "", (name, told)
        assert what in told.err, (name, told.err)
        assert "damaged:" not in told.err, (name, told.err)
        for form in ("knowledge graphs", "archives", "project files"):
            assert form in told.err, (name, told.err)
        assert desk.run("import", "--dry-run", name).code == 1, name
    assert desk.run("changes").out == before


def test_a_folder_of_no_known_form_is_refused_with_the_files_to_name_instead(desk: Desk) -> None:
    (desk.folder / "backup").mkdir()
    (desk.folder / "backup" / "memory.jsonl").write_text('{"type":"entity","name":"Ann","entityType":"person"}\n')
    (desk.folder / "backup" / ".hidden").write_text("x")
    told = desk.run("import", "backup")
    assert told.code == 1
    assert f"name that: {os.path.join('backup', 'memory.jsonl')}\n" in told.err
    assert desk.run("import", os.path.join("backup", "memory.jsonl")).code == 0


@pytest.mark.promise("files.import.dry_run")
def test_a_dry_run_of_a_graph_tells_what_an_import_does(desk: Desk) -> None:
    ann = {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
    bob = {"name": "Bob", "entityType": "person", "observations": []}
    knows = {"from": "Ann", "to": "Bob", "relationType": "knows"}
    (desk.folder / "a.json").write_text(json.dumps({"entities": [ann], "relations": []}))
    assert desk.run("import", "a.json", "--dry-run").code == 0
    assert not (desk.folder / "memory.db").exists()
    desk.run("import", "a.json")
    ann["observations"] = ["Likes tea", "Plays go"]
    (desk.folder / "b.json").write_text(json.dumps({"entities": [ann, bob], "relations": [knows]}))
    told = desk.run("import", "b.json", "--dry-run")
    assert "1 new, 1 extended" in told.out
    assert "undo" not in told.out
    dry = desk.run("import", "b.json", "--dry-run", "--json").value
    assert dry == desk.run("import", "b.json", "--json").value
    assert len(desk.run("changes", "--json").value) == 2


@pytest.mark.promise("files.import.contents")
@pytest.mark.parametrize(
    "table", ["content;tags\nHello;x\n", "id|text\n1|Hello\n", "text\nHello\n", "\ufeffcontent\ttags\nHello\tx\n"]
)
def test_tables_are_told_by_their_columns_whatever_is_between_them(desk: Desk, table: str) -> None:
    (desk.folder / "table").write_text(table, encoding="utf-8")
    assert desk.run("import", "table", "--json").value["imported"]["items_new"] == 1
    assert "Hello" in desk.run("list").out


def test_rows_that_a_spreadsheet_leaves_empty_are_none(desk: Desk) -> None:
    (desk.folder / "table.csv").write_bytes(b"content,tags\r\nMilk,a\r\n,\r\nEggs,\r\n,\r\n")
    told = desk.run("import", "table.csv")
    assert (told.code, told.lines[1].split(",")[0]) == (0, "Items: 2 new")


@pytest.mark.parametrize("key", ["content", "text"])
def test_lines_of_ones_own_may_have_a_type(desk: Desk, key: str) -> None:
    (desk.folder / "mine.jsonl").write_text(f'{{"{key}": "Milk", "type": "note"}}\n{{"type": "note"}}\n')
    told = desk.run("import", "mine.jsonl")
    assert told.code == 0
    assert "memory: 1 new" in told.out
    assert "records without a text of their own (content, text, memory or body)" in told.out
    assert desk.run("list", "--json").value["memories"][0]["metadata"] == {"type": "note"}


def test_a_note_among_entities_makes_no_lines_of_a_graph(desk: Desk) -> None:
    entity = '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}\n'
    (desk.folder / "graph.jsonl").write_text('{"type":"note","text":"no memory"}\n' + entity)
    told = desk.run("import", "graph.jsonl")
    assert "holds 1 entity with 1 observation" in told.lines[0]


def test_a_damaged_graph_is_still_taken_as_far_as_it_goes(desk: Desk) -> None:
    (desk.folder / "cut.json").write_text(json.dumps(GRAPH)[:-25])
    told = desk.run("import", "cut.json")
    assert (told.code, "damaged" in told.out) == (0, True)
    assert "likes tea" in desk.run("show", "Ann").out


@pytest.mark.promise("files.import.dropped")
def test_what_a_graph_has_no_place_for_is_counted_and_named(desk: Desk) -> None:
    items: list[Any] = [
        {"name": "Ann", "entityType": "person", "observations": ["likes tea"], "messages": ["Hi"]},
        {"name": "Bob", "entityType": "person", "observations": [], "messages": ["Ho"]},
        5, 6, {"colour": "red"},
    ]  # fmt: skip
    (desk.folder / "g.json").write_text(json.dumps({"entities": items, "relations": [], "theme": "dark"}))
    value = desk.run("import", "--json", "g.json").value
    assert value["imported"]["entities_new"] == 2
    assert value["unsearched"] == {"messages": 2}
    assert sum(value["dropped"].values()) == 4
    assert sorted(value["dropped"].values()) == [1, 1, 2]
    assert any("'theme'" in reason for reason in value["dropped"])
    told = desk.run("import", "g.json").out
    assert "'messages' (2)" in told
    assert "Refused: 4" in told


@pytest.mark.promise("files.import.recognized")
@pytest.mark.parametrize("form", ["json", "csv", "markdown", "zip", "json.gz"])
def test_a_project_file_is_imported_whatever_its_name(desk: Desk, form: str) -> None:
    with connect(desk.folder / "source.db", project="atlas") as memory:
        one = memory.store_item(_draft("# Kettle\n\nBoils water")).record
        two = memory.store_item(_draft("The pan is flat")).record
        memory.relate_items(one.uid, two.uid, "references")
        memory.exports = str(desk.folder)
        done = memory.export_project(form.removesuffix(".gz"), compress=form.endswith(".gz"))
    assert done.data is not None
    raw = done.data.encode() if done.encoding == "utf-8" else base64.b64decode(done.data)
    (desk.folder / "some file").write_bytes(raw)
    assert "dry run" in desk.run("import", "--dry-run", "some file").out
    dry = desk.run("import", "--dry-run", "--json", "some file").value
    value = desk.run("import", "--json", "some file").value
    assert dry == value
    assert value["imported"] == {"items_new": 2, "items_updated": 0, "items_kept": 0, "relationships_new": 1}
    assert "Boils water" in desk.run("show", one.uid).out
    again = desk.run("import", "--existing", "keep", "--json", "some file").value
    assert again["imported"] == {"items_new": 0, "items_updated": 0, "items_kept": 2, "relationships_new": 0}


def _draft(text: str) -> Any:
    from polymnia.engine.content import ItemDraft

    return ItemDraft(text=text)


def test_a_project_file_with_a_broken_record_is_refused_whole(desk: Desk) -> None:
    items = [{"content_id": "a", "content": "fine"}, {"content_id": "b"}]
    (desk.folder / "p.json").write_text(json.dumps({"format": "polymnia-project", "version": 1, "items": items}))
    told = desk.run("import", "p.json")
    assert told.code == 1
    assert "items[1]: content is missing" in told.err
    assert "fine" not in desk.run("search", "fine").out


@pytest.mark.promise("files.import.recognized")
def test_an_archive_needs_no_option_to_be_known(desk: Desk) -> None:
    desk.add("Ann likes green tea")
    for name in ("a.json", "a.yaml", "a.json.gz"):
        assert desk.run("export", "--archive", name).code == 0
        told = desk.run("import", name, "--store", f"{name}.db")
        assert (told.code, "1 new" in told.out) == (0, True), told
    told = desk.run("import", "--existing", "keep", "a.json")
    assert (told.code, "--existing" in told.err) == (1, True)


def test_what_an_archive_has_no_place_for_is_counted_and_named(desk: Desk) -> None:
    memories = [{"content": "Ann likes tea"}, {"content": ""}, {"content": ""}, {"text": "x"}]
    (desk.folder / "a.json").write_text(json.dumps({"memories": memories, "theme": "dark", "size": 3}))
    value = desk.run("import", "--no-validate", "--json", "a.json").value
    assert value["imported"]["imported"] == 1
    dropped = value["imported"]["dropped"]
    assert dropped["memories: content is empty"] == 2
    assert dropped["'theme' is no part of an archive"] == dropped["'size' is no part of an archive"] == 1
    assert sum(dropped.values()) == 5
