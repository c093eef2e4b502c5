"""Once: a request that comes again within a day is answered again, and not done again."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder, encode

from polymnia.engine.ports import Snapshot, Transaction
from polymnia.errors import Conflict

_DAY = 86_400
_PREFIX = "request/"
_LARGEST = 1024 * 1024  # bytes of an answer that is stored


class _Done(Struct, rename={"request": "asked", "answer": "told"}):
    """What is stored of a request: a digest of it, and its answer."""

    request: str
    answer: str


class Repeated(Exception):
    """The request was done before, with this answer."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.answer = answer


class Once:
    """One request by its id. ``request`` is a digest of all it asks for; ``render`` turns what was done into text."""

    def __init__(self, id: str, request: str, render: Callable[[Any], str]) -> None:
        from hashlib import sha256

        self._id = id
        self._called = sha256(id.encode()).hexdigest()[:32]  # what a caller makes up may be anything, a credential too
        self._request = request
        self._render = render
        self._day = int(time.time() // _DAY)

    def _key(self, day: int) -> str:
        return f"{_PREFIX}{day:08d}/{self._called}"

    def done(self, tx: Snapshot, kind: Any) -> Any:
        """What was done when the request came before, of that kind; None where it is new.

        The same id with another request is refused.
        """
        for day in (self._day, self._day - 1):
            if (text := tx.noted(self._key(day))) is not None:
                found = Decoder(_Done).decode(text)
                if found.request != self._request:
                    raise Conflict(
                        f"The request_id {self._id!r} was used for another request",
                        hint="Give every request an id of its own; only a retry has the same one.",
                    )
                return self._again(found.answer, kind)
        return None

    def keep(self, tx: Transaction, done: Any) -> None:
        """Remember what was done, in the same change; what is older than a day is let go."""
        tx.note(self._key(self._day), encode(_Done(self._request, self._render(done))).decode())
        tx.forget_notes(_PREFIX, f"{_PREFIX}{self._day - 1:08d}/")

    def _again(self, answer: str, kind: Any) -> Any:
        raise Repeated(answer)


class Answered(Once):
    """One request by its id, for verbs that know nothing of requests: what was done then is their answer again.

    It holds contents, which must be gone from the store when they are deleted. So it is kept encrypted with a key that
    is made of the id and the request: whoever repeats the request has both, and the store has neither.
    """

    def __init__(self, id: str, request: bytes) -> None:
        from hashlib import sha256

        super().__init__(id, sha256(request).hexdigest(), self._sealed)
        self._secret = f"{len(id)} {id} ".encode() + request

    def _again(self, answer: str, kind: Any) -> Any:
        if not answer:
            raise Conflict(
                "This request was done before, and its answer was too large to keep",
                hint="Nothing needs to be done; read what it changed.",
            )
        from zlib import decompress

        return Decoder(kind).decode(decompress(self._mixed(b64decode(answer))))

    def _sealed(self, done: Any) -> str:
        from zlib import compress

        plain = encode(done)
        return "" if len(plain) > _LARGEST else b64encode(self._mixed(compress(plain, 1))).decode()

    def _mixed(self, data: bytes) -> bytes:
        """The data combined with a stream that only this request makes, used for nothing else."""
        from hashlib import shake_256

        stream = shake_256(self._secret).digest(len(data))
        return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))
