"""Times as clients read and write them: RFC 3339, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from polymnia.errors import Invalid

__all__ = ["moment", "read_moment"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(microseconds: int) -> str:
    """A time as RFC 3339 in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_moment(text: Any, where: str) -> int:
    """A time in microseconds since 1970 from RFC 3339; without a zone it is UTC."""
    if not isinstance(text, str):
        raise Invalid(f"{where} must be a time such as 2025-07-10T05:30:00Z, not {type(text).__name__}", field=where)
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{where} is {text!r:.60}, which is no time such as 2025-07-10T05:30:00Z", field=where) from None
    since = (read if read.tzinfo else read.replace(tzinfo=UTC)) - _EPOCH
    if since < timedelta(0):
        raise Invalid(f"{where} is {text!r:.60}, which is before 1970", field=where)
    return since // timedelta(microseconds=1)
