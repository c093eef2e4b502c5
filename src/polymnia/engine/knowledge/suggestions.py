"""Suggestions: the scope a new text belongs to, judged by the memories that are filed already.

``suggest`` is a pure function of the text and some filed memories; gathering those is the caller's. Nothing here is
imported before somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.knowledge.topics import READ, Reading, Topic, content_type, keywords, read, topics, words_of
from polymnia.importing import importing
from polymnia.models import DEFAULT_SCOPE

if TYPE_CHECKING:
    from polymnia.engine.knowledge.classifier import ScopeView

__all__ = [
    "BY_MEANING", "BY_WORDS", "EXAMPLES", "READ", "SCOPES", "Alternative", "Example", "Suggestion", "considered",
    "scope_words", "suggest",
]  # fmt: skip

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
    with importing():
        from polymnia.engine.knowledge.classifier import classify

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
    said = f", such as “{quote[:_QUOTED]}{'…' if len(quote) > _QUOTED else ''}”" if quote else ""
    return f"Filed here: {len(mine)} of the {len(near)} nearest memories{said}"


def _category(nearest: Sequence[Example]) -> str | None:
    """The category most of the nearest memories have."""
    for best, count in Counter(one.category for one in nearest if one.category).most_common(1):
        return best if count >= _CATEGORY * len(nearest) else None
    return None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])
