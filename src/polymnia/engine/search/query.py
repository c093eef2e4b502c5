"""A query, and what is read out of it before anything is searched."""

from __future__ import annotations

import time
from typing import Any

from msgspec import Struct, field

from polymnia.engine.search.listing import script_number
from polymnia.engine.text import dates, words
from polymnia.engine.text.dates import Asked
from polymnia.engine.text.words import Group
from polymnia.errors import Invalid
from polymnia.models import Filters, folded_forms

__all__ = ["EFFORTS", "LANES", "Query", "Wanted", "read"]

LANES = ("all", "words", "meaning")
EFFORTS = ("quick", "balanced", "thorough")
_MOST_GROUPS = 48  # words of a query that are looked up; the rest of a very long one is left to its meaning
_HINTS = {
    "now": "Times are microseconds since 1970 in UTC: int(moment.timestamp() * 1_000_000).",
    "zone": "It is the difference to UTC in minutes: 540 for Seoul.",
}
# Words that ask for whatever was at a time.
_HAPPENED = frozenset((
    "happen", "happened", "happens", "happening", "do", "did", "done", "new", "news", "note", "notes", "memory",
    "memories", "stored", "thing", "things", "going", "무슨", "일", "있었", "있었어", "있었지", "뭐", "뭘", "했",
    "했지", "했어", "메모", "기록", "passiert", "passierte", "geschah", "gemacht", "notizen", "pasó", "hice", "notas",
    "passé", "fait",
))  # fmt: skip
_LONGEST_EXACT = 400  # a longer query is not looked for as it stands


class Query(Struct, frozen=True, kw_only=True):
    """What a caller asks for."""

    text: str
    filters: Filters = field(default_factory=Filters)
    lanes: str | None = None
    now: int | None = None
    zone: int = 0
    recency: float = 0.0
    related: float = 0.0
    effort: str | None = None
    at_least: float | None = None
    or_nearest: bool = False
    sort: str = "relevance"
    ascending: bool = False


class Wanted(Struct, frozen=True):
    """A query made ready: its folded forms, its words, the time it asks for, and its script."""

    forms: tuple[str, ...]
    groups: list[Group]
    time: Asked | None
    script: int
    now: int
    only_time: bool = False


def read(query: Query) -> Wanted:
    """Read a query. Nothing in it is syntax."""
    if query.lanes is not None and query.lanes not in LANES:
        raise Invalid(f"lanes is {query.lanes!r}, but must be one of: {', '.join(LANES)}", field="lanes")
    if query.effort is not None and query.effort not in EFFORTS:
        raise Invalid(f"effort is {query.effort!r}, but must be one of: {', '.join(EFFORTS)}", field="effort")
    for name, whole in (("now", query.now), ("zone", query.zone)):
        if whole is not None and (isinstance(whole, bool) or not isinstance(whole, int)):
            raise Invalid(f"{name} must be a whole number, not {type(whole).__name__}", field=name, hint=_HINTS[name])
    if not isinstance(query.filters, Filters):
        raise Invalid("filters must be Filters", field="filters", hint="Write them as Filters(kinds=('note',)).")
    for name in ("created_from", "created_to", "updated_from", "updated_to"):
        time_given: Any = getattr(query.filters, name)
        if time_given is not None and not isinstance(time_given, int):
            raise Invalid(f"{name} must be a whole number", field=name, hint=_HINTS["now"])
    for name in ("recency", "related", "at_least"):
        share: Any = getattr(query, name)
        if share is not None and not 0 <= share <= 1:
            raise Invalid(f"{name} is {share}, but must be from 0 to 1", field=name)
    now = query.now if query.now is not None else time.time_ns() // 1000
    stripped = query.text.strip()
    time_asked = dates.asked(stripped, now, query.zone)
    forms = folded_forms(stripped) if len(stripped) <= _LONGEST_EXACT else ()
    # What says a time by its distance is no word to look for: "last week" would find whatever is weekly.
    groups = words.groups(time_asked.rest) if time_asked is not None and _is_relative(time_asked) else []
    rest = groups if time_asked is None or _is_relative(time_asked) else words.groups(time_asked.rest)
    only_time = time_asked is not None and all(group.word.casefold() in _HAPPENED for group in rest if not group.bonus)
    groups = groups or words.groups(stripped)
    if len(groups) > _MOST_GROUPS:
        groups = groups[:_MOST_GROUPS]
    return Wanted(forms, groups, time_asked, script_number(stripped), now, only_time)


def _is_relative(asked: Asked) -> bool:
    """Whether a time is told by its distance from now, and not by a date or a month."""
    return not asked.any_year and not any(c.isdigit() for c in asked.text)
