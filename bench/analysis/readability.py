"""``python -m bench.analysis.readability --data FOLDER``: whether versions of one article are put in the right order.

OneStopEnglish has each article at three levels. All three pairs of an article are asked; a tie is wrong. The weights of
the measures are also fitted anew on four fifths of the articles and asked about the fifth that was left out, five
times, so that nothing is told of an article from that article.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["main"]

SEED = 20_261_115
FOLDS = 5
TARGET = 0.99
PAIRS = ((1, 2), (2, 3), (1, 3))
WORDS = {1: "elementary", 2: "intermediate", 3: "advanced"}

Articles = dict[str, dict[int, str]]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, keep it with --out; 0 when the target is met."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.readability", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--out", help="a file to write the numbers to, as JSON")
    given = parser.parse_args(arguments)
    found = measured(_read(given.data))
    print(_table(found))
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=2, ensure_ascii=False)
    return 0 if found["ordered"] >= TARGET else 1


def measured(articles: Articles) -> dict[str, Any]:
    """The share of pairs in the right order, by the constants as they are, held out, and by single measures."""
    from polymnia.engine.analysis.readability import readability

    readings = {
        (name, level): readability(text, "en") for name, levels in articles.items() for level, text in levels.items()
    }
    scores = {key: -(one.score or 0.0) for key, one in readings.items()}
    wrong = _wrong(articles, scores)
    levels = [level for _, level in scores]
    alone = {}
    for measure in next(iter(readings.values())).metrics:
        values = {key: one.metrics.get(measure, 0.0) for key, one in readings.items()}
        alone[measure] = {"ordered": _share(articles, values), "spearman": _spearman(levels, list(values.values()))}
    grades = {key: one.grade or 0.0 for key, one in readings.items()}
    alone["Flesch-Kincaid grade"] = {
        "ordered": _share(articles, grades),
        "spearman": _spearman(levels, list(grades.values())),
    }
    return {
        "articles": len(articles),
        "pairs": len(articles) * len(PAIRS),
        "ordered": _share(articles, scores),
        "wrong": [f"{name}: {WORDS[a]} and {WORDS[b]}" for name, a, b in wrong],
        "held_out": _held_out(articles, readings),
        "spearman": _spearman(levels, list(scores.values())),
        "mean_score": {
            WORDS[level]: round(-sum(scores[name, level] for name in articles) / len(articles), 3) for level in WORDS
        },
        "alone": alone,
    }  # fmt: skip


def _read(data: str) -> Articles:
    found: Articles = {}
    with gzip.open(os.path.join(data, "onestop_en", "docs.jsonl.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            found.setdefault(row["article"], {})[row["level"]] = row["text"]
    return found


def _wrong(names: Iterable[str], hardness: Mapping[tuple[str, int], float]) -> list[tuple[str, int, int]]:
    return [(name, a, b) for name in names for a, b in PAIRS if not hardness[name, a] < hardness[name, b]]


def _share(names: Iterable[str], hardness: Mapping[tuple[str, int], float]) -> float:
    names = list(names)
    return round(1 - len(_wrong(names, hardness)) / (len(names) * len(PAIRS)), 4)


def _held_out(articles: Articles, readings: Mapping[tuple[str, int], Any]) -> float:
    """The share in order among articles that the weights were not fitted to."""
    import numpy as np
    from polymnia.engine.analysis.readability.english import MEASURES

    scaled = {
        key: np.array(
            [(one.metrics.get(m, typical) - typical) / spread for m, (typical, spread, _) in MEASURES.items()]
        )
        for key, one in readings.items()
    }
    names = sorted(articles)
    random.Random(SEED).shuffle(names)
    wrong = 0
    for fold in range(FOLDS):
        out = names[fold::FOLDS]
        rows = np.array([scaled[name, b] - scaled[name, a] for name in names if name not in out for a, b in PAIRS])
        weights = _fitted(rows)
        wrong += len(_wrong(out, {key: float(scaled[key] @ weights) for key in scaled}))
    return round(1 - wrong / (len(names) * len(PAIRS)), 4)


def _fitted(rows: Any, ridge: float = 60.0, steps: int = 400) -> Any:
    """Weights under which the differences are positive: a logistic model without a constant, by gradient descent."""
    import numpy as np

    weights = np.zeros(rows.shape[1])
    for _ in range(steps):
        missed = 1 / (1 + np.exp(rows @ weights))
        weights += (rows.T @ missed - ridge * weights) / (len(rows) + ridge)
    return weights


def _spearman(levels: Sequence[float], values: Sequence[float]) -> float:
    import numpy as np

    a, b = _ranks(levels), _ranks(values)
    return round(float(np.corrcoef(a, b)[0, 1]), 3)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks, equal values sharing theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for at in range(start, end + 1):
            ranks[order[at]] = (start + end) / 2
        start = end + 1
    return ranks


def _table(found: dict[str, Any]) -> str:
    lines = [
        f"{found['articles']} articles, {found['pairs']} pairs",
        "",
        "| | pairs in order | Spearman |",
        "|---|---|---|",
        f"| the score | {found['ordered']:.4f} | {found['spearman']:.3f} |",
        f"| the score, weights fitted to other articles | {found['held_out']:.4f} | |",
    ]
    lines += [
        f"| {name} alone | {one['ordered']:.4f} | {one['spearman']:.3f} |" for name, one in found["alone"].items()
    ]
    lines += ["", "Wrong: " + "; ".join(found["wrong"]), f"Mean score: {found['mean_score']}"]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
