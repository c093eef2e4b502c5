"""Once: a request that comes again within a day is answered again, and not done again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder, encode

from polymnia.engine.ports import Snapshot, Transaction
from polymnia.errors import Conflict

__all__ = ["Once", "Repeated"]

_DAY = 86_400
_PREFIX = "request/"


class _Kept(Struct):
    """What is kept of a request: what it asked for, and what it was told."""

    asked: str
    told: str


_read = Decoder(_Kept).decode


class Repeated(Exception):
    """The request was done before; ``told`` is what it was told then."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told


class Once:
    """One request by its id. ``asked`` stands for everything it asks for, ``tell`` turns what was done into text."""

    def __init__(self, id: str, asked: str, tell: Callable[[Any], str], now: float | None = None) -> None:
        from hashlib import sha256

        self._id = id
        self._called = sha256(id.encode()).hexdigest()[:32]  # what a caller makes up may be anything, a credential too
        self._asked = asked
        self._tell = tell
        self._day = int((time.time() if now is None else now) // _DAY)

    def _key(self, day: int) -> str:
        return f"{_PREFIX}{day:08d}/{self._called}"

    def check(self, tx: Snapshot) -> None:
        """Stop when the request was done before; the same id with another request is refused."""
        for day in (self._day, self._day - 1):
            if (text := tx.noted(self._key(day))) is not None:
                kept = _read(text)
                if kept.asked != self._asked:
                    raise Conflict(
                        f"The request_id {self._id!r} was used for another request",
                        hint="Give every request an id of its own; only a retry has the same one.",
                    )
                raise Repeated(kept.told)

    def keep(self, tx: Transaction, done: Any) -> None:
        """Remember what was done, in the same change; what is older than a day is let go."""
        tx.note(self._key(self._day), encode(_Kept(self._asked, self._tell(done))).decode())
        tx.forget_notes(_PREFIX, f"{_PREFIX}{self._day - 1:08d}/")
