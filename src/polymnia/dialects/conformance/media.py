"""The smallest picture and the smallest sound."""

from __future__ import annotations

from base64 import b64encode
from struct import pack
from typing import Any
from zlib import compress, crc32

__all__ = ["audio", "embedded", "image", "png", "text"]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))


def png() -> bytes:
    """One red pixel."""
    head = _chunk(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", compress(b"\x00\xff\x00\x00")) + _chunk(b"IEND", b"")


def _wav() -> bytes:
    """A few samples of silence."""
    samples = bytes(16)
    form = pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    rest = b"WAVEfmt " + pack("<I", len(form)) + form + b"data" + pack("<I", len(samples)) + samples
    return b"RIFF" + pack("<I", len(rest)) + rest


def text(said: str) -> dict[str, Any]:
    """A text as a block."""
    return {"type": "text", "text": said}


def image() -> dict[str, Any]:
    """The picture as a block."""
    return {"type": "image", "data": b64encode(png()).decode(), "mimeType": "image/png"}


def audio() -> dict[str, Any]:
    """The sound as a block."""
    return {"type": "audio", "data": b64encode(_wav()).decode(), "mimeType": "audio/wav"}


def embedded(uri: str, mime: str, said: str) -> dict[str, Any]:
    """A resource as a block."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": said}}
