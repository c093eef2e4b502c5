"""Naming: the few terms that tell a group of texts from all others, as people write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from polymnia.engine.analysis.topics.reading import Reader, Said

__all__ = ["telling_terms"]

_MOST = 4
_FEWEST = 2  # one term alone seldom says what is meant
_READ = 400  # characters of each text: a topic is named early
_LONGEST = 3  # words of a phrase
_PHRASE = 0.6  # what a phrase must tell, of what its best word alone tells, to stand in its place
_FAINT = 0.25  # terms that tell less than this of what the best one tells are left out
_TWICE = 2  # a term that only one text of a group has does not name the group,
_ONCE = 0.01  # unless there is nothing better
_SMOOTH = 0.5  # what is added to each count, so that a term seen once is no certainty

Key = tuple[str, ...]


def telling_terms(
    groups: Sequence[Sequence[str]], background: Sequence[str] = (), most: int = _MOST
) -> list[list[str]]:
    """For each group of texts its most telling terms, best first: words and phrases as they are written, no stems.

    A term tells as much as its share of the texts of the group, times the logarithm of how many times that is its
    share of all other texts: those of the other groups and of ``background``. A group without a word that says
    anything has no terms.
    """
    reader = Reader([text for group in groups for text in group] + list(background), _READ)
    written: dict[Key, Counter[str]] = {}
    counts = []
    for group in groups:
        found: Counter[Key] = Counter()
        for text in group:
            found.update(list(_terms(reader.read(text), written)))
        counts.append(found)
    everywhere: Counter[Key] = Counter()
    for found in counts:
        everywhere.update(found)
    for text in background:
        everywhere.update(key for key in _terms(reader.read(text), {}) if key in written)
    total = sum(map(len, groups)) + len(background)
    return [
        [_shown(written[key]) for key in _chosen(_scores(found, len(group), everywhere, total), most)]
        for group, found in zip(groups, counts, strict=True)
    ]


def _terms(said: Said, written: dict[Key, Counter[str]]) -> dict[Key, None]:
    """The words and phrases of one text; how each is written is counted in ``written``."""
    found: dict[Key, None] = {}
    for key, shown in _phrases(said):
        found[key] = None
        written.setdefault(key, Counter())[shown] += 1
    return found


def _phrases(said: Said) -> Iterator[tuple[Key, str]]:
    for start in range(len(said)):
        keys: list[str] = []
        shown: list[str] = []
        for word in said[start : start + _LONGEST]:
            if word is None or word[0] in keys:
                break
            keys.append(word[0])
            shown.append(word[1])
            yield tuple(keys), " ".join(shown)


def _scores(found: Counter[Key], size: int, everywhere: Counter[Key], total: int) -> dict[Key, float]:
    """What each term of a group tells."""
    others = total - size
    scores = {}
    for key, count in found.items():
        if count < _TWICE and len(key) > 1:
            continue
        inside = count / size
        outside = (everywhere[key] - count + _SMOOTH) / (others + 1)
        told = inside * log((count + _SMOOTH) / (size + 1) / outside) if others else inside
        if told > 0:
            scores[key] = told if count >= _TWICE else told * _ONCE
    return scores


def _chosen(scores: dict[Key, float], most: int) -> list[Key]:
    """The best terms that do not repeat each other; a phrase instead of its words where it tells nearly as much."""
    ranked = sorted(scores, key=lambda key: -scores[key])  # of equals the one that is read first
    best_of = {key[0]: scores[key] for key in ranked if len(key) == 1}
    chosen: list[Key] = []
    taken: set[str] = set()
    for key in ranked:
        if len(chosen) == most or (len(chosen) >= _FEWEST and scores[key] < _FAINT * scores[ranked[0]]):
            break
        if taken & set(key):
            continue
        longer = [
            one
            for one in ranked
            if len(one) > len(key) and set(key) < set(one) and not taken & set(one)
            and scores[one] >= _PHRASE * max(best_of.get(part, 0.0) for part in one)
        ]  # fmt: skip
        pick = max(longer, key=lambda one: (len(one), scores[one], one)) if longer else key
        chosen.append(pick)
        taken.update(pick)
    return chosen


def _shown(forms: Counter[str]) -> str:
    """How a term is mostly written; of equals the one in small letters, then the shortest."""
    return min(forms, key=lambda form: (-forms[form], form != form.lower(), len(form), form))
