"""From candidates to an order: each lane's word on each passage, fused, and gathered for the memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot
from polymnia.engine.search import dialogue, fusion, lanes
from polymnia.engine.search.index import Index
from polymnia.engine.search.lanes import WordsLane
from polymnia.engine.search.query import Wanted
from polymnia.engine.search.worker import Channel

__all__ = ["Scores", "candidates", "curve_of", "scored"]

Numbers = NDArray[Any]

_WORDS = 80  # passages the words may put forward; half as many memories
_MEANING = 140  # passages each model may put forward: the bits are a rough guide,
_MORE = 1000  # so one more for each so many passages there are,
_MOST = 1000  # up to this
_TALKING = 200  # memories whose neighbours in a conversation are looked at too
_PARTS = 4  # of a long memory, the first passages are looked at in any case
_HEAD = 0.8  # what a word counts for an observation that stands in the head of its memory alone
_EVERYTHING = 2_000  # passages at most where nothing is to be hidden
_STEPS = tuple(step for away in range(1, fusion.REACH + 1) for step in (-away, away))


class Scores:
    """Memories with their scores, best first, and the passages these come from.

    ``memories`` are rows of the index. ``passages`` and ``passage_scores`` belong together; the passages of one memory
    are found through the index. ``fused`` is what the memories are ordered by, ``score`` the same as a reader sees it.
    Where no model has a word, ``similarity`` (the cosine) is NaN.
    """

    def __init__(self, **columns: Numbers) -> None:
        self.memories = columns["memories"]
        self.score = columns["score"]
        self.fused = columns["fused"]
        self.words = columns["words"]
        self.meaning = columns["meaning"]
        self.similarity = columns["similarity"]
        self.lent = columns["lent"]
        self.passages = columns["passages"]
        self.passage_scores = columns["passage_scores"]

    def __len__(self) -> int:
        return len(self.memories)

    def keep(self, which: Numbers) -> None:
        """Only these memories, given as a mask."""
        for name in ("memories", "score", "fused", "words", "meaning", "similarity", "lent"):
            setattr(self, name, getattr(self, name)[which])


def candidates(
    index: Index,
    lane: WordsLane,
    asked: Mapping[str, Numbers],
    allowed: Numbers | None,
    wider: int = 1,
    *,
    everything: bool = False,
) -> Numbers:
    """Rows of the passages that a lane puts forward, with those of their neighbours in a conversation.

    With ``everything``, the newest passages too, whatever the lanes say of them.
    """
    memory = index.passages["memory"]
    may = index.passages["alive"] if allowed is None else index.passages["alive"] & allowed[memory]
    found = [lanes.top(lane.passages if allowed is None else lane.passages * may, _WORDS * wider)]
    for name, vector in asked.items():
        if (vectors := index.vectors.get(name)) is not None:
            most = min(_MOST, _MEANING + index.count // _MORE) * wider
            found.append(vectors.nearest(vector, index.count, may, most))
    if everything:
        found.append(np.flatnonzero(may)[-_EVERYTHING:])
    rows = np.unique(np.concatenate(found))
    by_memory = lane.memories if allowed is None else lane.memories * allowed
    memories = np.unique(np.concatenate((memory[rows], lanes.top(by_memory, _WORDS // 2 * wider))))
    memories = _with_neighbours(index, lane, memories)
    chosen = np.zeros(index.memories.count, bool)
    chosen[memories] = True
    chosen[0] = False
    inside = np.flatnonzero(chosen[memory])
    inside = inside[may[inside]]
    # Of a long memory, only the passages that say something.
    says = (lane.passages[inside] > 0) | (index.passages["part"][inside] < _PARTS)
    said = inside[says]
    return said if says.all() else np.union1d(said, rows[may[rows]])


def _with_neighbours(index: Index, lane: WordsLane, memories: Numbers) -> Numbers:
    thread = index.memories["thread"]
    talking = memories[thread[memories] > 0]
    if not len(talking):
        return memories
    if len(talking) > _TALKING:
        talking = talking[np.argsort(-lane.memories[talking], kind="stable")[:_TALKING]]
    around = np.concatenate([talking.astype(np.int64) + step for step in _STEPS])
    around = around[(around > 0) & (around < len(thread))]
    return np.unique(np.concatenate((memories, around)))


def scored(
    index: Index,
    snapshot: Snapshot,
    wanted: Wanted,
    lane: WordsLane,
    asked: Mapping[str, Numbers],
    channels: Mapping[str, Channel],
    rows: Numbers,
    which: str,
) -> Scores:
    """Fuse what the lanes say about these passages, gather it by memory, and order the memories."""
    owners, place = np.unique(index.passages["memory"][rows], return_inverse=True)
    soft = fusion.softened(index.passages["weight"][rows] * np.float32(0.01))
    turns = dialogue.turns(index, owners)
    links = dialogue.links(index, owners, turns)
    words = _words(index, lane, rows, owners, place, soft, links)
    similarity, meaning, score = words * np.nan, np.zeros(len(rows), np.float32), words
    if which != "words" and asked:
        similarity, meaning, strong = _meaning(index, snapshot, asked, channels, rows, soft)
        foreign = _foreign(index, wanted, rows) & ~np.isnan(similarity)
        if which == "meaning":
            score = meaning
        else:
            parts = index.sizes.bodies[owners][place]
            heard = float(words.max(initial=0.0))
            score = fusion.fuse(words, meaning, fusion.WEAK, parts, foreign, heard)
            if strong.any():
                score = np.where(strong, fusion.fuse(words, meaning, fusion.STRONG, parts, foreign, heard), score)
        if (curve := curve_of(asked, channels, which)) == _curve(fusion.STRONG, which):
            # One order needs one scale: a score means more in a text of which only the weaker model can tell.
            weak = fusion.moved(score, _curve(fusion.WEAK, which), curve)
            score = np.where(foreign & ~strong, weak, score).astype(np.float32)
    best = fusion.best(score, place, len(owners)).astype(np.float32)
    best = fusion.eased(best, index.sizes.bodies[owners], turns)
    total = best if links is None else fusion.lend(best, links)
    order = np.argsort(-total, kind="stable")

    def gathered(values: Numbers) -> Numbers:
        column = np.full(len(owners), np.nan, np.float32)
        np.fmax.at(column, place, values.astype(np.float32))
        return column[order]

    return Scores(
        memories=owners[order], score=fusion.shown(total[order], curve_of(asked, channels, which)), fused=total[order],
        lent=(total - best)[order],
        words=gathered(words), meaning=gathered(meaning), similarity=gathered(similarity),
        passages=rows, passage_scores=score,
    )  # fmt: skip


def curve_of(asked: Mapping[str, Numbers], channels: Mapping[str, Channel], which: str) -> fusion.Curve:
    """What fused scores mean, by the models that read the query and the lanes that were searched."""
    models = [channels[name].embedder for name in asked]
    if not models:
        return fusion.WORDS
    if any(model.answers[1] >= 1.0 for model in models):  # nobody has looked how near its answers are
        return fusion.UNMEASURED
    return _curve(fusion.STRONG if any(model.strong for model in models) else fusion.WEAK, which)


def _curve(blend: fusion.Blend, which: str) -> fusion.Curve:
    return blend.by_meaning if which == "meaning" else blend.curve


def _words(
    index: Index, lane: WordsLane, rows: Numbers, owners: Numbers, place: Numbers, soft: Numbers, links: Numbers | None
) -> Numbers:
    """The share of the query each passage says, with what its memory is called, what kind it is and how it is tagged.

    Turns of a conversation borrow words from those around them. Of a long memory the whole counts too.
    """
    held = np.empty((len(lane.asked), len(rows)), np.float32)
    heads, scratch = index.memories["head"][owners][place], index.scratch
    for at, group in enumerate(lane.asked):
        scratch[group.rows] = group.gains
        held[at] = np.maximum(scratch[rows], _HEAD * scratch[heads])
        scratch[group.rows] = 0
    total = held.sum(axis=0)
    if lane.time_gains is not None:
        total += lane.time_gains[rows]
    passages = fusion.words_score(total, lane.passage_asked)
    if links is not None and lane.asked:
        turns = np.zeros((len(lane.asked), len(owners)), np.float32)
        for at in range(len(lane.asked)):
            np.maximum.at(turns[at], place, held[at])
        own = fusion.words_score(turns.sum(axis=0), lane.passage_asked)
        lifted = fusion.words_score(fusion.near(turns, links).sum(axis=0), lane.passage_asked)
        passages = passages + np.maximum(lifted - own, 0)[place]
    passages = passages * soft
    whole = fusion.words_score(lane.memories[owners], lane.memory_asked)[place]
    long = index.sizes.bodies[owners][place] > 1
    found: Numbers = np.where(long, fusion.long_words(passages, whole), passages).astype(np.float32)
    return found


def _meaning(
    index: Index,
    snapshot: Snapshot,
    asked: Mapping[str, Numbers],
    channels: Mapping[str, Channel],
    rows: Numbers,
    soft: Numbers,
) -> tuple[Numbers, Numbers, Numbers]:
    """The cosine of each passage, what it counts, and whether a strong model said so."""
    similarity = np.full(len(rows), np.nan, np.float32)
    meaning = np.zeros(len(rows), np.float32)
    strong = np.zeros(len(rows), bool)
    for name, vector in sorted(asked.items(), key=lambda one: channels[one[0]].embedder.strong):
        if (vectors := index.vectors.get(name)) is None:
            continue
        embedder = channels[name].embedder
        cosine = vectors.cosines(snapshot, vector, rows)
        there = ~np.isnan(cosine)
        counts = fusion.meaning_score(np.nan_to_num(cosine), *embedder.answers)
        better = fusion.both(meaning, counts) if embedder.strong else counts
        meaning = np.where(there, better, meaning)
        similarity = np.where(there, cosine, similarity)
        strong |= there & embedder.strong
    return similarity, meaning * soft, strong


def _foreign(index: Index, wanted: Wanted, rows: Numbers) -> Numbers:
    """Which passages are in another script than the query: there the words cannot tell."""
    script = index.passages["script"][rows]
    found: Numbers = (script != wanted.script) & (script > 0) & (wanted.script > 0)
    return found
