"""Names that many memories mention and none is about, as their names, titles, tags and first words tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from polymnia.engine.analysis.actions import UNWRITTEN, Store
from polymnia.engine.analysis.insights.view import InsightView, Looked, habit
from polymnia.engine.text.language import fold
from polymnia.engine.text.names import distinct, names
from polymnia.engine.text.sentences import sentences
from polymnia.models import Record

_FEWEST = 3  # memories that mention a name; twice is a coincidence
_LEAST = 0.2  # a gap that is none four times in five is not told
_READ = 4_000  # characters of a text: who matters in it is named early
_SHORTEST = 3  # letters: two are a unit or a sign
_EACH = 30  # names of one text
_TOLD = 40
_HALF = 2  # the habit is that of names mentioned at least half as often
_TOKEN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FIRST = 3  # words within which a text without a title comes to what it is about
_BEGINNING = 200
_TITLE = re.compile(r"\s*#{1,6}[ \t]+(.*\S)")


class _Name(NamedTuple):
    records: list[Record]
    spelled: Counter[str]


def name_key(name: str) -> tuple[str, ...]:
    """A name as it is compared: its words, folded."""
    return tuple(fold(token) for token in _TOKEN.findall(name))


def unwritten_names(view: InsightView, looked: Looked) -> None:
    """Names without a memory of their own, where names mentioned as often have one."""
    found: dict[tuple[str, ...], _Name] = {}
    sample = view.sample.items
    for at, record in enumerate(sample):
        if at % 200 == 0:
            view.tick(at, len(sample))
        said: dict[tuple[str, ...], str] = {}
        for name in distinct(names(view.project.text(record)[:_READ]), _EACH):
            if len(name.text) >= (_SHORTEST if name.text.isascii() else 2):
                said.setdefault(name_key(name.text), name.text)
        for words, text in said.items():
            held = found.setdefault(words, _Name([], Counter()))
            held.records.append(record)
            held.spelled[text] += 1
    often = {words: one for words, one in found.items() if words and len(one.records) >= _FEWEST}
    looked.looked_at |= {"texts_read_for_names": len(sample), "names": len(often)}
    if not often:
        return
    heads = Heads(view.whole.items, often)
    counts = sorted((len(one.records), words in heads) for words, one in often.items())
    silent = 0
    for count, words in sorted((-len(one.records), words) for words, one in often.items() if words not in heads)[
        :_TOLD
    ]:
        peers = [has for other, has in counts if other * _HALF >= -count]
        usual = habit(sum(peers), len(peers) - 1)
        if usual < _LEAST:
            silent += 1
        else:
            _tell(view, looked, often[words], peers, usual)
    if silent:
        having = sum(has for _, has in counts)
        looked.note("names_seldom_written", silent=silent, fewest=_FEWEST, having=having, names=len(counts))


def _tell(view: InsightView, looked: Looked, one: _Name, peers: list[bool], usual: float) -> None:
    name = min(one.spelled, key=lambda text: (-one.spelled[text], text))
    said = []
    for record in one.records[: view.budget.examples]:
        text = view.project.text(record)
        line = next((s for line in text[:_READ].splitlines() if name in line for s in sentences(line) if name in s), "")
        said.append({"id": record.uid, "sentence": line[:300]})
    looked.add(
        "unwritten_name",
        round(usual, 4),
        {
            "name": name,
            "mentions": len(one.records),
            "said": said,
            "names_like_it": len(peers),
            "having": sum(peers),
        },
        len(one.records),
        members=tuple(record.id for record in one.records),
        actions=view.steps(Store(content=f"# {name}\n\n{UNWRITTEN}", title=name, draft=True)),
    )


class Heads:
    """Which of some names stand in the heads of some records."""

    def __init__(self, records: Iterable[Record], names: Iterable[tuple[str, ...]]) -> None:
        self._led: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            if name:
                self._led.setdefault(name[0], []).append(name)
        self._found: set[tuple[str, ...]] = set()
        for record in records:
            for head in _heads(record):
                self._look(name_key(head), len(head))
            text = record.observations[0][:_BEGINNING] if record.observations else ""
            title = _TITLE.match(text)
            if title:
                self._look(name_key(title[1]), len(title[1]))
            else:
                self._look(name_key(text), _FIRST)

    def __contains__(self, name: tuple[str, ...]) -> bool:
        return name in self._found

    def _look(self, words: tuple[str, ...], starts: int) -> None:
        """Note the names that begin within the first so many words."""
        for start, word in enumerate(words[:starts]):
            for form in _forms(word):
                for name in self._led.get(form, ()):
                    *most, last = words[start : start + len(name)]
                    if len(most) + 1 == len(name) and (*most, name[-1]) == name and name[-1] in _forms(last):
                        self._found.add(name)


def _heads(record: Record) -> Iterator[str]:
    if record.name != record.uid:
        yield record.name
    title = record.metadata.get("title")
    if isinstance(title, str):
        yield title
    yield from record.tags


def _forms(word: str) -> tuple[str, ...]:
    """A word, and what it is without particles where it is Korean."""
    if "가" <= word[0] <= "힣" and len(word) > 2:
        return (word, *(word[:cut] for cut in range(max(2, len(word) - 2), len(word))))
    return (word,)
