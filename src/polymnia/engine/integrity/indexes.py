"""Whether everything is sound that is made of the texts: what a search goes by, and what a reindex makes again."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from polymnia.engine.integrity.rules import RULES
from polymnia.engine.ports import Store
from polymnia.engine.ports.checks import Asked
from polymnia.engine.search import Analysis

__all__ = ["DamagedIndex", "damaged_indexes"]

_FEW_ROWS, _FEW_TEXTS, _FEW_PAGES = 20_000, 100, 65_536  # of a short look, which many may ask for
_TEXTS = 300
_VECTORS = frozenset(("vector_of_nothing", "vector_broken"))
_BY_REINDEX = frozenset((
    "scope_count_wrong", "tag_rows_wrong", "text_count_wrong", "characters_wrong", "words_wrong", "index_damaged",
    "shape_differs", *_VECTORS,
))  # fmt: skip
_REINDEX = "`polymnia reindex --anew` makes it again from the texts."


class DamagedIndex(Struct, frozen=True):
    """What is wrong, where, and what to do about it. ``vectors`` says whether it is about search by meaning."""

    kind: str
    project: str | None
    what: str
    where: tuple[str, ...]
    how: str
    vectors: bool


def damaged_indexes(store: Store, projects: Iterable[str], *, whole: bool, shared: bool = True) -> list[DamagedIndex]:
    """Every index that disagrees with the texts, in these projects and (``shared``) in what all of them share.

    ``whole`` looks at everything and reads the whole file. Otherwise the newest rows are compared, and the pages of the
    substring index are read only in a file that is not large.
    """
    asked = Asked(
        checks=["indexes"], is_scope=bool, analyst=Analysis(), spots=3,
        rows=1 << 40 if whole else _FEW_ROWS, sample=_TEXTS if whole else _FEW_TEXTS,
        pages=None if whole else _FEW_PAGES,
    )  # fmt: skip
    places: list[str | None] = [*projects, None] if shared and whole else [*projects]
    return [
        DamagedIndex(
            fact.kind,
            fact.project,
            RULES[fact.kind].what.format(n=fact.count),
            tuple(dict.fromkeys(spot.label for spot in fact.spots)),
            _REINDEX if fact.kind in _BY_REINDEX else RULES[fact.kind].how,
            fact.kind in _VECTORS,
        )
        for place in places
        for fact in store.check(place, asked).facts
    ]
