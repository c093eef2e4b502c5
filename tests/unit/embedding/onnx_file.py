"""Writes the smallest ONNX model that looks like a text encoder: a table of vectors, one for each token."""

from __future__ import annotations

import struct

_FLOAT, _INT64 = 1, 7


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
