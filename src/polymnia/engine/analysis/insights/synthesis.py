"""Knowledge synthesis: what the memories on each topic say together, in sentences as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import Action, CheckConflicts, StoreItem
from polymnia.engine.analysis.conflicts import Clash, conflicts, once
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.findings import Finding
from polymnia.engine.analysis.insights.view import InsightView, Looked, Part
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.topics.features import features
from polymnia.engine.content import DECISION
from polymnia.engine.knowledge.duplicates import clash, same_words, shared, unlike, words
from polymnia.engine.knowledge.judge import COPY, Judging
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record

_EACH = 12  # sentences of one memory
_SENTENCES = 400  # of one topic
_NEWEST = 5  # memories that are read for being new, beside those in the middle of the topic
_COMPARED = 200  # memories of a topic that are compared for conflicts
_SHORTEST = 12  # characters; less is a label
_JUMP = 0.15  # how often the walk starts anew, as in PageRank
_STEPS = 50
_SETTLED = 1e-6
_NOVELTY = 0.5  # how much what was said already counts against a sentence (maximal marginal relevance)
_MEANT = 0.5  # of the words of the shorter sentence: with less in common the judge is not asked
_ASKED = 40  # sentences the judge is asked about

Said = tuple[Statements, list[int]]
"""What is read of a topic: the statements of its memories, and which rows of them are sentences to tell."""


def knowledge_synthesis(view: InsightView, looked: Looked) -> None:
    """A synthesis of each main topic."""
    found = view.topics
    many = len(view.sample.items)
    looked.looked_at |= {"memories": many, **{k: v for k, v in found.looked_at.items() if k != "items"}}
    looked.notes += found.notes
    clusters = view.clusters
    told = clusters[: view.budget.topics]
    if not told:
        looked.note("no_topic", memories=many)
        return
    said = [_read(view, one) for one in told]
    vectors = _vectors(view, said)
    sentences = sum(len(rows) for _, rows in said)
    looked.looked_at |= {"topics": len(clusters), "summed_up": len(told), "sentences": sentences}
    for at, (topic, some, rows) in enumerate(zip(told, said, vectors, strict=True)):
        view.tick(at, len(told))
        if some[1]:
            _tell(view, looked, topic, some, rows)
    if len(clusters) > len(told):
        looked.note("smaller_topics", topics=len(clusters) - len(told))


def _decisions(records: Sequence[Record]) -> list[Record]:
    named = {DECISION, "decisions", "adr", "결정"}
    return [one for one in records if one.kind.casefold() in named or any(t.casefold() in named for t in one.tags)]


def _read(view: InsightView, topic: Finding) -> Said:
    """What is read of a topic: the memories in its middle, the newest and the decisions."""
    records = view.loaded(topic.members)
    newest = sorted(records, key=lambda one: (-one.created, one.id))[:_NEWEST]
    read = {one.id: one for one in [*records[: view.budget.sources], *newest, *_decisions(records)[:_NEWEST]]}
    table = Statements(list(read.values()), each=_EACH)
    found: dict[tuple[int, str], int] = {}
    for row in range(len(table)):
        sentence = table.text(row)
        if len(sentence) >= _SHORTEST and len(found) < _SENTENCES:
            found.setdefault((int(table.owner[row]), " ".join(sentence.casefold().split())), row)
    return table, list(found.values())


def _vectors(view: InsightView, said: Sequence[Said]) -> list[Numbers]:
    texts = [table.text(row) for table, rows in said for row in rows]
    made = view.project.embed(texts)
    if made is None or not made.any(axis=1).all():
        made = features(None, texts)
    return np.split(made, np.cumsum([len(rows) for _, rows in said])[:-1])


def _tell(view: InsightView, looked: Looked, topic: Finding, said: Said, vectors: Numbers) -> None:
    (table, said_rows), most = said, view.budget.examples
    label = str(topic.evidence.get("label") or ", ".join(topic.evidence.get("terms", [])))
    owners = np.array([table.record(row).id for row in said_rows], np.int64)
    rank = central(vectors, owners)
    read = {one.id: one for one in map(table.record, said_rows)}
    records = view.loaded(topic.members)
    compared = Part(view.project, records[:_COMPARED] if view.deep else list(read.values()), tick=view.tick)
    clashes = once(conflicts(compared, suggest=False).clashes)
    statements = []
    for at in chosen(vectors, rank, view.budget.statements):
        voices = _heard(table, said_rows[at], said_rows, clashes, view.project.judging)
        statements.append(_statement(table, said_rows[at], voices, float(rank[at] * len(vectors)), most))
    last = max(read.values(), key=lambda one: (one.created, one.id))
    newest = max((at for at, id in enumerate(owners) if id == last.id), key=lambda at: (float(rank[at]), -at))
    decided = _decisions(records)
    evidence: JsonObject = {
        "topic": label,
        "memories": len(topic.members),
        "memories_read": len(read),
        "sentences": len(vectors),
        "statements": statements,
        "newest": {"sentence": table.text(said_rows[newest]), "id": last.uid, "at": moment(last.created)},
        "decisions": view.shown(sorted(decided, key=lambda one: (-one.created, one.id))),
        "decision_count": len(decided),
        "cohesion": topic.evidence.get("cohesion"),
    }
    if view.deep:
        evidence |= {"conflicts": [_conflict(one) for one in clashes[:most]], "conflict_count": len(clashes)}
    looked.add(
        "topic",
        topic.confidence,
        evidence,
        len(topic.members),
        members=topic.members,
        actions=view.steps(_step(label, statements)),
    )


def _statement(table: Statements, row: int, voices: _Voices, weight: float, most: int) -> JsonObject:
    """A sentence, who says it too and who says otherwise, in sentences of their own."""
    record = table.record(row)
    told: JsonObject = {
        "sentence": table.text(row),
        "id": record.uid,
        "at": moment(record.updated),
        "said_by": 1 + len(voices.same),
        "centrality": round(weight, 3),
    }
    if voices.same:
        told["also"] = [{"id": table.record(at).uid, "sentence": table.text(at)} for at in voices.same[:most]]
    if voices.otherwise:
        told["denied_by"] = len(voices.otherwise)
        told["otherwise"] = [
            {"id": table.record(at).uid, "sentence": table.text(at), "differs": differs}
            for at, differs in voices.otherwise[:most]
        ]
    return told


def _conflict(one: Clash) -> JsonObject:
    said = [{"id": side.record.uid, side.kind: side.sentence} for side in (one.left, one.right)]
    return {"differs": one.differs, "confidence": one.confidence, "statements": said}


def _step(label: str, told: list[JsonObject]) -> Action:
    ids = {id for one in told for other in one.get("otherwise", []) for id in (one["id"], other["id"])}
    if ids:
        return CheckConflicts(ids=tuple(sorted(ids)), sensitivity="high")
    content = "\n".join([f"# {label}", "", *(f"- {one['sentence']} ({one['id']})" for one in told)])
    return StoreItem(content=content, title=label)


# ── Voices: which other memories say what a sentence says, and which say otherwise; what is merely near is none ──────


class _Voices(NamedTuple):
    """The row of one statement of each other memory that says the same, and of each that does not, with the reason."""

    same: list[int]
    otherwise: list[tuple[int, str]]


def _heard(
    table: Statements, row: int, rows: Sequence[int], clashes: Sequence[Clash], judging: Judging | None
) -> _Voices:
    """What the memories of some rows say to one statement; ``clashes`` are the conflicts that are known among them."""
    others = [at for at in rows if table.owner[at] != table.owner[row]]
    text = table.said(row)
    against = _set_against(table, row, others, clashes)
    same: dict[int, int] = {}
    otherwise: dict[int, tuple[int, str]] = {}
    unsure = []
    for at in others:
        owner, other = int(table.owner[at]), table.said(at)
        differs = against.get(at) or str(clash(text, other) or "")
        if differs:
            otherwise.setdefault(owner, (at, differs))
        elif same_words(text, other):
            same.setdefault(owner, at)
        elif _near(text, other) and not unlike(text, other):
            unsure.append(at)
    if unsure and judging is not None and judging.load():
        asked = [(text, table.said(at)) for at in unsure[:_ASKED]]
        for at, pair, verdict in zip(unsure, asked, judging.verdicts(asked), strict=False):
            if verdict is not None and COPY.confidence(verdict.same, None, shared(*pair)) >= COPY.medium:
                same.setdefault(int(table.owner[at]), at)
    return _Voices([at for owner, at in same.items() if owner not in otherwise], list(otherwise.values()))


def _near(one: str, other: str) -> bool:
    here, there = set(words(one)), set(words(other))
    return len(here & there) >= _MEANT * max(1, min(len(here), len(there)))


def _set_against(table: Statements, row: int, rows: Sequence[int], clashes: Sequence[Clash]) -> dict[int, str]:
    """The rows that a known conflict sets against a row, and what differs."""
    places = {(table.record(at).id, table.text(at)): at for at in (row, *rows)}
    found = {}
    for one in clashes:
        left, right = (places.get((side.record.id, side.sentence)) for side in (one.left, one.right))
        if left is not None and right is not None and row in (left, right):
            found[right if row == left else left] = one.differs
    return found


# ── Central sentences ────────────────────────────────────────────────────────────────────────────────────────────────


def central(rows: Numbers, owners: Numbers) -> Numbers:
    """How much each sentence says of what others say (LexRank); those of one owner do not speak for each other."""
    many = len(rows)
    if many == 0:
        return np.zeros(0)
    alike = np.maximum(0.0, rows @ rows.T).astype(np.float64)
    alike[owners[:, None] == owners[None, :]] = 0.0
    sums = alike.sum(axis=1, keepdims=True)
    walk = np.divide(alike, sums, out=np.full_like(alike, 1.0 / many), where=sums > 0)
    rank = np.full(many, 1.0 / many)
    for _ in range(_STEPS):
        new = _JUMP / many + (1 - _JUMP) * (rank @ walk)
        if float(np.abs(new - rank).sum()) < _SETTLED:
            break
        rank = new
    return np.asarray(new)


def chosen(rows: Numbers, rank: Numbers, most: int) -> list[int]:
    """The places of the sentences that say most and repeat each other least, best first."""
    if not len(rows):
        return []
    worth = rank / max(float(rank.max()), 1e-12)
    found = [int(np.argmax(worth))]
    while len(found) < min(most, len(rows)):
        told = (rows @ rows[found].T).max(axis=1)
        gain = (1 - _NOVELTY) * worth - _NOVELTY * np.maximum(0.0, told)
        gain[found] = -np.inf
        found.append(int(np.argmax(gain)))
    return found
