"""The suggestion: the classifier's verdict in words, and what to fall back to when a text belongs nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.engine.suggesting.keywords import keywords
from polymnia.engine.suggesting.kinds import content_type
from polymnia.engine.suggesting.reading import Reading, read, scope_words, words_of
from polymnia.engine.suggesting.topics import Topic, topics
from polymnia.engine.suggesting.values import Alternative, Example, Suggestion, View
from polymnia.importing import importing
from polymnia.models import DEFAULT_SCOPE

__all__ = ["considered", "suggest"]

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


def considered(scope: str, current: str | None) -> bool:
    """Whether memories of a scope say where things belong: those of another session do not."""
    return not at_or_below(scope, _SESSIONS) or (current is not None and at_or_below(scope, current))


def at_or_below(scope: str, parent: str) -> bool:
    """Whether a scope is another one or lies below it."""
    return scope == parent or scope.startswith(parent + "/")


def suggest(
    content: str, examples: Sequence[Example], views: Sequence[View] = (), *, current: str | None = None
) -> Suggestion:
    """Where a text belongs, by filed memories of the scopes that come into question. ``current`` is the caller's."""
    reading = read(content)
    known = topics(reading)
    if all(one.scope == DEFAULT_SCOPE for one in examples):
        return _unlearnt(content, reading, known, current)
    with importing():
        from polymnia.engine.suggesting.classifier import classify

    scopes = list(dict.fromkeys(one.scope for one in examples))
    verdict = classify(
        words_of(content), [words_of(one.text) for one in examples], [words_of(scope_words(one)) for one in scopes],
        [scopes.index(one.scope) for one in examples], views,
        [_HERE if current and at_or_below(scope, current) else 0.0 for scope in scopes],
    )  # fmt: skip
    nearest = [examples[i] for i in sorted(range(len(examples)), key=lambda i: -verdict.near[i])]
    likely = sorted(
        (
            Alternative(scope, round(verdict.belongs * float(share), 3), _why(scope, nearest))
            for scope, share in zip(scopes, verdict.shares, strict=True)
        ),
        key=lambda one: -one.confidence,
    )
    chosen = likely[0]
    abstained = chosen.confidence < 1 - verdict.belongs
    if abstained:
        chosen = _fallback(current, chosen.confidence)
    texts = [one.text for one in nearest if one.scope == chosen.scope]
    return Suggestion(
        scope=chosen.scope,
        confidence=chosen.confidence,
        reasoning=chosen.reasoning,
        alternatives=tuple(
            one for one in likely if one.scope != chosen.scope and one.confidence >= _WORTH_SAYING
        )[:_ALTERNATIVES],
        keywords=keywords(reading, texts[:_COMPARED]),
        category=None if abstained else _category([one for one in nearest if one.scope == chosen.scope][:_NEAREST]),
        content_type=content_type(content),
        abstained=abstained,
    )  # fmt: skip


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
        says = Alternative(
            topic.scope, min(_by_words(topic), chosen.confidence), f"The text says {_listed(topic.words)}"
        )
        others.setdefault(topic.scope, says)
    return Suggestion(
        scope=chosen.scope, confidence=chosen.confidence, reasoning=chosen.reasoning,
        alternatives=tuple(sorted(list(others.values())[1:], key=lambda one: -one.confidence))[:_ALTERNATIVES],
        keywords=keywords(reading, (), [word for topic in known for word in topic.words]),
        category=known[0].category if known else None, content_type=content_type(content), abstained=not known,
    )  # fmt: skip


def _place(topic: Topic, current: str | None) -> Alternative:
    """Where a topic goes: its own scope, or below the one the caller is in."""
    scope = topic.scope
    if current and not at_or_below(scope, current):
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
    counts: dict[str, int] = {}
    for one in nearest:
        if one.category:
            counts[one.category] = counts.get(one.category, 0) + 1
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] >= _CATEGORY * len(nearest) else None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:4])
