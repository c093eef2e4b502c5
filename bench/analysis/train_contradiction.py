"""Train the judge of contradictions: ``python -m bench.analysis.train_contradiction --data DIR``.

Writes the weights of the package, byte for byte the same for the same data. A pair belongs to the held-out part, which
is never trained on, when the SHA-256 of its group's key is in the lowest three tenths; a group is all pairs that are
joined by a text they share (or, in the set of negations, by the pair they were made of); its first text is its key.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"  # sums in one order: the same bytes each time

import numpy as np
from numpy.typing import NDArray

from bench.analysis.contradiction_notes import notes

__all__ = ["SETS", "Case", "cases", "held_out", "learn", "prepared"]

SETS = {"negnli": "negnli_en/nli.jsonl.gz", "kornli": "kornli_ko/nli.jsonl.gz", "scifact": "scifact/pairs.jsonl.gz"}
HELD_OUT = 0.3
NOTES = 3000
WEIGHTS = {"negnli": 1.5, "kornli": 1.0, "scifact": 1.5, "notes": 0.5}  # small sets count a little more
LABELS = ("entailment", "neutral", "contradiction")
FOLDS = 4
HIDDEN, RELATIONS = 64, 4
DROPPED, DROPPED_HIDDEN = 0.75, 0.3
EPOCHS, BATCH, RATE, DECAY = 8, 192, 2e-3, 0.05
MIRRORED = 0.5  # the weight of a pair read the other way round
# What each hidden relation (the second follows, the first follows, neither, they exclude each other) starts as, for
# none, the second, the first or both denied; the table is learned from there.
START = ((0, 1, 1, 2), (2, 1, 1, 0), (2, 2, 1, 0), (0, 1, 1, 1))
TREES = {"max_iter": 200, "learning_rate": 0.05, "max_leaf_nodes": 10, "l2_regularization": 10.0}
SEEDS = 3  # forests that are added up


class Case(NamedTuple):
    """A judged pair: its set, its two texts, its possible labels as marks, its group."""

    set: str
    a: str
    b: str
    labels: tuple[int, int, int]
    group: str

    @property
    def conflict(self) -> bool:
        """Whether the two contradict each other."""
        return self.labels == (0, 0, 1)


class Prepared(NamedTuple):
    """Cases as numbers."""

    cases: list[Case]
    rows: NDArray[Any]
    settings: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]

    def some(self, chosen: NDArray[Any]) -> Prepared:
        """Some of them, by their places."""
        return Prepared([self.cases[at] for at in chosen], *(part[chosen] for part in self[1:]))

    @property
    def truth(self) -> NDArray[Any]:
        """Which are contradictions."""
        return np.array([case.conflict for case in self.cases])

    @property
    def weights(self) -> NDArray[Any]:
        """How much each counts."""
        return np.array([WEIGHTS[case.set] for case in self.cases], np.float32)


def cases(data: str) -> list[Case]:
    """The judged pairs of all sets, without those that have no label of contradiction."""
    found = []
    for name, path in SETS.items():
        with gzip.open(os.path.join(data, path), "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
        rows = [row for row in rows if row["split"] != "RTE"]
        keys = _groups(name, rows)
        for row, key in zip(rows, keys, strict=True):
            marks = tuple(int(label == row["label"]) for label in LABELS)
            found.append(Case(name, row["a"], row["b"], marks, key))  # type: ignore[arg-type]
    return found


def _groups(name: str, rows: list[dict[str, Any]]) -> list[str]:
    """The key of each row's group."""
    parent: dict[str, str] = {}

    def top(key: str) -> str:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for row in rows:
        parent[top(row["a"])] = top(row["b"])
        if name == "negnli":  # three pairs in a row were made of one
            parent[top(row["a"])] = top(f"{row['split']}/{int(row['id'].split('-')[1]) // 3}")
    first: dict[str, str] = {}
    for row in rows:
        at = top(row["a"])
        first[at] = min(first.get(at, row["a"]), row["a"], row["b"])
    return [first[top(row["a"])] for row in rows]


def held_out(case: Case) -> bool:
    """Whether a case is in the part that is never trained on."""
    return int(hashlib.sha256(case.group.encode()).hexdigest()[:8], 16) / 2**32 < HELD_OUT


def invented() -> list[Case]:
    """The notes made by rule."""
    made = enumerate(notes(NOTES))
    return [Case("notes", note.a, note.b, (0, 0, 1) if note.conflict else (1, 1, 0), f"note {at}") for at, note in made]


def prepared(chosen: Sequence[Case], embedder: Any) -> Prepared:
    """Read the texts and embed them."""
    from polymnia.engine.analysis.contradiction.judging import readings

    texts = sorted({text for case in chosen for text in (case.a, case.b)})
    place = {text: at for at, text in enumerate(texts)}
    vectors = np.concatenate([embedder.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    rows, settings = readings([(case.a, case.b) for case in chosen])
    a, b = (vectors[[place[case[side]] for case in chosen]] for side in (1, 2))
    return Prepared(list(chosen), rows, settings, a, b)


def learn(known: Prepared, name: str) -> dict[str, NDArray[Any]]:
    """All the numbers of a model, learned from cases; ``name`` is the embedder's."""
    from polymnia.engine.analysis.contradiction.model import Model

    # Notes made by rule are all alike to a vector: only the trees learn from them.
    real = np.array([case.set != "notes" for case in known.cases])
    arrays = _learn_vectors(known.some(np.flatnonzero(real))) | {"model": np.array(name)}
    truth, weights = known.truth, known.weights
    fold = np.array(
        [int(hashlib.sha256(b"fold" + case.group.encode()).hexdigest()[:8], 16) % FOLDS for case in known.cases]
    )
    told = np.zeros((len(truth), 5), np.float32)
    for at in range(FOLDS):
        rest, part = np.flatnonzero(fold != at), np.flatnonzero(fold == at)
        inner = Model(_learn_vectors(known.some(rest[real[rest]])) | {"model": np.array(name)})
        told[part] = inner.told(known.left[part], known.right[part], known.settings[part])
    for kind, x in (("words", known.rows), ("vectors", np.hstack([known.rows, told]))):
        raw = np.zeros(len(truth))
        for at in range(FOLDS):
            rest, part = np.flatnonzero(fold != at), np.flatnonzero(fold == at)
            trees = _grow(x[rest], truth[rest], weights[rest])
            raw[part] = _said(x[part], trees)
        arrays[f"{kind}_scale"] = _calibrated(raw[real], truth[real])
        arrays |= {f"{kind}_{part}": array for part, array in _grow(x, truth, weights).items()}
    return arrays


def _learn_vectors(known: Prepared) -> dict[str, NDArray[Any]]:
    """The linear form and the network over vectors."""
    from sklearn.linear_model import LogisticRegression

    from polymnia.engine.analysis.contradiction.model import joined

    x, mirror = joined(known.left, known.right), joined(known.right, known.left)
    mean, spread = x.mean(0), x.std(0) + 1e-6
    x, mirror = (np.clip((one - mean) / spread, -4, 4).astype(np.float32) for one in (x, mirror))
    line = LogisticRegression(C=1e-4, max_iter=200).fit(x, known.truth, sample_weight=known.weights)
    labels = np.array([case.labels for case in known.cases], np.float32)
    turned = np.where(known.truth[:, None], labels, np.array([1, 1, 0], np.float32))
    net = _network(
        np.vstack([x, mirror]),
        np.concatenate([known.settings, known.settings % 2 * 2 + known.settings // 2]),
        np.vstack([labels, turned]),
        np.concatenate([known.weights, MIRRORED * known.weights]),
    )
    halves = {"linear": line.coef_[0], "linear_bias": line.intercept_, "mean": mean, "spread": spread} | net
    return {key: array.astype(np.float16) for key, array in halves.items()}


def _network(
    x: NDArray[Any], settings: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Learn the network and its table by gradient descent (Adam) with dropout; a label may be one of several."""
    from polymnia.engine.analysis.contradiction.model import softmax

    draw = np.random.default_rng(0)
    table = np.zeros((4, RELATIONS, 3), np.float32)
    for setting, becomes in enumerate(START):
        for relation, label in enumerate(becomes):
            table[setting, relation, label] = 2
    now = {
        "hidden": (draw.normal(size=(x.shape[1], HIDDEN)) * x.shape[1] ** -0.5).astype(np.float32),
        "hidden_bias": np.zeros(HIDDEN, np.float32),
        "relation": (draw.normal(size=(HIDDEN, RELATIONS)) * 0.1).astype(np.float32),
        "relation_bias": np.zeros(RELATIONS, np.float32),
        "table": table,
    }
    mean = {key: np.zeros_like(value) for key, value in now.items()}
    square = {key: np.zeros_like(value) for key, value in now.items()}
    steps, step = EPOCHS * -(-len(x) // BATCH), 0
    for _ in range(EPOCHS):
        order = draw.permutation(len(x))
        for start in range(0, len(x), BATCH):
            some = order[start : start + BATCH]
            seen = x[some] * _kept(draw, (len(some), x.shape[1]), DROPPED)
            inner = seen @ now["hidden"] + now["hidden_bias"]
            kept = _kept(draw, inner.shape, DROPPED_HIDDEN)
            active = np.maximum(inner, 0) * kept
            relation = softmax(active @ now["relation"] + now["relation_bias"])
            becomes = softmax(now["table"])[settings[some]]
            joint = relation[:, :, None] * becomes * labels[some][:, None, :]
            after = joint / (joint.sum((1, 2), keepdims=True) + 1e-9)
            share = (weights[some] / len(some)).astype(np.float32)
            slope = (relation - after.sum(2)) * share[:, None]
            back = (slope @ now["relation"].T) * (inner > 0) * kept
            turn = np.zeros_like(table)
            np.add.at(turn, settings[some], (after.sum(2)[:, :, None] * becomes - after) * share[:, None, None])
            grads = {"hidden": seen.T @ back, "hidden_bias": back.sum(0), "relation": active.T @ slope}
            grads |= {"relation_bias": slope.sum(0), "table": turn}
            step += 1
            rate = RATE * (1 - 0.95 * step / steps)
            for key, grad in grads.items():
                mean[key] = 0.9 * mean[key] + 0.1 * grad
                square[key] = 0.999 * square[key] + 0.001 * grad**2
                move = mean[key] / (1 - 0.9**step) / (np.sqrt(square[key] / (1 - 0.999**step)) + 1e-8)
                decay = DECAY * now[key] if key in ("hidden", "relation") else 0
                now[key] = (now[key] - rate * (move + decay)).astype(np.float32)
    return now


def _kept(draw: np.random.Generator, shape: tuple[int, ...], dropped: float) -> NDArray[Any]:
    return ((draw.random(shape, np.float32) >= dropped) / np.float32(1 - dropped)).astype(np.float32)


def _grow(x: NDArray[Any], truth: NDArray[Any], weights: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Boosted trees as arrays, of several seeds, their mean."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    roots: list[int] = []
    nodes: list[NDArray[Any]] = []
    splits: list[NDArray[Any]] = []
    count = 0
    for seed in range(SEEDS):
        forest = HistGradientBoostingClassifier(**TREES, min_samples_leaf=30, max_features=0.3, random_state=seed)
        forest.fit(x, truth, sample_weight=weights)
        base = float(np.ravel(forest._baseline_prediction)[0])
        for number, (tree,) in enumerate(forest._predictors):
            old = tree.nodes
            leaf = old["is_leaf"].astype(bool)
            below = np.where(leaf[:, None], 0, np.column_stack([old["left"], old["right"]]) + count)
            nodes.append(np.column_stack([np.where(leaf, -1, old["feature_idx"]), below]).astype(np.int32))
            value = old["value"] + (base if number == 0 else 0.0)
            splits.append(np.where(leaf, value / SEEDS, old["num_threshold"]).astype(np.float32))
            roots.append(count)
            count += len(old)
    return {"roots": np.array(roots, np.int32), "nodes": np.concatenate(nodes), "splits": np.concatenate(splits)}


def _said(x: NDArray[Any], trees: dict[str, NDArray[Any]]) -> NDArray[Any]:
    from polymnia.engine.analysis.contradiction.model import grown

    return np.concatenate([grown(x[at : at + 500], *trees.values()) for at in range(0, len(x), 500)])


def _calibrated(raw: NDArray[Any], truth: NDArray[Any]) -> NDArray[Any]:
    """Slope and shift that make log odds of unseen cases true, moved to a prior of one third."""
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=1e6).fit(raw[:, None], truth)
    prior = truth.mean()
    shift = line.intercept_[0] - np.log(prior / (1 - prior)) + np.log(0.5)
    return np.array([line.coef_[0, 0], shift], np.float32)


def main(arguments: list[str] | None = None) -> int:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.train_contradiction", description=__doc__)
    parser.add_argument("--data", required=True, help="the folder of the sets")
    parser.add_argument("--out", help="where to write the weights; default: into the package")
    given = parser.parse_args(arguments)
    from polymnia import embedding
    from polymnia.engine.analysis.contradiction import model

    embedder = embedding.choose("use")[0]
    embedder.load()
    known = [case for case in cases(given.data) if not held_out(case)]
    arrays = learn(prepared([*known, *invented()], embedder), embedder.id)
    path = given.out or os.path.join(os.path.dirname(model.__file__), "weights.npz")
    np.savez_compressed(path, **arrays)
    with open(path, "rb") as file:
        print(f"{path}: {os.path.getsize(path)} bytes, sha256 {hashlib.sha256(file.read()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
