"""Names that many memories mention and none is about, as their names, titles, tags and first words tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

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


def name_key(name: str) -> tuple[str, ...]:
    """A name as it is compared: its words, folded."""
    return tuple(fold(token) for token in _TOKEN.findall(name))


def unwritten_names(view: InsightView, looked: Looked) -> None:
    """Names without a memory of their own, where names mentioned as often have one."""
    found: dict[tuple[str, ...], list[tuple[Record, str]]] = {}
    sample = view.sample.items
    for record in view.sample.each(sample, 200):
        said: dict[tuple[str, ...], str] = {}
        for name in distinct(names(view.project.text(record)[:_READ]), _EACH):
            if len(name.text) >= (_SHORTEST if name.text.isascii() else 2):
                said.setdefault(name_key(name.text), name.text)
        for words, text in said.items():
            found.setdefault(words, []).append((record, text))
    often = {words: some for words, some in found.items() if words and len(some) >= _FEWEST}
    looked.looked_at |= {"texts_read_for_names": len(sample), "names": len(often)}
    if not often:
        return
    heads = headed(view.whole.items, often.keys())
    counts = [(len(some), words in heads) for words, some in often.items()]
    silent = 0
    for count, words in sorted((-len(some), words) for words, some in often.items() if words not in heads)[:_TOLD]:
        peers = [has for other, has in counts if other * _HALF >= -count]
        usual = habit(sum(peers), len(peers) - 1)
        if usual < _LEAST:
            silent += 1
        else:
            _tell(view, looked, often[words], peers, usual)
    if silent:
        having = sum(has for _, has in counts)
        looked.note("names_seldom_written", silent=silent, fewest=_FEWEST, having=having, names=len(counts))


def _tell(view: InsightView, looked: Looked, some: list[tuple[Record, str]], peers: list[bool], usual: float) -> None:
    spelled = Counter(text for _, text in some)
    name = min(spelled, key=lambda text: (-spelled[text], text))
    said = []
    for record, _ in some[: view.budget.examples]:
        lines = view.project.text(record)[:_READ].splitlines()
        line = next((s for line in lines if name in line for s in sentences(line) if name in s), "")
        said.append({"id": record.uid, "sentence": line[:300]})
    looked.add(
        "unwritten_name",
        round(usual, 4),
        {
            "name": name,
            "mentions": len(some),
            "said": said,
            "names_like_it": len(peers),
            "having": sum(peers),
        },
        len(some),
        members=tuple(record.id for record, _ in some),
        actions=view.steps(Store(content=f"# {name}\n\n{UNWRITTEN}", title=name, draft=True)),
    )


def headed(records: Iterable[Record], names: AbstractSet[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Those of some names that stand in the names, titles, tags or first words of some records."""
    longest = max(map(len, names), default=0)
    found: set[tuple[str, ...]] = set()
    for record in records:
        text = record.observations[0][:_BEGINNING] if record.observations else ""
        title = _TITLE.match(text)
        heads = [title[1]] if title else [" ".join(_TOKEN.findall(text)[: _FIRST + longest - 1])]
        heads += [record.name] if record.name != record.uid else []
        heads += [str(record.metadata.get("title", "")), *record.tags]
        for at, head in enumerate(heads):
            words = name_key(head)
            for start in range(len(words) if at or title else min(_FIRST, len(words))):
                for end in range(start + 1, min(start + longest, len(words)) + 1):
                    *most, last = words[start:end]
                    found |= names & {(*most, form) for form in _forms(last)}
    return found


def _forms(word: str) -> tuple[str, ...]:
    """A word, and what it is without particles where it is Korean."""
    if "가" <= word[0] <= "힣" and len(word) > 2:
        return (word, *(word[:cut] for cut in range(max(2, len(word) - 2), len(word))))
    return (word,)
