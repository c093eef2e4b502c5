"""Learning: what the judge of contradictions learns from prepared pairs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bench.analysis.train_contradiction import Prepared

__all__ = ["learn"]

FOLDS = 4
HIDDEN, RELATIONS = 128, 4
DROPPED, DROPPED_HIDDEN = 0.5, 0.3
EPOCHS, BATCH, RATE, DECAY = 4, 256, 1e-3, 0.05
MIRRORED = 0.5  # the weight of a pair read the other way round
STRICT = 10.0  # how strictly the form that takes a negation out of a vector is held small
NOTES = 2.0  # how much more notes count where there are vectors
LINE = 0.01  # how freely the line over features may follow the cases
# What each hidden relation (the second follows, the first follows, neither, they exclude each other) starts as, for
# none, the second, the first or both denied; the table is learned from there.
START = ((0, 1, 1, 2), (2, 1, 1, 0), (2, 2, 1, 0), (0, 1, 1, 1))
TREES = {"max_iter": 200, "learning_rate": 0.05, "max_leaf_nodes": 10, "l2_regularization": 10.0}
SEEDS = 3  # forests that are added up

Arrays = dict[str, NDArray[Any]]


def learn(known: Prepared, name: str, turned: tuple[NDArray[Any], NDArray[Any]]) -> Arrays:
    """All the numbers of a model, learned from cases.

    ``name`` is the embedder's; ``turned`` are vectors of sentences with and without their negation. Scenes teach the
    networks alone; captions, and notes made by rule, which are all alike to a vector, only what weighs. What weighs
    words alone learns from neither scenes nor captions.
    """
    from polymnia.engine.analysis.contradiction.model import Model

    sets = np.array([case.set for case in known.cases])
    scenes, told_of = known.some(np.flatnonzero(sets == "snli")), known.some(np.flatnonzero(sets != "snli"))
    fixed = {"model": np.array(name), "bare": _bare(*turned).astype(np.float16)}
    first = Model(fixed)
    x = first.bare_pairs(scenes.left, scenes.right, scenes.settings)
    fixed |= {"mean": x.mean(0).astype(np.float16), "spread": (x.std(0) + 1e-6).astype(np.float16)}
    fixed |= _named("scene", _network(Model(fixed).standard(x), *_taught(scenes, settings=False)))
    kinds = np.array([case.set for case in told_of.cases])
    notes, mixed, captions = (kinds == one for one in ("notes", "mixed", "captions"))
    teaches, real = ~(notes | mixed | captions), ~(notes | mixed)
    truth, weights = told_of.truth, told_of.weights
    fold = np.array(
        [int(hashlib.sha256(b"fold" + case.group.encode()).hexdigest()[:8], 16) % FOLDS for case in told_of.cases]
    )
    parts = [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(FOLDS)]
    told: NDArray[Any] | None = None
    for rest, part in parts:
        inner = Model(fixed | _learn_vectors(told_of.some(rest[teaches[rest]]), scenes, Model(fixed)))
        found = inner.told(told_of.left[part], told_of.right[part], told_of.settings[part])
        told = np.zeros((len(truth), found.shape[1]), np.float32) if told is None else told
        told[part] = found
    assert told is not None
    arrays = fixed | _learn_vectors(told_of.some(np.flatnonzero(teaches)), scenes, Model(fixed))
    for kind, rows, here, counts in (
        ("words", told_of.rows, teaches | notes, weights),
        ("vectors", np.hstack([told_of.rows, told]), np.ones_like(notes), np.where(notes, NOTES * weights, weights)),
    ):
        raw = np.zeros(len(truth))
        for rest, part in parts:
            some = rest[here[rest]]
            inner = Model(fixed | _weighing(rows[some], truth[some], counts[some], kind))
            raw[part] = np.concatenate([inner.raw(rows[few], kind) for few in np.array_split(part, 8)])
        arrays |= _weighing(rows[here], truth[here], counts[here], kind)
        arrays[f"{kind}_scale"] = _calibrated(raw[real & here], truth[real & here])
    return arrays


def _bare(denied: NDArray[Any], plain: NDArray[Any]) -> NDArray[Any]:
    """The linear form that leads from the vectors of denied sentences to those of the same without negation."""
    x = np.hstack([denied, np.ones((len(denied), 1))]).astype(np.float64)
    return np.linalg.solve(x.T @ x + STRICT * np.eye(x.shape[1]), x.T @ (plain - denied))


def _named(name: str, arrays: Arrays) -> Arrays:
    return {f"{name}_{part}": array for part, array in arrays.items()}


def _taught(known: Prepared, *, settings: bool = True) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Settings, labels and weights of cases."""
    labels = np.array([case.labels for case in known.cases], np.float32)
    return known.settings if settings else np.zeros_like(known.settings), labels, known.weights


def _learn_vectors(known: Prepared, scenes: Prepared, model: Any) -> Arrays:
    """The linear form over the vectors as they are, and the network over vectors without negations."""
    from sklearn.linear_model import LogisticRegression

    from polymnia.engine.analysis.contradiction.model import clipped, joined

    x = joined(known.left, known.right)
    mean, spread = x.mean(0), x.std(0) + 1e-6
    line = LogisticRegression(C=1e-4, max_iter=200).fit(
        clipped(x, mean, spread), known.truth, sample_weight=known.weights
    )
    settings, labels, weights = _taught(known)
    turned = np.where(known.truth[:, None], labels, np.array([1, 1, 0], np.float32))
    backward = settings % 2 * 2 + settings // 2
    more = _taught(scenes)
    net = _network(
        np.vstack(
            [
                model.standard(model.bare_pairs(known.left, known.right, settings)),
                model.standard(model.bare_pairs(known.right, known.left, backward)),
                model.standard(model.bare_pairs(scenes.left, scenes.right, scenes.settings)),
            ]
        ),
        np.concatenate([settings, backward, more[0]]),
        np.vstack([labels, turned, more[1]]),
        np.concatenate([weights, MIRRORED * weights, more[2]]),
    )
    linear = {"weights": line.coef_[0], "bias": line.intercept_, "mean": mean, "spread": spread}
    return {key: array.astype(np.float16) for key, array in _named("linear", linear).items()} | _named("net", net)


def _network(x: NDArray[Any], settings: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any]) -> Arrays:
    """Learn a network and its table by gradient descent (Adam) with dropout; a label may be one of several."""
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
    return {key: array.astype(np.float16) for key, array in now.items()}


def _kept(draw: np.random.Generator, shape: tuple[int, ...], dropped: float) -> NDArray[Any]:
    return ((draw.random(shape, np.float32) >= dropped) / np.float32(1 - dropped)).astype(np.float32)


def _weighing(rows: NDArray[Any], truth: NDArray[Any], weights: NDArray[Any], kind: str) -> Arrays:
    """What weighs features: trees, and a line where there are vectors."""
    grown = _named(kind, _grow(rows, truth, weights))
    return grown | (_named(kind, _line(rows, truth, weights)) if kind == "vectors" else {})


def _line(rows: NDArray[Any], truth: NDArray[Any], weights: NDArray[Any]) -> Arrays:
    """A line over the features, which counts them anew for pairs denied on one side and for Korean ones."""
    from sklearn.linear_model import LogisticRegression

    from polymnia.engine.analysis.contradiction.model import crossed

    mean, spread = rows.mean(0).astype(np.float32), (rows.std(0) + 1e-6).astype(np.float32)
    line = LogisticRegression(C=LINE, max_iter=300).fit(crossed(rows, mean, spread), truth, sample_weight=weights)
    return {
        "line": line.coef_[0].astype(np.float32),
        "line_bias": line.intercept_.astype(np.float32),
        "line_mean": mean,
        "line_spread": spread,
    }


def _grow(x: NDArray[Any], truth: NDArray[Any], weights: NDArray[Any]) -> Arrays:
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


def _calibrated(raw: NDArray[Any], truth: NDArray[Any]) -> NDArray[Any]:
    """Slope and shift that make log odds of unseen cases true, moved to a prior of one third."""
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=1e6).fit(raw[:, None], truth)
    prior = truth.mean()
    shift = line.intercept_[0] - np.log(prior / (1 - prior)) + np.log(0.5)
    return np.array([line.coef_[0, 0], shift], np.float32)
