"""Statements: the sentences of records that claim something, and the pairs of them worth judging."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts.clash import undated
from polymnia.engine.analysis.pairs import Numbers, Pairs, cosines, decoded, encoded, nearest, together
from polymnia.engine.knowledge.duplicates import words
from polymnia.engine.text.document import Block, blocks, plain
from polymnia.engine.text.language import DENSE
from polymnia.engine.text.sentences import asks, spans
from polymnia.models import Record

MOST = 60
"""Statements compared of a record, at most."""

_LONGEST = 600  # characters of a sentence
_SHORTEST = 4
_EVERY = 500  # records between two ticks
_WRAPPED = 55  # characters of a line that may be wrapped
_CODE_TYPES = re.compile(r"(?:application|text)/(?:json|x-|csv|css|javascript|yaml|xml|sql)|\+(?:json|xml)")
_PROSE = ("p", "q", "li")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]*)*")
_TAG = re.compile(r"\s*<[^>]+>\s*$")
_TURN = re.compile(
    r"(?![^:\n]{0,30}\d)(?:\*\*|\[)?([A-Z가-힣][\w .'’-]{0,30}|user|assistant|human)(?:\*\*|\])?:(?:\*\*)?[ \t]+"
)
_SELF = re.compile(r"\b(?:I|I'm|I've|my|me|we|our|you|your)\b|(?<![가-힣])(?:저는|제가|나는|내가|우리)")
_LETTER = re.compile(r"[^\W\d_]")


class Statement(NamedTuple):
    """A sentence: its observation, start, end and number, and its speaker or subject (heading, name, title)."""

    part: int
    start: int
    end: int
    place: int
    about: str


def statements(record: Record, most: int = MOST) -> list[Statement]:
    """The statements of a record in order; code, headings, tables and questions are none."""
    if record.content_type is not None and _CODE_TYPES.search(record.content_type):
        return []
    title = record.metadata.get("title")
    named = record.name if record.name != record.uid else title if isinstance(title, str) else ""
    found: list[Statement] = []
    for part, text in enumerate(record.observations):
        for start, end, about in _sentences(text):
            if len(found) == most:
                return found
            found.append(Statement(part, start, end, len(found), about or named))
    return found


class Statements:
    """The statements of many records in order; ``owner`` is the place of the record of each.

    With ``whole``, a record without a statement counts as one. ``left_out`` records were not read because there are
    ``most`` statements already.
    """

    def __init__(
        self,
        records: Sequence[Record],
        *,
        each: int = MOST,
        most: int | None = None,
        whole: bool = False,
        tick: Callable[[int, int], None] | None = None,
    ) -> None:
        self.records = list(records)
        self.spots: list[Statement] = []
        self.left_out = 0
        owner: list[int] = []
        for at, record in enumerate(self.records):
            if tick is not None and at % _EVERY == 0:
                tick(at, len(self.records))
            if most is not None and len(owner) >= most:
                self.left_out = len(self.records) - at
                break
            some = statements(record, each)
            if not some and whole and record.observations and (text := record.observations[0].strip()):
                start = record.observations[0].find(text)
                some = [Statement(0, start, start + len(text), 0, "")]
            self.spots += some
            owner += [at] * len(some)
        self.owner: NDArray[Any] = np.array(owner, np.int64)

    def __len__(self) -> int:
        return len(self.spots)

    def record(self, row: int) -> Record:
        """The record of a statement."""
        return self.records[int(self.owner[row])]

    def text(self, row: int) -> str:
        """A statement as it is written."""
        spot = self.spots[row]
        return self.record(row).observations[spot.part][spot.start : spot.end]

    def judged(self, row: int) -> str:
        """A statement as it is judged: without markup and its own date, with its speaker or subject."""
        text = undated(" ".join(plain(self.text(row)).split()))
        about = self.spots[row].about
        return f"{about}: {text}" if about and about.casefold() not in text.casefold() else text


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The start, the end and the speaker or subject of each sentence that claims something."""
    heading = ""
    for block in blocks(text):
        if block.kind == "h":
            heading = block.text
        for start, end in _lines(text, block) if block.kind in _PROSE else ():
            about = heading
            turn = _TURN.match(text, start, end)
            if turn is not None and _SELF.search(text, turn.end(), end):
                about, start = turn[1], turn.end()
            for first, last in spans(text, start, end):
                claims = _SHORTEST <= last - first <= _LONGEST and _LETTER.search(text, first, last) is not None
                if claims and not asks(text[max(first, last - 8) : last]):
                    yield first, last, about


def _lines(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """The lines of a block, wrapped ones joined."""
    held = before = -1
    at = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        quote = _QUOTE.match(line)
        start, end = at + (quote.end() if quote else 0), at + len(line.rstrip())
        at += len(line)
        wraps = held >= 0 and before - text.rfind("\n", 0, before) > _WRAPPED and text[before - 1] not in ".!?。:;"
        if held >= 0 and (not wraps or _TURN.match(text, start, end)):
            yield held, before
            held = -1
        if held < 0:
            held = -1 if _TAG.match(line) else start
        before = end
    if held >= 0:
        yield held, before


_DENSE = re.compile(f"[{DENSE}]")
_WIDTH = 12  # rarest words compared of a statement
_RARE = 5  # of which two make a pair
_FEW = 400  # statements that are all compared with each other
_SHARED = 0.25  # the least share of the weight of the words of the shorter statement
_EACH = 4  # partners of a statement
_NEAR = 0.3  # the least similarity: 0 for unrelated texts, 1 for the same vector
_ENTITY = 0.3  # the least similarity of observations of one entity
_OBSERVATIONS = 12  # of an entity, that are all compared with each other
_STEP = 65_536  # pairs compared at once


class _Words:
    """The rarest words of each statement as numbers, padded with -1, and the weight of each word."""

    def __init__(self, table: Statements) -> None:
        numbers: dict[str, int] = {}
        bags = [
            sorted({numbers.setdefault(one, len(numbers)) for one in _terms(table.judged(row))})
            for row in range(len(table))
        ]
        counts = np.zeros(len(numbers) + 1, np.int64)
        for bag in bags:
            counts[bag] += 1
        self.weights: Numbers = np.log1p(len(table) / np.maximum(counts, 1)).astype(np.float32)
        self.weights[-1] = 0.0  # of the padding
        self.counts = counts
        self.keys: Numbers = np.full((len(table), _WIDTH), -1, np.int64)
        for row, bag in enumerate(bags):
            rarest = sorted(bag, key=counts.__getitem__)[:_WIDTH]
            self.keys[row, : len(rarest)] = rarest

    def share(self, pairs: Pairs) -> Numbers:
        """The share of the lighter statement's weight that both have in common."""
        found = np.zeros(len(pairs), np.float32)
        for start in range(0, len(pairs), _STEP):
            left, right = (self.keys[pairs[start : start + _STEP, side]] for side in (0, 1))
            common = ((left[:, :, None] == right[:, None, :]) & (left >= 0)[:, :, None]).any(axis=2)
            least = np.minimum(self.weights[left].sum(axis=1), self.weights[right].sum(axis=1))
            found[start : start + _STEP] = (self.weights[left] * common).sum(axis=1) / np.maximum(least, 1e-6)
        return found


def _terms(text: str) -> list[str]:
    """The words of a statement in the singular, and bigrams of scripts without spaces."""
    found = []
    for word in words(text):
        if _DENSE.search(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return found


class Candidates:
    """The pairs of some statements; ``vectors`` has a row for each record, or zeros."""

    def __init__(self, table: Statements, vectors: Numbers, unrelated: float) -> None:
        self._table = table
        self._vectors = vectors
        self._unrelated = unrelated
        self._words = _Words(table)

    def found(self) -> Pairs:
        """The pairs worth judging in a project, most similar first."""
        table = self._table
        if len(table) < 2:
            return np.zeros((0, 2), np.int64)
        pairs = _every(len(table)) if len(table) <= _FEW else _by_words(self._words)
        share = self._words.share(pairs)
        enough = share >= _SHARED
        near, alike = _by_meaning(table, self._words, self._vectors, self._unrelated)
        own = _of_entities(table)
        scores = (share[enough], alike, np.maximum(self._words.share(own), _ENTITY))
        return _best(np.concatenate((pairs[enough], near, own)), np.concatenate(scores))

    def of(self, mine: int) -> Pairs:
        """The pairs of the statements of one record with all others, and with each other if they share words."""
        rows = np.flatnonzero(self._table.owner == mine)
        a, b = np.meshgrid(rows, np.arange(len(self._table)), indexing="ij")
        return self._apart(decoded(np.unique(encoded(a.ravel(), b.ravel()))))

    def every(self) -> Pairs:
        """All pairs of statements of different records, and those of one record that share words."""
        return self._apart(_every(len(self._table)))

    def _apart(self, pairs: Pairs) -> Pairs:
        near, share = self.related(pairs)
        chosen = (self._table.owner[pairs[:, 0]] != self._table.owner[pairs[:, 1]]) | (share >= _SHARED)
        found: Pairs = pairs[chosen][np.argsort(-np.fmax(near, share)[chosen], kind="stable")]
        return found

    def related(self, pairs: Pairs) -> tuple[Numbers, Numbers]:
        """The similarity of the records of each pair (0 to 1, NaN without vectors), and of their words."""
        share = self._words.share(pairs)
        near = np.full(len(pairs), np.nan, np.float32)
        owners = self._table.owner[pairs]
        if self._vectors.size:
            present: Numbers = np.asarray(self._vectors.any(axis=1))
            known = present[owners].all(axis=1)
            alike = cosines(self._vectors, owners[known])
            near[known] = np.clip((alike - self._unrelated) / (1 - self._unrelated), 0.0, 1.0)
        return near, share


def _every(count: int) -> Pairs:
    return np.stack(np.triu_indices(count, 1), axis=1).astype(np.int64)


def _by_words(bag: _Words) -> Pairs:
    """Pairs of statements that share two of their rarest words and are close to each other among those."""
    keys = np.where((bag.keys >= 0) & (bag.counts[bag.keys] > 1), bag.keys, -1)
    keys = np.take_along_axis(keys, np.argsort(keys < 0, axis=1, kind="stable"), axis=1)[:, :_RARE]
    rows = np.arange(len(keys), dtype=np.int64)
    blocks, members = [], []
    for first, second in combinations(range(_RARE), 2):
        low, high = np.minimum(keys[:, first], keys[:, second]), np.maximum(keys[:, first], keys[:, second])
        present = low >= 0
        blocks.append((low[present] << 32) | high[present])
        members.append(rows[present])
    return together(np.concatenate(blocks), np.concatenate(members))


def _by_meaning(table: Statements, bag: _Words, vectors: Numbers, unrelated: float) -> tuple[Pairs, Numbers]:
    """The pair of statements with most words in common of each two similar records, and their similarity."""
    nothing = np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    if not vectors.size:
        return nothing
    records = np.unique(table.owner)
    records = records[vectors[records].any(axis=1)]
    if len(records) < 2:
        return nothing
    near, alike = nearest(vectors[records])
    alike = (alike - unrelated) / (1 - unrelated)
    near, alike = records[near[alike >= _NEAR]], alike[alike >= _NEAR]
    first = np.searchsorted(table.owner, np.arange(len(table.records) + 1))
    pairs = np.zeros((len(near), 2), np.int64)
    for at, (a, b) in enumerate(near.tolist()):
        x, y = (np.arange(first[one], first[one + 1]) for one in (a, b))
        pairs[at] = x[0], y[0]
        if len(x) * len(y) > 1:
            some = np.stack([one.ravel() for one in np.meshgrid(x, y, indexing="ij")], axis=1)
            pairs[at] = some[int(np.argmax(bag.share(some)))]
    return pairs, alike.astype(np.float32)


def _of_entities(table: Statements) -> Pairs:
    """The pairs of observations of one entity, which need not share words."""
    found = [np.zeros((0, 2), np.int64)]
    bounds = np.searchsorted(table.owner, np.arange(len(table.records) + 1))
    for at, record in enumerate(table.records):
        first, last = int(bounds[at]), int(bounds[at + 1])
        if record.name != record.uid and 1 < last - first <= _OBSERVATIONS:
            found.append(_every(last - first) + first)
    return np.concatenate(found)


def _best(pairs: Pairs, scores: Numbers) -> Pairs:
    """The pairs that are among the best of one of their statements, each once, best first."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))
    pairs = pairs[order]
    _, once = np.unique(encoded(pairs[:, 0], pairs[:, 1]), return_index=True)
    pairs = pairs[np.sort(once)]
    chosen = np.zeros(len(pairs), bool)
    for side in (0, 1):
        order = np.argsort(pairs[:, side], kind="stable")
        rows = pairs[order, side]
        chosen[order[np.arange(len(rows)) - np.searchsorted(rows, rows) < _EACH]] = True
    best: Pairs = pairs[chosen]
    return best
