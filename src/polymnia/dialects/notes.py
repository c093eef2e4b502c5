"""What the engine reports beside its results, in words: notes, and why a search found a memory.

All dialects share these sentences, and so do the command line and programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from polymnia.models import Note, Remark

if TYPE_CHECKING:
    from polymnia.engine.search.results import Why

_LISTED = 8  # words of a query that a sentence lists


def worded(one: Remark) -> Note:
    """A note of the engine as its caller reads it."""
    return Note(one.code, sentence(one))


def sentence(one: Remark) -> str:
    """The sentence of a note."""
    return _SENTENCES[one.code](**one.values)


def _index_damaged(indexes: Sequence[str]) -> str:
    return (
        f"Damaged: {' and '.join(indexes)}. The texts themselves were searched instead, which takes longer. "
        "`polymnia reindex --anew` makes all indexes again."
    )


def _filtered(passing: bool) -> str:
    if passing:
        return "Nothing that passes the filters matches; without them there may be more."
    return "No memory passes the filters."


def _nothing_fits(best: float, filtered: bool) -> str:
    what = "that was searched" if filtered else "stored"
    return f"Nothing {what} seems to answer this. The nearest there is scores {best:.2f}."


def _no_meaning(model: str | None = None, others: bool = False, fault: str = "", hint: str = "") -> str:
    if model is None:
        return "There is no model to search by meaning: --embedder is none."
    how = f"Searched without {model}" if others else "Searched by words alone, not by meaning"
    return f"{how}: {fault}. {hint}"


def _loading(model: str, others: bool) -> str:
    how = f"Searched without {model}" if others else "Searched by words alone"
    return f"{how}: the model is not ready yet."


def _pending(passages: int) -> str:
    single = "1 passage was searched by words alone: it has"
    some = single if passages == 1 else f"{passages:,} passages were searched by words alone: they have"
    text = "no vector yet. Where the store can be written, a server makes it in the background, `polymnia reindex`"
    return f"{some} {text} at once."


def _nearest(names: Sequence[str], opening: bool = False, below: float | None = None) -> str:
    if opening:
        return f"The nearest there is to what was not found: {', '.join(names)}."
    miss = f"What matches scores below {below:g}." if below else "Nothing matches."
    return f"{miss} The nearest there is: {', '.join(map(repr, names))}."


def _cut(whole: int, cut: int, left_out: int, tokens: int) -> str:
    shown = f"{whole} shown whole, {cut} cut to the best passages, {left_out} left out"
    return f"Of {whole + cut + left_out} found, {shown} ({tokens:,} tokens)."


_SENTENCES: dict[str, Callable[..., str]] = {
    "index_damaged": _index_damaged,
    "filtered": _filtered,
    "nothing_fits": _nothing_fits,
    "no_meaning": _no_meaning,
    "loading": _loading,
    "pending": _pending,
    "alike": "Nothing has {word!r}; searched for {term!r} instead.".format,
    "nearest": _nearest,
    "cut": _cut,
    "no_reranker": "The best candidates were not judged once more: {fault}".format,
}


# ── why a memory was found ────────────────────────────────────────────────────────────────────────────────

_PLACES = {
    "whole_name": "the name itself",
    "whole_observation": "a whole observation",
    "identifier": "what it is called by",
    "name": "the name",
    "name_word": "a word of the name",
    "kind": "the kind",
    "observation": "an observation",
    "observation_word": "a word of an observation",
}


def reasons(why: Why) -> str:
    """Why a memory was found, as a sentence."""
    parts = []
    if why.place is not None:
        parts.append(f"the query stands in {_PLACES[why.place]} as it is")
    parts += _words(why)
    if why.meaning is not None and why.meaning > 0.15:
        how = "very close" if why.meaning > 0.6 else "close" if why.meaning > 0.35 else "somewhat close"
        parts.append(f"its meaning is {how} (cosine {why.similarity:.2f})")
    if why.time is not None:
        parts.append(
            f"it speaks of the time asked for ({why.time})" if why.mentions_time else f"it was stored then ({why.time})"
        )
    if why.lent > 0.02:
        parts.append("what stands next to it in the conversation matches too")
    if why.judged is not None:
        parts.append(f"read together with the query it was judged {why.judged:.2f}")
    if not parts:
        parts.append("nothing else is nearer" if why.missing else "nothing more was asked for")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _words(why: Why) -> list[str]:
    """The words of the query that a memory has and lacks."""
    corrected = {word for word, _ in why.alike}
    plain = [word for word in why.terms if word not in corrected]
    parts = []
    if plain:
        every = why.complete and not why.alike and len(plain) > 1
        parts.append(f"all its words are there: {_listed(plain)}" if every else f"it has {_listed(plain)}")
    parts += [f"{term!r} was taken for {word!r}" for word, term in why.alike]
    if why.missing and parts:
        parts.append(f"it lacks {_listed(why.missing)}")
    return parts


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(f"“{word}”" for word in words[:_LISTED])
    return shown if len(words) <= _LISTED else f"{shown} and {len(words) - _LISTED} more"
