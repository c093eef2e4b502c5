"""Duplicates: whether a text says what another one says already, in the same words or in others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polymnia.engine import exact
from polymnia.engine.borders import Border
from polymnia.engine.judging import Judging
from polymnia.models.normal import normal

__all__ = ["same", "shared"]

_LONG = 1_000  # characters: of longer texts the judge reads the beginning only, so that it is not asked


def same(
    judging: Judging | None,
    pairs: Sequence[tuple[str, str]],
    near: Sequence[float | None],
    border: Border,
    *,
    strict: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> list[float]:
    """For each pair how sure it is that both texts say the same, 0 where that is less than the border asks for.

    ``near`` is how near the vectors of each two are, None where there are none. 1 is for texts of one normal form. Of
    others the judge decides, but not of the same words in another order. Where it is to be ``strict``, nothing may
    differ that is more than wording: a number, an identifier, a name, a negation. Without a judge, texts are the same
    that have the same words in the same order.
    """
    found = [0.0] * len(pairs)
    asked = []
    ready = judging is not None and judging.load()
    for at, (a, b) in enumerate(pairs):
        if normal(a) == normal(b):
            found[at] = 1.0
        elif max(len(a), len(b)) > _LONG or exact.reordered(a, b) or (strict and exact.unlike(a, b) is not None):
            continue
        elif exact.same_words(a, b) and exact.unlike(a, b) is None:
            found[at] = border.medium
        elif ready:
            asked.append(at)
    if judging is not None and asked:
        for at, verdict in zip(asked, judging.verdicts([pairs[at] for at in asked], tick), strict=True):
            sure = 0.0 if verdict is None else border.confidence(verdict.same, near[at], shared(*pairs[at]))
            found[at] = sure if sure >= border.medium else 0.0
    return found


def shared(a: str, b: str) -> float:
    """How much of two texts is the same to the letter, from 0 to 1: runs of three letters and digits."""
    here, there = _runs(a), _runs(b)
    return 2 * len(here & there) / max(1, len(here) + len(there))


def _runs(text: str) -> set[str]:
    said = f" {' '.join(exact.words(text))} "
    return {said[at : at + 3] for at in range(len(said) - 2)}
