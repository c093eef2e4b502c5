"""Suggestions: the scope a new text belongs to, judged by the memories already filed.

``suggest`` is a pure function of the text and some filed memories, which the caller collects. Its classifier is a
softmax regression on a few hundred examples of the dozen scopes nearest to the text. It is trained on each call, which
takes a few milliseconds, so nothing is stored, nothing goes stale and the cost does not grow with the store. The curves
were fitted; see docs/decisions/0042-scope-classifier.md.
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
"""How many memories nearest by cosine provide candidate scopes."""
BY_WORDS = 40
"""How many memories that share the most words with the text do so too."""
SCOPES = 12
"""How many of those scopes are considered, nearest first."""
EXAMPLES = 20
"""How many memories of each scope are used for training."""

_ALTERNATIVES = 3
_MIN_ALTERNATIVE = 0.001
_SESSIONS = "session"
_MIN_CONFIDENCE = 0.1  # the confidence of a fallback if nothing is filed
_ONE_WORD, _MORE_WORDS = 0.25, 0.35  # the confidence in a topic matched by one or more words; chosen, not measured
_CURRENT_BONUS = 0.4  # added to the log-odds of the caller's scope and those below it: 1.5 times the odds
_CATEGORY = 0.5  # the share of the nearest examples a category needs
_DEEPEST = 10
_QUOTED = 80
_NEAREST = 10
_COMPARED = 5  # memories of the suggested scope whose words are compared with the text's


class Example(Struct, frozen=True, gc=False):
    """A filed memory: its scope, text and category."""

    scope: str
    text: str
    category: str | None = None


class ScopeView(Struct, frozen=True):
    """One embedder's vectors of the text, of the examples and of the names of their scopes.

    Rows are unit vectors, or zeros if the embedder does not know the language or has not embedded the text yet.
    ``names`` has a row for each scope, in the order of first occurrence in the examples. ``strong`` and ``unrelated``
    are the embedder's.
    """

    text: Numbers
    examples: Numbers
    names: Numbers
    strong: bool = False
    unrelated: float = 0.0


class Alternative(Struct, frozen=True):
    """Another scope the text may belong to, how likely that is, and why."""

    scope: str
    confidence: float
    reasoning: str


class Suggestion(Struct, frozen=True, kw_only=True):
    """The scope a text belongs to.

    ``confidence`` is how often such a suggestion is right; no alternative has a higher one. If it ``abstained``, the
    text probably belongs to none of the filed scopes: ``scope`` is a fallback, and the likeliest filed ones are among
    the alternatives.
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
    """The name of a scope as words: the last part of its path."""
    return scope.rpartition("/")[2].replace("_", " ").replace("-", " ")


def considered(scope: str, current: str | None) -> bool:
    """Whether memories of a scope are used as examples: those of other sessions are not."""
    return not _at_or_below(scope, _SESSIONS) or (current is not None and _at_or_below(scope, current))


def _at_or_below(scope: str, parent: str) -> bool:
    """Whether a scope equals another one or is below it."""
    return scope == parent or scope.startswith(parent + "/")


def suggest(
    content: str, examples: Sequence[Example], views: Sequence[ScopeView] = (), *, current: str | None = None
) -> Suggestion:
    """The scope a text belongs to, by filed memories of the candidate scopes. ``current`` is the caller's scope."""
    reading = read(content)
    known = topics(reading)
    if all(one.scope == DEFAULT_SCOPE for one in examples):
        return _without_examples(content, reading, known, current)
    scopes = list(dict.fromkeys(one.scope for one in examples))
    odds = classify(
        words_of(content),
        [words_of(one.text) for one in examples],
        [words_of(scope_words(one)) for one in scopes],
        [scopes.index(one.scope) for one in examples],
        views,
        [_CURRENT_BONUS if current and _at_or_below(scope, current) else 0.0 for scope in scopes],
    )
    nearest = [examples[i] for i in sorted(range(len(examples)), key=lambda i: -odds.near[i])]
    likely = [
        Alternative(scope, round(odds.belongs * float(share), 3), _reasoning(scope, nearest))
        for scope, share in zip(scopes, odds.shares, strict=True)
    ]
    likely.sort(key=lambda one: -one.confidence)
    chosen = likely[0]
    abstained = chosen.confidence < 1 - odds.belongs
    if abstained:
        why = "No filed memory is near enough to say where this belongs"
        chosen = _fallback(current, chosen.confidence, why)
    own = [one for one in nearest if one.scope == chosen.scope]
    others = [one for one in likely if one.scope != chosen.scope and one.confidence >= _MIN_ALTERNATIVE]
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


def _fallback(current: str | None, likeliest: float, why: str) -> Alternative:
    """The scope of a text that belongs nowhere: the caller's, or the default."""
    what = "where you are" if current else "the default"
    return Alternative(current or DEFAULT_SCOPE, max(likeliest, _MIN_CONFIDENCE), f"{why}; this is {what}")


def _without_examples(content: str, reading: Reading, known: Sequence[Topic], current: str | None) -> Suggestion:
    """A suggestion for a store in which nothing is filed on purpose: by a few well-known words."""
    chosen = _place(known[0], current) if known else _fallback(current, 0.0, "Nothing is filed to learn from yet")
    others = {chosen.scope: chosen}
    for topic in known[1:]:
        confidence = min(_by_words(topic), chosen.confidence)
        others.setdefault(topic.scope, Alternative(topic.scope, confidence, f"The text says {_listed(topic.words)}"))
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
    """The scope of a topic: its own, or below the caller's."""
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


def _reasoning(scope: str, nearest: Sequence[Example]) -> str:
    """Which memories support a scope, in words."""
    near = nearest[:_NEAREST]
    mine = [one for one in near if one.scope == scope]
    first = next(one for one in nearest if one.scope == scope)
    quote = " ".join(first.text[: 4 * _QUOTED].split())
    example = f", such as “{quote[:_QUOTED]}{'…' if len(quote) > _QUOTED else ''}”" if quote else ""
    return f"Filed here: {len(mine)} of the {len(near)} nearest memories{example}"


def _category(nearest: Sequence[Example]) -> str | None:
    """The category of most of the nearest memories."""
    for best, count in Counter(one.category for one in nearest if one.category).most_common(1):
        return best if count >= _CATEGORY * len(nearest) else None
    return None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])


# ── the classifier ─────────────────────────────────────────────────────────────────────────────────────

_HASHED = 1024  # columns to which words and word pairs are hashed
_SECOND = 0.4  # the weight of an embedder beside a stronger one
_WORDS, _WORDS_STRONG = 0.7, 0.4  # the weight of the words beside an embedder, and beside a strong one
_PENALTY = 0.01
_STEPS = 60
_BEST = 3
_AROUND = 5
_ALIKE = 1.3
_SPARSE = 0.3  # a lower bound: among sparse examples a distant text must not seem near

_SHARP = 1.6  # the factor of the log-odds that makes shares match how often they are right
# The chance that a text belongs to any of the scopes: by how near the likeliest scope's best examples are, and by how
# near the text is to its nearest examples compared with how near those are to their own neighbours.
_BELONGS = (-6.7, 3.17, 10.05)


class Odds(NamedTuple):
    """The chance of each scope if the text belongs to any, the chance that it does, and how near each example is."""

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
    """Classify a text, given as words, by the words and vectors of examples, whose scopes ``labels`` gives by number.

    ``names`` are the words of each scope's name, which serves as one more example. ``prior`` is added to each scope's
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
    # Fewer than three examples are weak evidence: missing ones count as far away.
    own = np.sort(near[label == best])[::-1][:_BEST].sum() / _BEST
    best_near = np.sort(near)[::-1][:_BEST]
    among = min(_ALIKE, max(0.0, float(best_near.mean()) / max(_SPARSE, crowd))) * len(best_near) / _BEST
    belongs = float(1 / (1 + np.exp(-(_BELONGS[0] + _BELONGS[1] * own + _BELONGS[2] * among))))
    return Odds(shares, belongs, near)


def _hashed(words: Sequence[str]) -> Numbers:
    """Words and word pairs as a unit vector."""
    found = np.zeros(_HASHED, np.float32)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    for term in (*words, *pairs):
        at = crc32(term.encode())
        found[at % _HASHED] += 1.0 if at >> 20 & 1 else -1.0
    length = np.linalg.norm(found)
    return found / length if length else found


class _Part(NamedTuple):
    """One kind of feature: rows for the text, each example and each name; its weight; the cosine of unrelated texts."""

    rows: Numbers
    weight: float
    unrelated: float


def _weighted(views: Sequence[ScopeView], hashed: Numbers) -> list[_Part]:
    useful = [one for one in views if np.any(one.text) or np.any(one.examples)]
    strong = any(one.strong for one in useful)
    parts = [
        _Part(
            np.concatenate((np.asarray(one.text, np.float32)[None], one.examples, one.names)),
            _SECOND if strong and not one.strong else 1.0,
            one.unrelated,
        )
        for one in useful
    ]
    return [*parts, _Part(hashed, (_WORDS_STRONG if strong else _WORDS) if parts else 1.0, 0.0)]


def _features(parts: Sequence[_Part]) -> Numbers:
    """All parts side by side, each centred, with rows of unit length."""
    columns = []
    for part in parts[:-1]:
        known = np.any(part.rows, axis=1, keepdims=True)
        centred = np.where(known, part.rows - part.rows[1:][known[1:, 0]].mean(axis=0), 0.0)
        spread = float(np.sqrt((centred[1:] ** 2).sum(axis=1)[known[1:, 0]].mean()))
        columns.append(centred * (part.weight / spread if spread > 0 else 0.0))
    joined = np.concatenate(columns, axis=1) if columns else np.zeros((len(parts[-1].rows), 0), np.float32)
    joined = _unit(joined)
    return _unit(np.concatenate((joined, parts[-1].weight * parts[-1].rows), axis=1)).astype(np.float32)


def _unit(rows: Numbers) -> Numbers:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Numbers = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return found


def _nearness(parts: Sequence[_Part], examples: int) -> tuple[Numbers, float]:
    """How near the text is to each example, and how near the nearest examples are to their own neighbours."""

    def compared(one: Numbers, other: Numbers) -> Numbers:
        """Compare row by row; a part that one of two rows lacks is ignored."""
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
    count = min(_BEST, examples - 1)
    return near, float(np.sort(crowd, axis=1)[:, -count:].mean())


def _trained(rows: Numbers, targets: Numbers, classes: int, query: Numbers) -> Numbers:
    """The log-odds of each class for the row ``query``, by softmax regression on its nearness to each training row.

    Rows are of unit length, and nearness is a Gaussian kernel. The steps are Böhning's (1992), whose bound on the
    curvature is the same at every point, with Nesterov's momentum.
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
    found: Numbers = np.exp(rows @ query - 1) @ weights
    return found
