"""Knowledge synthesis: what the memories on each topic say together, in sentences that are stored as they stand.

Nothing is rephrased. The sentences that say most of what the topic says are chosen by their place among all of them
(LexRank) so that they do not repeat each other; a memory supports one if it says something nearer to it than 99 of 100
pairs of sentences of different topics are. A synthesis is as sure as its topic is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polymnia.engine.analysis.conflicts.statements import statements
from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.insights.bridging import bridges
from polymnia.engine.analysis.insights.central import background, bags, central, chosen
from polymnia.engine.analysis.insights.decided import decisions
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import Part, View, call, plural
from polymnia.engine.moments import moment
from polymnia.models import Record

__all__ = ["knowledge_synthesis"]

_EACH = 12  # sentences of one memory
_SENTENCES = 400  # of one topic
_NEWEST = 5  # memories that are read for being new, beside those in the middle of the topic
_COMPARED = 200  # memories of a topic that are compared for conflicts
_SHORTEST = 12  # characters; less is a label

Numbers = np.ndarray[Any, np.dtype[Any]]


class _Said(NamedTuple):
    record: Record
    sentence: str


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
    looked.looked_at |= {"topics": len(clusters), "summed_up": len(told), "sentences": sum(map(len, said))}
    least = background(rows)
    for at, (topic, some, vectors) in enumerate(zip(told, said, rows, strict=True)):
        view.tick(at, len(told))
        if some:
            looked.add(_told(view, topic, some, vectors, least), len(topic.members))
    if len(clusters) > len(told):
        looked.notes.append(f"{plural(len(clusters) - len(told), 'smaller topic')} not summed up at this depth.")
    if view.at_least(2):
        bridges(view, clusters, looked)
    return looked


def _sentences(view: View, topic: Pattern) -> list[_Said]:
    """What is read of a topic: the memories in its middle, the newest and the decisions."""
    records = [record for id in topic.members if (record := view.record(id)) is not None]
    newest = sorted(records, key=lambda one: (-one.created, one.id))[:_NEWEST]
    read = {one.id: one for one in [*records[: view.budget.sources], *newest, *decisions(records)[:_NEWEST]]}
    found: list[_Said] = []
    seen: set[str] = set()
    for record in read.values():
        for one in statements(record, _EACH):
            sentence = record.observations[one.part][one.start : one.end]
            key = f"{record.id} {' '.join(sentence.casefold().split())}"
            if len(sentence) >= _SHORTEST and key not in seen and len(found) < _SENTENCES:
                seen.add(key)
                found.append(_Said(record, sentence))
    return found


def _rows(view: View, said: Sequence[Sequence[_Said]]) -> list[Numbers]:
    """The sentences of each topic as rows of one space: of the model, or of words where a sentence has no vector."""
    texts = [one.sentence for some in said for one in some]
    made = view.material.embed(texts)
    if made is None or not made.any(axis=1).all():
        made = bags(texts)
    ends = np.cumsum([len(some) for some in said])[:-1]
    return np.split(made, ends)


def _told(view: View, topic: Pattern, said: list[_Said], rows: Numbers, least: float) -> Insight:
    label = str(topic.evidence.get("label") or ", ".join(topic.evidence.get("terms", [])))
    owners = np.array([one.record.id for one in said], np.int64)
    rank = central(rows, owners)
    alike = rows @ rows.T >= least
    statements_ = []
    for at in chosen(rows, rank, view.budget.statements):
        voices = set(owners[alike[at]].tolist()) | {said[at].record.id}
        statements_.append(
            {
                "sentence": said[at].sentence, "id": said[at].record.uid, "at": moment(said[at].record.updated),
                "said_by": len(voices), "centrality": round(float(rank[at] * len(said)), 3),
            }
        )  # fmt: skip
    read = {one.record.id: one.record for one in said}
    last = max(read.values(), key=lambda one: (one.created, one.id))
    newest = max((at for at, one in enumerate(said) if one.record.id == last.id), key=lambda at: (float(rank[at]), -at))
    records = [record for id in topic.members if (record := view.record(id)) is not None]
    decided = decisions(records)
    evidence: dict[str, Any] = {
        "topic": label, "memories": len(topic.members), "memories_read": len(read), "sentences": len(said),
        "statements": statements_,
        "newest": {"sentence": said[newest].sentence, "id": last.uid, "at": moment(last.created)},
        "decisions": view.shown(sorted(decided, key=lambda one: (-one.created, one.id))),
        "decision_count": len(decided),
        "cohesion": topic.evidence.get("cohesion"),
    }  # fmt: skip
    disagree = ""
    if view.at_least(1):
        evidence["conflicts"], count = _conflicts(view, records)
        disagree = f" {plural(count, 'pair')} of statements on it cannot both hold." if count else ""
        evidence["conflict_count"] = count
    first = statements_[0]
    return Insight(
        type="knowledge_synthesis", name="topic",
        summary=f"{plural(len(topic.members), 'memory is', 'memories are')} about {label}. What they say most: "
        f"“{first['sentence']}” (so {first['said_by']} of {len(read)} that were read).{disagree}",
        confidence=topic.confidence,
        explanation="Sentences as they are stored, chosen by how near they are to those of other memories on the topic "
        f"(LexRank) and how little they repeat each other. A memory supports one from a cosine of {least:.2f} on, "
        f"which 99 of "
        "100 pairs from different topics do not reach. The confidence is that of the topic.",
        evidence=evidence, members=topic.members,
        recommendation=view.advised(_advice(label, statements_)),
    )  # fmt: skip


def _conflicts(view: View, records: list[Record]) -> tuple[list[dict[str, Any]], int]:
    from polymnia.engine.analysis.conflicts import TYPES, conflicts

    part = Part(view.material, records[:_COMPARED], tick=view.tick)
    found = conflicts(part, types=TYPES, sensitivity="medium", among=None, suggest=False).clashes
    told = [
        {
            "differs": one.differs, "confidence": one.confidence,
            "statements": [{"id": side.record.uid, "sentence": side.sentence} for side in (one.left, one.right)],
        }
        for one in found[: view.budget.examples]
    ]  # fmt: skip
    return told, len(found)


def _advice(label: str, told: list[dict[str, Any]]) -> str:
    content = "\n".join([f"# {label}", "", *(f"- {one['sentence']} ({one['id']})" for one in told)])
    return "Keep it as one memory to start from: " + call(
        "memory_store", "store_content", content=content, metadata={"title": label}
    )
