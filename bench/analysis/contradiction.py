"""Measure the judge of contradictions: ``python -m bench.analysis.contradiction --data DIR [--transfer ARCHIVE]``.

Only the held-out part of each set is judged (see :mod:`bench.analysis.train_contradiction`). ``--transfer`` also trains
without each set in turn, with the archive of scenes the training needs, and judges the held-out part of that set.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from bench.analysis.contradiction_learning import learn
from bench.analysis.train_contradiction import (
    SETS,
    Prepared,
    cases,
    held_out,
    invented,
    mixed,
    pictured,
    prepared,
    turned,
)

__all__ = ["main"]

WANTED = {"negnli": 0.70, "kornli": 0.60, "scifact": 0.60}
BINS = 10


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, keep it with --out; 0 when every set reaches what is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.contradiction", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--transfer", metavar="ARCHIVE", help="train without each set, with these scenes, and judge it")
    parser.add_argument("--out", help="a JSON file to write")
    given = parser.parse_args(arguments)
    from polymnia import embedding
    from polymnia.engine.analysis.contradiction.model import shipped

    embedder = embedding.choose("use")[0]
    embedder.load()
    every = cases(given.data)
    unseen = prepared([case for case in every if held_out(case)], embedder)
    report: dict[str, Any] = {
        "words": _measured(unseen, shipped(), "words"),
        "vectors": _measured(unseen, shipped(), "vectors"),
    }
    report["pairs_per_second"] = _speed(unseen)
    if given.transfer:
        parts = [case for case in every if not held_out(case)]
        parts += invented() + mixed() + pictured(given.transfer, every)
        known = prepared(parts, embedder)
        report["transfer"] = {name: _transferred(name, known, unseen, embedder) for name in SETS}
    _show(report)
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0 if all(report["vectors"][name]["f1"] >= wanted for name, wanted in WANTED.items()) else 1


def _odds(some: Prepared, model: Any, kind: str) -> NDArray[Any]:
    rows, parts = some.rows, range(0, len(some.rows), 500)
    if kind == "words":
        return np.concatenate([model.weighed(rows[at : at + 500], kind) for at in parts])
    told = model.told(some.left, some.right, some.settings)
    return np.concatenate([model.weighed_both(rows[at : at + 500], told[at : at + 500]) for at in parts])


def _measured(unseen: Prepared, model: Any, kind: str) -> dict[str, Any]:
    odds, truth = _odds(unseen, model, kind), unseen.truth
    sets = np.array([case.set for case in unseen.cases])
    found = {name: _figures(odds[sets == name], truth[sets == name]) for name in SETS}
    return found | {"all": _figures(odds, truth)}


def _figures(odds: NDArray[Any], truth: NDArray[Any]) -> dict[str, float]:
    """F1 at the threshold of the judge and at the best one, the area under the curve, the error of calibration."""
    from polymnia.engine.analysis.contradiction import THRESHOLD

    chosen = odds >= THRESHOLD
    both, total = int((chosen & truth).sum()), int(truth.sum())
    order = np.argsort(-odds, kind="stable")
    hits = truth[order].cumsum()
    ranks = np.empty(len(odds))
    ranks[np.argsort(odds, kind="stable")] = np.arange(1, len(odds) + 1)
    # The share of contradictions differs a little from set to set: chances are moved to it, as callers do.
    share = truth.mean()
    chances = 1 / (1 + np.exp(-(odds - np.log(0.5) + np.log(share / (1 - share)))))
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    error = sum(abs(chances[bins == at].sum() - truth[bins == at].sum()) for at in range(BINS)) / len(odds)
    return {
        "pairs": len(odds),
        "precision": both / max(1, int(chosen.sum())),
        "recall": both / total,
        "f1": 2 * both / (int(chosen.sum()) + total),
        "best_f1": float((2 * hits / (np.arange(1, len(odds) + 1) + total)).max()),
        "everything_f1": 2 * total / (len(odds) + total),
        "auc": float((ranks[truth].sum() - total * (total + 1) / 2) / (total * (len(odds) - total))),
        "calibration_error": float(error),
    }


def _speed(unseen: Prepared) -> float:
    """Pairs judged in a second, texts not seen before, given the vectors."""
    from polymnia.engine.analysis.contradiction import judge

    some = unseen.some(np.arange(0, len(unseen.cases), 4))
    pairs = [(case.a, case.b) for case in some.cases]
    judge(pairs[:1], (some.left[:1], some.right[:1]))
    begun = time.process_time()
    judge(pairs, (some.left, some.right))
    return len(pairs) / (time.process_time() - begun)


def _transferred(name: str, known: Prepared, unseen: Prepared, embedder: Any) -> dict[str, float]:
    from polymnia.engine.analysis.contradiction.model import Model

    rest = known.some(np.array([at for at, case in enumerate(known.cases) if case.set != name]))
    model = Model(learn(rest, embedder.id, turned(rest.cases, embedder)))
    some = unseen.some(np.array([at for at, case in enumerate(unseen.cases) if case.set == name]))
    return _figures(_odds(some, model, "vectors"), some.truth)


def _show(report: dict[str, Any]) -> None:
    names = ("pairs", "precision", "recall", "f1", "best_f1", "everything_f1", "auc", "calibration_error")
    print("| | set | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 2) + "|")
    for part in ("vectors", "words", "transfer"):
        for name, figures in report.get(part, {}).items():
            print(
                f"| {part} | {name} | " + " | ".join(f"{figures[one]:.3f}".removesuffix(".000") for one in names) + " |"
            )
    print(f"\n{report['pairs_per_second']:.0f} pairs a second of processor time")


if __name__ == "__main__":
    sys.exit(main())
