"""Reading messages: whatever the bytes are, the answer is a message or a reason."""

from __future__ import annotations

import json
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from form import each
from polymnia.transports.errors import INVALID_REQUEST, PARSE_ERROR
from polymnia.transports.malformed import nesting, parts, salvaged_id, trailing_id
from polymnia.transports.rpc import BadMessage, message

_MOST = 100


def _refused(line: bytes, most: int = _MOST) -> BadMessage:
    with pytest.raises(BadMessage) as refused:
        message(line, most)
    return refused.value


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
_IDS = st.integers(-(1 << 53), 1 << 53) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
# Almost JSON: pieces of it in any order, among bytes that are none.
_SHREDS = st.lists(
    st.sampled_from(
        [
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b'"',
            b"\\",
            b'\\"',
            b'"id"',
            b'"jsonrpc"',
            b'"2.0"',
            b"null",
            b"1",
            b"\xff",
        ]
    )
    | st.binary(max_size=3),
    max_size=30,
).map(b"".join)

# ── one message ─────────────────────────────────────────────────────────────────────────────────────────────


@given(_IDS, _JSON)
def test_a_request_is_read_with_its_id_and_its_parameters_as_they_stand(id: Any, params: Any) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping", "params": params}).encode()
    read = message(line, _MOST)
    assert (read.id, read.method) == (id, "ping")
    assert json.loads(bytes(read.params)) == params  # type: ignore[arg-type]


def test_a_notification_has_no_id() -> None:
    read = message(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', _MOST)
    assert read.id is UNSET
    assert read.params is UNSET


@given(st.binary(max_size=300) | _SHREDS)
def test_any_bytes_at_all_are_read_or_refused_for_a_reason(line: bytes) -> None:
    try:
        message(line, _MOST)
    except BadMessage as refused:
        assert refused.error.code in (PARSE_ERROR, INVALID_REQUEST)
        assert refused.error.message
        assert refused.id is None or (isinstance(refused.id, str | int | float) and not isinstance(refused.id, bool))


@given(_JSON)
def test_any_json_at_all_is_read_or_refused_as_no_request(value: Any) -> None:
    line = json.dumps(value).encode()
    try:
        message(line, _MOST)
    except BadMessage as refused:
        assert refused.error.code == INVALID_REQUEST


@each(
    "line",
    [
        b"",
        b" ",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
        b"ping",
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b"{'jsonrpc':'2.0'}",
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-32-le"),
    ],
)
def test_what_is_no_json_is_a_parse_error_without_an_id(line: bytes) -> None:
    refused = _refused(line)
    assert (refused.error.code, refused.id) == (PARSE_ERROR, None)


@each(
    ("line", "id"),
    [
        (b"1", None),
        (b"null", None),
        (b'"ping"', None),
        (b"{}", None),
        (b'{"id":5,"method":"ping"}', 5),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
        (b'{"jsonrpc":2.0,"id":6,"method":"ping"}', 6),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7),
        (b'{"jsonrpc":"2.0","method":5,"id":"late"}', "late"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":{"id":1},"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":8,"method":"\\ud800"}', 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"\\udfff"},"more":"\\ud800"}', 9),
        (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', None),
    ],
)
def test_json_that_is_no_request_is_refused_with_the_id_it_shows(line: bytes, id: object) -> None:
    refused = _refused(line)
    assert (refused.error.code, refused.id) == (INVALID_REQUEST, id)


def test_a_lone_surrogate_in_a_call_is_left_to_its_tool() -> None:
    read = message(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\\ud83d"},"x":"\\ud83d"}', _MOST)
    assert (read.id, read.method) == (3, "tools/call")
    assert json.loads(bytes(read.params)) == {"name": "\ud83d"}
    assert "surrogate" in _refused(b'{"jsonrpc":"2.0","id":3,"method":"\\ud83d"}').error.message


@pytest.mark.parametrize("depth", [99, 100, 101, 1000, 100_000])
def test_nesting_is_read_up_to_the_limit_and_refused_above(depth: int) -> None:
    line = b'{"jsonrpc":"2.0","id":4,"method":"m","params":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    if depth <= _MOST:
        assert message(line, _MOST).id == 4
    else:
        refused = _refused(line)
        assert (refused.error.code, refused.id) == (INVALID_REQUEST, 4)
        assert f"{depth:,}" in refused.error.message
        assert "max_nesting" in refused.error.message


def test_brackets_in_texts_are_no_nesting() -> None:
    text = "[{" * 1000 + '"' + "\\" + "[" * 1000
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {text: text}}).encode()
    assert nesting(line) == 2
    assert message(line, _MOST).id == 1


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


@given(_JSON, st.booleans())
def test_nesting_is_counted_exactly_without_reading(value: Any, spaced: bool) -> None:
    assert nesting(json.dumps(value, indent=1 if spaced else None, ensure_ascii=spaced).encode("utf-8", "replace")) == (
        _depth(value)
    )


# ── the id of what could not be read ────────────────────────────────────────────────────────────────────────


@each(
    ("line", "id"),
    [
        (b'{"id":1,"x":', 1),
        (b'{"x":[{"id":9}],"id":"a"', "a"),
        (b'{"params":{"id":9},"method":"m"}', None),
        (b'{"method":"id","id":2}', 2),
        (b'{"method":"\\"id\\":9","id":3', 3),
        (b'{ "id" : 4 , "x"', 4),
        (b'{"id":-5.5}', -5.5),
        (b'{"id":null,"x":1}', None),
        (b'{"id":true}', None),
        (b'{"id":"un', None),
        (b'{"id":"\\ud800"}', None),
        (b'[{"id":1}]', None),
        (b"", None),
        (b'"id":7}', 7),
        (b'cut off at the start","id":8,"jsonrpc":"2.0"}', 8),
    ],
)
def test_an_id_is_found_at_the_outermost_level_only(line: bytes, id: object) -> None:
    assert salvaged_id(line) == id


@given(_IDS, _JSON)
def test_the_id_of_a_message_cut_off_anywhere_after_it_is_found(id: Any, rest: Any) -> None:
    head = json.dumps({"jsonrpc": "2.0", "id": id, "method": "m"}).encode()[:-1]
    tail = json.dumps({"params": rest}).encode()
    for cut in range(0, len(tail), 7):
        assert salvaged_id(head + b"," + tail[1:cut]) == id


@pytest.mark.parametrize(
    ("tail", "id"),
    [
        (b'..."}],"id":5}', 5),
        (b'..."}],"id":"a","jsonrpc":"2.0"}', "a"),
        (b'..."}],"id":5}\r\n', 5),
        (b'..."}],"id":5,"more":1}', None),
        (b'..."}],"id":5', None),
        (b"", None),
    ],
)
def test_an_id_that_comes_last_is_found_from_the_end(tail: bytes, id: object) -> None:
    assert trailing_id(tail) == id


@given(st.binary(max_size=200) | _SHREDS)
def test_looking_for_an_id_never_fails(line: bytes) -> None:
    for found in (salvaged_id(line), trailing_id(line)):
        assert found is None or isinstance(found, str | int | float)


class _Counted(bytes):
    """Bytes that count how many of them are copied out."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, bytes):
            type(self).copied += len(part)
        return part


def test_looking_for_an_id_in_a_large_message_does_not_copy_it_again_and_again() -> None:
    keys = b",".join(b'"k%d":1' % number for number in range(5000))
    line = _Counted(b'{"jsonrpc":2,' + keys + b',"z":"' + b"x" * 1_000_000 + b'"}')
    _Counted.copied = 0
    assert salvaged_id(line) is None
    assert _Counted.copied < 10 * len(line)


@given(st.binary(max_size=200) | _SHREDS)
def test_the_nesting_of_a_long_text_is_that_of_a_short_one(line: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        short = nesting(line)
        patch.setattr("polymnia.transports.malformed._LONG", 3)
        assert nesting(line) == short


# ── a batch ─────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(_JSON, max_size=6), st.booleans())
def test_a_batch_is_taken_apart_into_its_messages(values: list[Any], spaced: bool) -> None:
    found = parts(json.dumps(values, indent=2 if spaced else None).encode())
    assert found is not None
    assert [json.loads(part) for part in found] == values


@pytest.mark.parametrize(
    ("batch", "messages"),
    [
        (b"[]", []),
        (b"[ ]", []),
        (b'[{"a":1},nonsense,{"b":2}]', [b'{"a":1}', b"nonsense", b'{"b":2}']),
        (b'[{"a":"]"},{"b":"\\"],"}]', [b'{"a":"]"}', b'{"b":"\\"],"}']),
        (b"[1,2", None),
        (b"[1,2]x", None),
        (b"[1,2] \r\n", [b"1", b"2"]),
        (b"[1,,2]", [b"1", b"2"]),
    ],
)
def test_a_bad_message_in_a_batch_leaves_the_others_be(batch: bytes, messages: list[bytes] | None) -> None:
    assert parts(batch) == messages


def test_a_large_batch_with_something_bad_in_it_is_bad_as_a_whole() -> None:
    assert parts(b"[nonsense," + b"1," * 100_000 + b"1]") is None
    assert parts(b"[" + b" " * 100_000 + b"]\n") == []
    assert parts(b"[" + b"[" * 100_000 + b"]" * 100_000 + b"]") is None


@given(st.binary(max_size=200) | _SHREDS)
def test_any_bytes_are_a_batch_or_not(line: bytes) -> None:
    found = parts(b"[" + line)
    assert found is None or all(isinstance(part, bytes) and part for part in found)
