"""Tables and verdicts made of the figures of the sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.result import Table, Verdict

__all__ = ["categories", "costs", "scores", "verdicts"]

SCORES = ("recall@1", "recall@5", "recall@10", "hit@5", "all@5", "mrr", "ndcg@10")

# Set, figure, whether it is the mean of the categories' means, what is to be reached.
TARGETS = (
    ("locomo", "ndcg@10", True, 0.54),
    ("haystack", "hit@5", False, 0.98),
    ("haystack", "all@5", False, 0.90),
    ("sessions", "recall@10", False, 0.86),
    ("korquad", "ndcg@10", False, 0.955),
    ("scifact", "ndcg@10", False, 0.70),
)

Rows = Mapping[str, Mapping[str, Any]]


def scores(title: str, rows: Rows, note: str = "") -> Table:
    """What each side found in one set."""
    columns = ["", "n", *SCORES, "macro nDCG@10", "nothing found"]
    lines = [
        [
            side,
            f"{row['n']:,}",
            *(_share(row[name]) for name in SCORES),
            _share(row["macro"]["ndcg@10"]),
            f"{row['empty']:.1%}",
        ]
        for side, row in rows.items()
    ]
    return Table(title, columns, lines, note)


def costs(title: str, rows: Rows, note: str = "") -> Table:
    """What the answers cost each side."""
    columns = [
        "",
        "p50 ms",
        "p95 ms",
        "CPU ms",
        "tokens",
        "resident MB",
        "load s",
        "ms a text",
        "CPU ms a text",
        "refused",
        "no vector",
    ]
    lines = [
        [
            side,
            _number(row["p50_ms"]),
            _number(row["p95_ms"]),
            _number(row["cpu_ms"]),
            f"{row['tokens']:,.0f}",
            f"{row['resident_mb']:.0f}",
            _number(row["load_seconds"]),
            _number(row["load_ms"]),
            _number(row["load_cpu_ms"]),
            str(row["refused"]),
            str(row["left"]),
        ]
        for side, row in rows.items()
    ]
    return Table(title, columns, lines, note)


def categories(title: str, rows: Rows) -> Table | None:
    """nDCG@10 by category, where a set has several."""
    first = next(iter(rows.values()))["by_category"]
    if len(first) < 2:
        return None
    lines = [[side, *(_share(row["by_category"][name]["ndcg@10"]) for name in first)] for side, row in rows.items()]
    return Table(title, ["nDCG@10", *(f"{name} ({row['n']:.0f})" for name, row in first.items())], lines)


def verdicts(sets: Mapping[str, Rows], side: str, whole: bool) -> list[Verdict]:
    """The targets of search, judged by one side; a part of a set is never judged."""
    judged = []
    for name, figure, over_categories, bound in TARGETS:
        row = sets.get(name, {}).get(side)
        if row is None:
            continue
        value = row["macro"][figure] if over_categories else row[figure]
        what = f"{name}, {'macro ' if over_categories else ''}{figure}"
        judged.append(
            Verdict(
                f"{what}: at least {bound:g} ({side.split(' · ')[0]})", _share(value), value >= bound if whole else None
            )
        )
    return judged


def _share(value: float) -> str:
    return f"{value:.3f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
