"""Permalinks: the address of an item, as a citation prints it and a client reads it back."""

from __future__ import annotations

__all__ = ["PERMALINKS", "permalink", "read_permalink"]

PERMALINKS = "polymnia://project/"
_CONTENT = "/content/"
_SESSION = "?session_id="


def permalink(project: str, id: str, session: str | None) -> str:
    """The address of an item; one of a session names it, since nobody sees it without."""
    from urllib.parse import quote

    of_session = "" if session is None else _SESSION + quote(session, safe="")
    return f"{PERMALINKS}{quote(project, safe='')}{_CONTENT}{quote(id, safe='')}{of_session}"


def read_permalink(address: str) -> tuple[str | None, str, str | None]:
    """Project, id and session of an address, given unquoted and without its beginning; no project: it is none."""
    project, _, rest = address.rpartition(_CONTENT)
    id, _, session = rest.partition(_SESSION)
    return project or None, id, session or None
