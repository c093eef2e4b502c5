"""YAML is read by people's rules: a word is what it looks like, and what looks like several things is a text."""

from __future__ import annotations

import io
from typing import Any

import pytest

from polymnia.engine.transfer.formats.archive import ARCHIVE
from polymnia.engine.transfer.formats.records import FileLimits, Source
from polymnia.engine.transfer.formats.yaml_records import read_yaml


def first(text: str, native: bool) -> Any:
    source = Source(io.BytesIO(text.encode()), 1 << 30)
    return next(
        item.value for item in read_yaml(source, FileLimits(), ARCHIVE, native=native) if item.section == "memories"
    )


@pytest.fixture(params=[True, False], ids=["libyaml", "python"])
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize(
    "word",
    [
        "2025-07-10",
        "2025-07-10T05:30:00Z",
        "12:30:45",
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "n",
        "1e3",
        "1E+3",
        "0x1F",
        "0o17",
        "017",
        "0b1",
        "007",
        "1_000",
        "+1",
        ".5",
        "5.",
        "1.e3",
        "nan",
        "inf",
        "NaN",
        "Infinity",
        "nULL",
        "tRUE",
        "<<<",
        "=",
        "1.2.3",
        "--",
        "-a",
    ],
)
def test_a_word_that_looks_like_several_things_is_a_text(word: str, native: bool) -> None:
    assert first(f"- a: {word}", native) == {"a": word}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[("0", 0), ("-0", 0), ("-12", -12), ("18446744073709551615", (1 << 64) - 1)],
        *[("0.5", 0.5), ("-1.5e3", -1500.0), ("1.0E-2", 0.01)],
        *[("'5'", "5"), ('"null"', "null"), ("!!str 5", "5"), ("! 5", "5"), ("!!str", "")],
        *[("!!map {b: c}", {"b": "c"}), ("!!seq [b]", ["b"]), ("&anchor b", "b")],
    ],
)
def test_a_word_that_all_agree_on_is_what_it_says(word: str, value: object, native: bool) -> None:
    found = first(f"- a: {word}", native)["a"]
    assert (found, type(found)) == (value, type(value))


def test_keys_are_texts_as_they_are_written(native: bool) -> None:
    assert first("- {5: a, true: b, 2025-07-10: c, null: d, '<<': e}", native) == {
        "5": "a",
        "true": "b",
        "2025-07-10": "c",
        "null": "d",
        "<<": "e",
    }


def test_texts_keep_their_lines(native: bool) -> None:
    text = (
        "- a: |+\n    one\n\n      two\n\n  b: >-\n    folded\n    line\n"
        "  c: 'it''s\n    two'\n  d: plain\n    too # not this\n"
    )
    assert first(text, native) == {"a": "one\n\n  two\n\n", "b": "folded line", "c": "it's two", "d": "plain too"}
