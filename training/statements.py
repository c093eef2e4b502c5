"""``python -m training.statements``: the model of statement kinds, from the sentences in data/statements_*.

For each embedder that comes with the package a softmax regression on its vectors and the outer features of the text.
The penalty is chosen, and the temperature fitted, on folds of the training part; the test part is for
``python -m bench.statements``. Needs NumPy alone and takes about two minutes on one core, most of it for vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polymnia.engine.knowledge.kinds import features
from polymnia.engine.ports import KINDS
from polymnia.inference.built_in import EnglishEmbedder, MultilingualEmbedder
from training.texts import KeptStatement, statements

Floats = np.ndarray[Any, np.dtype[np.float32]]

WEIGHTS = Path(__file__).parent.parent / "src/polymnia/weights"
PENALTIES = (4e-3, 8e-3, 1.6e-2)
FOLDS = 5
STEPS = 300
RATE = 0.03
SCALE = 8  # the length vectors are given, so that the penalty holds the features no more than them
SEED = 16

# An observation is embedded after the name it is about, so a third of the sentences is read with one, too.
NAMES = (
    "Anna Berg", "Project Atlas", "Home", "user", "Tomás", "Lab notes", "Mei Lin", "Billing service", "Grandma",
    "Holiday", "김민수", "프로젝트 한강", "우리 집", "사용자", "회의록", "田中", "小王", "Familie", "Équipe", "Проект",
)  # fmt: skip


class Layer(NamedTuple):
    """The weights of one embedder."""

    weight: Floats
    bias: Floats

    def logits(self, given: Floats) -> Floats:
        """A row of numbers for each row that is given."""
        made: Floats = given @ self.weight + self.bias
        return made


def fit(given: Floats, labels: Floats, penalty: float) -> Layer:
    """Softmax regression by Adam over all rows at once."""
    weight = np.zeros((given.shape[1], len(KINDS)), np.float32)
    bias = np.zeros(len(KINDS), np.float32)
    wanted = np.eye(len(KINDS), dtype=np.float32)[labels]
    means, squares = [np.zeros_like(weight), np.zeros_like(bias)], [np.zeros_like(weight), np.zeros_like(bias)]
    for step in range(1, STEPS + 1):
        wrong = (softmax(given @ weight + bias) - wanted) / len(given)
        rate = RATE * (1 - 0.9 * step / STEPS)
        for at, (part, slope) in enumerate(((weight, given.T @ wrong + penalty * weight), (bias, wrong.sum(axis=0)))):
            means[at] += 0.1 * (slope - means[at])
            squares[at] += 0.001 * (slope * slope - squares[at])
            part -= rate * (means[at] / (1 - 0.9**step)) / (np.sqrt(squares[at] / (1 - 0.999**step)) + 1e-8)
    return Layer(weight, bias)


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits, row by row."""
    made = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = made / made.sum(axis=1, keepdims=True)
    return found


def macro_f1(labels: Floats, guessed: Floats) -> float:
    """The mean of the F1 of all kinds."""
    each = []
    for kind in range(len(KINDS)):
        both = int(np.sum((labels == kind) & (guessed == kind)))
        each.append(2 * both / max(1, int(np.sum(labels == kind) + np.sum(guessed == kind))))
    return float(np.mean(each))


def temperature(logits: Floats, labels: Floats) -> float:
    """What logits of held-out folds must be divided by for their probabilities to be right."""
    rows = np.arange(len(labels))
    candidates = np.arange(0.5, 2.01, 0.05)
    losses = [-np.log(softmax(logits / one)[rows, labels] + 1e-9).mean() for one in candidates]
    return float(candidates[int(np.argmin(losses))])


def train(embedder: Any, found: Sequence[KeptStatement]) -> Layer:
    """The weights for the vectors of an embedder."""
    known = [one for one in found if embedder.knows(one.text)]
    draw = random.Random(SEED)
    named = [f"{draw.choice(NAMES)}: {one.text}" if at % 3 == 0 else None for at, one in enumerate(known)]
    texts = [one.text for one in known] + [text for text in named if text is not None]
    whose = np.array([*range(len(known)), *(at for at, text in enumerate(named) if text is not None)])
    outer = np.array([features(one.text, one.role) for one in known], np.float32)[whose]
    given = np.hstack([embedder.embed(texts).astype(np.float32) * SCALE, outer])
    labels = np.array([KINDS.index(one.kind) for one in known])[whose]
    fold = np.array([draw.randrange(FOLDS) for _ in known])[whose]
    best: tuple[float, float, float] | None = None
    for penalty in PENALTIES:
        held = np.zeros((len(given), len(KINDS)), np.float32)
        for one in range(FOLDS):
            held[fold == one] = fit(given[fold != one], labels[fold != one], penalty).logits(given[fold == one])
        score = macro_f1(labels, held.argmax(axis=1))
        print(f"{embedder.id}: penalty {penalty:g}, macro F1 on {FOLDS} folds {score:.3f}", flush=True)
        if best is None or score > best[0]:
            best = score, penalty, temperature(held, labels)
    assert best is not None
    print(f"{embedder.id}: {len(known)} sentences, penalty {best[1]:g}, temperature {best[2]:.2f}", flush=True)
    layer = fit(given, labels, best[1])
    weight = layer.weight / best[2]
    weight[: embedder.dimensions] *= SCALE
    return Layer(weight, layer.bias / best[2])


def main() -> None:
    """Train both, and list the file among the others."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--to", type=Path, default=WEIGHTS)
    to: Path = options.parse_args().to
    arrays = {}
    for embedder in (EnglishEmbedder(), MultilingualEmbedder()):
        layer = train(embedder, statements(test=False))
        arrays[embedder.id], arrays[f"{embedder.id}.bias"] = layer.weight.astype(np.float16), layer.bias
    np.savez(to / "kinds.npz", **arrays)
    sums = dict(reversed(line.split()) for line in (to / "SHA256SUMS").read_text().splitlines())
    sums["kinds.npz"] = hashlib.sha256((to / "kinds.npz").read_bytes()).hexdigest()
    (to / "SHA256SUMS").write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


if __name__ == "__main__":
    main()
