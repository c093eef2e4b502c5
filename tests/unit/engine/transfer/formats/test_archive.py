"""Archives: what is written is read again, whatever it holds, and twice the same is the same bytes."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia.engine.transfer.formats.archive import ARCHIVE, ArchiveForm, read, write
from polymnia.engine.transfer.formats.records import Broken, FileLimits, Item, Source
from polymnia.engine.transfer.formats.yaml_records import read_yaml

FORMS: list[ArchiveForm] = ["json", "yaml"]

# What some reader of YAML takes for something else than a text, or for the end of one.
TRICKY = [
    "", " ", "  two", "two  ", "\t", "a\tb", "\ttab first", "tab last\t", "a\n", "\na", "a\n\n", "a\n\n\nb\n\n",
    "\n", " a\nb", "\ta\nb", "a\n\tb", "a\n b", "a\n \nb", "a\n \n", "a\n\n \n", "a \nb", "a\r\nb", "a\rb",
    "a\n# no comment", "- x", "-", "--- a", "---", "...", "a\n---\nb", "a\n...\nb", ": ", "a: b", "a:", ":a", "a:b",
    "#", "a #b", "a#b", "# a", "? a", "?", "!", "!!str a", "&a", "*a", "<<", "=", "~", "%YAML 1.2", "@a", "`a`",
    "'a'", '"a"', "a'b", 'a"b', "\\", "\\n", "[", "]", "{", "}", "[]", "{}", "a, b", "|", ">", "|-\n  a", "null",
    "Null", "NULL", "true", "True", "FALSE", "yes", "Yes", "NO", "on", "Off", "y", "N", "2025-07-10",
    "2025-07-10T05:30:00Z", "12:30:45", "1", "-1", "+1", "0", "-0", "007", "0x1F", "0o17", "017", "0b101", "1e3",
    "1.5", "1.", ".5", "1_000", "1,000", ".inf", "-.inf", ".nan", "NaN", "Infinity", "\x85", "a\x85b", "\u2028",
    "a\u2029b", "\ufeff", "a\ufeffb", "\ufffe", "\uffff", "\x7f", "\x01", "\x1b[0m", "\xa0a\xa0", "😀", "한국어: 네",
    "a" * 5000, "a b " * 2000, "é\u0301", "\U0010ffff", "x\u200b", "key: |", "a\n\n\n", "x: y # z\nb",
]  # fmt: skip

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.sampled_from(TRICKY),
    st.text("ab \n\t-:#'\"|>&*!%@,[]{}?\\0.\r\x85\u2028\ufeff~", max_size=12),
)
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 64) - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
records = st.dictionaries(texts, values, max_size=6)


def archive(
    form: ArchiveForm,
    memories: list[dict[str, Any]],
    associations: list[dict[str, Any]] | None = None,
    *,
    scope: str | None = None,
    gzip: bool = False,
) -> bytes:
    out = io.BytesIO()
    size = write(out, form, scope, memories, associations or [], gzip=gzip)
    assert size == len(out.getvalue())
    return out.getvalue()


def items(data: bytes, **limits: int) -> list[Item]:
    return list(read(io.BytesIO(data), FileLimits(**limits)))


def section(found: list[Item], name: str) -> list[Any]:
    members = [item for item in found if item.section == name]
    assert name == "head" or name == "unknown" or [m.position for m in members] == list(range(len(members)))
    return [item.value for item in members]


def same(one: Any, other: Any) -> bool:
    """Equal to the last bit and type: 1 is not 1.0, and 0.0 is not -0.0."""
    return repr(one) == repr(other)


MEMORY = {
    "memory_id": "019f3c",
    "content": "The lighthouse keeper counts ships.\n\nHe writes: every hour # except at noon\n",
    "scope": "harbour/notes",
    "category": None,
    "tags": ["sea", "2025-07-10", "yes"],
    "metadata": {"ships": 12, "share": 0.25, "open": True, "nested": {"list": [[1, [2]], {}, []]}},
    "created_at": "2025-07-10T05:30:00.000001Z",
    "version": 1,
}
LINK = {"source": "019f3c", "target": "019f3d", "type": "semantic", "strength": 0.75, "origin": "auto"}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=by_form(15, 60), deadline=None)
@given(memories=st.lists(records, max_size=3), associations=st.lists(records, max_size=2), scope=st.none() | texts)
@example(memories=[{text: text, "list": [text, [text]]} for text in TRICKY], associations=[], scope=None)
def test_every_record_json_can_hold_survives_a_round_trip(
    form: ArchiveForm,
    packed: bool,
    memories: list[dict[str, Any]],
    associations: list[dict[str, Any]],
    scope: str | None,
) -> None:
    data = archive(form, memories, associations, scope=scope, gzip=packed)
    found = items(data)
    assert same(section(found, "memories"), memories)
    assert same(section(found, "associations"), associations)
    assert {k: v for head in section(found, "head") for k, v in head.items()} == {
        "format": "polymnia-memories",
        "version": 1,
        "scope": scope,
    }
    again = archive(form, section(found, "memories"), section(found, "associations"), scope=scope, gzip=packed)
    assert again == data


@pytest.mark.long
@settings(max_examples=by_form(15, 60), deadline=None)
@given(memories=st.lists(records, max_size=3))
@example(memories=[{text: text, "list": [text, [text]]} for text in TRICKY])
def test_other_readers_see_the_same(memories: list[dict[str, Any]]) -> None:
    # PyYAML reads YAML 1.1, the version with the most surprises.
    document = yaml.load(archive("yaml", memories), yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)
    assert same(document["memories"], memories)
    assert same(json.loads(archive("json", memories))["memories"], memories)


@pytest.mark.long
@settings(max_examples=by_form(15, 40), deadline=None)
@given(memories=st.lists(records, max_size=2))
@example(memories=[{text: text} for text in TRICKY])
def test_the_parser_in_python_reads_the_same_as_libyaml(memories: list[dict[str, Any]]) -> None:
    data = archive("yaml", memories)
    assert same(section(list(_in_python(data)), "memories"), memories)


def _in_python(data: bytes) -> Iterator[Item]:
    return read_yaml(Source(io.BytesIO(data), 1 << 30), FileLimits(), ARCHIVE, native=False)


def test_json_has_one_record_a_line() -> None:
    assert archive("json", [MEMORY, {"a": 1}], [LINK], scope="harbour").decode().splitlines() == [
        "{",
        '  "format": "polymnia-memories",',
        '  "version": 1,',
        '  "scope": "harbour",',
        '  "memories": [',
        "    " + json.dumps(MEMORY, separators=(",", ":")) + ",",
        '    {"a":1}',
        "  ],",
        '  "associations": [',
        "    " + json.dumps(LINK, separators=(",", ":")),
        "  ]",
        "}",
    ]


def test_yaml_is_for_people() -> None:
    assert (
        archive("yaml", [MEMORY], [LINK], scope="harbour").decode()
        == """\
format: polymnia-memories
version: 1
scope: harbour
memories:
- memory_id: "019f3c"
  content: |
    The lighthouse keeper counts ships.

    He writes: every hour # except at noon
  scope: harbour/notes
  category: null
  tags:
  - sea
  - "2025-07-10"
  - "yes"
  metadata:
    ships: 12
    share: 0.25
    open: true
    nested:
      list:
      - - 1
        - - 2
      - {}
      - []
  created_at: "2025-07-10T05:30:00.000001Z"
  version: 1
associations:
- source: "019f3c"
  target: "019f3d"
  type: semantic
  strength: 0.75
  origin: auto
"""
    )


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_of_nothing_is_an_archive(form: ArchiveForm) -> None:
    found = items(archive(form, []))
    assert [item.section for item in found] == ["head"] * 3


@pytest.mark.parametrize("form", FORMS)
def test_gzip_says_nothing_of_when_and_where(form: ArchiveForm) -> None:
    data = archive(form, [MEMORY], gzip=True)
    assert data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    assert gzip.decompress(data) == archive(form, [MEMORY])


@pytest.mark.parametrize("form", FORMS)
def test_memories_are_read_before_the_file_is_at_its_end(form: ArchiveForm) -> None:
    data = archive(form, [MEMORY] * 20_000)
    source = io.BytesIO(data)
    first = next(item for item in read(source) if item.section == "memories")
    assert first.value == MEMORY
    assert source.tell() < len(data) / 10


@pytest.mark.parametrize("form", FORMS)
def test_memories_are_written_before_the_last_one_is_known(form: ArchiveForm) -> None:
    out = io.BytesIO()
    sizes = []

    def memories() -> Iterator[dict[str, Any]]:
        for _ in range(5000):
            sizes.append(out.tell())
            yield MEMORY

    write(out, form, None, memories(), [])
    assert sizes[-1] > 0.8 * out.tell()


@pytest.mark.parametrize("text", ["", "---\n"])
def test_keys_may_come_in_any_order_and_unknown_ones_are_told(text: str) -> None:
    document = {
        "associations": [LINK],
        "notes": {"memories": [1, "]}"]},
        "version": 1,
        "memories": [MEMORY],
        "format": "polymnia-memories",
        "more": None,
    }
    for data in (
        json.dumps(document),
        json.dumps(document, indent=3),
        text + yaml.safe_dump(document, sort_keys=False),
    ):
        found = items(data.encode())
        assert [item.section for item in found] == ["associations", "unknown", "head", "memories", "head", "unknown"]
        assert section(found, "unknown") == ["notes", "more"]
        assert section(found, "memories") == [MEMORY]
        assert section(found, "associations") == [LINK]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"a": 1}, {"b": 2}]',
        b'\xef\xbb\xbf[{"a":1},{"b":2}]',
        b"- a: 1\n- b: 2\n",
        b"[{a: 1}, {b: 2}]",
        b"\xef\xbb\xbf- a: 1\r\n- b: 2",
    ],
)
def test_a_bare_list_is_a_list_of_memories(data: bytes) -> None:
    assert items(data) == [Item("memories", 0, {"a": 1}), Item("memories", 1, {"b": 2})]
    assert items(gzip.compress(data)) == items(data)


def test_a_source_is_read_from_where_it_stands() -> None:
    source = io.BytesIO(archive("json", [MEMORY]))
    first = list(read(source))
    source.seek(0)
    assert list(read(source)) == first


def test_a_broken_record_is_told_and_the_rest_is_read() -> None:
    found = items(b'{"memories": [\n{"a": 1},\n{"a": 1, "a": 2},\n"text",\n{"b": 2}\n]}')
    assert section(found, "memories") == [
        {"a": 1},
        Broken("the key 'a' appears twice in one object", 3),
        Broken("it is no object", 4),
        {"b": 2},
    ]
