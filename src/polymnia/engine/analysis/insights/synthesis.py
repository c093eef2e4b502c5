"""Knowledge synthesis: what the memories on each topic say together, in sentences that are stored as they stand.

Nothing is rephrased. The sentences that say most of what the topic says are chosen by their place among all of them
(LexRank) so that they do not repeat each other. Only a memory that has a sentence of the same words, or one that the
judge calls the same, counts as saying one; those that say otherwise are told beside it. A synthesis is as sure as its
topic is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import Action, CheckConflicts, Store
from polymnia.engine.analysis.clashing import once
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.conflicts.values import Clash
from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.insights.agreeing import Voices, heard
from polymnia.engine.analysis.insights.bridging import bridges
from polymnia.engine.analysis.insights.central import bags, central, chosen
from polymnia.engine.analysis.insights.decided import decisions
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import Part, View, plural
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["knowledge_synthesis"]

_EACH = 12  # sentences of one memory
_SENTENCES = 400  # of one topic
_NEWEST = 5  # memories that are read for being new, beside those in the middle of the topic
_COMPARED = 200  # memories of a topic that are compared for conflicts
_SHORTEST = 12  # characters; less is a label

Numbers = np.ndarray[Any, np.dtype[Any]]


class _Said(NamedTuple):
    """What is read of a topic: the statements of its memories, and which rows of them are sentences to tell."""

    table: Statements
    rows: list[int]

    def record(self, at: int) -> Record:
        return self.table.record(self.rows[at])

    def sentence(self, at: int) -> str:
        return self.table.text(self.rows[at])


def knowledge_synthesis(view: View) -> Looked:
    """A synthesis of each main topic, and between topics when it is comprehensive. Raises NoLibrary as topics do."""
    looked = Looked()
    found = view.topics
    looked.looked_at |= {
        "memories": len(view.sample.items),
        **{k: v for k, v in found.looked_at.items() if k != "items"},
    }
    looked.notes += found.notes
    clusters = view.clusters
    told = clusters[: view.budget.topics]
    if not told:
        looked.notes.append(f"No topic stands out in {plural(len(view.sample.items), 'memory', 'memories')}.")
        return looked
    said = [_sentences(view, one) for one in told]
    rows = _rows(view, said)
    looked.looked_at |= {
        "topics": len(clusters),
        "summed_up": len(told),
        "sentences": sum(len(one.rows) for one in said),
    }
    for at, (topic, some, vectors) in enumerate(zip(told, said, rows, strict=True)):
        view.tick(at, len(told))
        if some.rows:
            looked.add(_told(view, topic, some, vectors), len(topic.members))
    if len(clusters) > len(told):
        looked.notes.append(f"{plural(len(clusters) - len(told), 'smaller topic')} not summed up at this depth.")
    if view.at_least(2):
        bridges(view, clusters, looked)
    return looked


def _sentences(view: View, topic: Pattern) -> _Said:
    """What is read of a topic: the memories in its middle, the newest and the decisions."""
    records = [record for id in topic.members if (record := view.record(id)) is not None]
    newest = sorted(records, key=lambda one: (-one.created, one.id))[:_NEWEST]
    read = {one.id: one for one in [*records[: view.budget.sources], *newest, *decisions(records)[:_NEWEST]]}
    table = Statements(list(read.values()), each=_EACH)
    found: list[int] = []
    seen: set[str] = set()
    for row in range(len(table)):
        sentence = table.text(row)
        key = f"{table.owner[row]} {' '.join(sentence.casefold().split())}"
        if len(sentence) >= _SHORTEST and key not in seen and len(found) < _SENTENCES:
            seen.add(key)
            found.append(row)
    return _Said(table, found)


def _rows(view: View, said: Sequence[_Said]) -> list[Numbers]:
    """The sentences of each topic as rows of one space: of the model, or of words where a sentence has no vector."""
    texts = [some.sentence(at) for some in said for at in range(len(some.rows))]
    made = view.material.embed(texts)
    if made is None or not made.any(axis=1).all():
        made = bags(texts)
    ends = np.cumsum([len(some.rows) for some in said])[:-1]
    return np.split(made, ends)


def _told(view: View, topic: Pattern, said: _Said, rows: Numbers) -> Insight:
    label = str(topic.evidence.get("label") or ", ".join(topic.evidence.get("terms", [])))
    owners = np.array([said.record(at).id for at in range(len(said.rows))], np.int64)
    rank = central(rows, owners)
    read = {one.id: one for one in map(said.record, range(len(said.rows)))}
    records = [record for id in topic.members if (record := view.record(id)) is not None]
    deep = view.at_least(1)
    clashes = _clashes(view, records[:_COMPARED] if deep else list(read.values()))
    statements = [
        _statement(
            view,
            said,
            at,
            heard(said.table, said.rows[at], said.rows, clashes, view.material.judging),
            float(rank[at] * len(rows)),
        )
        for at in chosen(rows, rank, view.budget.statements)
    ]
    last = max(read.values(), key=lambda one: (one.created, one.id))
    newest = max((at for at, id in enumerate(owners) if id == last.id), key=lambda at: (float(rank[at]), -at))
    decided = decisions(records)
    evidence: dict[str, Any] = {
        "topic": label, "memories": len(topic.members), "memories_read": len(read), "sentences": len(rows),
        "statements": statements,
        "newest": {"sentence": said.sentence(newest), "id": last.uid, "at": moment(last.created)},
        "decisions": view.shown(sorted(decided, key=lambda one: (-one.created, one.id))),
        "decision_count": len(decided),
        "cohesion": topic.evidence.get("cohesion"),
    }  # fmt: skip
    disagree = ""
    if deep:
        evidence["conflicts"] = [_conflict(one) for one in clashes[: view.budget.examples]]
        evidence["conflict_count"] = len(clashes)
        disagree = f" {plural(len(clashes), 'pair')} of statements on it cannot both hold." if clashes else ""
    about = plural(len(topic.members), "memory is", "memories are")
    return Insight(
        type="knowledge_synthesis", name="topic",
        summary=f"{about} about {label}. {_most(statements, len(read))}{disagree}",
        confidence=topic.confidence,
        explanation="Sentences as they are stored, chosen by how near they are to those of other memories on the topic "
        "(LexRank) and how little they repeat each other. A memory is counted as saying one only if a sentence of it "
        "has the same words, or the judge of pairs calls it the same; one that says otherwise is told beside it. "
        "The confidence is that of the topic.",
        evidence=evidence, members=topic.members,
        **view.advised(*_advice(label, statements)),
    )  # fmt: skip


def _statement(view: View, said: _Said, at: int, voices: Voices, weight: float) -> dict[str, Any]:
    """A sentence, who says it too and who says otherwise, in sentences of their own."""
    table, record = said.table, said.record(at)
    told: dict[str, Any] = {
        "sentence": said.sentence(at), "id": record.uid, "at": moment(record.updated),
        "said_by": 1 + len(voices.same), "centrality": round(weight, 3),
    }  # fmt: skip
    most = view.budget.examples
    if voices.same:
        told["also"] = [{"id": table.record(row).uid, "sentence": table.text(row)} for row in voices.same[:most]]
    if voices.otherwise:
        told["denied_by"] = len(voices.otherwise)
        told["otherwise"] = [
            {"id": table.record(one.row).uid, "sentence": table.text(one.row), "differs": one.differs}
            for one in voices.otherwise[:most]
        ]
    return told


def _most(told: list[dict[str, Any]], read: int) -> str:
    """The sentence that most memories say, how many do, and who says otherwise."""
    first = max(told, key=lambda one: int(one["said_by"]))
    many = int(first["said_by"])
    begins = "What they say most" if many > 1 else "In the middle of what they say stands"
    counted = f"so {many} of {read} that were read" if many > 1 else f"said by 1 of {read} that were read"
    against = ""
    if others := first.get("otherwise"):
        verb = "says" if first["denied_by"] == 1 else "say"
        against = f"; {first['denied_by']} {verb} otherwise: “{others[0]['sentence']}”"
    return f"{begins}: “{first['sentence']}” ({counted}{against})."


def _clashes(view: View, records: list[Record]) -> list[Clash]:
    from polymnia.engine.analysis.conflicts import TYPES, conflicts

    part = Part(view.material, records, tick=view.tick)
    return once(conflicts(part, types=TYPES, sensitivity="medium", among=None, suggest=False).clashes)


def _conflict(one: Clash) -> dict[str, Any]:
    return {
        "differs": one.differs, "confidence": one.confidence,
        "statements": [{"id": side.record.uid, side.kind: side.sentence} for side in (one.left, one.right)],
    }  # fmt: skip


def _advice(label: str, told: list[dict[str, Any]]) -> tuple[str, Action]:
    ids = {id for one in told for other in one.get("otherwise", []) for id in (one["id"], other["id"])}
    if ids:
        return "Settle first which of them holds.", CheckConflicts(ids=tuple(sorted(ids)), sensitivity="high")
    content = "\n".join([f"# {label}", "", *(f"- {one['sentence']} ({one['id']})" for one in told)])
    return "Keep it as one memory to start from.", Store(content=content, title=label)
