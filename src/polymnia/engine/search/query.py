"""A query: what is read out of it before anything is searched, and where a memory holds it as it stands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from polymnia.engine.search.results import Query
from polymnia.engine.text import dates, words
from polymnia.engine.text.dates import TimeRange
from polymnia.engine.text.language import script_number
from polymnia.engine.text.words import Group
from polymnia.errors import Invalid
from polymnia.models import Filters, Record, fold, folded_forms

LANES = ("all", "words", "meaning")
EFFORTS = ("quick", "balanced", "thorough")
_MOST_GROUPS = 48  # words of a query that are looked up; the rest of a very long one is left to its meaning
_LONGEST_EXACT = 400  # a longer query is not looked for as it stands
_TIME = "Times are microseconds since 1970 in UTC: int(moment.timestamp() * 1_000_000)."
_ZONE = "It is the difference to UTC in minutes: 540 for Seoul."


class Parsed(Struct, frozen=True):
    """A query made ready: its folded forms, its words, the time it asks for, its script and when it was asked."""

    forms: tuple[str, ...]
    groups: list[Group]
    time: TimeRange | None
    script: int
    now: int


def parse(query: Query) -> Parsed:
    """Read a query. Nothing in it is syntax."""
    _check(query)
    now = query.now if query.now is not None else time.time_ns() // 1000
    text = query.text.strip()
    asked = dates.find_time_range(text, now, query.zone)
    groups: list[Group] = []
    if asked is not None and not asked.any_year and not any(c.isdigit() for c in asked.text):
        # What says a time by its distance is no word to look for: "last week" would find whatever is weekly.
        groups = words.groups(asked.rest)
    forms = folded_forms(text) if len(text) <= _LONGEST_EXACT else ()
    return Parsed(forms, (groups or words.groups(text))[:_MOST_GROUPS], asked, script_number(text), now)


def _check(query: Query) -> None:
    for name, value, known in (("lanes", query.lanes, LANES), ("effort", query.effort, EFFORTS)):
        if value is not None and value not in known:
            raise Invalid(f"{name} is {value!r}, but must be one of: {', '.join(known)}", field=name)
    for name, whole, hint in (("now", query.now, _TIME), ("zone", query.zone, _ZONE)):
        if whole is not None and (isinstance(whole, bool) or not isinstance(whole, int)):
            raise Invalid(f"{name} must be a whole number, not {type(whole).__name__}", field=name, hint=hint)
    if not isinstance(query.filters, Filters):
        raise Invalid("filters must be Filters", field="filters", hint="Write them as Filters(kinds=('note',)).")
    for name in ("created_from", "created_to", "updated_from", "updated_to"):
        if not isinstance(getattr(query.filters, name), int | None):
            raise Invalid(f"{name} must be a whole number", field=name, hint=_TIME)
    for name, share in (("recency", query.recency), ("related", query.related), ("at_least", query.at_least)):
        if share is not None and not 0 <= share <= 1:
            raise Invalid(f"{name} is {share}, but must be from 0 to 1", field=name)


# ── the query as it stands ────────────────────────────────────────────────────────────────────────────────


class Place(NamedTuple):
    """Where a query may stand: its name, the field, and the range of scores of memories that have it there."""

    name: str
    field: str
    least: float
    most: float

    def score(self, own: float) -> float:
        """The score of a memory that holds the query here, given the one it has by its words and meaning."""
        return self.least + (self.most - self.least) * own


PLACES = (
    Place("whole_name", "name", 1.0, 1.0),
    Place("whole_observation", "observation", 1.0, 1.0),
    Place("identifier", "observation", 1.0, 1.0),
    Place("name", "name", 0.9, 0.99),
    Place("name_word", "name", 0.85, 0.9),
    Place("kind", "kind", 0.8, 0.85),
    Place("observation", "observation", 0.7, 0.8),
    Place("observation_word", "observation", 0.5, 0.7),
)
"""Best first. The scores of two places do not overlap, so a score says the place and the order goes by the score."""

IDENTICAL = 1
"""Up to this place the memory is the query, and does not only hold it."""


def place_in(record: Record, forms: Sequence[str]) -> int:
    """Which of the places the query, given in its folded forms, has in a record that holds it."""
    name = fold(record.name)
    if name in forms:
        return 0
    texts = [fold(text) for text in record.observations]
    if any(text.strip() in forms for text in texts):
        return 1
    if any(_is_called(text, form) for form in forms if _is_identifier(form) for text in (name, *texts)):
        return 2
    for form in forms:
        if form in name:
            return 3 if _at_word(form, name) else 4
    kind = fold(record.kind)
    if any(form in kind for form in forms):
        return 5
    return 6 if any(form in text and _at_word(form, text) for text in texts for form in forms) else 7


def _is_identifier(form: str) -> bool:
    """Whether a query is one token with letters and digits, as ADR-012: somebody's name for one thing."""
    return not any(map(str.isspace, form)) and any(map(str.isdigit, form)) and any(map(str.isalpha, form))


def _is_called(text: str, form: str) -> bool:
    """Whether a text begins with an identifier, whole: that is what the text is called by."""
    rest = text.lstrip("#*_[( \t")
    return rest.startswith(form) and not rest[len(form) : len(form) + 1].isalnum()


def _at_word(part: str, text: str) -> bool:
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and text[at - 1].isascii():
        at = text.find(part, at + 1)
    return at >= 0
