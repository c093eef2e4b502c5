"""Many small pieces of bytes as a few larger ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["gathered"]


def gathered(parts: Iterable[bytes], least: int) -> Iterator[bytes]:
    """The same bytes in pieces that have ``least`` of them or more, but for the last."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= least:
            yield b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)
