"""Train the cross-encoder: one trunk that ranks texts for a question and judges pairs of statements.

    python -m training.reranker --base ce.onnx --tokenizer tokenizer.json [--out DIR] [--eval DIR] [--heads r,j,rj]

A step sees a batch of questions, each with one right text and wrong ones of the same collection (softmax over them),
and a batch of pairs (softmax over the six labels). Figures go to standard output, one line each.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from training import measure, texts
from training.bert import Scorer, tokenizer

_BEGAN = time.time()


def say(*words: object) -> None:
    """A line of the log."""
    print(f"[{time.time() - _BEGAN:.0f}s]", *words, flush=True)


class Trainer:
    """The data of one training, and the steps through it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tokens = tokenizer(options.tokenizer)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.random = random.Random(options.seed)
        torch.manual_seed(options.seed)
        learned = options.learn_from or texts.DATA
        self.train = [c for c in texts.collections(test=False, folder=learned) if c.language == "en"]
        self.test = [c for c in texts.collections(test=True) if c.language == "en"]
        self.questions = [(q, c) for c in self.train for q in c.questions if q.evidence]
        self.pairs = [p for p in texts.pairs(test=False, folder=learned) if p.language == "en"]
        self.test_pairs = [p for p in texts.pairs(test=True) if p.language == "en"]
        say("collections", len(self.train), len(self.test), "questions", len(self.questions),
            "pairs", len(self.pairs), len(self.test_pairs))  # fmt: skip

    def inputs(self, a: list[str], b: list[str], most: int = 256) -> dict[str, torch.Tensor]:
        """Two texts side by side as the network reads them."""
        return self.tokens(a, b, padding=True, truncation="longest_first", max_length=most, return_tensors="pt").to(
            self.device
        )

    def ranking(self, model: Scorer, batch: int = 16, wrong: int = 15) -> torch.Tensor:
        """The loss of some questions."""
        asked, shown = [], []
        for question, collection in self.random.sample(self.questions, batch):
            others = [i for i in range(len(collection.texts)) if i not in question.evidence]
            some = [collection.texts[i] for i in self.random.sample(others, min(len(others), wrong - 2))]
            while len(some) < wrong:
                some.append(self.random.choice(self.random.choice(self.train).texts))
            shown += [collection.texts[self.random.choice(question.evidence)], *some]
            asked += [question.text] * (wrong + 1)
        scores = model("rank", **self.inputs(asked, shown)).view(batch, wrong + 1)
        return F.cross_entropy(scores, torch.zeros(batch, dtype=torch.long, device=self.device))

    def judging(self, model: Scorer, batch: int = 64) -> torch.Tensor:
        """The loss of some pairs; every fifth pair is two texts of one collection, which have nothing to do with
        each other nearly always."""
        a, b, labels = [], [], []
        for pair in self.random.choices(self.pairs, k=batch - batch // 5):
            turned = pair.label in ("conflict", "same", "compatible", "unrelated") and self.random.random() < 0.5
            a.append(pair.b if turned else pair.a)
            b.append(pair.a if turned else pair.b)
            labels.append(texts.LABELS.index(pair.label))
        for _ in range(batch // 5):
            one, other = self.random.sample(self.random.choice(self.train).texts, 2)
            a.append(one[:600]), b.append(other[:600])
            labels.append(texts.LABELS.index("unrelated"))
        scores = model("judge", **self.inputs(a, b, 160))
        return F.cross_entropy(scores, torch.tensor(labels, device=self.device))

    def fit(self, model: Scorer, heads: str, steps: int, rate: float) -> Scorer:
        """Train for some steps."""
        model.to(self.device).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
        warm = 50
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, s / warm) * max(0.02, 1 - s / steps))
        for step in range(steps):
            with torch.autocast(self.device, dtype=torch.bfloat16):
                losses = {}
                if "r" in heads:
                    losses["rank"] = self.ranking(model)
                if "j" in heads:
                    losses["judge"] = self.judging(model)
                loss = sum(losses.values())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step(), schedule.step(), optimizer.zero_grad()
            if step % 200 == 199:
                say("step", step + 1, {name: round(value.item(), 3) for name, value in losses.items()})
        return model.eval()

    @torch.no_grad()
    def scored(self, model: Scorer, head: str, a: list[str], b: list[str], most: int = 256) -> np.ndarray:
        """The numbers of a head for many pairs."""
        found = []
        with torch.autocast(self.device, dtype=torch.bfloat16):
            for i in range(0, len(a), 512):
                found.append(model(head, **self.inputs(a[i : i + 512], b[i : i + 512], most)).cpu())
        return torch.cat(found).numpy()

    def measure(self, model: Scorer, tag: str) -> None:
        """Figures on what was kept apart, and on sets of others where they are at hand."""
        model.eval()
        values: dict[str, list[float]] = {}
        for collection in self.test:
            asked = [q for q in collection.questions if q.evidence]
            n = len(collection.texts)
            scores = self.scored(
                model, "rank", [q.text for q in asked for _ in range(n)], list(collection.texts) * len(asked)
            )
            for q, row in zip(asked, scores.reshape(len(asked), n), strict=True):
                values.setdefault(collection.kind, []).append(measure.ndcg(list(np.argsort(-row)), q.evidence))
        say(tag, "own test nDCG", {kind: round(float(np.mean(v)), 3) for kind, v in values.items()},
            "all", round(float(np.mean([x for v in values.values() for x in v])), 4))  # fmt: skip
        self._pairs(
            model,
            tag,
            "own pairs",
            [(p.a, p.b, p.label in ("conflict", "update"), p.label == "same") for p in self.test_pairs],
        )
        if self.options.eval:
            self._others(model, tag)

    def _pairs(self, model: Scorer, tag: str, name: str, rows: list[tuple[str, str, bool, bool]]) -> None:
        chances = (
            torch.tensor(self.scored(model, "judge", [r[0] for r in rows], [r[1] for r in rows])).softmax(-1).numpy()
        )
        clash, same = chances[:, 0] + chances[:, 1], chances[:, 2]
        true, one = np.array([r[2] for r in rows]), np.array([r[3] for r in rows])
        figures = {
            "n": len(rows),
            "clash F1": round(measure.f1(clash > 0.5, true), 3),
            "best": tuple(round(x, 3) for x in measure.best_f1(clash, true)),
            "area": round(measure.area(clash, true), 3),
        }
        if one.any():
            figures |= {
                "same F1": round(measure.f1(chances.argmax(1) == 2, one), 3),
                "same area": round(measure.area(same, one), 3),
                "wrong at same>.9": int(((same > 0.9) & ~one).sum()),
                "found": round(float((same[one] > 0.9).mean()), 3),
            }
        say(tag, name, figures)

    def _others(self, model: Scorer, tag: str) -> None:
        folder = Path(self.options.eval)
        corpus, queries = (
            list(texts.rows(folder / "locomo/corpus.jsonl.gz")),
            list(texts.rows(folder / "locomo/queries.jsonl.gz")),
        )
        groups: dict[str, list[dict]] = {}
        for row in corpus:
            groups.setdefault(row["group"], []).append(row)
        words = {group: measure.Bm25([row["text"] for row in rows]) for group, rows in groups.items()}
        kinds: dict[str, list[float]] = {}
        asked, shown, ids = [], [], []
        wanted = queries[:: self.options.every]
        for query in wanted:
            rows = groups[query["group"]]
            first = words[query["group"]].scores(query["text"])
            near = first.copy()
            near[1:] += 0.3 * first[:-1]
            near[:-1] += 0.3 * first[1:]
            best = np.argsort(-near)[:50]
            asked += [query["text"]] * 50
            shown += [rows[i]["text"] for i in best]
            ids.append([rows[i]["id"] for i in best])
        scores = self.scored(model, "rank", asked, shown).reshape(len(wanted), 50)
        for query, order, row in zip(wanted, ids, scores, strict=True):
            kinds.setdefault(query["category"], []).append(
                measure.ndcg([order[i] for i in np.argsort(-row)], set(query["relevant"]))
            )
        say(
            tag,
            "LoCoMo, best 50 by words reranked: macro",
            round(float(np.mean([np.mean(v) for v in kinds.values()])), 4),
        )
        for name, path in (("negnli", "negnli_en/nli.jsonl.gz"), ("scifact", "scifact/pairs.jsonl.gz")):
            rows = list(texts.rows(folder / path))
            self._pairs(
                model, tag, name, [(r["a"], r["b"], r["label"].startswith(("contra", "refut")), False) for r in rows]
            )


def main() -> None:
    """Train as the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--learn-from", type=Path, help="a folder with some of the data, to draw the curve")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--eval", type=Path)
    parser.add_argument("--every", type=int, default=2, help="take every n-th question of LoCoMo")
    parser.add_argument("--heads", default="rj")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    trainer = Trainer(options)
    base = Scorer(options.base, len(texts.LABELS)).to(trainer.device)
    trainer.measure(base, "as it is")
    for heads in options.heads.split(","):
        model = Scorer(options.base, len(texts.LABELS))
        trainer.fit(model, heads, options.steps, options.rate)
        trainer.measure(model, heads)
        if options.out:
            torch.save({k: v.half() for k, v in model.state_dict().items()}, options.out / f"scorer-{heads}.pt")


if __name__ == "__main__":
    main()
