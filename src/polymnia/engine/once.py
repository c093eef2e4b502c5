"""Idempotency: a request retried within a day gets the same response and is not executed again."""

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
_LARGEST = 1024 * 1024  # bytes of a stored response


class _Done(Struct, rename={"request": "asked", "answer": "told"}):
    """What is stored about a request: a digest of it, and its response."""

    request: str
    answer: str


class Repeated(Exception):
    """The request was executed before, with this response."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.answer = answer


class Once:
    """One request by its id. ``request`` is a digest of its content; ``render`` turns its result into text."""

    def __init__(self, id: str, request: str, render: Callable[[Any], str]) -> None:
        from hashlib import sha256

        self._id = id
        self._digest = sha256(id.encode()).hexdigest()[:32]  # the caller's id may be anything, even a credential
        self._request = request
        self._render = render
        self._day = int(time.time() // _DAY)

    def _key(self, day: int) -> str:
        return f"{_PREFIX}{day:08d}/{self._digest}"

    def done(self, tx: Snapshot, kind: Any) -> Any:
        """The result of an earlier execution, decoded as ``kind``; None if the request is new.

        Raises Conflict if the id was used for a different request.
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
        """Store the result in the same transaction, and delete those older than a day."""
        tx.note(self._key(self._day), encode(_Done(self._request, self._render(done))).decode())
        tx.forget_notes(_PREFIX, f"{_PREFIX}{self._day - 1:08d}/")

    def _again(self, answer: str, kind: Any) -> Any:
        raise Repeated(answer)


class Answered(Once):
    """One request by its id, for methods unaware of requests: they return the earlier result again.

    The result contains contents, which must not outlive their deletion in the store. It is therefore encrypted with a
    key derived from the id and the request: a caller that retries has both, the store has neither.
    """

    def __init__(self, id: str, request: bytes) -> None:
        from hashlib import sha256

        super().__init__(id, sha256(request).hexdigest(), self._encrypted)
        self._secret = f"{len(id)} {id} ".encode() + request

    def _again(self, answer: str, kind: Any) -> Any:
        if not answer:
            raise Conflict(
                "This request was done before, and its answer was too large to keep",
                hint="Nothing needs to be done; read what it changed.",
            )
        from zlib import decompress

        return Decoder(kind).decode(decompress(self._xor(b64decode(answer))))

    def _encrypted(self, done: Any) -> str:
        from zlib import compress

        plain = encode(done)
        return "" if len(plain) > _LARGEST else b64encode(self._xor(compress(plain, 1))).decode()

    def _xor(self, data: bytes) -> bytes:
        """The data XORed with a key stream that is unique to this request and used for nothing else."""
        from hashlib import shake_256

        stream = shake_256(self._secret).digest(len(data))
        return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))
