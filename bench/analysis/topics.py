"""``python -m bench.analysis.topics --data FOLDER``: how well topics are found that people had named.

The agreement is the normalized mutual information (arithmetic mean) of the clusters with the labels of all texts. How
many clusters there are is estimated. A text that fits nowhere counts with its nearest cluster (``all``); beside it
stand the figures with those texts as one cluster of their own, each as its own, and without them. Each set has a twin
whose words were shuffled, in which no cluster is right.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np

__all__ = ["main"]

SEED = 20_261_115
SURE = 0.5
TWIN = 1000  # texts of a twin
TARGETS = {("clinc150_en", "intents"): 0.75, ("banking77_en", "intents"): 0.70}


class Case(NamedTuple):
    """Texts with the labels people gave them, fine and coarse."""

    name: str
    texts: list[str]
    labels: dict[str, list[str]]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep them with --out; 0 when all targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.topics", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--embedder", default="use", help="as in POLYMNIA_EMBEDDER; default: use")
    parser.add_argument("--size", type=int, default=0, help="also measure so many texts made of the sets")
    parser.add_argument("--out", help="a file to write the figures to, as JSON")
    given = parser.parse_args(arguments)
    from polymnia import inference

    embedder = inference.choose(given.embedder)[-1]
    embedder.load()
    figures: list[dict[str, Any]] = []
    met = True
    for case in _cases(given.data):
        vectors = _embedded(embedder, case.texts)
        for model, rows in ((given.embedder, vectors), ("none", None)):
            figure = {"set": case.name, "model": model, **_measured(case, rows)}
            figures.append(figure)
            print(json.dumps(figure), flush=True)
            if rows is not None:
                met = met and all(
                    figure[level]["all"] >= TARGETS[case.name, level]
                    for level in case.labels
                    if (case.name, level) in TARGETS
                )
        twin = _twin(case.texts)
        figure = {"set": f"{case.name}, shuffled", "model": given.embedder} | _certain(_embedded(embedder, twin), twin)
        figures.append(figure)
        print(json.dumps(figure), flush=True)
    if given.size:
        figures.append(_large(given.data, embedder, given.size))
        print(json.dumps(figures[-1]), flush=True)
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump({"embedder": given.embedder, "figures": figures}, file, indent=1)
    return 0 if met else 1


def _cases(data: str) -> list[Case]:
    """The sets: two of short requests, Korean paragraphs and questions by article, English paragraphs by article."""
    cases = []
    for name in ("clinc150_en", "banking77_en"):
        rows = [row for row in _rows(data, name, "docs") if row.get("path")]
        labels = {"intents": [row["label"] for row in rows]}
        domains = [row["path"].partition("/")[0] for row in rows]
        if len(set(domains)) > 1:
            labels["domains"] = domains
        cases.append(Case(name, [row["text"] for row in rows], labels))
    rows = list(_rows(data, "korquad_ko", "corpus"))
    titles = {row["id"]: row["meta"]["title"] for row in rows}
    cases.append(Case("korquad_ko, paragraphs", [row["text"] for row in rows], {"articles": list(titles.values())}))
    asked = list(_rows(data, "korquad_ko", "queries"))
    articles = [titles[row["relevant"][0]] for row in asked]
    cases.append(Case("korquad_ko, questions", [row["text"] for row in asked], {"articles": articles}))
    parts = [
        (part.strip(), row["article"])
        for row in _rows(data, "onestop_en", "docs")
        if row["level"] == 3
        for part in row["text"].split("\n")
        if len(part.strip()) > 80
    ]
    cases.append(
        Case("onestop_en, paragraphs", [text for text, _ in parts], {"articles": [article for _, article in parts]})
    )
    return cases


def _measured(case: Case, vectors: Any) -> dict[str, Any]:
    from polymnia.engine.analysis.topics.clustering import cluster, confidence

    started = time.perf_counter()
    made = cluster(vectors, case.texts)
    seconds = time.perf_counter() - started
    found = list(map(int, made.labels))
    fits = ~made.outlier
    figure: dict[str, Any] = {
        "texts": len(found),
        "clusters": made.groups,
        "outliers": int(made.outlier.sum()),
        "sure": round(float((confidence(made) >= SURE).mean()), 3),
        "seconds": round(seconds, 1),
    }
    for level, truth in case.labels.items():
        inside = [at for at, fit in enumerate(fits) if fit]
        figure[level] = {
            "labels": len(set(truth)),
            "all": _nmi(truth, found),
            "outliers together": _nmi(truth, [label if fit else -1 for label, fit in zip(found, fits, strict=True)]),
            "outliers apart": _nmi(truth, [found[at] if fit else -1 - at for at, fit in enumerate(fits)]),
            "without outliers": _nmi([truth[at] for at in inside], [found[at] for at in inside]),
        }
    return figure


def _certain(vectors: Any, texts: list[str]) -> dict[str, Any]:
    from polymnia.engine.analysis.topics.clustering import cluster, confidence

    made = cluster(vectors, texts)
    sure = confidence(made)
    return {"texts": len(texts), "clusters": made.groups, "sure": round(float((sure >= SURE).mean()), 3)}


def _large(data: str, embedder: Any, size: int) -> dict[str, Any]:
    """Texts of the short sets, each with one word changed and some noise in its vector."""
    cases = _cases(data)[:2]
    texts = [text for case in cases for text in case.texts]
    labels = [label for case in cases for label in case.labels["intents"]]
    vectors = _embedded(embedder, texts)
    words = [word for text in texts[:3000] for word in text.split()]
    draw, noise = random.Random(SEED), np.random.default_rng(SEED)
    chosen = [draw.randrange(len(texts)) for _ in range(size)]
    made = []
    for at in chosen:
        said = texts[at].split()
        said[draw.randrange(len(said))] = draw.choice(words)
        made.append(" ".join(said))
    rows = vectors[chosen]
    for start in range(0, size, 10_000):
        part = rows[start : start + 10_000]
        part += noise.normal(0, 0.35 / rows.shape[1] ** 0.5, part.shape).astype(np.float32)
    case = Case("large", made, {"intents": [labels[at] for at in chosen]})
    figure = _measured(case, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
    return {"set": "large", **figure, "peak_mb": round(peak)}


def _twin(texts: Sequence[str]) -> list[str]:
    draw = random.Random(SEED)
    some = draw.sample(list(texts), min(TWIN, len(texts)))
    words = [word for text in some for word in text.split()]
    draw.shuffle(words)
    left = iter(words)
    return [" ".join(next(left) for _ in text.split()) for text in some]


def _embedded(embedder: Any, texts: Sequence[str]) -> Any:
    return np.concatenate(
        [np.asarray(embedder.embed(texts[at : at + 64]), np.float32) for at in range(0, len(texts), 64)]
    )


def _nmi(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """Mutual information over the mean of both entropies."""
    size = len(truth)
    both, one, other = Counter(zip(truth, labels, strict=True)), Counter(truth), Counter(labels)
    shared = sum(count / size * log(count * size / (one[a] * other[b])) for (a, b), count in both.items())
    entropy = sum(-count / size * log(count / size) for side in (one, other) for count in side.values())
    return round(2 * shared / entropy, 4) if entropy else 1.0


def _rows(data: str, name: str, part: str) -> Any:
    with gzip.open(os.path.join(data, name, f"{part}.jsonl.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
