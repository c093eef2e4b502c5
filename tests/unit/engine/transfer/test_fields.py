"""Records of a file that no memory can be made of are refused, with the field and the reason."""

from __future__ import annotations

from typing import Any

import pytest

from polymnia.engine.transfer.fields import draft
from polymnia.engine.transfer.project_import import item_draft
from polymnia.errors import Invalid
from polymnia.models import Limits

LIMITS = Limits(text_bytes=1000)
UNFIT: list[tuple[Any, str]] = [
    ({"metadata": {"a": 1e400}}, r"metadata\.a is inf"),
    ({"metadata": {"a": 1 << 64}}, "metadata.a is a whole number beyond 64 bits"),
    ({"extra": {"a": {"b": [-(1 << 63) - 1]}}}, "beyond 64 bits"),
    ({"metadata": {"b": ["\0"]}}, r"metadata\.b\[0\] contains a NUL"),
    ({"metadata": {"\0": 1}}, "a key of it.* contains a NUL"),
    ({"content": "\ud800"}, r"content contains a lone surrogate \(U\+D800\)"),
    ({"metadata": {"\ud800": 1}}, "lone surrogate"),
    ({"content": "x" * 1001}, "content has 1,001 bytes, over the limit of 1,000"),
    ({"content": "é" * 501}, "content has 1,002 bytes"),
    ({"metadata": {"a": "x" * 1001}}, "over the limit of 1,000"),
]


@pytest.mark.parametrize(("fields", "why"), UNFIT)
def test_what_no_memory_may_hold_is_refused(fields: Any, why: str) -> None:
    for make in (lambda told: draft(told, LIMITS, None), lambda told: item_draft(told, LIMITS)):
        with pytest.raises(Invalid, match=why):
            make({"content": "x", **fields})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"title": "a\0"}, "title contains a NUL"),
        ({"history": [{"content": "\ud800"}]}, r"history\[0\]\.content contains a lone surrogate"),
        ({"history": [{"metadata": {"a": float("nan")}}]}, r"history\[0\]\.metadata\.a is nan"),
        ({"history": [5]}, r"history\[0\] is no object"),
    ],
)
def test_what_an_item_brings_beside_its_text_is_looked_at_too(fields: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        item_draft({"content": "x", **fields}, LIMITS)
