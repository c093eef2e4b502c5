"""The head of an answer is what we wrote, line by line."""

from __future__ import annotations

import pytest

from polymnia.transports.web.cycle import head


def test_a_head_has_a_line_for_each_header() -> None:
    assert head(404, [(b"a", b"b"), (b"c", b"d")]) == b"HTTP/1.1 404 Not Found\r\na: b\r\nc: d\r\n\r\n"
    assert head(499, []) == b"HTTP/1.1 499 \r\n\r\n"


@pytest.mark.parametrize("value", [b"x\r\nSet-Cookie: y", b"x\ny", b"x\r\n\r\n<html>"])
def test_no_value_becomes_a_header_of_its_own(value: bytes) -> None:
    with pytest.raises(RuntimeError):
        head(200, [(b"x-request-id", value)])
