"""Secrets: credentials in a text that nobody wants to see stored, told by their form or by the name before them."""

from __future__ import annotations

from msgspec import Struct

from polymnia.engine.secrets.forms import formed
from polymnia.engine.secrets.named import named

__all__ = ["Secret", "found", "masked"]


class Secret(Struct, frozen=True):
    """A credential: what it is, where it stands in the text, and how it may be shown."""

    kind: str
    start: int
    end: int
    shown: str


def found(text: str) -> list[Secret]:
    """The credentials in a text, in its order; none of them overlaps another."""
    secrets: list[Secret] = []
    end = 0
    # A token of a known form inside a longer value that is only named: the longer one hides more.
    for start, stop, kind in sorted((*formed(text), *named(text)), key=lambda one: (one[0], -one[1])):
        if start >= end:
            secrets.append(Secret(kind, start, stop, _shown(kind, text[start:stop])))
            end = stop
    return secrets


def masked(text: str) -> str:
    """The text with each credential replaced by what may be shown of it."""
    parts: list[str] = []
    end = 0
    for secret in found(text):
        parts += (text[end : secret.start], secret.shown)
        end = secret.end
    return "".join((*parts, text[end:]))


def _shown(kind: str, token: str) -> str:
    """A credential as it may be shown: enough to know it again, never enough to use it."""
    if kind == "private_key":
        return f"{token[: token.index('-----', 5) + 5]}…"
    if kind == "credit_card":
        return f"…{token[-4:]}"
    if kind in ("password", "url_password", "connection_string") or len(token) < 16:
        return "****"
    return f"{token[:4]}…{token[-4:]}"
