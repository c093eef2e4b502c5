"""Archives that are broken, too large or meant to harm: told what and where, and never unpacked."""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import Any

import pytest

from form import each
from polymnia.engine.transfer.formats.archive import read
from polymnia.engine.transfer.formats.records import Broken, FileLimits
from polymnia.errors import Invalid


def memories(data: bytes, **limits: int) -> list[Any]:
    return [item.value for item in read(io.BytesIO(data), FileLimits(**limits)) if item.section == "memories"]


class Watched(io.BytesIO):
    """Knows how much of it was read."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        given = super().read(size)
        self.taken += len(given)
        return given


# ── whole files ───────────────────────────────────────────────────────────────────────────────────────────


@each(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"# nothing\n", "empty"),
        (b"5", "no archive"),
        (b"hello", "no archive"),
        (b"{}", "no archive"),
        (b'{"entities": []}', "no archive"),
        (b"entities: []", "no archive"),
        (b'{"format": "other", "memories": []}', "'other'"),
        (b"format: [a]", "format"),
        (b'{"version": 2}', "version 2"),
        (b"version: true", "version True"),
        (b'{"memories": {}}', "memories is no list"),
        (b"memories: 5", "memories is no list"),
        (b'{"memories": [], "memories": []}', "twice"),
        (b"memories: []\nmemories: []", "twice"),
        (b"memories: []\n---\nmemories: []", "second document"),
        (b"[] x", "follows its end .line 1, byte 3"),
        ("[]".encode("utf-16"), "UTF-16"),
        (b'{"memories": [\n{"a": 1},\n', "ends too early.*line 3, byte 25"),
        (b'{"memories": [\n{"a": 1},\n{"b": "c', r"memories\[1\], which begins on line 3, has no end"),
        (b'{"memories": [{"a": 1}', "ends too early"),
        (b'{"memories": [{"a": 1} {"b": 1}]}', "a comma or the end of memories was expected .line 1, byte 23"),
        (b'{"memories": [{"a": 1},]}', "a value was expected"),
        (b'{"memories": [{"a": [1}]}', "closes what it did not open"),
        (b'{"memories" []}', "colon"),
        (b'{"memories": [], 5}', "a key in quotes"),
        (b'{"a', "a key, which begins on line 1, has no end"),
        (b'{"\\x": 1}', "a key is not right"),
        (b'memories:\n- a: "b', "line 2, column 8"),
        (b"memories:\n- a:\n\t- b", "line 3, column 1"),
        (b"memories:\n- a: \xff", "not YAML"),
        (b"memories:\n- a: \x01", "not YAML"),
        (b"PK\x03\x04\x14\0\0\0", "not YAML"),
    ],
)
def test_a_file_that_is_no_archive_is_refused_with_what_and_where(data: bytes, why: str) -> None:
    for form in (data, gzip.compress(data)):
        with pytest.raises(Invalid, match=why):
            memories(form)


def test_every_truncation_of_an_archive_is_noticed() -> None:
    whole = b'{"format": "polymnia-memories", "memories": [{"a": "b", "c": [1]}], "associations": []}'
    for packed in (whole, gzip.compress(whole)):
        assert memories(packed) == [{"a": "b", "c": [1]}]
        for end in range(len(packed)):
            with pytest.raises(Invalid):
                memories(packed[:end])


def test_every_damaged_byte_of_a_gzip_stream_is_noticed() -> None:
    packed = gzip.compress(b'{"memories": [{"a": "the ferry leaves at noon"}]}', mtime=0)
    for at in range(10, len(packed)):
        with pytest.raises(Invalid):
            memories(packed[:at] + bytes([packed[at] ^ 0x10]) + packed[at + 1 :])


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────


@each(
    ("record", "why"),
    [
        (b'{"a": 1, "a": 2}', "'a' appears twice"),
        (b'{"a": {"b": [{"c": 1, "\\u0063" : 2}]}}', "'c' appears twice"),
        (b'{"x": ": ", "a": 1, "a" : 2}', "'a' appears twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": [-Infinity]}', "-Infinity"),
        (b'{"a": ' + b"9" * 100_000 + b"}", "64 bits"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": "\x01"}', "not JSON: invalid control character"),
        (b'{"a": 1,}', "not JSON"),
        (b'{"a" 1}', "not JSON"),
        (b'{"a": tru}', "not JSON"),
        (b'{"a": 01}', "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'"a"', "no object"),
        (b"[{}]", "no object"),
        (b"null", "no object"),
    ],
)
def test_a_bad_record_in_json_is_told_with_its_place(record: bytes, why: str) -> None:
    found = memories(b'{"memories": [\n{"ok": 1},\n' + record + b',\n{"ok": 2}]}')
    assert isinstance(found[1], Broken)
    assert found[1].line == 3
    assert re.search(why, found[1].reason)
    assert found[::2] == [{"ok": 1}, {"ok": 2}]


@each(
    ("record", "why"),
    [
        ("{a: 1, a: 2}", "'a' appears twice at line 3"),
        ("{a: &x [1], b: *x}", r"an alias \(\*x\) at line 3, column 18"),
        ("*x", "an alias"),
        ("{<<: {a: 1}}", "merge key"),
        ("{a: !!python/object:os.system x}", "the tag !!python/object:os.system at line 3"),
        ("!!set {a}", "the tag !!set"),
        ("{a: !!timestamp 2001-01-01}", "the tag !!timestamp"),
        ("{a: !mine [1]}", "the tag !mine"),
        ("{a: !!int 5}", "the tag !!int"),
        ("{a: .inf}", r"\.inf, which is no finite number"),
        ("{a: -.INF}", "no finite number"),
        ("{a: .nan}", "no finite number"),
        ("{a: 1.5e400}", "out of range"),
        ("{a: " + "9" * 1000 + "}", "64 bits"),
        ("{[a]: b}", "a key is no text"),
        ("text", "no object"),
        ("[a]", "no object"),
        ("", "no object"),
    ],
)
def test_a_bad_record_in_yaml_is_told_with_its_place(record: str, why: str) -> None:
    found = memories(f"memories:\n- ok: 1\n- {record}\n- ok: 2".encode())
    assert isinstance(found[1], Broken)
    assert found[1].line == 3
    assert re.search(why, found[1].reason)
    assert found[::2] == [{"ok": 1}, {"ok": 2}]


def test_half_a_surrogate_pair_is_refused_in_yaml() -> None:
    with pytest.raises(Invalid, match="line 2, column"):
        memories(b'memories:\n- a: "\\ud800"\n')


# ── bombs ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.parametrize("filling", [b" ", b'{"a":1},\n', b"\n"])
def test_a_gzip_bomb_is_refused_before_it_is_unpacked(filling: bytes) -> None:
    source = Watched(gzip.compress(b'{"memories": [' + filling * (20_000_000 // len(filling))))
    with pytest.raises(Invalid, match="larger than 1,000,000 bytes"):
        list(read(source, FileLimits(total=1_000_000)))
    assert source.tell() <= 70_000


def test_bombs_in_several_gzip_members_are_one_bomb() -> None:
    member = gzip.compress(b" " * 300_000)
    with pytest.raises(Invalid, match="larger than 1,000,000 bytes"):
        memories(gzip.compress(b"[{},") + member * 50, total=1_000_000)
    whole = gzip.compress(b"[{},") + member * 3 + gzip.compress(b"{}]") + b"\0" * 512
    assert memories(whole, total=1_000_000) == [{}, {}]


def test_members_of_nothing_come_to_an_end() -> None:
    with pytest.raises(Invalid, match="ends too early"):
        memories(gzip.compress(b"[{},") + gzip.compress(b"") * 10_000)


def test_gzip_inside_of_gzip_is_refused() -> None:
    with pytest.raises(Invalid, match="compressed twice"):
        memories(gzip.compress(gzip.compress(b"[]")))


def test_what_follows_gzip_and_is_none_is_refused() -> None:
    with pytest.raises(Invalid, match="gzip data are damaged"):
        memories(gzip.compress(b"[]") + b"more")


def test_a_plain_file_over_the_limit_is_refused_while_it_is_read() -> None:
    source = Watched(b"[{}," + b" " * 10_000_000)
    with pytest.raises(Invalid, match="larger than 500,000 bytes"):
        list(read(source, FileLimits(total=500_000)))
    assert source.taken < 1_000_000


@pytest.mark.parametrize(
    "start", [b'{"memories": [{"a": "', b'{"memories": [{"a": [', b"memories:\n- a: ", b"memories:\n#"]
)
@pytest.mark.parametrize("letter", [b"x", b"1,"])
def test_one_value_that_never_ends_is_refused(start: bytes, letter: bytes) -> None:
    source = Watched(start + letter * 5_000_000)
    with pytest.raises(Invalid, match="more than 400,000 bytes"):
        list(read(source, FileLimits(record=400_000)))
    assert source.taken < 1_500_000


@pytest.mark.parametrize(
    "data",
    [
        b'{"memories": [{"a": ' + b"[" * 100_000,
        b'{"memories": [{"a": ' + b'{"a":' * 100_000,
        b'{"memories": [], "unknown": ' + b"[" * 100_000,
        b"memories:\n- a: " + b"[" * 100_000,
        b"memories:\n- a: " + b"{a: " * 100_000,
        b"memories:\n" + b"- " * 5_000,
        b"unknown: " + b"[" * 100_000,
    ],
)
def test_what_is_nested_too_deeply_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="nested more than 100 deep"):
        memories(data)


def test_a_hundred_levels_are_not_too_many() -> None:
    value: Any = "end"
    for _ in range(49):
        value = [{"in": value}]
    record = {"a": value, "b": ["[" * 200]}
    text = json.dumps({"memories": [record]})
    assert memories(text.encode()) == [record]
    assert memories(b"# as YAML\n" + text.encode()) == [record]


def test_a_thousand_million_laughs_are_none() -> None:
    laughs = "a: &a [lol, lol]\n" + "".join(
        f"  {new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = memories(f"memories:\n- {laughs}".encode())
    assert len(found) == 1
    assert isinstance(found[0], Broken)


@pytest.mark.parametrize("before", [b"", b"memories: []\n...\n"])
def test_directives_without_end_are_refused(before: bytes) -> None:
    # The parser compares each with all before it.
    source = Watched(before + b"".join(b"%%TAG !%x! b\n" % number for number in range(200_000)) + b"---\n[]\n")
    with pytest.raises(Invalid, match="the document has more than 65,536 bytes"):
        list(read(source))
    assert source.taken < 300_000


def test_too_many_values_in_one_record_are_refused() -> None:
    record = b'{"a": [' + b"[]," * 2000 + b"[]]}"
    assert "more than 1,000 values" in memories(b"[" + record + b"]", values=1000)[0].reason
    assert memories(b'[{"a": "' + b"," * 2000 + b'"}]', values=1000) == [{"a": "," * 2000}]
    with pytest.raises(Invalid, match="more than 1,000 values"):
        memories(b"- " + record, values=1000)


@pytest.mark.parametrize("data", [b"[" + b"{}," * 2000 + b"{}]", b"- {}\n" * 2000])
def test_too_many_records_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="more than 1,000 records"):
        memories(data, items=1000)


@pytest.mark.long
@pytest.mark.parametrize("between", [b",", b",\n", b"," + b" " * 20])
def test_many_small_records_take_no_longer_than_they_are_long(between: bytes) -> None:
    # Looking for the end of the line, or counting lines, anew for each record would take minutes here.
    found = memories(b"[" + (b"1" + between + b"{}" + between) * 50_000 + b"{}\n]" + b"\n" * 10)
    assert len(found) == 100_001
    assert found[-1] == {}
    assert found[-3] == Broken("it is no object", 1 if b"\n" not in between else 99_999)
