"""``lanes``: the whole sets through our server, beside its own lanes alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bench.result import Result, Verdict
from bench.search import door, tables
from bench.search.door import Polymnia
from bench.search.plan import Plan
from bench.search.quality import LIMIT, Shelves, measure
from bench.search.side import Missing

__all__ = ["run"]

SUMMARY = (
    f"Each question is put as it stands through `search_nodes` of `polymnia stdio --dialect strict`, limit {LIMIT}; "
    "a text is one entity with one observation, named by its id. `words` and `meaning` search the same store by one "
    "lane alone. A LoCoMo question searches the project of its conversation. A haystack is searched among its 48 "
    "sessions by a filter on names, through the library in a process of its own, in one store of all sessions. Every "
    "question is put to the library once more, to see whether scores fall with the order of every answer."
)


def run(plan: Plan) -> Result:
    """Measure each chosen set with each chosen embedder. Sets that were not chosen keep their last figures."""
    part = (120, 500) if plan.quick else (None, None)
    sets: dict[str, Any] = _kept(plan) if not plan.quick else {}
    families = [Polymnia(_name(name), name, plan.variants) for name in plan.embedders]
    skipped = []
    shelves: Shelves = {}
    for asked in plan.question_sets(*part):
        rows = sets.setdefault(asked.name, {"title": asked.title, "rows": {}})["rows"]
        for family in families:
            try:
                family.prepare()
            except Missing as reason:
                skipped.append(f"{family.name}: {reason}.")
                continue
            for row in measure(family, asked, plan.scratch("lanes"), family.variants, shelves):
                rows[row["side"]] = row
    return _result(plan, sets, skipped)


def _result(plan: Plan, sets: Mapping[str, Any], skipped: list[str]) -> Result:
    whole = not plan.quick and plan.sample is None and plan.most is None
    found = []
    for name, one in sets.items():
        cases = [
            tables.scores(f"{one['title']} ({name})", one["rows"]),
            tables.categories(f"{name} by category", one["rows"]),
            tables.costs(f"{name}: what it costs", one["rows"]),
        ]
        found += [table for table in cases if table is not None]
    rows = {name: one["rows"] for name, one in sets.items()}
    summary = " ".join([SUMMARY, *dict.fromkeys(skipped)])
    sides = dict.fromkeys(side for one in rows.values() for side in one if side.endswith(" · all"))
    judged = [verdict for side in sides for verdict in tables.verdicts(rows, side, whole)]
    for name, one in rows.items():
        for side, row in one.items():
            if (rising := row.get("rising")) is not None:
                what = f"{name}: scores fall with the order of every answer ({side})"
                judged.append(Verdict(what, f"{row['n'] - rising:,} of {row['n']:,}", rising == 0))
    return Result("lanes", "What is found: the whole sets", summary, judged, found, {"sets": dict(sets)})


def _name(embedder: str) -> str:
    return {door.PLAIN: "polymnia, multi", "auto": "polymnia"}.get(embedder, f"polymnia, {embedder}")


def _kept(plan: Plan) -> dict[str, Any]:
    try:
        with open(plan.path("lanes"), encoding="utf-8") as file:
            kept = json.load(file)
    except FileNotFoundError:
        return {}
    return dict(kept["numbers"]["sets"]) if kept["form"] == plan.form else {}
