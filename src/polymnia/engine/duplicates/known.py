"""Whether a scope says something already: the memories worth comparing, and the first that is the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polymnia.engine import scopes
from polymnia.engine.content import Remembered, content
from polymnia.engine.duplicates import judged, least
from polymnia.models import Filters, Record, folded_forms

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["duplicate", "first_duplicate"]

_EXACT = 200  # characters by which the same text is looked for where no model can tell
_JUDGED = 10  # so many of the nearest are compared word by word
_MANY = 1000
_LARGE = 20_000  # a scope with more memories is not looked through by itself


def duplicate(
    look: Look, record: Record, said: Said, ranked: list[tuple[Record, float]], threshold: float
) -> Remembered | None:
    """The memory of the same scope that says the same already."""
    if not any(len(said.rows(model)) for model in said.vectors):
        # No model can tell; the same words are found all the same.
        piece = max(re.split(r"\s{2,}|[^\S ]", record.observations[0].strip()), key=len)
        ids = look.snapshot.containing(folded_forms(piece[:_EXACT]))[:_MANY] if piece else []
        ranked = [(one, 0.0) for one in look.snapshot.load([*ids, *(one.id for one, _ in ranked)])]
    elif ranked and ranked[-1][1] >= least(threshold):
        ranked = _in_scope(look, record, said, least(threshold))
    return first_duplicate(record, ranked, threshold)


def _in_scope(look: Look, record: Record, said: Said, at_least: float) -> list[tuple[Record, float]]:
    """The nearest memories of one scope: where many are near, those of other scopes must not be in the way."""
    wanted = Filters(scope=scopes.shown(record.scope))
    if look.snapshot.passes_more(wanted, _LARGE):
        near = look.nearest(said, _MANY, at_least=(1 + at_least) / 2)
    else:
        near = look.nearest(said, _JUDGED, among=look.snapshot.matching(wanted))
    return look.ranked(near)


def first_duplicate(record: Record, ranked: list[tuple[Record, float]], threshold: float) -> Remembered | None:
    """The first of some memories that is of the same scope and says the same; nearest first, as they are given."""
    (text,) = record.observations
    same = [one for one in ranked if one[0].scope == record.scope]
    for other, similarity in same[:_JUDGED] if same and same[0][1] > 0 else same:
        if 0 < similarity < least(threshold):
            continue
        verdict = judged(text, content(other), similarity, threshold)
        if verdict.duplicate:
            return Remembered(record=other, duplicate=True, similarity=round(max(similarity, verdict.score), 4))
    return None
