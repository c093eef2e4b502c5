"""Siblings: what other contents of the same kind usually have, and how the project usually spells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from polymnia.engine.text.language import fold
from polymnia.models import Record

__all__ = ["Field", "Usual", "siblings", "usual"]

_FEWEST = 5  # siblings that say what is usual
_MOST = 200  # and those that are looked at, the newest
_SHARE = 0.7  # of them must have a field before it is missed: of 5 no fewer than 4
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*\S)", re.MULTILINE)
_UNTOLD = frozenset({"title", "decision", "created", "updated"})


class Field(Struct, frozen=True):
    """Something siblings have: what it is known by, what it is called, and the share of them that has it."""

    key: str
    shown: str
    share: float


class Usual(Struct, frozen=True):
    """What is usual among so many siblings; ``named`` says who they are."""

    count: int
    named: str
    fields: list[Field]

    def have(self, record: Record, heads: Sequence[str]) -> set[str]:
        """The keys of what a record has."""
        return set(_fields(record, heads))


def siblings(company: Sequence[Record], record: Record) -> tuple[str, list[Record]]:
    """Other records of the same kind, with a tag in common where enough have one; the newest, and how to call them."""
    alike = [one for one in company if one.kind == record.kind and one.id != record.id]
    near = [one for one in alike if set(one.tags) & set(record.tags)]
    if len(near) >= _FEWEST:
        tags = Counter(tag for one in near for tag in one.tags if tag in record.tags)
        return f'of kind "{record.kind}" tagged "{tags.most_common(1)[0][0]}"', near[-_MOST:]
    return f'of kind "{record.kind}"', alike[-_MOST:]


def usual(named: str, others: Sequence[Record], texts: Iterable[str]) -> Usual | None:
    """What most of the siblings have; None where they are too few."""
    if len(others) < _FEWEST:
        return None
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for one, text in zip(others, texts, strict=True):
        for key, name in _fields(one, _HEADING.findall(text)).items():
            counts[key] += 1
            shown.setdefault(key, name)
    fields = [
        Field(key, shown[key], count / len(others)) for key, count in counts.items() if count >= _SHARE * len(others)
    ]
    return Usual(len(others), named, sorted(fields, key=lambda one: (-one.share, one.key)))


def _fields(record: Record, heads: Sequence[str]) -> dict[str, str]:
    found = {f"heading {fold(head)}": f'a part "{head}"' for head in heads}
    found |= {
        f"metadata {key}": f'"{key}" in its metadata'
        for key, value in record.metadata.items()
        if key not in _UNTOLD and value not in (None, "", [], {})
    }
    for key, value, name in (
        ("summary", record.summary, "a summary"),
        ("tags", record.tags, "tags"),
        ("category", record.category, "a category"),
    ):
        if value:
            found[key] = name
    return found
