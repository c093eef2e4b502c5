"""Archives that are refused: what is wrong with them is told by its place, and nothing of them is imported."""

from __future__ import annotations

import json
from base64 import b64encode
from gzip import compress
from typing import Any

import pytest
import yaml

from form import each
from stdio_client import Place, Server

from .speaking import archive, contents, imported, kept, refused, stored

BAD: list[tuple[Any, str]] = [
    ({"content": 5}, "content"),
    ({"content": ""}, "content"),
    ({}, "content"),
    ({"content": "x", "observations": ["y"]}, "observations"),
    ({"content": "x", "scope": "a//b"}, "scope"),
    ({"content": "x", "scope": 5}, "scope"),
    ({"content": "x", "session": "a/b"}, "session"),
    ({"content": "x", "tags": "t"}, "tags"),
    ({"content": "x", "tags": [""]}, "tags"),
    ({"content": "x", "metadata": []}, "metadata"),
    ({"content": "x", "metadata": {"n": 10**30}}, "64 bits"),
    ({"content": "x", "version": 0}, "version"),
    ({"content": "x", "created_at": "yesterday"}, "created_at"),
    ({"content": "x", "updated_at": 5}, "updated_at"),
    ({"content": "x", "colour": "red"}, "colour"),
    ({"content": "a\0b"}, "content"),
    ("no object", "object"),
    (None, "object"),
]


@pytest.mark.promise("associative.import.problems")
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_every_bad_record_is_told_by_its_place_and_reason_and_nothing_is_imported(words: Server, form: str) -> None:
    stored(words, "there before")
    before = archive(words)
    records: list[Any] = []
    for record, _ in BAD:
        records += [{"memory_id": f"m{len(records)}", "content": f"sound {len(records)}"}, record]
    whole = {"memories": records, "associations": [{"source": "nobody", "target": "m0"}]}
    data = json.dumps(whole) if form == "json" else yaml.safe_dump(whole, allow_unicode=False)
    value = refused(words, "memory_import", "IMPORT_ERROR", import_data=data)
    problems = value["data"]["validation_errors"]
    assert len(problems) == len(BAD) + 1
    for number, (_, field) in enumerate(BAD):
        assert problems[number].startswith(f"memories[{2 * number + 1}]: "), problems[number]
        assert field in problems[number]
    assert problems[-1].startswith("associations[0]: ")
    assert "nobody" in problems[-1]
    assert archive(words) == before

    partly = imported(words, import_data=data, validate_data=False)
    assert partly["imported_count"] == len(BAD)
    assert partly["validation_errors"] == problems
    assert len(kept(words)) == len(BAD) + 1


@pytest.mark.promise("associative.import.problems")
def test_an_id_that_stands_there_twice_is_told(words: Server) -> None:
    data = '{"memories": [{"memory_id": "m", "content": "a"}, {"memory_id": "m", "content": "b"}]}'
    value = refused(words, "memory_import", "IMPORT_ERROR", import_data=data)
    assert value["data"]["validation_errors"][0].startswith("memories[1]: ")
    assert kept(words) == []


@pytest.mark.promise("associative.import.dropped")
def test_what_an_import_does_not_take_is_counted_and_named(words: Server) -> None:
    memories = [{"content": "sound"}, {"content": ""}, {"content": " "}]
    data = json.dumps({"memories": memories, "theme": "dark"})
    answer = imported(words, import_data=data, validate_data=False)
    assert answer["imported_count"] == 1
    assert answer["dropped"] == {"memories: content is empty": 2, "'theme' is no part of an archive": 1}


@pytest.mark.promise("associative.import.unreadable")
@each("validate", [True, False])
@each(
    "data",
    [
        "", "  ", "no archive at all", "{", "{}", '{"memories": 5}', '{"memories": [{"content": "a"}',
        '{"memories": [{"content": "a"}]} and more', '{"format": "something else", "memories": []}',
        '{"format": "polymnia-memories", "version": 99, "memories": []}', "memories: [", "a: &a [*a]", "\x00",
        "H4sIAAAAAAAA", "<xml/>", "---\nmemories: []\n---\nmemories: []\n",
    ],
)  # fmt: skip
def test_what_is_no_archive_is_refused_and_nothing_is_imported(shared: Server, data: str, validate: bool) -> None:
    value = refused(shared, "memory_import", "IMPORT_ERROR", import_data=data, validate_data=validate)
    assert "validation_errors" in value["data"]
    assert kept(shared) == []


@pytest.mark.promise("associative.import.bombs")
def test_a_gzip_bomb_is_refused_while_it_is_unpacked(place: Place) -> None:
    server = place.serve("associative", environment={"POLYMNIA_MAX_IMPORT_BYTES": str(1 << 20)})
    record = b'{"content": "' + b"x" * 1000 + b'"}'
    bomb = compress(b'{"memories": [' + b",".join([record] * 20_000) + b"]}")
    (place.folder / "exports").mkdir()
    (place.folder / "exports" / "bomb.gz").write_bytes(bomb)
    for source in ({"file_path": "bomb.gz"}, {"import_data": b64encode(bomb).decode()}):
        for validate in (True, False):
            value = refused(server, "memory_import", "IMPORT_ERROR", **source, validate_data=validate)
            assert "1,048,576" in value["message"]
    twice = compress(compress(b'{"memories": []}'))
    refused(server, "memory_import", "IMPORT_ERROR", import_data=b64encode(twice).decode())
    assert kept(server) == []


@pytest.mark.promise("associative.import.bombs")
def test_yaml_aliases_are_refused(words: Server) -> None:
    lines = ["a: &a0 [lol, lol, lol]"]
    lines += [f"b{n}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}]" for n in range(20)]
    lines += ["memories:", "  - content: x", "    metadata: {bomb: *a20}"]
    refused(words, "memory_import", "IMPORT_ERROR", import_data="\n".join(lines))
    tag = "memories:\n  - content: !!python/object/apply:os.system ['true']\n"
    refused(words, "memory_import", "IMPORT_ERROR", import_data=tag)
    assert kept(words) == []


@pytest.mark.promise("associative.import.either")
def test_a_file_and_data_together_or_neither_are_refused(shared: Server) -> None:
    for given in ({}, {"file_path": "x.json", "import_data": "{}"}):
        value = refused(shared, "memory_import", "VALIDATION_ERROR", **given)
        assert "file_path" in value["message"]
        assert "import_data" in value["message"]


PATHS = ["/etc/passwd", "../outside.json", "a/../../outside.json", "..", ".", "", "a//b.json", "~/x.json", "C:\\x.json",
         "a\\..\\b.json", "link.json", "linked/x.json", "a\nb.json", "folder", "x/"]  # fmt: skip


@pytest.mark.promise("associative.archives.confined")
def test_no_path_leads_out_of_the_folder_of_exports(place: Place, words: Server) -> None:
    stored(words, "inside")
    folder, outside = place.folder / "exports", place.folder / "outside"
    outside.mkdir()
    (outside / "x.json").write_text('{"memories": [{"content": "from outside"}]}')
    (folder / "folder").mkdir(parents=True)
    (folder / "link.json").symlink_to(outside / "x.json")
    (folder / "linked").symlink_to(outside)
    before = {str(p): p.read_bytes() for p in place.folder.rglob("*.json")}
    for path in PATHS:
        for tool in ("memory_export", "memory_import"):
            reply = words.call(tool, file_path=path)
            assert reply.failed, (path, reply.text)
            assert reply.value["error"] in ("VALIDATION_ERROR", "EXPORT_ERROR", "IMPORT_ERROR"), path
        assert {str(p): p.read_bytes() for p in place.folder.rglob("*.json")} == before, path
        assert contents(words) == ["inside"], path


@pytest.mark.promise("associative.import.missing")
def test_a_file_that_is_not_there_is_an_import_error_that_names_it(shared: Server) -> None:
    value = refused(shared, "memory_import", "IMPORT_ERROR", file_path="nope.json")
    assert "nope.json" in value["message"]
