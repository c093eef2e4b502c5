"""Project files: what is written is read again, in every form, and twice the same is the same bytes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from form import by_form, each
from polymnia.engine.transfer.formats.project import ProjectForm, Written, read, write
from polymnia.engine.transfer.formats.records import Broken, FileLimits
from polymnia.errors import Fault

FORMS: list[ProjectForm] = ["json", "csv", "markdown", "zip"]
TRICKY = [
    "", " ", "\n", "\r", "\r\n", "a\n", "\na", "a\n\n\n", "---", "---\n", "a\n---\nb: c\n---\n", "```\ncode\n```",
    "...", "<!-- polymnia:item -->", "\\<!-- polymnia:item -->\r\n\\\\<!-- polymnia:relationships -->\nx",
    "<!-- polymnia:relationships -->\n- {}", "=cmd|' /C calc'!A0", "+1", "-1+2", "@SUM(A1)", "\t=1", "'", "''", "'tis",
    "'=1", "＝1", 'a"b', '"', '""', "a,b;c\td", "한국어 본문\n둘째 줄", "\ufeffa", "\x85\u2028\u2029", "null", "[]",
    "{}", "1", "# Title\n\n- x\n", "a\rb", "\\", "%YAML", "content: x", "- {}", "  indented\n    more", "\x01\x7f",
]  # fmt: skip
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    st.sampled_from(TRICKY),
    st.text("-=+@'\",;\n\r\t #<!:\\a", max_size=12),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
objects = st.dictionaries(texts, values, max_size=4)
earlier = st.fixed_dictionaries(
    {"version": st.integers(1, 9), "content": texts}, optional={"summary": texts, "tags": st.lists(texts, max_size=2)}
)
items = st.fixed_dictionaries(
    {"content_id": texts, "content": texts, "tags": st.lists(texts, max_size=3), "metadata": objects},
    optional={
        "title": texts, "summary": texts, "content_type": texts, "kind": texts, "scope": texts, "session_id": texts,
        "created_at": texts, "updated_at": texts, "version": st.integers(1, 1 << 40),
        "history": st.lists(earlier, max_size=2), "embeddings": st.dictionaries(texts, texts, max_size=2),
        "type": texts, "other": values, "id": texts, "record": texts, "format": texts,
    },
)  # fmt: skip
links = st.fixed_dictionaries(
    {"source_id": texts, "target_id": texts, "type": texts},
    optional={
        "strength": st.floats(0, 1) | st.integers(0, 1), "context": texts, "metadata": objects, "origin": texts,
        "created_at": texts, "content": texts, "note": values,
    },
)  # fmt: skip

ITEM: dict[str, Any] = {
    "content_id": "content_1", "title": "항구", "content_type": "text/markdown", "kind": "note", "scope": "docs",
    "tags": ["tide", "조석"], "metadata": {"author": "김민준", "depth": 3.5}, "version": 2, "summary": "Tides.",
    "created_at": "2026-01-02T03:04:05.000006Z", "updated_at": "2026-02-02T03:04:05.000006Z",
    "content": "# Tides\n\nHigh at six.",
    "history": [{"version": 1, "content": "# Tide", "tags": [], "metadata": {}}],
    "embeddings": {"use": "AAECAw=="},
}  # fmt: skip
LINK: dict[str, Any] = {
    "source_id": "content_1", "target_id": "content_2", "type": "references", "strength": 0.5, "context": "see there",
    "origin": "manual", "created_at": "2026-01-02T03:04:05.000006Z",
}  # fmt: skip


def kept(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


def file(form: ProjectForm, told: Any, related: Any = (), **options: Any) -> bytes:
    out = io.BytesIO()
    done = write(out, form, told, related, **options)
    assert done == Written(len(told), len(related), sum(len(i.get("history", ())) for i in told), len(out.getvalue()))
    return out.getvalue()


def back(data: bytes, form: ProjectForm, limits: FileLimits | None = None) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"head": [], "items": [], "relationships": [], "unknown": []}
    for section, position, value in read(io.BytesIO(data), form, limits):
        if section in ("items", "relationships"):
            assert position == len(found[section])
        found[section].append(value)
    return found


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(items, max_size=3), st.lists(links, max_size=3), st.booleans())
@example(
    [dict(ITEM, content=text, title=text) for text in TRICKY], [dict(LINK, context=text) for text in TRICKY], False
)
@settings(max_examples=by_form(25, 150), deadline=None)
def test_every_form_gives_back_what_was_written(form: ProjectForm, told: Any, related: Any, compress: bool) -> None:
    data = file(form, told, related, compress=compress)
    found = back(data, form)
    assert found["items"] == [kept(item) for item in told]
    assert found["relationships"] == [kept(link) for link in related]
    assert found["unknown"] == []
    assert file(form, found["items"], found["relationships"], compress=compress) == data


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_project_is_a_file_too(form: ProjectForm) -> None:
    found = back(file(form, []), form)
    assert found["items"] == found["relationships"] == []


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_fields_makes_no_other_bytes(form: ProjectForm) -> None:
    assert file(form, [ITEM]) == file(form, [dict(reversed(ITEM.items()))])


@pytest.mark.parametrize("form", FORMS)
def test_metadata_as_deep_as_they_may_be_come_back_also_in_history(form: ProjectForm) -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    told = dict(ITEM, metadata=deep, history=[{"version": 1, "content": "x", "metadata": deep}])
    assert back(file(form, [told]), form)["items"] == [told]


@pytest.mark.parametrize("form", FORMS)
def test_an_item_without_content_has_none_when_it_is_read(form: ProjectForm) -> None:
    bare = {"content_id": "content_1", "tags": []}
    assert back(file(form, [bare]), form)["items"] == [bare]


@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
def test_compressed_text_is_gzip_and_shows_by_itself(form: ProjectForm) -> None:
    data = file(form, [ITEM] * 50, compress=True)
    assert data.startswith(b"\x1f\x8b") and len(data) < len(file(form, [ITEM] * 50)) / 3
    assert back(data, form)["items"] == [ITEM] * 50


@pytest.mark.parametrize("form", FORMS)
def test_more_records_than_the_limit_are_refused(form: ProjectForm) -> None:
    with pytest.raises(Fault, match="limit"):
        back(file(form, [dict(ITEM, content_id=f"c{i}") for i in range(9)]), form, FileLimits(items=5))


@pytest.mark.parametrize("form", FORMS)
def test_more_bytes_than_the_limit_are_refused(form: ProjectForm) -> None:
    data = file(form, [dict(ITEM, content="a" * 100_000)], compress=True)
    with pytest.raises(Fault, match="limit"):
        back(data, form, FileLimits(total=50_000))


@pytest.mark.parametrize("form", FORMS)
@given(st.binary(max_size=60))
@settings(max_examples=by_form(20, 80), deadline=None)
def test_damaged_files_end_in_a_fault_or_in_records(form: ProjectForm, junk: bytes) -> None:
    whole = file(form, [ITEM, ITEM], [LINK])
    at = len(junk) * 13 % len(whole)
    for data in (junk, whole[:at], whole[:at] + junk + whole[at:]):
        try:
            back(data, form)
        except Fault as fault:
            assert fault.message


# ── json ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_json_is_one_document_with_a_record_a_line() -> None:
    data = file("json", [ITEM, ITEM], [LINK])
    told = json.loads(data)
    assert list(told) == ["format", "version", "project", "items", "relationships"]
    assert told["items"] == [ITEM, ITEM] and told["relationships"] == [LINK]
    assert sum(b"content_id" in line for line in data.splitlines()) == 2


def test_a_bare_list_is_a_list_of_items() -> None:
    assert back(b'[{"content": "a"}, {"content": "b"}]', "json")["items"] == [{"content": "a"}, {"content": "b"}]


def test_sections_of_other_exports_are_known_by_their_names() -> None:
    found = back(b'{"memories": [{"content": "a"}], "associations": [{"source_id": "x"}], "more": [1]}', "json")
    assert (found["items"], found["relationships"]) == ([{"content": "a"}], [{"source_id": "x"}])
    assert found["unknown"] == ["more"]


@each(
    "data",
    [b"", b"{}", b'{"a": 1}', b'{"items": 3}', b'{"items": [], "contents": []}', b'{"format": "x", "items": []}',
     b'{"format": "polymnia-project", "version": 9}', b'{"items": [{}', b'{"items": [],}', b"[] []", b"nothing"],
)  # fmt: skip
def test_a_document_that_is_no_project_is_refused(data: bytes) -> None:
    with pytest.raises(Fault):
        back(data, "json")


# ── csv ───────────────────────────────────────────────────────────────────────────────────────────────────────


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_csv_has_a_row_an_item_and_then_a_row_a_relationship() -> None:
    first, second = rows(file("csv", [ITEM], [LINK]))
    assert (first["record"], second["record"]) == ("item", "relationship")
    assert first["content"] == ITEM["content"] and json.loads(first["tags"]) == ITEM["tags"]
    assert second["target_id"] == "content_2" and second["strength"] == "0.5"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "＝1", "'=1"])
def test_no_cell_begins_a_formula(text: str) -> None:
    data = file("csv", [dict(ITEM, content=text, title=text, kind=text)])
    for row in rows(data):
        assert not [cell for cell in row.values() if cell[:1] in tuple("=+-@\t\r\n＝＋－＠")]
    assert back(data, "csv")["items"][0]["content"] == text


def test_a_table_of_ones_own_is_read_and_unknown_columns_are_metadata() -> None:
    data = "Title;Content;Tags;Owner\r\n조석;여섯 시;a, b;김\r\n;'tis late;;\r\n".encode()
    assert back(data, "csv")["items"] == [
        {"title": "조석", "tags": ["a", "b"], "metadata": {"Owner": "김"}, "content": "여섯 시"},
        {"content": "'tis late"},
    ]


@pytest.mark.parametrize(
    "row", ["x,{,", "x,[1],", "x,,1.5", "x,,one", 'x,"{""a"":1,""a"":2}",', "x,,1,more", '"x"y,,', "\xff,,"]
)
def test_a_row_that_cannot_be_taken_is_told_and_the_next_is_read(row: str) -> None:
    data = b"content,metadata,version\n" + row.encode("latin-1") + b"\nb,,1\n"
    first, second = back(data, "csv")["items"]
    assert isinstance(first, Broken) and first.line == 2
    assert second == {"version": 1, "content": "b"}


@pytest.mark.parametrize("data", [b"a,b\n1,2\n", b"content,content\n", b'content\n"open', b"\n\n"])
def test_a_table_that_is_no_project_is_refused(data: bytes) -> None:
    with pytest.raises(Fault):
        back(data, "csv")


# ── markdown ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_markdown_shows_the_content_as_it_is_under_its_front_matter() -> None:
    text = file("markdown", [ITEM], [LINK]).decode()
    assert "\n<!-- polymnia:item -->\n---\ncontent_id: content_1\n" in text
    assert "\n---\n\n# Tides\n\nHigh at six.\n" in text
    assert '\n<!-- polymnia:relationships -->\n\n- {"source_id":"content_1",' in text


def test_a_page_of_ones_own_is_one_item_and_its_own_words_are_metadata() -> None:
    page = "---\ntitle: 조석\ntags: [a, b]\naliases: [tide]\n---\n\n# 조석\n\n---\n\n본문\n".encode()
    assert back(page, "markdown")["items"] == [
        {"title": "조석", "tags": ["a", "b"], "metadata": {"aliases": ["tide"]}, "content": "# 조석\n\n---\n\n본문"}
    ]
    assert back(b"Just a text.\n", "markdown")["items"] == [{"content": "Just a text."}]


@pytest.mark.parametrize("front", ["a: [", "- a", "a: 1\na: 2", "content: x", "metadata: 3\nb: 1", "a: *b"])
def test_an_item_with_a_broken_front_matter_is_told_and_the_next_is_read(front: str) -> None:
    data = f"<!-- polymnia:item -->\n---\n{front}\n---\ntext\n\n<!-- polymnia:item -->\nnext\n".encode()
    first, second = back(data, "markdown")["items"]
    assert isinstance(first, Broken) and first.line == 2
    assert second == {"content": "next"}


# ── zip ───────────────────────────────────────────────────────────────────────────────────────────────────────


def packed(**entries: bytes | str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("compress", [True, False])
def test_a_zip_holds_the_document_a_page_an_item_and_a_manifest(compress: bool) -> None:
    odd = dict(ITEM, content_id="../../etc/passwd")
    twin = dict(ITEM, content_id="CONTENT_1")
    with zipfile.ZipFile(io.BytesIO(file("zip", [ITEM, odd, twin], [LINK], compress=compress))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names[0] == "items/content_1.md" and names[-2:] == ["project.json", "manifest.json"]
        assert len({name.lower() for name in names}) == 5 and not any(".." in name for name in names)
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["counts"] == {"items": 3, "relationships": 1, "versions": 3}
        for name, told in manifest["files"].items():
            assert told["sha256"] == hashlib.sha256(archive.read(name)).hexdigest()
            assert told["bytes"] == archive.getinfo(name).file_size
        assert archive.read("project.json") == file("json", [ITEM, odd, twin], [LINK])
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_pages_without_a_document_are_items() -> None:
    data = packed(**{"vault/b.md": "two\n", "vault/a.md": "---\ntitle: One\n---\none\n", "vault/pic.png": b"\x89"})
    assert back(data, "markdown")["items"] == [{"title": "One", "content": "one"}, {"content": "two"}]


@pytest.mark.parametrize("name", ["../a.md", "/a.md", "a/../../b.md", "C:/a.md", "a\\..\\b.md", "./a.md", "a//b.md"])
def test_names_that_lead_out_of_a_zip_are_refused(name: str) -> None:
    with pytest.raises(Fault, match="leads out"):
        back(packed(**{name: "x"}), "zip")


def test_links_doubles_and_files_that_were_changed_are_refused() -> None:
    link = zipfile.ZipInfo("a.md")
    link.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(Fault, match="link"):
        back(out.getvalue(), "zip")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, pytest.warns(UserWarning):
        archive.writestr("a.md", "x")
        archive.writestr("a.md", "y")
    with pytest.raises(Fault, match="twice"):
        back(out.getvalue(), "zip")
    with zipfile.ZipFile(io.BytesIO(file("zip", [ITEM]))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with pytest.raises(Fault, match="manifest"):
        back(packed(**entries | {"items/content_1.md": b"edited"}), "zip")
    with pytest.raises(Fault, match="missing"):
        back(packed(**{name: data for name, data in entries.items() if name != "items/content_1.md"}), "zip")
    with pytest.raises(Fault, match="no zip"):
        back(b"{}", "zip")
    with pytest.raises(Fault, match="neither"):
        back(packed(a="x"), "zip")


def test_a_list_of_entries_too_long_to_hold_is_refused_before_it_is_read() -> None:
    data = bytearray(packed(a="x"))
    at = data.rindex(b"PK\x05\x06")
    data[at + 12 : at + 16] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(Fault, match="list of entries"):
        back(bytes(data), "zip")


def test_an_entry_that_says_less_than_it_unpacks_to_is_refused() -> None:
    data = packed(**{"a.md": b"a" * 5000})
    short = data.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    with pytest.raises(Fault, match="damaged"):
        back(short, "zip")


@pytest.mark.long
def test_more_items_than_an_old_zip_can_count_are_written_and_read() -> None:
    small = [{"content_id": f"c{i}", "content": "x"} for i in range(66_000)]
    data = file("zip", small)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert len(archive.namelist()) == 66_002
    assert sum(item.section == "items" for item in read(io.BytesIO(data), "zip")) == 66_000


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = packed(**{f"{i}.md": b"\0" * 1_000_000 for i in range(20)})
    assert len(bomb) < 50_000
    with pytest.raises(Fault, match="when unpacked"):
        back(bomb, "zip", FileLimits(total=10_000_000))
