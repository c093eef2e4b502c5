"""Knowledge synthesis: the main statements of the memories on each topic, quoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import Action, CheckConflicts, StoreItem
from polymnia.engine.analysis.conflicts import Clash, conflicts, deduplicated
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.findings import Finding
from polymnia.engine.analysis.insights.view import InsightResults, InsightView, Part
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.topics.features import features
from polymnia.engine.content import DECISION
from polymnia.engine.knowledge.duplicates import clash, same_words, shared, unlike, words
from polymnia.engine.knowledge.judge import COPY, Judging
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record

_EACH = 12  # sentences of one memory
_SENTENCES = 400  # of one topic
_NEWEST = 5  # memories read beside those in the middle of the topic
_COMPARED = 200  # memories of a topic searched for conflicts
_SHORTEST = 12  # characters; less is a label
_JUMP = 0.15  # the damping of PageRank
_STEPS = 50
_SETTLED = 1e-6
_NOVELTY = 0.5  # the weight of redundancy (maximal marginal relevance)
_COMMON = 0.5  # of the words of the shorter sentence, from which the judge compares two
_JUDGED = 40  # sentences compared by the judge

TopicText = tuple[Statements, list[int]]
"""The statements of the memories of a topic, and the rows that may be quoted."""


def knowledge_synthesis(view: InsightView, results: InsightResults) -> None:
    """A synthesis of each main topic."""
    found = view.topics
    many = len(view.sample.items)
    results.looked_at |= {"memories": many, **{k: v for k, v in found.looked_at.items() if k != "items"}}
    results.notes += found.notes
    clusters = view.clusters
    chosen_topics = clusters[: view.budget.topics]
    if not chosen_topics:
        results.note("no_topic", memories=many)
        return
    texts = [_read(view, one) for one in chosen_topics]
    vectors = _vectors(view, texts)
    sentences = sum(len(rows) for _, rows in texts)
    results.looked_at |= {"topics": len(clusters), "summed_up": len(chosen_topics), "sentences": sentences}
    for at, (topic, some, rows) in enumerate(zip(chosen_topics, texts, vectors, strict=True)):
        view.tick(at, len(chosen_topics))
        if some[1]:
            _add_topic(view, results, topic, some, rows)
    if len(clusters) > len(chosen_topics):
        results.note("smaller_topics", topics=len(clusters) - len(chosen_topics))


def _decisions(records: Sequence[Record]) -> list[Record]:
    named = {DECISION, "decisions", "adr", "결정"}
    return [one for one in records if one.kind.casefold() in named or any(t.casefold() in named for t in one.tags)]


def _read(view: InsightView, topic: Finding) -> TopicText:
    """Read the memories in the middle of a topic, the newest and the decisions."""
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


def _vectors(view: InsightView, topics: Sequence[TopicText]) -> list[Numbers]:
    texts = [table.text(row) for table, rows in topics for row in rows]
    made = view.project.embed(texts)
    if made is None or not made.any(axis=1).all():
        made = features(None, texts)
    return np.split(made, np.cumsum([len(rows) for _, rows in topics])[:-1])


def _add_topic(view: InsightView, results: InsightResults, topic: Finding, text: TopicText, vectors: Numbers) -> None:
    (table, quotable), most = text, view.budget.examples
    label = str(topic.evidence.get("label") or ", ".join(topic.evidence.get("terms", [])))
    owners = np.array([table.record(row).id for row in quotable], np.int64)
    rank = central(vectors, owners)
    read = {one.id: one for one in map(table.record, quotable)}
    records = view.loaded(topic.members)
    compared = Part(view.project, records[:_COMPARED] if view.deep else list(read.values()), tick=view.tick)
    clashes = deduplicated(conflicts(compared, suggest=False).clashes)
    statements = []
    for at in chosen(vectors, rank, view.budget.statements):
        voices = _voices(table, quotable[at], quotable, clashes, view.project.judging)
        statements.append(_statement(table, quotable[at], voices, float(rank[at] * len(vectors)), most))
    last = max(read.values(), key=lambda one: (one.created, one.id))
    newest = max((at for at, id in enumerate(owners) if id == last.id), key=lambda at: (float(rank[at]), -at))
    decided = _decisions(records)
    evidence: JsonObject = {
        "topic": label,
        "memories": len(topic.members),
        "memories_read": len(read),
        "sentences": len(vectors),
        "statements": statements,
        "newest": {"sentence": table.text(quotable[newest]), "id": last.uid, "at": moment(last.created)},
        "decisions": view.shown(sorted(decided, key=lambda one: (-one.created, one.id))),
        "decision_count": len(decided),
        "cohesion": topic.evidence.get("cohesion"),
    }
    if view.deep:
        evidence |= {"conflicts": [_conflict(one) for one in clashes[:most]], "conflict_count": len(clashes)}
    results.add(
        "topic",
        topic.confidence,
        evidence,
        len(topic.members),
        members=topic.members,
        actions=view.steps(_step(label, statements)),
    )


def _statement(table: Statements, row: int, voices: _Voices, weight: float, most: int) -> JsonObject:
    """A sentence, and the sentences of other memories that agree or disagree."""
    record = table.record(row)
    fields: JsonObject = {
        "sentence": table.text(row),
        "id": record.uid,
        "at": moment(record.updated),
        "said_by": 1 + len(voices.same),
        "centrality": round(weight, 3),
    }
    if voices.same:
        fields["also"] = [{"id": table.record(at).uid, "sentence": table.text(at)} for at in voices.same[:most]]
    if voices.otherwise:
        fields["denied_by"] = len(voices.otherwise)
        fields["otherwise"] = [
            {"id": table.record(at).uid, "sentence": table.text(at), "differs": differs}
            for at, differs in voices.otherwise[:most]
        ]
    return fields


def _conflict(one: Clash) -> JsonObject:
    sides = [{"id": side.record.uid, side.kind: side.sentence} for side in (one.left, one.right)]
    return {"differs": one.differs, "confidence": one.confidence, "statements": sides}


def _step(label: str, statements: list[JsonObject]) -> Action:
    ids = {id for one in statements for other in one.get("otherwise", []) for id in (one["id"], other["id"])}
    if ids:
        return CheckConflicts(ids=tuple(sorted(ids)), sensitivity="high")
    content = "\n".join([f"# {label}", "", *(f"- {one['sentence']} ({one['id']})" for one in statements)])
    return StoreItem(content=content, title=label)


# ── Voices: other memories that agree or disagree with a sentence ────────────────────────────────────────────────────


class _Voices(NamedTuple):
    """A row of each other memory that agrees, and of each that disagrees, with the difference."""

    same: list[int]
    otherwise: list[tuple[int, str]]


def _voices(
    table: Statements, row: int, rows: Sequence[int], clashes: Sequence[Clash], judging: Judging | None
) -> _Voices:
    """Which memories of some rows agree or disagree with one statement; ``clashes`` are their known conflicts."""
    others = [at for at in rows if table.owner[at] != table.owner[row]]
    text = table.judged(row)
    against = _conflicting(table, row, others, clashes)
    same: dict[int, int] = {}
    otherwise: dict[int, tuple[int, str]] = {}
    unsure = []
    for at in others:
        owner, other = int(table.owner[at]), table.judged(at)
        differs = against.get(at) or str(clash(text, other) or "")
        if differs:
            otherwise.setdefault(owner, (at, differs))
        elif same_words(text, other):
            same.setdefault(owner, at)
        elif _near(text, other) and not unlike(text, other):
            unsure.append(at)
    if unsure and judging is not None and judging.load():
        pairs = [(text, table.judged(at)) for at in unsure[:_JUDGED]]
        for at, pair, verdict in zip(unsure, pairs, judging.verdicts(pairs), strict=False):
            if verdict is not None and COPY.confidence(verdict.same, None, shared(*pair)) >= COPY.medium:
                same.setdefault(int(table.owner[at]), at)
    return _Voices([at for owner, at in same.items() if owner not in otherwise], list(otherwise.values()))


def _near(one: str, other: str) -> bool:
    here, there = set(words(one)), set(words(other))
    return len(here & there) >= _COMMON * max(1, min(len(here), len(there)))


def _conflicting(table: Statements, row: int, rows: Sequence[int], clashes: Sequence[Clash]) -> dict[int, str]:
    """The rows in a known conflict with a row, and what differs."""
    places = {(table.record(at).id, table.text(at)): at for at in (row, *rows)}
    found = {}
    for one in clashes:
        left, right = (places.get((side.record.id, side.sentence)) for side in (one.left, one.right))
        if left is not None and right is not None and row in (left, right):
            found[right if row == left else left] = one.differs
    return found


# ── Central sentences ────────────────────────────────────────────────────────────────────────────────────────────────


def central(rows: Numbers, owners: Numbers) -> Numbers:
    """The centrality of each sentence (LexRank), where those of one owner do not support each other."""
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
    """The places of the sentences that are central and repeat each other least, best first."""
    if not len(rows):
        return []
    worth = rank / max(float(rank.max()), 1e-12)
    found = [int(np.argmax(worth))]
    while len(found) < min(most, len(rows)):
        redundancy = (rows @ rows[found].T).max(axis=1)
        gain = (1 - _NOVELTY) * worth - _NOVELTY * np.maximum(0.0, redundancy)
        gain[found] = -np.inf
        found.append(int(np.argmax(gain)))
    return found
