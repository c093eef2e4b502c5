"""Why a memory was found, in data and in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.engine.search.exact import PLACES
from polymnia.engine.search.lanes import Asked

__all__ = ["sentence", "words_found"]


def words_found(asked: Sequence[Asked], terms: set[str]) -> tuple[list[str], list[str], list[tuple[str, str]], bool]:
    """Of the words of a query those that stand among the terms, those that do not, and those taken for another.

    A word of a script without spaces is looked for in pairs of characters: told is what of it was found. The last value
    says whether all was found, whole.
    """
    pairs: dict[str, list[tuple[str, bool]]] = {}
    alike: list[tuple[str, str]] = []
    for one in asked:
        if one.bonus:
            continue
        found = [term for term, _, _ in one.terms if term in terms]
        pairs.setdefault(one.word, []).append((one.terms[0][0] if one.terms else one.word, bool(found)))
        if one.alike and found:
            alike.append((one.word, found[0]))
    there: list[str] = []
    missing: list[str] = []
    for word, parts in pairs.items():
        if all(found for _, found in parts):
            there.append(word)
        elif len(parts) > 1 and any(found for _, found in parts):
            there += _runs(parts)
        else:
            missing.append(word)
    whole = not missing and all(found for parts in pairs.values() for _, found in parts)
    return list(dict.fromkeys(there)), missing, alike, whole


def _runs(parts: Sequence[tuple[str, bool]]) -> list[str]:
    """Pairs of characters that were found, joined where one goes on where the other ends."""
    runs: list[str] = []
    going = False
    for part, found in parts:
        if found and going and runs[-1][-1:] == part[:1]:
            runs[-1] += part[1:]
        elif found:
            runs.append(part)
        going = found
    return runs


def sentence(
    *,
    place: int | None,
    terms: Sequence[str],
    missing: Sequence[str],
    alike: Sequence[tuple[str, str]],
    whole: bool,
    similarity: float | None,
    meaning: float | None,
    lent: float,
    timely: str | None,
    told: bool,
    judged: float | None,
) -> str:
    """The reasons in words, the strongest first."""
    said = []
    if place is not None:
        said.append(f"the query stands in {PLACES[place].said} as it is")
    taken = dict(alike)
    plain = [word for word in terms if word not in taken]
    if plain:
        every = "all its words are there" if whole and not alike and len(plain) > 1 else "it has"
        said.append(f"{every}: {_listed(plain)}" if every != "it has" else f"it has {_listed(plain)}")
    said += [f"{found!r} was taken for {word!r}" for word, found in alike]
    if missing and (plain or alike):
        said.append(f"it lacks {_listed(missing)}")
    if meaning is not None and similarity is not None and meaning > 0.15:
        how = "very close" if meaning > 0.6 else "close" if meaning > 0.35 else "somewhat close"
        said.append(f"its meaning is {how} (cosine {similarity:.2f})")
    if timely is not None:
        said.append(f"it speaks of the time asked for ({timely})" if told else f"it was stored then ({timely})")
    if lent > 0.02:
        said.append("what stands next to it in the conversation matches too")
    if judged is not None:
        said.append(f"read together with the query it was judged {judged:.2f}")
    if not said:
        said.append("nothing more was asked for" if place is None and not missing else "nothing else is nearer")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _listed(words: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(f"“{word}”" for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"
