"""Suggestions: the scope a new text belongs to, judged by the memories that are filed already.

``suggest`` is a pure function of the text and some filed memories; gathering those is the caller's. Its classifier is a
softmax regression on a few hundred examples of the dozen scopes nearest to the text. It is trained when it is asked,
which takes some milliseconds, so nothing is stored, nothing goes stale and the cost does not grow with the store. The
curves were fitted; see docs/decisions/0042-scope-classifier.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from polymnia.engine.knowledge.topics import READ, Reading, Topic, content_type, keywords, read, topics, words_of
from polymnia.models import DEFAULT_SCOPE

__all__ = [
    "BY_MEANING", "BY_WORDS", "EXAMPLES", "READ", "SCOPES", "Alternative", "Example", "ScopeView", "Suggestion",
    "considered", "scope_words", "suggest",
]  # fmt: skip

Numbers = NDArray[Any]

BY_MEANING = 60
"""So many memories nearest by cosine tell which scopes come into question,"""
BY_WORDS = 40
"""and so many that share most words with the text;"""
SCOPES = 12
"""of their scopes the first so many do,"""
EXAMPLES = 20
"""and so many memories of each are learnt from."""

_ALTERNATIVES = 3
_WORTH_SAYING = 0.001
_SESSIONS = "session"
_LEAST = 0.1  # the confidence of a fallback where nothing is filed
_ONE_WORD, _MORE_WORDS = 0.25, 0.35  # of a topic known by so many words; chosen, not measured
_HERE = 0.4  # added to the log-odds of a scope at or below the one the caller is in: 1.5 times the odds
_CATEGORY = 0.5  # a category needs so much of the nearest examples
_DEEPEST = 10
_QUOTED = 80
_NEAREST = 10
_COMPARED = 5  # memories of the suggested scope whose words are compared with those of the text


class Example(Struct, frozen=True, gc=False):
    """A filed memory: where it is filed, its text, and its category."""

    scope: str
    text: str
    category: str | None = None


class ScopeView(Struct, frozen=True):
    """What one embedder makes of the text (``asked``), of the examples (``filed``) and of the names of their scopes.

    Rows are unit vectors, or zeros where the embedder does not know the language or has not come to the text yet.
    ``names`` has a row for each scope in the order in which the examples mention them first. ``strong`` and
    ``unrelated`` are the embedder's.
    """

    asked: Numbers
    filed: Numbers
    names: Numbers
    strong: bool = False
    unrelated: float = 0.0


class Alternative(Struct, frozen=True):
    """Another scope the text may belong to, how likely that is, and why."""

    scope: str
    confidence: float
    reasoning: str


class Suggestion(Struct, frozen=True, kw_only=True):
    """Where a text belongs.

    ``confidence`` is how often such a suggestion is right; no alternative has more. When it ``abstained``, the text is
    probably of no kind that is filed: the scope is the one to fall back to, and the likeliest filed ones are among the
    alternatives.
    """

    scope: str
    confidence: float
    reasoning: str
    alternatives: tuple[Alternative, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str | None = None
    content_type: str = "notes"
    abstained: bool = False


def scope_words(scope: str) -> str:
    """What a scope is called, as words: the last part of its path."""
    return scope.rpartition("/")[2].replace("_", " ").replace("-", " ")


def considered(scope: str, current: str | None) -> bool:
    """Whether memories of a scope say where things belong: those of another session do not."""
    return not _at_or_below(scope, _SESSIONS) or (current is not None and _at_or_below(scope, current))


def _at_or_below(scope: str, parent: str) -> bool:
    """Whether a scope is another one or lies below it."""
    return scope == parent or scope.startswith(parent + "/")


def suggest(
    content: str, examples: Sequence[Example], views: Sequence[ScopeView] = (), *, current: str | None = None
) -> Suggestion:
    """Where a text belongs, by filed memories of the scopes that come into question. ``current`` is the caller's."""
    reading = read(content)
    known = topics(reading)
    if all(one.scope == DEFAULT_SCOPE for one in examples):
        return _unlearnt(content, reading, known, current)
    scopes = list(dict.fromkeys(one.scope for one in examples))
    odds = classify(
        words_of(content),
        [words_of(one.text) for one in examples],
        [words_of(scope_words(one)) for one in scopes],
        [scopes.index(one.scope) for one in examples],
        views,
        [_HERE if current and _at_or_below(scope, current) else 0.0 for scope in scopes],
    )
    nearest = [examples[i] for i in sorted(range(len(examples)), key=lambda i: -odds.near[i])]
    likely = [
        Alternative(scope, round(odds.belongs * float(share), 3), _why(scope, nearest))
        for scope, share in zip(scopes, odds.shares, strict=True)
    ]
    likely.sort(key=lambda one: -one.confidence)
    chosen = likely[0]
    abstained = chosen.confidence < 1 - odds.belongs
    if abstained:
        chosen = _fallback(current, chosen.confidence)
    own = [one for one in nearest if one.scope == chosen.scope]
    others = [one for one in likely if one.scope != chosen.scope and one.confidence >= _WORTH_SAYING]
    return Suggestion(
        scope=chosen.scope,
        confidence=chosen.confidence,
        reasoning=chosen.reasoning,
        alternatives=tuple(others[:_ALTERNATIVES]),
        keywords=keywords(reading, [one.text for one in own[:_COMPARED]]),
        category=None if abstained else _category(own[:_NEAREST]),
        content_type=content_type(content),
        abstained=abstained,
    )


def _fallback(current: str | None, likeliest: float) -> Alternative:
    """Where a text goes that belongs nowhere: to where the caller is, or to the default."""
    what = "where you are" if current else "the default"
    why = f"No filed memory is near enough to say where this belongs; this is {what}"
    return Alternative(current or DEFAULT_SCOPE, max(likeliest, _LEAST), why)


def _unlearnt(content: str, reading: Reading, known: Sequence[Topic], current: str | None) -> Suggestion:
    """A suggestion where nothing is filed on purpose: by a few well-known words."""
    if known:
        chosen = _place(known[0], current)
    else:
        what = "where you are" if current else "the default"
        chosen = Alternative(current or DEFAULT_SCOPE, _LEAST, f"Nothing is filed to learn from yet; this is {what}")
    others = {chosen.scope: chosen}
    for topic in known[1:]:
        sure = min(_by_words(topic), chosen.confidence)
        others.setdefault(topic.scope, Alternative(topic.scope, sure, f"The text says {_listed(topic.words)}"))
    return Suggestion(
        scope=chosen.scope,
        confidence=chosen.confidence,
        reasoning=chosen.reasoning,
        alternatives=tuple(sorted(list(others.values())[1:], key=lambda one: -one.confidence))[:_ALTERNATIVES],
        keywords=keywords(reading, (), [word for topic in known for word in topic.words]),
        category=known[0].category if known else None,
        content_type=content_type(content),
        abstained=not known,
    )


def _place(topic: Topic, current: str | None) -> Alternative:
    """Where a topic goes: its own scope, or below the one the caller is in."""
    scope = topic.scope
    if current and not _at_or_below(scope, current):
        leaf = scope.rpartition("/")[2]
        inside = current.count("/") + 2 <= _DEEPEST and leaf not in current.split("/")
        scope = f"{current}/{leaf}" if inside else current
    return Alternative(
        scope, _by_words(topic), f"Nothing is filed to learn from yet; the text says {_listed(topic.words)}"
    )


def _by_words(topic: Topic) -> float:
    return _ONE_WORD if len(topic.words) == 1 else _MORE_WORDS


def _why(scope: str, nearest: Sequence[Example]) -> str:
    """Which memories speak for a scope, in words."""
    near = nearest[:_NEAREST]
    mine = [one for one in near if one.scope == scope]
    first = next(one for one in nearest if one.scope == scope)
    quote = " ".join(first.text[: 4 * _QUOTED].split())
    example = f", such as “{quote[:_QUOTED]}{'…' if len(quote) > _QUOTED else ''}”" if quote else ""
    return f"Filed here: {len(mine)} of the {len(near)} nearest memories{example}"


def _category(nearest: Sequence[Example]) -> str | None:
    """The category most of the nearest memories have."""
    for best, count in Counter(one.category for one in nearest if one.category).most_common(1):
        return best if count >= _CATEGORY * len(nearest) else None
    return None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])


# ── the classifier ─────────────────────────────────────────────────────────────────────────────────────

_HASHED = 1024  # columns that words and pairs of words are hashed to
_SECOND = 0.4  # the weight of an embedder beside a stronger one
_WORDS, _WORDS_STRONG = 0.7, 0.4  # the weight of the words beside an embedder, and beside a strong one
_PENALTY = 0.01
_STEPS = 40
_BEST = 3
_AROUND = 5
_ALIKE = 1.3
_SPARSE = 0.3  # examples farther apart than this do not make far look near

_SHARP = 1.6  # what the log-odds are multiplied with, so that shares are as large as they are often right
# How often a text belongs to any of the scopes: by how near the likeliest scope's best examples are, and by how near
# the text is to its nearest examples compared with how near those are to their own neighbours.
_BELONGS = (-6.7, 3.17, 10.05)


class Odds(NamedTuple):
    """How likely each scope is, if the text belongs to any; how likely it belongs to any; how near each example is."""

    shares: Numbers
    belongs: float
    near: Numbers


def classify(
    words: Sequence[str],
    texts: Sequence[Sequence[str]],
    names: Sequence[Sequence[str]],
    labels: Sequence[int],
    views: Sequence[ScopeView],
    prior: Sequence[float],
) -> Odds:
    """Judge a text, given as its words, by the words and vectors of examples, whose scopes ``labels`` gives by number.

    ``names`` are the words of each scope's name, which is one more example of it. ``prior`` is added to each scope's
    log-odds.
    """
    label = np.array(labels)
    hashed = np.stack([_hashed(one) for one in (words, *texts, *names)])
    parts = _weighted(views, hashed)
    near, crowd = _nearness(parts, len(texts))
    rows = _features(parts)
    targets = np.concatenate((label, np.arange(len(names))))
    logits = _SHARP * _trained(rows[1:], targets, len(names), rows[0]) + np.array(prior)
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    # Fewer than three examples say little: those that are missing count as far away.
    own = np.sort(near[label == best])[::-1][:_BEST].sum() / _BEST
    best_near = np.sort(near)[::-1][:_BEST]
    among = min(_ALIKE, max(0.0, float(best_near.mean()) / max(_SPARSE, crowd))) * len(best_near) / _BEST
    belongs = float(1 / (1 + np.exp(-(_BELONGS[0] + _BELONGS[1] * own + _BELONGS[2] * among))))
    return Odds(shares, belongs, near)


def _hashed(words: Sequence[str]) -> Numbers:
    """Words and pairs of words as a unit vector."""
    found = np.zeros(_HASHED, np.float32)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    for term in (*words, *pairs):
        at = crc32(term.encode())
        found[at % _HASHED] += 1.0 if at >> 20 & 1 else -1.0
    length = np.linalg.norm(found)
    return found / length if length else found


class _Part(NamedTuple):
    """One kind of features: a row for the text, for each example and for each name; its weight; what is unrelated."""

    rows: Numbers
    weight: float
    unrelated: float


def _weighted(views: Sequence[ScopeView], hashed: Numbers) -> list[_Part]:
    useful = [one for one in views if np.any(one.asked) or np.any(one.filed)]
    strong = any(one.strong for one in useful)
    parts = [
        _Part(
            np.concatenate((np.asarray(one.asked, np.float32)[None], one.filed, one.names)),
            _SECOND if strong and not one.strong else 1.0,
            one.unrelated,
        )
        for one in useful
    ]
    return [*parts, _Part(hashed, (_WORDS_STRONG if strong else _WORDS) if parts else 1.0, 0.0)]


def _features(parts: Sequence[_Part]) -> Numbers:
    """All parts side by side, each centred, rows of unit length."""
    made = []
    for part in parts[:-1]:
        known = np.any(part.rows, axis=1, keepdims=True)
        centred = np.where(known, part.rows - part.rows[1:][known[1:, 0]].mean(axis=0), 0.0)
        spread = float(np.sqrt((centred[1:] ** 2).sum(axis=1)[known[1:, 0]].mean()))
        made.append(centred * (part.weight / spread if spread > 0 else 0.0))
    joined = np.concatenate(made, axis=1) if made else np.zeros((len(parts[-1].rows), 0), np.float32)
    joined = _unit(joined)
    return _unit(np.concatenate((joined, parts[-1].weight * parts[-1].rows), axis=1)).astype(np.float32)


def _unit(rows: Numbers) -> Numbers:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Numbers = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return found


def _nearness(parts: Sequence[_Part], examples: int) -> tuple[Numbers, float]:
    """How near the text is to each example, and how near the nearest examples are to their own neighbours."""

    def compared(one: Numbers, other: Numbers) -> Numbers:
        """Row by row; a part that one of two rows lacks says nothing about them."""
        total, weights = np.zeros((len(one), len(other))), np.zeros((len(one), len(other)))
        for part in parts:
            a, b = part.rows[one], part.rows[other]
            both = np.any(a, axis=1)[:, None] & np.any(b, axis=1)[None]
            total += both * part.weight * (a @ b.T - part.unrelated) / (1 - part.unrelated)
            weights += both * part.weight
        return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)

    every = np.arange(1, examples + 1)
    near = compared(np.array([0]), every)[0]
    if examples < 2:
        return near, 0.0
    around = every[np.argsort(-near, kind="stable")[:_AROUND]]
    crowd = compared(around, every)
    crowd[np.arange(len(around)), around - 1] = -np.inf
    most = min(_BEST, examples - 1)
    return near, float(np.sort(crowd, axis=1)[:, -most:].mean())


def _trained(rows: Numbers, targets: Numbers, classes: int, asked: Numbers) -> Numbers:
    """The log-odds of each class for a row, by softmax regression on how near it is to each of the others.

    Rows are of unit length, and nearness falls off as a bell does (a Gaussian kernel). The steps are Böhning's (1992),
    whose bound of the curvature is the same at every point, with Nesterov's momentum.
    """
    near = np.exp(rows @ rows.T - 1).astype(np.float64)
    step = np.linalg.inv(near / 2 + _PENALTY * np.eye(len(rows)))
    right = np.eye(classes)[targets]
    weights = ahead = np.zeros((len(rows), classes))
    for n in range(_STEPS):
        logits = near @ ahead
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        before, weights = weights, ahead - step @ (odds - right + _PENALTY * ahead)
        ahead = weights + n / (n + 3) * (weights - before)
    found: Numbers = np.exp(rows @ asked - 1) @ weights
    return found
