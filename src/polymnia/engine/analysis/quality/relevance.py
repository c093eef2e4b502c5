"""Relevance: whether a text speaks of what its title, summary and tags promise, and belongs to the project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import Dimension, Flaw, Metric, ParsedPage, dimension, few, share
from polymnia.engine.text.extraction import telling
from polymnia.engine.text.words import terms
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_FEWEST = 5  # words
_LOW = 0.25  # who is nearer than this share of the others is near enough: somebody must be the farthest
_OTHERS = 10  # contents of a project below which there is no middle to be near to
_SAMPLE = 1500  # and those that are compared, the newest
_NEAR = 5  # neighbours whose mean nearness counts
_BEARERS = 3  # others with a tag that say what is like it


def relevance(project: ProjectView, page: ParsedPage, record: Record, peers: Sequence[Record]) -> Dimension:
    """Measure how relevant a text is to its own labels and to the other contents of the project."""
    if page.words < _FEWEST:
        return few("relevance", page.words, _FEWEST)
    others = [one for one in peers if one.id != record.id]
    near = _project(project, page, record, others)
    metrics = [
        _label(page, "title", _title(page, record)),
        _label(page, "summary", record.summary),
        _tags(project, page, record, others),
        near,
    ]
    note = Remark("quality.no_neighbours") if near is None else None
    return dimension("relevance", metrics, note, Remark("quality.no_labels"))


def _title(page: ParsedPage, record: Record) -> str | None:
    given = record.metadata.get("title")
    if isinstance(given, str) and given.strip():
        return given
    if record.name != record.uid:
        return record.name
    return page.blocks[0].text if page.blocks and page.blocks[0].kind == "h" else None


def _label(page: ParsedPage, what: str, label: str | None) -> Metric | None:
    """The share of the telling words of a title or summary that the text says."""
    if not label:
        return None
    phrases = telling(label, None, most=20) or [word for word in label.split() if len(word) > 1]
    words = list(dict.fromkeys(word for phrase in phrases for word in phrase.split()))
    said = set(terms("\n".join(one.text for one in page.blocks if one.kind != "h")).counts)
    absent = [word for word in words if not set(terms(word).counts) & said]
    values = {"what": what, "words": absent[:5]}
    faults = [Flaw(label, "label_and_text", values, float(len(absent)))] if absent else []
    return share(f"{what}_and_text", faults, len(words), f"telling words of the {what}") if words else None


def _tags(project: ProjectView, page: ParsedPage, record: Record, others: Sequence[Record]) -> Metric | None:
    """The share of the tags that the text says, or that fit it as they fit the others that bear them.

    A tag that too few others bear may be right without being said.
    """
    said = set(terms(page.text).counts)
    faults, places = [], 0
    for tag in record.tags:
        if set(terms(tag.replace("/", " ").replace("-", " ").replace("_", " ")).counts) & said:
            places += 1
            continue
        bearers = [one for one in others if tag in one.tags][-_SAMPLE:]
        nearer = _share_below(_to_middle(project, record, bearers)) if len(bearers) >= _BEARERS else None
        if nearer is not None:
            places += 1
            if nearer < _LOW:
                faults.append(Flaw(page.first, "tags_and_text", {"tag": tag, "others": len(bearers)}))
    return share("tags_and_text", faults, places, "tags") if places else None


def _project(project: ProjectView, page: ParsedPage, record: Record, others: Sequence[Record]) -> Metric | None:
    """How near a text is to its neighbours, against how near others are to theirs; None where that is not known."""
    nearer = _share_below(_to_neighbours(project, record, others[-_SAMPLE:]))
    if nearer is None:
        return None
    fault = Flaw(page.first, "nearness_to_the_project", {"share": 1 - nearer}, 1 - nearer / _LOW)
    return share("nearness_to_the_project", [fault] if nearer < _LOW else [], 1, "places in the project")


def _share_below(values: Sequence[float] | None) -> float | None:
    """The share of the others that the first value is above; equal ones count half."""
    if not values:
        return None
    ours, *others = values
    return sum((one < ours) + (one == ours) / 2 for one in others) / len(others)


def _vectors(project: ProjectView, record: Record, others: Sequence[Record]) -> NDArray[Any] | None:
    """Vectors of a content and of others; None where it has none itself."""
    if project.model is None:
        return None
    vectors = project.vectors_of([record.id, *(one.id for one in others)])
    known = np.flatnonzero(np.abs(vectors).sum(axis=1) > 0)
    return vectors[known] if len(known) and known[0] == 0 else None


def _to_neighbours(project: ProjectView, record: Record, others: Sequence[Record]) -> list[float] | None:
    """How near a content is to its nearest neighbours, and each of the others to theirs."""
    vectors = _vectors(project, record, others)
    if vectors is None or len(vectors) <= _OTHERS:
        return None
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -1.0)
    found: list[float] = np.partition(alike, -_NEAR, axis=1)[:, -_NEAR:].mean(axis=1).tolist()
    return found


def _to_middle(project: ProjectView, record: Record, others: Sequence[Record]) -> list[float] | None:
    """How near a content is to the middle of some others, and each of those to the middle of the rest."""
    vectors = _vectors(project, record, others)
    if vectors is None or len(vectors) <= _BEARERS:
        return None
    middles = np.concatenate((vectors[1:].sum(axis=0)[None], vectors[1:].sum(axis=0) - vectors[1:]))
    lengths = np.maximum(np.linalg.norm(middles, axis=1), 1e-9)
    found: list[float] = (np.einsum("ij,ij->i", vectors, middles) / lengths).tolist()
    return found
