"""Mentioned: names that many memories mention and none is about."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from polymnia.engine.analysis.actions import UNWRITTEN, Store
from polymnia.engine.analysis.insights.habits import habit
from polymnia.engine.analysis.insights.heads import Heads, key
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View
from polymnia.engine.analysis.readability.sentences import sentences
from polymnia.engine.text.names import distinct, names
from polymnia.models import Record

__all__ = ["unwritten_names"]

_FEWEST = 3  # memories that mention a name; twice is a coincidence
_LEAST = 0.2  # a gap that is none four times in five is not told
_READ = 4_000  # characters of a text: who matters in it is named early
_SHORTEST = 3  # letters: two are a unit or a sign
_EACH = 30  # names of one text
_TOLD = 40
_HALF = 2  # the habit is that of names mentioned at least half as often


class _Name(NamedTuple):
    records: list[Record]
    spelled: Counter[str]


def unwritten_names(view: View, looked: Looked) -> None:
    """Names without a memory of their own, where names mentioned as often have one."""
    found: dict[tuple[str, ...], _Name] = {}
    sample = view.sample.items
    for at, record in enumerate(sample):
        if at % 200 == 0:
            view.tick(at, len(sample))
        said: dict[tuple[str, ...], str] = {}
        for name in distinct(names(view.material.text(record)[:_READ]), _EACH):
            if len(name.text) >= (_SHORTEST if name.text.isascii() else 2):
                said.setdefault(key(name.text), name.text)
        for words, text in said.items():
            held = found.setdefault(words, _Name([], Counter()))
            held.records.append(record)
            held.spelled[text] += 1
    looked.looked_at["texts_read_for_names"] = len(sample)
    often = {words: one for words, one in found.items() if words and len(one.records) >= _FEWEST}
    looked.looked_at["names"] = len(often)
    if not often:
        return
    heads = Heads(view.whole.items, often)
    counts = sorted((len(one.records), words in heads) for words, one in often.items())
    silent = 0
    missing = sorted((-len(one.records), words) for words, one in often.items() if words not in heads)
    for count, words in missing[:_TOLD]:
        peers = [has for other, has in counts if other * _HALF >= -count]
        usual = habit(sum(peers), len(peers) - 1)
        if usual < _LEAST:
            silent += 1
            continue
        looked.add(_told(view, often[words], sum(peers), len(peers), usual), -count)
    if silent:
        looked.notes.append(
            f"{silent} names are mentioned in {_FEWEST} or more memories and none is about them, but names seldom "
            f"have a "
            f"memory of their own here ({sum(has for _, has in counts)} of {len(counts)})."
        )


def _told(view: View, one: _Name, having: int, peers: int, usual: float) -> Insight:
    name = min(one.spelled, key=lambda text: (-one.spelled[text], text))
    said = []
    for record in one.records[: view.budget.examples]:
        text = view.material.text(record)
        line = next((s for line in text[:_READ].splitlines() if name in line for s in sentences(line) if name in s), "")
        said.append({"id": record.uid, "sentence": line[:300]})
    draft = Store(content=f"# {name}\n\n{UNWRITTEN}", title=name, draft=True)
    return Insight(
        type="content_gaps", name="unwritten_name",
        summary=f"“{name}” is mentioned in {len(one.records)} memories, but none is about it: no name, title, tag or "
        f"first "
        f"words are. Of {peers} names mentioned at least half as often, {having} have a memory of their own.",
        confidence=round(usual, 4),
        explanation="How usual it is here that a name mentioned at least half as often has a memory of its own: (those "
        "that have + 1) / (the others + 2).",
        evidence={"name": name, "mentions": len(one.records), "said": said, "names_like_it": peers, "having": having},
        members=tuple(record.id for record in one.records),
        **view.advised(f"Store what “{name}” is, from what these memories say.", draft),
    )  # fmt: skip
