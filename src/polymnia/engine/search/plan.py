"""The plan of a search: how a query is read and answered, its words, each lane's candidates, and the fusion."""

from __future__ import annotations

import time

import numpy as np

from polymnia.engine.search.answer import Page, answer
from polymnia.engine.search.cache import Pages
from polymnia.engine.search.lanes import top
from polymnia.engine.search.ranking import Search
from polymnia.engine.search.results import Lane, Plan
from polymnia.engine.text import language as languages

__all__ = ["planned"]


def planned(search: Search, pages: Pages, limit: int) -> Plan:
    """The plan of a search, with its answer."""
    began = time.perf_counter()
    found = answer(search, pages, Page(limit=limit), 0)
    text = search.query.text
    asked: dict[str, list[tuple[str, float, int]]] = {}
    for one in search.lane.asked:
        if not one.bonus:
            asked.setdefault(one.word, []).extend(one.terms)
    fusion = [
        (one.record.name, {"words": why.words, "meaning": why.meaning or 0.0, "lent": why.lent, "score": one.score})
        for one in found.hits
        for why in (one.why,)
    ]
    when = search.parsed.time
    return Plan(
        query=text,
        language=languages.language(text.casefold().split()),
        script=languages.script(text),
        words=list(asked.items()),
        time=None if when is None else f"{when.text}: {', '.join(when.terms[:6])}",
        lanes=[*_exact_lane(search, limit), _words_lane(search, limit), *_meaning_lanes(search, limit)],
        fusion=fusion,
        found=found,
        milliseconds=round((time.perf_counter() - began) * 1000, 2),
    )


def _named(search: Search, scored: list[tuple[int, float]]) -> list[tuple[str, float]]:
    numbers = [number for number, _ in scored]
    names = {record.id - search.base: record.name for record in search.load(numbers)}
    return [(names[number], round(score, 4)) for number, score in scored if number in names]


def _exact_lane(search: Search, limit: int) -> list[Lane]:
    began = time.perf_counter()
    exact = sorted(search.exact)
    best = _named(search, [(number, 1.0) for number in exact[:limit]])
    asked = f"the query as it stands: {search.parsed.forms[0]!r}" if search.parsed.forms else "nothing: too long"
    return [Lane(name="exact", asked=asked, best=best, milliseconds=_since(began))]


def _words_lane(search: Search, limit: int) -> Lane:
    began = time.perf_counter()
    lane = search.lane
    rows = top(lane.memories, limit)
    rows = rows[np.argsort(-lane.memories[rows], kind="stable")]
    most = max(lane.memory_asked, 1e-9)
    numbers = search.index.memories["number"]
    best = _named(search, [(int(numbers[row]), float(lane.memories[row]) / most) for row in rows])
    asked = ", ".join(dict.fromkeys(one.word for one in lane.asked if not one.bonus)) or "no words"
    return Lane(name="words", asked=asked, best=best, milliseconds=_since(began))


def _meaning_lanes(search: Search, limit: int) -> list[Lane]:
    lanes = []
    index = search.index
    for name, vector in search.vectors.items():
        vectors = index.vectors.get(name)
        if vectors is None:
            continue
        began = time.perf_counter()
        rows = vectors.nearest(vector, index.count, index.passages["alive"], max(200, limit * 4))
        cosines = vectors.cosines(search.snapshot, vector, rows)
        best: dict[int, float] = {}
        for at in np.argsort(-cosines, kind="stable"):
            number = int(index.memories["number"][index.passages["memory"][rows[at]]])
            best.setdefault(number, float(cosines[at]))
            if len(best) >= limit:
                break
        asked, named = "the cosine of each passage to the query", _named(search, list(best.items()))
        lanes.append(Lane(name=f"meaning ({name})", asked=asked, best=named, milliseconds=_since(began)))
    return lanes


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
