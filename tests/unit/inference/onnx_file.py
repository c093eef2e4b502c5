"""Writes the smallest ONNX models that look like text encoders."""

from __future__ import annotations

import struct

_FLOAT, _INT32, _INT64 = 1, 6, 7
_INT, _INTS = 2, 7  # kinds of attributes


def encoder(rows: list[list[float]], output: str = "last_hidden_state") -> bytes:
    """A model whose output for the tokens i, j, ... is the rows i, j, ... of a table."""
    flat = [number for row in rows for number in row]
    table = (
        _number(1, len(rows))
        + _number(1, len(rows[0]))
        + _number(2, _FLOAT)
        + _bytes(8, b"table")
        + _bytes(9, struct.pack(f"<{len(flat)}f", *flat))
    )
    gather = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, output.encode()) + _bytes(4, b"Gather")
    graph = (
        _bytes(1, gather)
        + _bytes(2, b"graph")
        + _bytes(5, table)
        + _bytes(11, _value("input_ids", _INT64, "batch", "tokens"))
        + _bytes(12, _value(output, _FLOAT, "batch", "tokens", len(rows[0])))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 13))


def adder(width: int, output: str) -> bytes:
    """A network over vectors of tokens, as ours are, whose output for a text is the sum of what entered."""
    axes = _bytes(1, b"axes") + _number(8, 1) + _number(20, _INTS)
    keep = _bytes(1, b"keepdims") + _number(3, 0) + _number(20, _INT)
    sum = (
        _bytes(1, b"vectors") + _bytes(2, output.encode()) + _bytes(4, b"ReduceSum") + _bytes(5, axes) + _bytes(5, keep)
    )
    graph = (
        _bytes(1, sum)
        + _bytes(2, b"graph")
        + _bytes(11, _value("vectors", _FLOAT, "texts", "tokens", width))
        + _bytes(11, _value("mask", _INT32, "texts", "tokens"))
        + _bytes(12, _value(output, _FLOAT, "texts", width))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 11))


def _value(name: str, kind: int, *shape: str | int) -> bytes:
    sizes = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size.encode())) for size in shape
    )
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
