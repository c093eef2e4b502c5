"""Topics: what the items of a project are about, by clustering."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np

from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.topics.clustering import FEWEST, Clustering, cluster, confidence
from polymnia.engine.analysis.topics.names import distinctive_terms
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.content import DECISION, title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record

__all__ = ["distinctive_terms", "topic_clusters"]

_WHOLE, _USUAL = 1000, 10  # progress is counted in thousandths; after so many steps it is half
_SHOWN = 5  # examples of a cluster
_LISTED = 10  # outliers shown
_NAMED = 300  # texts of a cluster that give its name, the most central
_BACKGROUND = 2000  # outliers compared with them
_TOGETHER = 0.1  # the least cohesion of a cluster
_TOPICS = 0.2  # the mean confidence of a project with topics: .96 of those had more, .90 of shuffled ones less
_LEAST, _ALONE = 0.1, 0.5  # the least confidence of a cluster in such a project, and in any other
_PART = re.compile(r"^ {0,3}#{2,6}[ \t]+.*\n?", re.MULTILINE)
# Headings of parts that a text on any topic may have.
_ANY_PART = re.compile(
    r"^ {0,3}#{2,6}[ \t]+(?:overview|introduction|summary|background|context|notes?|details?|steps?|procedure|usage"
    r"|setup|requirements?|prerequisites|general|rules?|decisions?|rationale|reasons?|alternatives?(?: considered)?"
    r"|options?|impact|consequences?|stakeholders?|status|action items|actions|agenda|attendees|participants|to ?do"
    r"|next steps|open questions|references|see also|misc|faq|개요|소개|요약|배경|맥락|메모|참고|절차|단계"
    r"|방법|규칙|결정(?: ?사항)?|근거|이유|대안|영향|이해관계자|상태|할 ?일|안건|참석자|기타)[ \t:#]*$\n?",
    re.IGNORECASE | re.MULTILINE,
)


def topic_clusters(project: ProjectView) -> Findings:
    """The clusters of the items with their names, and the outliers."""
    items = [record for record in project.items if _text(project, record).strip()]
    texts = [_text(project, record) for record in items]
    vectors = project.vectors_of([record.id for record in items]) if items else None
    known = int(np.any(vectors, axis=1).sum()) if vectors is not None and vectors.size else 0
    looked_at = {"items": len(items), "with_vectors": known, "model": project.model}
    if len(items) < FEWEST:
        return Findings(looked_at=looked_at, notes=[Remark("topics.few", {"count": len(items), "least": FEWEST})])
    steps = itertools.count(1)

    def tick() -> None:
        # The number of steps is not known beforehand.
        done = next(steps)
        project.tick(_WHOLE * done // (done + _USUAL), _WHOLE)

    made = cluster(vectors, texts, tick)
    topics = _Topics(items, texts, made)
    project.tick()
    patterns = [topics.cluster(group) for group in topics.certain]
    if topics.outliers.size and patterns:
        patterns.append(topics.outlying())
    if project.focus is not None:
        patterns = [pattern for pattern in patterns if project.focus in pattern.members]
    patterns.sort(key=lambda one: (-one.confidence, -len(one.members), one.members[:1]))
    looked_at |= {"clusters": len(topics.certain), "outliers": int(made.outlier.sum())}
    notes = []
    if not known:
        notes.append(Remark("topics.no_vectors"))
    elif known < len(items):
        notes.append(Remark("topics.without_vector", {"count": len(items) - known, "model": project.model}))
    if not made.groups:
        notes.append(Remark("topics.no_groups"))
    elif weak := made.groups - len(topics.certain):
        notes.append(Remark("topics.by_chance", {"count": weak}))
    return Findings(patterns=patterns, looked_at=looked_at, notes=notes)


def _text(project: ProjectView, record: Record) -> str:
    """The text of a record with its chosen name, without generic headings."""
    text = project.text(record)
    if "##" in text:
        text = (_PART if record.kind == DECISION else _ANY_PART).sub("", text)
    return text if record.name in (record.uid, text) else f"{record.name}\n{text}"


class _Topics:
    def __init__(self, items: Sequence[Record], texts: Sequence[str], made: Clustering) -> None:
        self._items = items
        self._made = made
        self._sure = sure = confidence(made)
        self.outliers = np.flatnonzero(made.outlier)
        order = np.lexsort((np.arange(len(items)), -made.nearness))
        inside = order[~made.outlier[order]]
        self._members = [inside[made.labels[inside] == group] for group in range(made.groups)]
        mean = float(np.average(sure, weights=np.maximum(made.sizes, 1))) if made.groups else 0.0
        least = _LEAST if mean >= _TOPICS else _ALONE
        self.certain = [
            group
            for group in range(made.groups)
            if sure[group] >= least and made.sizes[group] > 1 and made.cohesion[group] >= _TOGETHER
        ]
        read = [[texts[at] for at in members[:_NAMED]] for members in self._members]
        self._terms = distinctive_terms(read, [texts[at] for at in self.outliers[:_BACKGROUND]])

    def cluster(self, group: int) -> Finding:
        made, members = self._made, self._members[group]
        times = [self._items[at].created for at in members]
        evidence: JsonObject = {
            "label": self._name(group),
            "terms": self._terms[group],
            "size": len(members),
            "share": round(len(members) / len(self._items), 3),
            "cohesion": round(float(made.cohesion[group]), 3),
            "stability": round(float(made.stability[group]), 3),
            "apart": round(float(made.separation[group]), 3),
            "first": moment(min(times)),
            "last": moment(max(times)),
            "examples": [example(self._items[at]) for at in members[:_SHOWN]],
        }
        return self._pattern("cluster", float(self._sure[group]), evidence, members)

    def outlying(self) -> Finding:
        """The outliers, the farthest first."""
        made = self._made
        order = self.outliers[np.lexsort((self.outliers, made.nearness[self.outliers]))]
        examples = [example(self._items[at]) for at in order[:_LISTED]]
        for one, at in zip(examples, order, strict=False):
            if (group := int(made.labels[at])) in self.certain:
                one["nearest"] = self._name(group)
        evidence = {"count": len(order), "share": round(len(order) / len(self._items), 3), "examples": examples}
        surest = max(float(self._sure[group]) for group in self.certain)
        return self._pattern("outliers", made.outlier_confidence * surest, evidence, order)

    def _pattern(self, name: str, sure: float, evidence: JsonObject, members: Numbers) -> Finding:
        return Finding(
            type="topic_clusters",
            name=name,
            confidence=round(sure, 3),
            evidence=evidence,
            details={"items": len(self._items)},
            members=tuple(self._items[at].id for at in members),
        )

    def _name(self, group: int) -> str:
        return ", ".join(self._terms[group]) or title_of(self._items[int(self._members[group][0])])
