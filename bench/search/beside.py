"""``beside``: the same part of every set for our server and for others, in one run."""

from __future__ import annotations

from typing import Any

from bench.result import Result
from bench.search import tables
from bench.search.door import Polymnia
from bench.search.peers import PEERS
from bench.search.plan import Plan
from bench.search.quality import measure
from bench.search.side import Family, Missing

__all__ = ["run"]

SUMMARY = (
    "Most servers store and search so slowly that whole sets would take hours: all sides get the same seeded part of "
    "each set, {sample} questions at most and {most} texts at most, the answers among them. Fewer texts make a set "
    "easier, so these figures compare sides and nothing else. mcp-memory-service embeds with bge-small-en-v1.5 (int8), "
    "given to it as a local model because the one it downloads cannot be had offline; basic-memory searches by words "
    "alone (FTS5) for the same reason; the reference server finds the whole question as one string, or nothing."
)


def run(plan: Plan) -> Result:
    """Measure every side on the same part of each chosen set. Haystacks are left to the lanes."""
    sample, most = (40, 150) if plan.quick else (100, 400)
    families: list[Family] = [Polymnia(wanted=("all",)), *(PEERS[name] for name in plan.peers)]
    sets: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for asked in plan.question_sets(sample, most):
        if asked.haystack:
            continue
        rows: dict[str, Any] = {}
        for family in families:
            if family.name in skipped:
                continue
            try:
                family.prepare()
                rows |= {row["side"]: row for row in measure(family, asked, plan.scratch("beside"), family.variants)}
            except Missing as reason:
                skipped[family.name] = str(reason)
        sets[asked.name] = {"title": asked.title, "rows": rows}
    found = []
    for name, one in sets.items():
        texts = next(iter(one["rows"].values()))["texts"]
        found.append(tables.scores(f"{one['title']} ({name}), {texts:,} texts", one["rows"]))
        found.append(tables.costs(f"{name}: what it costs", one["rows"]))
    summary = SUMMARY.format(sample=plan.sample or sample, most=plan.most or most)
    summary += "".join(f" Not measured: {name}, {reason}." for name, reason in skipped.items())
    return Result("beside", "What is found: beside other servers", summary, [], found, {"sets": sets})
