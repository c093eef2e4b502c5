"""Bridging: topics that more relations join than chance would draw between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from polymnia.engine.analysis.actions import FindRelationships
from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, sure
from polymnia.engine.analysis.probability import adjusted, at_least_of
from polymnia.models import Relation

__all__ = ["bridges"]

_LEAST = 0.95


def bridges(view: View, clusters: Sequence[Pattern], looked: Looked) -> None:
    """Pairs of topics with more of the relations between topics than their sizes let expect."""
    topic = {id: at for at, one in enumerate(clusters) for id in one.members}
    names = view.material.by_name
    between: dict[tuple[int, int], list[Relation]] = {}
    for relation in view.material.relations:
        a, b = (topic.get(names[end].id, -1) for end in (relation.source, relation.target))
        if min(a, b) >= 0 and a != b:
            between.setdefault((min(a, b), max(a, b)), []).append(relation)
    total = sum(map(len, between.values()))
    looked.looked_at["relations_between_topics"] = total
    sizes = [len(one.members) for one in clusters]
    possible = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) / 2
    pairs = sorted(between)
    shares = [sizes[a] * sizes[b] / possible for a, b in pairs]
    expected = [share * total for share in shares]
    chances = [at_least_of(len(between[pair]), total, share) for pair, share in zip(pairs, shares, strict=True)]
    looks = len(clusters) * (len(clusters) - 1) // 2
    for (a, b), mean, rate in zip(pairs, expected, adjusted(chances, looks), strict=True):
        if sure(rate) < _LEAST:
            continue
        some = between[a, b]
        meeting = Counter(end for relation in some for end in (relation.source, relation.target))
        records = [names[name] for name, _ in sorted(meeting.items(), key=lambda one: (-one[1], one[0]))]
        one, other = (str(clusters[at].evidence.get("label", "")) for at in (a, b))
        looked.add(
            Insight(
                type="knowledge_synthesis", name="topic_bridge",
                summary=f"“{one}” and “{other}” belong together: {len(some)} relations join them where {mean:.1f} "
                f"were to be "
                f"expected, most of all through {view.title(records[0])}.",
                confidence=sure(rate),
                explanation="The chance of so many if the relations between topics fell on any two memories of "
                "different topics (binomial); corrected for the number of pairs of topics (Benjamini-Hochberg).",
                evidence={"topics": [one, other], "relations": len(some), "expected": round(mean, 2),
                          "types": dict(Counter(r.type for r in some).most_common(5)), "through": view.shown(records)},
                members=tuple(record.id for record in records),
                **view.advised("Start at what joins them.", FindRelationships(id=records[0].uid)),
            ),
            len(some),
        )  # fmt: skip
