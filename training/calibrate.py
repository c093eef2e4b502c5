"""Fit the numbers in `src/polymnia/inference/built_in.py` to the shipped weights, on the test part of the texts.

    python -m training.calibrate [--questions 150]

Needs no GPU and nothing but the package; takes a few minutes. A question's own collection is ranked, questions that
nothing answers included, so that a chance of .8 is right in .8 of such cases. Prints the table to put in place, and
how far chances were off before and after.
"""

from __future__ import annotations

import argparse
import random

import numpy as np

from polymnia.inference.built_in import (
    ENGLISH,
    JUDGE,
    MULTILINGUAL,
    RANK,
    EnglishEmbedder,
    MultilingualEmbedder,
    PairJudge,
    Ranker,
    is_english,
)
from training import texts

_SHOWN = 12  # texts of a collection beside those that answer


def _logistic(x: np.ndarray) -> np.ndarray:
    return (1 + np.tanh(x / 2)) / 2


def _off(chances: np.ndarray, right: np.ndarray) -> float:
    """The expected calibration error, in ten parts."""
    parts = np.minimum((chances * 10).astype(int), 9)
    return sum(abs(chances[parts == i].sum() - right[parts == i].sum()) for i in range(10)) / len(chances)


def _fit_scale(logits: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Slope and offset that make what was seen likeliest: Newton's method, never a step that makes it less likely."""
    x, at = np.stack([logits, np.ones_like(logits)], axis=1), np.zeros(2)

    def loss(at: np.ndarray) -> float:
        seen = x @ at
        return float((np.logaddexp(0, seen) - right * seen).sum() + 1e-3 * at @ at)

    for _ in range(50):
        chance = _logistic(x @ at)
        step = np.linalg.solve(
            (x * (chance * (1 - chance))[:, None]).T @ x + 2e-3 * np.eye(2), x.T @ (right - chance) - 2e-3 * at
        )
        while loss(at + step) > loss(at) and np.abs(step).max() > 1e-9:
            step /= 2
        at += step
    return float(at[0]), float(at[1])


def _rank(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the network and whether the text answers, on questions of its languages."""
    chance = random.Random(0)
    model, logits, right = Ranker(), [], []
    asked = [(q, c) for c in texts.collections(test=True) for q in c.questions]
    chance.shuffle(asked)
    for question, c in asked:
        others = [i for i in range(len(c.texts)) if i not in question.evidence]
        shown = [*question.evidence, *chance.sample(others, min(len(others), _SHOWN))]
        pairs = [(question.text, c.texts[i]) for i in shown]
        if (name == ENGLISH) != all(is_english(text) for pair in pairs for text in pair):
            continue
        logits.append(model._readers[name].read(pairs, "rank")[:, 0])
        right.append([i in question.evidence for i in shown])
        if len(logits) == count:
            break
    return np.concatenate(logits).astype(float), np.concatenate(right).astype(float)


def _judge(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    found = [p for p in texts.pairs(test=True) if (name == ENGLISH) == (is_english(p.a) and is_english(p.b))]
    found = random.Random(0).sample(found, min(count, len(found)))
    logits = PairJudge()._readers[name].read([(p.a, p.b) for p in found], "judge")
    return logits.astype(float), np.array([texts.LABELS.index(p.label) for p in found])


def _softmax(logits: np.ndarray) -> np.ndarray:
    made = np.exp(logits - logits.max(axis=1, keepdims=True))
    return made / made.sum(axis=1, keepdims=True)


def _unrelated(name: str) -> float:
    """The mean cosine of texts of collections of different kinds; the mean over the languages with enough of them."""
    model = EnglishEmbedder() if name == ENGLISH else MultilingualEmbedder()
    means = []
    for language in ("en",) if name == ENGLISH else ("en", "ko"):
        found = [c for c in texts.collections(test=True) if c.language == language]
        some = [(c.kind, text) for c in found for text in random.Random(c.id).sample(c.texts, min(3, len(c.texts)))]
        vectors = model.embed([text for _, text in some])
        kinds = np.array([kind for kind, _ in some])
        means.append(float((vectors @ vectors.T)[kinds[:, None] != kinds].mean()))
    return float(np.mean(means))


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--pairs", type=int, default=600)
    options = parser.parse_args()
    rank, judge, unrelated = {}, {}, {}
    for name in (ENGLISH, MULTILINGUAL):
        logits, right = _rank(name, options.questions)
        rank[name] = _fit_scale(logits, right)
        before = _off(_logistic(RANK[name].slope * logits + RANK[name].offset), right)
        after = _off(_logistic(rank[name][0] * logits + rank[name][1]), right)
        print(f"{name}: rank, {len(right)} texts, off by {before:.3f} before and {after:.3f} after", flush=True)
        logits, labels = _judge(name, options.pairs)
        chosen = np.arange(len(labels))
        temperatures = np.arange(0.3, 5.01, 0.05)
        losses = [-np.log(_softmax(logits / t)[chosen, labels] + 1e-12).mean() for t in temperatures]
        judge[name] = float(temperatures[int(np.argmin(losses))])
        clash = labels < 2
        before, after = (_off(_softmax(logits / t)[:, :2].sum(axis=1), clash) for t in (JUDGE[name], judge[name]))
        print(f"{name}: judge, {len(labels)} pairs, clash off by {before:.3f} before and {after:.3f} after", flush=True)
        unrelated[name] = _unrelated(name)
    words = {ENGLISH: "ENGLISH", MULTILINGUAL: "MULTILINGUAL"}
    print("RANK = {" + ", ".join(f"{words[n]}: Calibration({a:.3f}, {b:.3f})" for n, (a, b) in rank.items()) + "}")
    print("JUDGE = {" + ", ".join(f"{words[n]}: {t:.2f}" for n, t in judge.items()) + "}")
    print("unrelated: " + ", ".join(f"{words[n]}: {u:.3f}" for n, u in unrelated.items()))


if __name__ == "__main__":
    main()
