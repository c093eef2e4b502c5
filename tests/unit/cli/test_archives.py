"""Archives in and out, wherever the person says."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from .desk import Desk


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """Three memories in two scopes, two of them linked."""
    desk.add("The cache holds each answer for a day", "--scope", "work", "--tag", "cache", "--meta", "n=1.5")
    desk.add("The cache holds each answer for 2 days", "--scope", "work/api", "--category", "fact")
    desk.add("앤은 녹차를 좋아한다", "--scope", "집")
    return desk


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml", "a.json.gz", "a.yaml.gz", "보관 파일", "a.b/c.json"])
def test_what_goes_out_comes_back_the_same(filled: Desk, name: str) -> None:
    (filled.folder / "a.b").mkdir()
    told = filled.run("export", "--archive", name)
    assert told.code == 0, told.err
    assert "3 memories and 1 association" in told.out
    first = (filled.folder / name).read_bytes()
    assert first.startswith(b"\x1f\x8b") == name.endswith(".gz")
    told = filled.run("import", "--archive", name, "--store", "other.db")
    assert told.code == 0, told.err
    assert told.lines[0] == "Memories: 3 new, 0 changed, 0 left as they are. Associations: 1 new."
    assert filled.run("export", "--archive", name, "--store", "other.db", "--force").code == 0
    assert (filled.folder / name).read_bytes() == first


def test_the_options_say_more_than_the_name(filled: Desk) -> None:
    filled.run("export", "--archive", "a.json", "--format", "yaml", "--gzip", "--scope", "work", "--no-associations")
    text = gzip.decompress((filled.folder / "a.json").read_bytes()).decode()
    assert text.startswith("format: polymnia-memories\n")
    assert "녹차" not in text
    assert "associations: []" in text


def test_an_archive_does_not_replace_a_file_unless_told(filled: Desk) -> None:
    (filled.folder / "a.json").write_text("mine")
    told = filled.run("export", "--archive", "a.json")
    assert told.code == 1
    assert "--force" in told.err
    assert (filled.folder / "a.json").read_text() == "mine"
    assert filled.run("export", "--archive", "a.json", "--force", "--json").value["memories"] == 3


@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal", "-lock"])
def test_an_archive_replaces_no_store_and_none_of_its_files(filled: Desk, beside: str) -> None:
    filled.run("add", "Kept", "--store", "kept.db")
    told = filled.run("export", "--archive", f"kept.db{beside}", "--force")
    assert told.code == 1
    assert "database" in told.err
    assert "Kept" in filled.run("search", "kept", "--store", "kept.db").out


def test_an_archive_that_cannot_be_written_is_told(filled: Desk) -> None:
    told = filled.run("export", "--archive", "nowhere/a.json")
    assert told.code == 1
    assert "no folder" in told.err
    assert not (filled.folder / "nowhere").exists()


def test_an_archive_goes_through_pipes(filled: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        pipe = io.TextIOWrapper(io.BytesIO())
        patch.setattr("sys.stdout", pipe)
        assert filled.run("export", "--archive", "-", "--gzip").code == 0
    packed = pipe.buffer.getvalue()
    told = filled.run("import", "--archive", "-", "--store", "other.db", "--json", stdin=packed)
    assert told.value["imported"]["imported"] == 3


def test_what_exists_is_met_as_the_strategy_says(filled: Desk) -> None:
    filled.run("export", "--archive", "a.json")
    id = filled.run("list").lines[-1].split("\t")[0]
    archive = json.loads((filled.folder / "a.json").read_text())
    archive["memories"][0] |= {"content": "The cache holds a week", "tags": ["week"]}
    (filled.folder / "a.json").write_text(json.dumps(archive))

    def met(strategy: str) -> tuple[list[str], list[str]]:
        assert filled.run("import", "--archive", "a.json", "--strategy", strategy).code == 0
        shown = filled.run("show", id, "--json").value
        assert filled.run("undo").code == 0
        return shown["observations"], shown["tags"]

    assert met("overwrite") == (["The cache holds a week"], ["week"])
    assert met("create_versions") == (["The cache holds a week"], ["week"])
    assert met("merge_metadata") == (["The cache holds each answer for a day"], ["cache", "week"])
    assert filled.run("import", "--archive", "a.json").lines == [
        "Memories: 0 new, 0 changed, 3 left as they are. Associations: 0 new.",
        "So nothing was changed.",
    ]


def test_a_prefix_files_everything_below_it(filled: Desk) -> None:
    filled.run("export", "--archive", "a.json")
    filled.run("import", "--archive", "a.json", "--prefix", "old", "--store", "other.db")
    scopes = [one["scope"] for one in filled.run("scopes", "--store", "other.db", "--json").value]
    assert scopes == ["old", "old/work", "old/work/api", "old/집"]


def test_every_record_that_cannot_be_taken_is_named_and_nothing_is_taken(desk: Desk) -> None:
    desk.add("Ann likes tea")
    (desk.folder / "bad.json").write_text(
        '{"memories":[{"content":"fine"},{"content":""},{"content":"x","scope":"a//b"}]}'
    )
    told = desk.run("import", "--archive", "bad.json")
    assert told.code == 1
    assert "memories[1]: content is empty" in told.err
    assert "memories[2]: " in told.err
    assert "--no-validate" in told.err
    assert len(desk.run("list").lines) == 1
    value = desk.run("import", "--archive", "bad.json", "--json")
    assert (value.code, value.value["imported"], len(value.value["problems"])) == (1, None, 2)
    told = desk.run("import", "--archive", "bad.json", "--no-validate")
    assert told.code == 0
    assert "1 new" in told.out
    assert "memories[1]" in told.err
    assert len(desk.run("list").lines) == 2


def test_a_dry_run_tells_what_an_import_does_and_makes_nothing(filled: Desk) -> None:
    filled.run("export", "--archive", "a.json")
    told = filled.run("import", "--archive", "a.json", "--dry-run", "--store", "new.db")
    assert not (filled.folder / "new.db").exists()
    assert "dry run" in told.lines[0]
    assert told.lines[1] == "Memories: 3 new, 0 changed, 0 left as they are. Associations: 1 new."
    assert filled.run("import", "--archive", "a.json", "--store", "new.db").lines[0] == told.lines[1]
    told = filled.run("import", "--archive", "a.json", "--dry-run", "--store", "new.db")
    assert told.lines[1] == "Memories: 0 new, 0 changed, 3 left as they are. Associations: 0 new."
    (filled.folder / "bad.json").write_text('{"memories":[{"content":""}]}')
    told = filled.run("import", "--archive", "bad.json", "--dry-run")
    assert told.code == 1
    assert "memories[0]" in told.err


@pytest.mark.parametrize("data", [b"", b"not an archive", b"\x1f\x8bbroken", b'{"memories":[{"content":"x"'])
def test_what_is_no_archive_is_refused(desk: Desk, data: bytes) -> None:
    (desk.folder / "a.json").write_bytes(data)
    for words in ([], ["--dry-run"], ["--no-validate"]):
        told = desk.run("import", "--archive", "a.json", *words)
        assert told.code == 1
        assert told.err.startswith("polymnia: ")


def test_what_is_too_large_is_refused_from_a_file_and_from_a_pipe(filled: Desk) -> None:
    filled.run("export", "--archive", "a.json")
    data = (filled.folder / "a.json").read_bytes()
    for path in ("a.json", "-"):
        told = filled.run("import", "--archive", path, "--max-import-bytes", "100", "--store", "b.db", stdin=data)
        assert told.code == 1
        assert "100" in told.err


@pytest.mark.parametrize(
    "words",
    [
        ["import", "g.json", "--strategy", "overwrite"],
        ["import", "g.json", "--no-validate"],
        ["import", "--archive", "a.json", "--existing", "keep"],
        ["import", "--archive", "nothing.json"],
        ["import", "--archive", "."],
        ["export", "b.json", "--scope", "work"],
        ["export", "b.json", "--gzip"],
        ["export", "--archive", "b.json", "--at", "1"],
    ],
)
def test_options_that_say_nothing_and_files_that_are_not_there_are_refused(filled: Desk, words: list[str]) -> None:
    filled.run("export", "--archive", "a.json")
    (filled.folder / "g.json").write_text('{"entities": [], "relations": []}')
    told = filled.run(*words)
    assert told.code == 1
    assert len(told.err.splitlines()) == 2
    assert not (filled.folder / "b.json").exists()


# ── what must stay ──────────────────────────────────────────────────────────────────────────────────────────


def test_no_export_replaces_the_memory_itself(desk: Desk) -> None:
    id = desk.add("Ann likes green tea")
    told = desk.run("export", "--archive", "memory.db", "--force")
    assert told.code == 1
    assert "database" in told.err
    assert id in desk.run("list").out
    kept = ("--file", "kept.json", "--store", "behind.db")
    desk.run("add", "Bob plays chess", *kept)
    for archive in ([], ["--archive"]):
        told = desk.run("export", *archive, "kept.json", "--force", *kept)
        assert told.code == 1
        assert "is the JSON file that this memory is kept in" in told.err
    assert "Bob plays chess" in desk.run("list", *kept).out


def test_a_file_that_is_no_json_by_its_name_is_left_alone(desk: Desk) -> None:
    notes = desk.folder / "notes.txt"
    notes.write_text("my own notes")
    assert desk.run("list", "--file", "notes.txt", "--store", "behind.db").code == 2
    assert [path.name for path in desk.folder.iterdir()] == ["notes.txt"]
    assert notes.read_text() == "my own notes"


def test_json_of_another_kind_is_no_memory_file_and_is_left_alone(desk: Desk) -> None:
    package = desk.folder / "package.json"
    package.write_text('{"name": "pkg", "version": "1.0.0", "dependencies": {}}')
    for command in (["list"], ["add", "hi there"]):
        told = desk.run(*command, "--file", "package.json", "--store", "behind.db")
        assert told.code == 1
        assert "it was left as it is" in told.err
    assert package.read_text() == '{"name": "pkg", "version": "1.0.0", "dependencies": {}}'
