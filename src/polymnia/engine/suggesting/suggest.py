"""The suggestion: the vote of the neighbours, put into words, with what to fall back to when they cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymnia.engine.suggesting.keywords import keywords
from polymnia.engine.suggesting.kinds import content_type
from polymnia.engine.suggesting.reading import read
from polymnia.engine.suggesting.topics import Topic, topics
from polymnia.engine.suggesting.values import Alternative, Neighbour, Suggestion
from polymnia.engine.suggesting.voting import Vote, at_or_below, confidence, vote
from polymnia.models import DEFAULT_SCOPE

__all__ = ["suggest"]

_LIKELY = 0.5  # below, a suggestion is likelier wrong than right, and none is made
_ALTERNATIVES = 3
_WORTH_SAYING = 0.05
_SESSIONS = "session"
_HERE, _NOWHERE = 0.2, 0.1  # of a fallback: to where the caller is, and to the default
_ONE_WORD, _MORE_WORDS = 0.25, 0.35  # of a topic known by so many words; chosen, not measured
_PARENT = 0.6  # what is left of the agreement about a parent: the text may still belong into a child; chosen likewise
_CATEGORY = 0.5  # a category needs so much of the votes
_DEEPEST = 10
_QUOTED = 80
_COMPARED = 5  # memories of the suggested scope whose words are compared with those of the text


def suggest(
    content: str,
    neighbours: Sequence[Neighbour],
    *,
    current: str | None = None,
    scopes: Mapping[str, int] | None = None,
    unrelated: float = 0.0,
) -> Suggestion:
    """Where a text belongs, by its nearest filed memories.

    ``current`` is the scope the caller is in, ``scopes`` how many memories each scope has, ``unrelated`` the mean
    cosine of unrelated texts in the model the cosines come from.
    """
    counts = scopes or {}
    reading = read(content)
    taught = any(_teaches(scope, current) for scope in (*counts, *(one.scope for one in neighbours)))
    filed = [one for one in neighbours if taught and _votes(one.scope, current)]
    count = vote(reading, filed, current=current, scopes=counts, unrelated=unrelated)
    likely, known = _by_vote(count), topics(reading)
    parent = _parent(count, counts, likely[0].confidence if likely else 0.0)
    chosen = next((one for one in (*likely[:1], *parent) if one.confidence >= _LIKELY), None)
    abstained = chosen is None
    if chosen is None and not taught and known:
        chosen, abstained = _place(known[0], current), False
    if chosen is None:
        chosen = _fallback(likely, current, taught)
    texts = [one.text for one, _ in count.voters if one.scope == chosen.scope and one.text]
    return Suggestion(
        scope=chosen.scope,
        confidence=chosen.confidence,
        reasoning=chosen.reasoning,
        alternatives=_others(chosen.scope, (*likely, *parent, *_by_topic(known, 1 - count.fits))),
        keywords=keywords(reading, texts[:_COMPARED], [word for topic in known for word in topic.words]),
        category=_category(count) or (known[0].category if known else None),
        content_type=content_type(content),
        abstained=abstained,
    )


def _others(chosen: str, seconds: Sequence[Alternative]) -> tuple[Alternative, ...]:
    """The alternatives worth saying, each scope once with the best that speaks for it."""
    found: dict[str, Alternative] = {}
    for one in sorted(seconds, key=lambda one: -one.confidence):
        if one.scope != chosen and one.confidence >= _WORTH_SAYING:
            found.setdefault(one.scope, one)
    return tuple(found.values())[:_ALTERNATIVES]


def _fallback(likely: Sequence[Alternative], current: str | None, taught: bool) -> Alternative:
    """Where a text goes that fits nowhere: to where the caller is, or to the default."""
    why = (
        "No filed memory is near enough, or those that are do not agree"
        if taught
        else "Nothing is filed to learn from yet"
    )
    scope, least, what = (current, _HERE, "where you are") if current else (DEFAULT_SCOPE, _NOWHERE, "the default")
    voted = max((one.confidence for one in likely if one.scope == scope), default=0.0)
    return Alternative(scope, max(voted, least), f"{why}; this is {what}")


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


def _votes(scope: str, current: str | None) -> bool:
    """A memory of another session says nothing about where things belong."""
    if not at_or_below(scope, _SESSIONS):
        return True
    return current is not None and at_or_below(scope, current)


def _teaches(scope: str, current: str | None) -> bool:
    """Whether somebody filed something there on purpose."""
    return scope != DEFAULT_SCOPE and _votes(scope, current)


def _by_vote(count: Vote) -> list[Alternative]:
    """The scopes voted for, each with how likely it is: what the first leaves over is shared among the others."""
    found: list[Alternative] = []
    first, left = 0.0, 0.0
    for scope, share in count.shares.items():
        if not found:
            first = confidence(count.fits, share)
            left = max(0.0, count.fits - first) / max(1e-9, 1 - share)
        likely = min(first, left * share) if found else first
        found.append(Alternative(scope, round(likely, 3), _why(scope, count)))
    return found


def _parent(count: Vote, counts: Mapping[str, int], first: float) -> list[Alternative]:
    """The parent that neighbours share who are split between its children, as far as the first of them leaves room.

    Hardly anything is filed at the top of a tree; that one is named only where something is.
    """
    below: dict[str, list[str]] = {}
    for scope in count.shares:
        if "/" in scope:
            below.setdefault(scope.rpartition("/")[0], []).append(scope)
    found = []
    for parent, children in below.items():
        if len(children) > 1 and parent not in count.shares and ("/" in parent or counts.get(parent)):
            share = min(1.0, sum(count.shares[scope] for scope in children))
            likely = round(min(1 - first, _PARENT * confidence(count.fits, share)), 3)
            names = _listed([scope.rpartition("/")[2] for scope in children])
            found.append(Alternative(parent, likely, f"Near memories are spread below it: {names}"))
    return sorted(found, key=lambda one: -one.confidence)[:1]


def _by_topic(known: Sequence[Topic], unfit: float) -> list[Alternative]:
    """What the words of the text alone point to, as far as the filed memories leave it open."""
    return [
        Alternative(topic.scope, round(_by_words(topic) * unfit, 3), f"The text says {_listed(topic.words)}")
        for topic in known[:2]
    ]


def _by_words(topic: Topic) -> float:
    return _ONE_WORD if len(topic.words) == 1 else _MORE_WORDS


def _why(scope: str, count: Vote) -> str:
    """Which memories speak for a scope, in words."""
    mine = [one for one, _ in count.voters if one.scope == scope]
    share = f"{len(mine)} of the {len(count.voters)} nearest memories"
    quote = " ".join(mine[0].text[: 4 * _QUOTED].split())
    said = f", such as “{quote[:_QUOTED]}{'…' if len(quote) > _QUOTED else ''}”" if quote else ""
    return f"Filed here: {share}{said}"


def _category(count: Vote) -> str | None:
    """The category most of the nearest memories have, when the text is one of their kind."""
    if count.fits < _LIKELY:
        return None
    total = sum(weight for _, weight in count.voters)
    shares: dict[str, float] = {}
    for one, weight in count.voters:
        if one.category:
            shares[one.category] = shares.get(one.category, 0.0) + weight / total
    best = max(shares, key=lambda name: shares[name], default=None)
    return best if best is not None and shares[best] >= _CATEGORY else None


def _listed(words: Sequence[str]) -> str:
    quoted = [f"“{word}”" for word in words[:4]]
    return ", ".join(quoted)
