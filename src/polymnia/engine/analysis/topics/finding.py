"""Finding: the topics of a project as patterns, each with its name, its members and how sure it is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.findings import Found, Pattern
from polymnia.engine.analysis.topics.clustering import FEWEST, Clustering, cluster
from polymnia.engine.analysis.topics.confidence import confidence
from polymnia.engine.analysis.topics.form import spoken
from polymnia.engine.analysis.topics.naming import telling_terms
from polymnia.engine.analysis.view import Material
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["topic_clusters"]

Numbers = NDArray[Any]

_TYPE = "topic_clusters"
_WHOLE, _USUAL = 1000, 10  # progress is told in thousandths; after so many steps it is half
_SHOWN = 5  # examples of a cluster
_LISTED = 10  # outliers and topics of a theme that are shown
_NAMED = 300  # texts of a cluster its name is read from, nearest to its middle first
_BESIDE = 2000  # outliers that are read beside them
_TOGETHER = 0.1  # cohesion below which a group has hardly more in common than any texts have
_TELLS = 0.2  # the mean confidence of a project with topics: .96 of those had more, and .90 of the shuffled ones less
_LEAST, _ALONE = 0.1, 0.5  # what a group must have in such a project to be answered, and in any other


def topic_clusters(material: Material) -> Found:
    """What the contents are about: clusters with telling names, themes of several clusters, and what fits nowhere."""
    items = [record for record in material.items if _text(material, record).strip()]
    texts = [_text(material, record) for record in items]
    vectors = material.vectors_of([record.id for record in items]) if items else None
    known = int(np.any(vectors, axis=1).sum()) if vectors is not None and vectors.size else 0
    looked_at = {"items": len(items), "with_vectors": known, "model": material.model}
    if len(items) < FEWEST:
        return Found(looked_at=looked_at, notes=[_few(len(items))])
    steps = itertools.count(1)

    def tick() -> None:
        # How many steps there will be depends on what is found; each brings the end nearer.
        done = next(steps)
        material.tick(_WHOLE * done // (done + _USUAL), _WHOLE)

    made = cluster(vectors, texts, tick)
    sure = confidence(made)
    topics = _Topics(items, texts, made, sure)
    material.tick()
    patterns = [topics.cluster(group) for group in topics.certain]
    patterns += [topics.theme(parent) for parent in topics.themes]
    if topics.outliers.size and patterns:
        patterns.append(topics.nowhere())
    if material.focus is not None:
        patterns = [pattern for pattern in patterns if material.focus in pattern.members]
    patterns.sort(key=lambda one: (-one.confidence, -len(one.members), one.members[:1]))
    looked_at |= {"clusters": len(topics.certain), "themes": len(topics.themes), "outliers": int(made.outlier.sum())}
    return Found(patterns=patterns, looked_at=looked_at, notes=topics.notes(known, material.model))


def _few(count: int) -> str:
    said = f"{count} item{'s' * (count != 1)} with text"
    return f"{said}; at least {FEWEST} are needed to tell subjects apart."


def _text(material: Material, record: Record) -> str:
    """What a record says, with its name where somebody chose it; headings that only say what a part is are left out."""
    said = spoken(material.text(record), record.kind)
    return said if record.name in (record.uid, said) else f"{record.name}\n{said}"


class _Topics:
    """The groups of a project with their names."""

    def __init__(self, items: Sequence[Record], texts: Sequence[str], made: Clustering, sure: Numbers) -> None:
        self._items = items
        self._made = made
        self._sure = sure
        self.outliers = np.flatnonzero(made.outlier)
        order = np.lexsort((np.arange(len(items)), -made.nearness))
        inside = order[~made.outlier[order]]
        self._members = [inside[made.labels[inside] == group] for group in range(made.groups)]
        mean = float(np.average(sure, weights=np.maximum(made.sizes, 1))) if made.groups else 0.0
        least = _LEAST if mean >= _TELLS else _ALONE
        self.certain = [
            group
            for group in range(made.groups)
            if sure[group] >= least and made.sizes[group] > 1 and made.cohesion[group] >= _TOGETHER
        ]
        read = [[texts[at] for at in members[:_NAMED]] for members in self._members]
        beside = [texts[at] for at in self.outliers[:_BESIDE]]
        self._terms = telling_terms(read, beside)
        below: dict[int, list[int]] = {}
        for group in self.certain:
            below.setdefault(int(made.parents[group]), []).append(group)
        several = len(below) > 1
        self.themes = {parent: groups for parent, groups in below.items() if several and len(groups) > 1}
        above = [[text for group in groups for text in read[group][: _NAMED // 5]] for groups in self.themes.values()]
        rest = [text for group in self.certain if int(made.parents[group]) not in self.themes for text in read[group]]
        self._above = dict(zip(self.themes, telling_terms(above, rest), strict=True))

    def cluster(self, group: int) -> Pattern:
        made, members = self._made, self._members[group]
        terms = self._terms[group]
        parent = int(made.parents[group])
        evidence: dict[str, Any] = {
            "label": self._name(group),
            "terms": terms,
            "size": len(members),
            "share": round(len(members) / len(self._items), 3),
            "cohesion": round(float(made.cohesion[group]), 3),
            "stability": round(float(made.stability[group]), 3),
            "apart": round(float(made.apart[group]), 3),
            **self._span(members),
            "examples": self._examples(members[:_SHOWN]),
        }
        if parent in self.themes:
            evidence["theme"] = ", ".join(self._above[parent])
        return Pattern(
            type=_TYPE,
            name="cluster",
            summary=f"{len(members)} of {len(self._items)} items are about: {self._name(group)}.",
            confidence=round(float(self._sure[group]), 3),
            explanation=(
                "Grouped by meaning and words; how many groups there are was estimated. Cohesion "
                f"{made.cohesion[group]:.2f}: random groups of this size are 0, equal texts 1. When parts of the items "
                f"were grouped again, it was found with an overlap of {made.stability[group]:.2f}. Its items are "
                f"nearer to its middle than to the next by {made.apart[group]:.2f} (-1 to 1)."
            ),
            evidence=evidence,
            members=self._ids(members),
        )

    def theme(self, parent: int) -> Pattern:
        groups = self.themes[parent]
        members = np.concatenate([self._members[group] for group in groups])
        size = len(members)
        sizes = np.array([len(self._members[group]) for group in groups])
        sure = float((self._sure[groups] * sizes).sum() / sizes.sum() * self._made.steady[parent])
        name = ", ".join(self._above[parent]) or self._name(groups[0])
        return Pattern(
            type=_TYPE,
            name="theme",
            summary=f"{len(groups)} clusters with {size} items belong together: {name}.",
            confidence=round(sure, 3),
            explanation=(
                "The middles of the clusters, grouped by the same rules. When parts of them were grouped again, "
                f"it was found with an overlap of {self._made.steady[parent]:.2f}; the confidence is that times the "
                "mean confidence of its clusters."
            ),
            evidence={
                "label": name,
                "terms": self._above[parent],
                "size": size,
                "stability": round(float(self._made.steady[parent]), 3),
                **self._span(members),
                "topics": [
                    {"label": self._name(group), "size": len(self._members[group])} for group in groups[:_LISTED]
                ],
                "topic_count": len(groups),
            },
            members=self._ids(members),
        )

    def nowhere(self) -> Pattern:
        """What fits nowhere, the loneliest first."""
        made = self._made
        order = self.outliers[np.lexsort((self.outliers, made.nearness[self.outliers]))]
        return Pattern(
            type=_TYPE,
            name="outliers",
            summary=f"{len(order)} of {len(self._items)} items fit into no cluster.",
            confidence=round(made.lonely * max(float(self._sure[group]) for group in self.certain), 3),
            explanation=(
                "They are farther from their nearest neighbours than the other items are: below the lower quarter of "
                "all by more than the middle half is wide, on a logarithmic scale. The confidence is the share of them "
                "beyond what a bell curve has there, times that of the surest cluster."
            ),
            evidence={
                "count": len(order),
                "share": round(len(order) / len(self._items), 3),
                "examples": [
                    one | ({"nearest": self._name(group)} if (group := int(made.labels[at])) in self.certain else {})
                    for one, at in zip(self._examples(order[:_LISTED]), order[:_LISTED], strict=True)
                ],
            },
            members=self._ids(order),
        )

    def notes(self, known: int, model: str | None) -> list[str]:
        """What could not be told, and why."""
        said = []
        if not known:
            said.append("There are no vectors: items were compared by their words alone.")
        elif missing := len(self._items) - known:
            said.append(f"{missing} items have no vector of {model}: they were compared by their words alone.")
        if not self._made.groups:
            said.append("The items show no groups.")
        elif weak := self._made.groups - len(self.certain):
            said.append(f"Groups left out because chance would make such groups too: {weak}.")
        return said

    def _name(self, group: int) -> str:
        return ", ".join(self._terms[group]) or title_of(self._items[int(self._members[group][0])])

    def _span(self, members: Numbers) -> dict[str, str]:
        times = [self._items[at].created for at in members]
        return {"first": moment(min(times)), "last": moment(max(times))}

    def _examples(self, members: Numbers) -> list[dict[str, str]]:
        return [{"id": self._items[at].uid, "title": title_of(self._items[at])} for at in members]

    def _ids(self, members: Numbers) -> tuple[int, ...]:
        return tuple(self._items[at].id for at in members)
