"""JSON-file mode: a file people can read, compare and edit is the visible truth."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stdio_client import Place, Server, entity, relation

A, B = entity("a", "one", "둘", type="person"), entity("b", "three")
AB = relation("a", "knows", "b")
GRAPH = {"entities": [A, B], "relations": [AB]}

FileServer = Callable[..., Server]


@pytest.fixture
def keep(place: Place) -> FileServer:
    """Start a server that keeps a JSON file and has no store of its own."""

    def start(dialect: str, *arguments: str, **environment: str) -> Server:
        return place.serve(dialect, *arguments, environment={"POLYMNIA_STORE": None, **environment})

    return start


@pytest.fixture(params=["memory.json", "memory.jsonl"])
def path(request: pytest.FixtureRequest, place: Place) -> Path:
    """A file in each of the two formats, not there yet."""
    return place.folder / str(request.param)


def fill(server: Server) -> None:
    server.call("create_entities", entities=[A, B])
    server.call("create_relations", relations=[AB])


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """What any other program reads in the file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        document: dict[str, list[dict[str, Any]]] = json.loads(text)
        return document
    graph: dict[str, list[dict[str, Any]]] = {"entities": [], "relations": []}
    for line in text.splitlines():
        item = json.loads(line)
        graph["entities" if item.pop("type") == "entity" else "relations"].append(item)
    return graph


def write(path: Path, graph: dict[str, Any]) -> None:
    """What any other program writes into the file."""
    if path.suffix == ".json":
        path.write_text(json.dumps(graph, indent=2, ensure_ascii=False), encoding="utf-8")
        return
    lines = [{"type": "entity", **e} for e in graph["entities"]]
    lines += [{"type": "relation", **r} for r in graph["relations"]]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")


@pytest.mark.promise("files.truth")
def test_every_change_is_in_the_file_when_it_is_answered(keep: FileServer, path: Path, dialect: str) -> None:
    server = keep(dialect, "--file", str(path))

    fill(server)
    assert read(path) == GRAPH
    server.call("add_observations", observations=[{"entityName": "b", "contents": ["four"]}])
    assert read(path)["entities"] == [A, entity("b", "three", "four")]
    server.call("delete_entities", entityNames=["a"])
    assert read(path) == {"entities": [entity("b", "three", "four")], "relations": []}


@pytest.mark.promise("files.load")
def test_a_file_that_exists_is_loaded_at_the_start(keep: FileServer, path: Path, dialect: str) -> None:
    write(path, GRAPH)

    server = keep(dialect, "--file", str(path))

    assert server.graph() == GRAPH
    assert "a" in server.call("search_nodes", query="둘").text


@pytest.mark.promise("files.load")
def test_reading_alone_never_touches_the_file(keep: FileServer, path: Path) -> None:
    write(path, GRAPH)
    before = path.read_bytes(), path.stat().st_mtime_ns

    server = keep("simple", "--file", str(path))
    server.graph()
    server.call("search_nodes", query="one")
    server.call("open_nodes", names=["a"])

    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.promise("files.format.json")
def test_a_json_file_is_pretty_printed_with_two_spaces(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.json"

    fill(keep("simple", "--file", str(path)))

    assert path.read_text(encoding="utf-8").rstrip("\n") == json.dumps(GRAPH, indent=2, ensure_ascii=False)


@pytest.mark.promise("files.format.jsonl")
def test_a_jsonl_file_is_what_the_npm_release_writes(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.jsonl"

    fill(keep("official", "--file", str(path)))

    assert path.read_text(encoding="utf-8") == (
        '{"type":"entity","name":"a","entityType":"person","observations":["one","둘"]}\n'
        '{"type":"entity","name":"b","entityType":"thing","observations":["three"]}\n'
        '{"type":"relation","from":"a","to":"b","relationType":"knows"}'
    )


@pytest.mark.promise("files.format.npm")
def test_a_file_the_npm_release_wrote_is_read_and_goes_on_in_its_form(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.jsonl"
    written = (
        '{"type":"entity","name":"Ann \\"A\\"","entityType":"person","observations":["likes \\\\ and \\t","차"]}\n'
        '{"type":"entity","name":"twin","entityType":"x","observations":[]}\n'
        '{"type":"relation","from":"Ann \\"A\\"","to":"nobody","relationType":"knows"}\n'
        '{"type":"relation","from":"Ann \\"A\\"","to":"nobody","relationType":"knows"}'
    )
    path.write_text(written, encoding="utf-8")
    server = keep("official", MEMORY_FILE_PATH=str(path))

    assert server.names() == ['Ann "A"', "twin"]
    assert len(server.graph()["relations"]) == 2
    server.call("create_entities", entities=[entity("new", "x")])

    lines = written.split("\n")
    lines.insert(2, '{"type":"entity","name":"new","entityType":"thing","observations":["x"]}')
    assert path.read_text(encoding="utf-8") == "\n".join(lines)


@pytest.mark.promise("files.format.npm")
def test_lines_in_a_file_named_json_are_read_and_stay_lines(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.json"
    path.write_text('{"type":"entity","name":"a","entityType":"t","observations":["x"]}\n', encoding="utf-8")
    server = keep("official", MEMORY_FILE_PATH=str(path))

    server.call("create_entities", entities=[entity("b", "y")])

    assert server.names() == ["a", "b"]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["name"] for line in lines] == ["a", "b"]


@pytest.mark.promise("files.where.memory_path")
def test_memory_path_names_a_file_for_simple(keep: FileServer, place: Place) -> None:
    path = place.folder / "deep" / "er" / "mine.json"

    fill(keep("simple", MEMORY_PATH=str(path)))

    assert read(path) == GRAPH


@pytest.mark.promise("files.where.memory_path")
def test_memory_path_may_name_a_folder_which_then_holds_memory_json(keep: FileServer, place: Place) -> None:
    folder = place.folder / "memories"
    folder.mkdir()

    fill(keep("simple", MEMORY_PATH=str(folder)))

    assert read(folder / "memory.json") == GRAPH


@pytest.mark.promise("files.where.memory_file_path")
def test_memory_file_path_names_the_file_for_official(keep: FileServer, place: Place) -> None:
    path = place.folder / "sub" / "graph.jsonl"

    fill(keep("official", MEMORY_FILE_PATH=str(path)))

    assert read(path) == GRAPH


@pytest.mark.promise("files.where.other_dialects")
def test_the_variables_of_one_dialect_mean_nothing_to_another(keep: FileServer, place: Place) -> None:
    path = place.folder / "not.json"

    for dialect, variable in (
        ("strict", "MEMORY_PATH"),
        ("bilingual", "MEMORY_FILE_PATH"),
        ("official", "MEMORY_PATH"),
        ("simple", "MEMORY_FILE_PATH"),
    ):
        server = keep(dialect, **{variable: str(path)})
        server.call("create_entities", entities=[entity(f"of {dialect}", "x")])
        assert not path.exists(), dialect


@pytest.mark.promise("files.where.default")
def test_file_without_a_value_is_the_file_in_the_home_folder_that_simple_users_have(
    keep: FileServer, place: Place
) -> None:
    fill(keep("simple", "--file"))

    assert read(place.home / ".cursor" / "memory.json") == GRAPH


@pytest.mark.promise("files.where.default")
def test_simple_without_file_leaves_that_file_alone(keep: FileServer, place: Place) -> None:
    fill(keep("simple"))

    assert not (place.home / ".cursor").exists()


@pytest.mark.promise("files.where.project")
@pytest.mark.parametrize(
    "command",
    [
        "stdio",
        "changes",
        "import old.json",
    ],
)
def test_a_file_with_a_project_needs_a_store(place: Place, path: Path, command: str) -> None:
    (place.folder / "old.json").write_text(json.dumps(GRAPH))
    given = [*command.split(), "--file", str(path), "--project", "website"]

    done = place.run(*given, environment={"POLYMNIA_STORE": None})

    assert done.returncode == 2
    assert "--store" in done.stderr
    assert "Traceback" not in done.stderr
    assert not path.exists()
    if command != "changes":  # which makes no store
        assert place.run(*given, "--store", str(place.store)).returncode == 0


@pytest.mark.promise("files.import.nothing_new")
def test_an_import_that_brings_nothing_new_says_so_and_is_no_change(place: Place, path: Path) -> None:
    write(path, GRAPH)
    first = place.run("import", str(path))
    changes = place.run("changes").stdout

    again = place.run("import", str(path))

    assert again.returncode == 0, again.stderr
    assert "nothing was changed" in again.stdout
    assert "nothing was changed" not in first.stdout
    assert place.run("changes").stdout == changes


@pytest.mark.promise("files.edits")
def test_what_another_program_writes_is_there_at_the_next_call(keep: FileServer, path: Path, dialect: str) -> None:
    server = keep(dialect, "--file", str(path))
    fill(server)

    edited = {
        "entities": [entity("a", "one", "edited by hand", type="person"), entity("c", "brand new")],
        "relations": [relation("c", "replaces", "b")],
    }
    write(path, edited)
    assert server.graph() == edited
    assert "c" in server.call("search_nodes", query="brand").text

    server.call("add_observations", observations=[{"entityName": "c", "contents": ["added"]}])
    edited["entities"][1]["observations"].append("added")
    assert read(path) == edited


@pytest.mark.promise("files.edits")
def test_a_file_replaced_by_an_editor_that_renames_is_noticed(keep: FileServer, path: Path) -> None:
    server = keep("simple", "--file", str(path))
    fill(server)
    draft = path.with_name("draft" + path.suffix)

    write(draft, {"entities": [B], "relations": []})
    os.replace(draft, path)

    assert server.graph() == {"entities": [B], "relations": []}


@pytest.mark.promise("files.edits")
def test_a_file_that_was_deleted_is_an_empty_memory_whose_past_can_be_read(
    keep: FileServer, place: Place, path: Path
) -> None:
    server = keep("simple", "--file", str(path))
    fill(server)

    path.unlink()

    assert server.graph() == {"entities": [], "relations": []}
    told = place.run("history", "a", "--json", "--file", str(path), environment={"POLYMNIA_STORE": None})
    assert "둘" in told.stdout


@pytest.mark.promise("files.two_servers")
def test_two_servers_on_one_file_lose_nothing(keep: FileServer, path: Path) -> None:
    servers = [keep("official", "--file", str(path)), keep("simple", "--file", str(path))]
    calls = []
    for i in range(20):
        for n, server in enumerate(servers):
            made = {"entities": [entity(f"{n}-{i}", "x")]}
            calls.append((server, server.begin_call("create_entities", made)))

    for server, call in calls:
        assert not server.reply(call).failed

    expected = sorted(f"{n}-{i}" for n in range(2) for i in range(20))
    assert sorted(e["name"] for e in read(path)["entities"]) == expected
    assert all(sorted(server.names()) == expected for server in servers)


@pytest.mark.promise("files.unknown_keys")
def test_unknown_keys_survive_a_rewrite(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.json"
    document = {
        "version": 3,
        "entities": [{**A, "colour": "green", "nested": {"deep": [1, None, True, 1.5]}}, B],
        "relations": [{**AB, "weight": 0.5}],
        "$comment": {"by": "hand"},
    }
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    server = keep("simple", "--file", str(path))

    assert server.graph()["entities"][1] == B
    server.call("add_observations", observations=[{"entityName": "a", "contents": ["more"]}])

    after = json.loads(path.read_text(encoding="utf-8"))
    document["entities"][0]["observations"] = [*A["observations"], "more"]
    assert after == document


@pytest.mark.promise("files.unknown_keys")
def test_unknown_keys_in_lines_survive_a_rewrite(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.jsonl"
    lines = [{"type": "entity", **A, "colour": "green"}, {"type": "relation", **AB, "weight": 2}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    server = keep("official", "--file", str(path))

    server.call("create_entities", entities=[B])

    after = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert after == [lines[0], {"type": "entity", **B}, lines[1]]


def told(path: Path, transport: str) -> str:
    """A file as a client is told of it: over the network by its name, for the folders are nobody's business there."""
    return str(path) if transport == "stdio" else path.name


BROKEN = {
    "memory.json": json.dumps(GRAPH, indent=2, ensure_ascii=False)[:-40].encode(),
    "memory.jsonl": (
        b'{"type":"entity","name":"a","entityType":"person","observations":["one","\xeb\x91\x98"]}\n'
        b"this line was never JSON\n"
        b'{"type":"entity","name":"b","entityType":"thing","observations":["three"]}\n'
    ),
}


@pytest.mark.promise("files.broken.set_aside")
@pytest.mark.promise("files.broken.recovered")
def test_a_broken_file_is_set_aside_whole_and_what_can_be_read_is_recovered(
    keep: FileServer, path: Path, dialect: str, transport: str
) -> None:
    path.write_bytes(BROKEN[path.name])
    server = keep(dialect, "--file", str(path))

    refusal = server.refused("read_graph")

    set_aside = [file for file in path.parent.iterdir() if file != path and file.is_file()]
    set_aside = [file for file in set_aside if file.read_bytes() == BROKEN[path.name]]
    assert len(set_aside) == 1
    kept, file = told(set_aside[0], transport), told(path, transport)
    assert kept in refusal.text
    assert file in refusal.text.replace(kept, "")
    assert time.strftime("%Y") in set_aside[0].name

    assert server.graph()["entities"] == [A, B]
    assert read(path)["entities"] == [A, B]
    server.call("create_entities", entities=[entity("c", "after")])
    assert [e["name"] for e in read(path)["entities"]] == ["a", "b", "c"]
    assert set_aside[0].read_bytes() == BROKEN[path.name]


@pytest.mark.promise("files.broken.bilingual")
def test_bilingual_says_so_in_both_languages(keep: FileServer, path: Path) -> None:
    path.write_bytes(BROKEN[path.name])
    server = keep("bilingual", "--file", str(path))

    lines = server.refused("read_graph").lines

    assert lines[0].startswith("Error: Failed to parse storage file: Invalid JSON")
    assert lines[1].startswith("저장 파일을 읽을 수 없습니다: 잘못된 JSON 형식")


@pytest.mark.promise("files.broken.set_aside")
def test_a_file_broken_while_the_server_runs_loses_nothing_that_was_acknowledged(
    keep: FileServer, path: Path, transport: str
) -> None:
    server = keep("simple", "--file", str(path))
    fill(server)

    path.write_bytes(b"{ this is no graph")

    assert told(path, transport) in server.refused("read_graph").text
    assert server.graph() == GRAPH
    assert read(path) == GRAPH


@pytest.mark.promise("files.write_failure")
def test_a_change_that_cannot_be_written_to_the_file_is_an_error(keep: FileServer, place: Place) -> None:
    folder = place.folder / "folder"
    folder.mkdir()
    path = folder / "memory.json"
    server = keep("simple", "--file", str(path))
    fill(server)
    path.unlink()
    folder.rmdir()
    folder.write_text("now a file stands where the folder was")

    assert server.refused("create_entities", entities=[entity("lost", "x")]).value["error"]

    folder.unlink()
    server.call("create_entities", entities=[entity("kept", "x")])
    assert "kept" in server.names()
    assert "lost" not in server.names()


@pytest.mark.promise("files.history")
def test_undo_and_history_work_on_a_file(keep: FileServer, place: Place, path: Path) -> None:
    server = keep("simple", "--file", str(path))
    fill(server)
    server.call("delete_entities", entityNames=["a"])
    assert read(path) == {"entities": [B], "relations": []}
    no_store = {"POLYMNIA_STORE": None}

    undone = place.run("undo", "--file", str(path), environment=no_store)

    assert undone.returncode == 0, undone.stderr
    assert sorted(read(path)["entities"], key=str) == sorted(GRAPH["entities"], key=str)
    assert read(path)["relations"] == [AB]
    assert sorted(server.names()) == ["a", "b"]
    told = place.run("history", "a", "--json", "--file", str(path), environment=no_store)
    assert told.returncode == 0, told.stderr
    assert len(json.loads(told.stdout)) == 4


@pytest.mark.promise("files.history")
def test_an_edit_made_by_another_program_is_in_the_history_too(keep: FileServer, place: Place, path: Path) -> None:
    server = keep("simple", "--file", str(path))
    fill(server)
    write(path, {"entities": [entity("a", "rewritten by hand"), B], "relations": [AB]})
    server.graph()

    told = place.run("history", "a", "--json", "--file", str(path), environment={"POLYMNIA_STORE": None})

    newest = json.loads(told.stdout)[-1]
    assert newest["added"] == ["rewritten by hand"]
    assert sorted(newest["removed"]) == ["one", "둘"]


@pytest.mark.promise("files.permissions")
def test_a_rewrite_keeps_the_permissions_and_a_link_stays_a_link(keep: FileServer, place: Place) -> None:
    real = place.folder / "real.json"
    real.write_text('{"entities": [], "relations": []}')
    real.chmod(0o640)
    link = place.folder / "memory.json"
    link.symlink_to(real)

    fill(keep("simple", "--file", str(link)))

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert read(real) == GRAPH


@pytest.mark.promise("files.leftovers")
def test_no_temporary_files_are_left_beside_the_file(keep: FileServer, place: Place) -> None:
    folder = place.folder / "mine"
    folder.mkdir()
    server = keep("official", "--file", str(folder / "memory.jsonl"))

    fill(server)
    server.close_input()
    assert server.exit_code() == 0

    assert [file.name for file in folder.iterdir()] == ["memory.jsonl"]


@pytest.mark.promise("files.format.kept")
def test_lines_in_a_file_called_json_stay_lines_even_after_it_was_emptied(keep: FileServer, place: Place) -> None:
    path = place.folder / "memory.json"
    path.write_text(json.dumps({"type": "entity", **A}))
    server = keep("official", "--file", str(path))
    assert server.names() == ["a"]
    path.write_text("")

    assert server.names() == []
    server.call("create_entities", entities=[B])

    assert json.loads(path.read_text()) == {"type": "entity", **B}
