"""How well questions find their texts, through the library as installed, and how true the scores are.

    python -m bench.meaning [--effort quick --effort balanced] [--data DIR] [--every N]
    python -m bench.meaning --scores [--effort ...] [--data DIR] [--every N]
    python -m bench.meaning --fit

The test part of `training/data`, a project a collection, by language; with `--data` the turns of LoCoMo too, a project
a conversation. `--every N` takes every n-th collection and every n-th question of LoCoMo.

`--scores` measures how often a text with a score is right, and how often the answer says that nothing stored seems to
fit: for questions whose answer is stored, for those of a collection that nothing in it answers, and for questions of
other collections. With `--data` also for LoCoMo and for the unanswerable questions of LongMemEval.

`--fit` prints the numbers of `engine/search/ranking.py` that make scores chances. They are fitted on one half of the
collections of the test part; `--scores` measures on the other half. Kept in `bench/results/meaning.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polymnia import EntityDraft, Memory, connect
from polymnia.engine.search import ranking
from polymnia.engine.search.passages import script_number
from polymnia.inference.built_in import is_english
from training import texts
from training.measure import ndcg

RESULTS = Path(__file__).parent / "results" / "meaning.json"
_STRANGE = 6  # questions of other collections that are asked of each
_WRONG = 0.05  # of the questions whose answer is stored may be told that nothing fits
_LONG = 30  # answerable questions of LongMemEval beside as many unanswerable ones


class Asked(NamedTuple):
    """A question, the numbers of the texts that answer it, what it is counted under, and whether any text does."""

    text: str
    right: set[int]
    kind: str
    sort: str = "answerable"


Part = tuple[str, Sequence[str], list[Asked]]


def own(every: int, *, fitted: bool | None = None) -> Iterator[Part]:
    """The collections of the test part, or of one half of it; with questions that nothing in them answers."""
    all_of_them = texts.collections(test=True)
    for c in all_of_them[::every]:
        if fitted is not None and fitted != (int(hashlib.sha256(f"half{c.id}".encode()).hexdigest(), 16) % 2 == 0):
            continue
        same = c.language if c.language in ("en", "ko") else "other"
        asked = [
            Asked(
                q.text, set(q.evidence), same if q.language == c.language else "across",
                "answerable" if q.evidence else "unanswerable",
            )
            for q in c.questions
        ]  # fmt: skip
        others = [
            q.text
            for other in all_of_them if other.kind != c.kind
            for q in other.questions if q.evidence and q.language == c.language
        ]  # fmt: skip
        some = random.Random(c.id).sample(others, min(_STRANGE, len(others)))
        yield c.id, c.texts, asked + [Asked(text, set(), same, "of another collection") for text in some]


def locomo(folder: Path, every: int) -> Iterator[Part]:
    """The conversations of LoCoMo. What an adversarial question asks for is told of somebody else."""
    groups: dict[str, list[dict]] = {}
    for row in texts.rows(folder / "locomo/corpus.jsonl.gz"):
        groups.setdefault(row["group"], []).append(row)
    queries = list(texts.rows(folder / "locomo/queries.jsonl.gz"))[::every]
    for name, rows in groups.items():
        at = {row["id"]: i for i, row in enumerate(rows)}
        asked = [
            Asked(q["text"], {at[id] for id in q["relevant"] if id in at}, q["category"])
            for q in queries if q["group"] == name
        ]  # fmt: skip
        yield name, [row["text"] for row in rows], asked


def longmemeval(folder: Path) -> Iterator[Part]:
    """The unanswerable questions of LongMemEval and as many answerable ones, with the sessions of all of them."""
    sorts = {"unanswerable": "queries_abstention", "answerable": "queries"}
    queries = {sort: list(texts.rows(folder / f"longmemeval/{name}.jsonl.gz")) for sort, name in sorts.items()}
    queries["answerable"] = queries["answerable"][:: len(queries["answerable"]) // _LONG][:_LONG]
    wanted = {id for some in queries.values() for q in some for id in q["relevant"]}
    rows = [row for row in texts.rows(folder / "longmemeval/corpus.jsonl.gz") if row["id"] in wanted]
    at = {row["id"]: i for i, row in enumerate(rows)}
    asked = [
        Asked(q["text"], {at[id] for id in q["relevant"]} if sort == "answerable" else set(), "en", sort)
        for sort, some in queries.items() for q in some
    ]  # fmt: skip
    yield "longmemeval", [row["text"] for row in rows], asked


def stored(parts: Iterator[Part]) -> Iterator[tuple[Memory, Part]]:
    """Each part in a project of its own, with all its vectors."""
    with tempfile.TemporaryDirectory() as folder:
        for name, items, asked in parts:
            with connect(os.path.join(folder, "memory.db"), project=name) as memory:
                drafts = [EntityDraft(f"{name}:{i}", "message", (text,)) for i, text in enumerate(items)]
                for i in range(0, len(drafts), 500):
                    memory.create_entities(drafts[i : i + 500])
                memory.finding().catch_up(name, lambda *step: None)
                yield memory, (name, items, asked)


def number(hit: Any) -> int:
    """Which text of its part a hit is."""
    return int(hit.record.name.rpartition(":")[2])


def measured(parts: Iterator[Part], effort: str) -> dict:
    """nDCG@10 of each kind of question, their mean, and the median time of a search."""
    values: dict[str, list[float]] = {}
    took = []
    for memory, (_, _, asked) in stored(parts):
        for question, right, kind, _ in (one for one in asked if one.right):
            began = time.perf_counter()
            found = memory.search(question, limit=10, effort=effort)
            took.append(time.perf_counter() - began)
            values.setdefault(kind, []).append(ndcg([number(hit) for hit in found.hits], right))
    return {
        "kinds": {kind: {"n": len(v), "ndcg": round(statistics.mean(v), 4)} for kind, v in sorted(values.items())},
        "macro": round(statistics.mean(map(statistics.mean, values.values())), 4),
        "p50_ms": round(1000 * statistics.median(took), 1),
    }


def scores(parts: Iterator[Part], effort: str) -> dict:
    """How often texts with a score are right, and how often the answer says that nothing fits."""
    seen: dict[str, list[tuple[float, bool]]] = {}
    said: dict[str, dict[str, list[bool]]] = {}
    for memory, (_, _, asked) in stored(parts):
        for question, right, kind, sort in asked:
            found = memory.search(question, limit=10, effort=effort)
            nothing = not found.hits or any(note.code == "nothing_fits" for note in found.notes)
            if sort != "of another collection":
                pairs = [(hit.score, number(hit) in right) for hit in found.hits]
                for group in (kind, "all"):
                    seen.setdefault(group, []).extend(pairs)
            for group in (kind, "all"):
                said.setdefault(group, {}).setdefault(sort, []).append(nothing)
    return {
        "reliability": {kind: reliability(*map(np.array, zip(*some, strict=True))) for kind, some in seen.items()},
        "nothing_fits": {
            kind: {sort: {"n": len(v), "said": round(statistics.mean(v), 4)} for sort, v in sorts.items()}
            for kind, sorts in said.items()
        },
    }


def reliability(chances: np.ndarray, right: np.ndarray) -> dict:
    """The expected calibration error; for each tenth of the scale the number of texts and the share that is right."""
    tenth = np.minimum((chances * 10).astype(int), 9)
    off = sum(abs(chances[tenth == i].sum() - right[tenth == i].sum()) for i in range(10)) / len(chances)
    bins = {
        f"{i / 10:.1f}": {"n": int((tenth == i).sum()), "right": round(float(right[tenth == i].mean()), 3)}
        for i in range(10) if (tenth == i).any()
    }  # fmt: skip
    return {"n": len(chances), "error": round(float(off), 4), "bins": bins}


class Seen(NamedTuple):
    """A hit: whether the strong model reads it, its fused score, the cross-encoder's logit, and whether it is right."""

    strong: bool
    fused: float
    logit: float
    right: bool


def fit(every: int) -> None:
    """Fit and print the curves, the weights of `read` and the border."""
    seen: dict[str, list[tuple[bool, list[Seen]]]] = {"quick": [], "meaning": [], "balanced": []}
    for memory, (_, items, asked) in stored(own(every, fitted=True)):
        for question, right, _, sort in asked:
            if sort == "of another collection":
                continue
            fused: dict[int, float] = {}
            for way in seen:
                lanes = "meaning" if way == "meaning" else "all"
                effort = "balanced" if way == "balanced" else "quick"
                found = memory.search(question, limit=10 if way == "balanced" else 50, lanes=lanes, effort=effort)
                if any(hit.why.exact for hit in found.hits):
                    continue
                hits = []
                for hit in found.hits:
                    strong = is_english(question) and is_english(items[number(hit)])
                    same = script_number(question) == script_number(items[number(hit)])
                    blend = ranking.STRONG if strong or (is_english(question) and same) else ranking.WEAK
                    curve = blend.by_meaning if way == "meaning" else blend.curve
                    own_score = curve.middle * (-math.log1p(-min(hit.score, 0.9999))) ** (1 / curve.rise)
                    if way == "quick":
                        fused[number(hit)] = own_score
                    if way == "balanced" and (hit.why.judged is None or number(hit) not in fused):
                        continue
                    judged = min(max(hit.why.judged or 0.5, 1e-4), 1 - 1e-4)
                    logit = math.log(judged / (1 - judged))
                    value = fused[number(hit)] if way == "balanced" else own_score
                    hits.append(Seen(strong, value, logit, number(hit) in right))
                seen[way].append((sort == "answerable", hits[:10]))
    chances: dict[tuple[str, bool], Callable[[Seen], float]] = {}
    for strong, blend in ((True, ranking.STRONG), (False, ranking.WEAK)):
        some = {
            way: np.array([hit for _, hits in asked for hit in hits if hit.strong == strong], float)
            for way, asked in seen.items()
        }
        curve = _likeliest(_curve, some["quick"][:, 1], some["quick"][:, 3], (0.5, 2.0), (1.0, 4.0))
        by_meaning = _likeliest(_curve, some["meaning"][:, 1], some["meaning"][:, 3], (0.5, 2.0), (1.0, 4.0))
        logits = blend.read[0] * some["balanced"][:, 2] + blend.read[1] * some["balanced"][:, 1]
        scale, offset = _likeliest(_logistic, logits, some["balanced"][:, 3], (0.2, 3.0), (-6.0, 1.0))
        read = (blend.read[0] * scale, blend.read[1] * scale, offset)
        chances["quick", strong] = lambda hit, curve=curve: float(_curve(np.array(hit.fused), *curve))
        chances["balanced", strong] = lambda hit, read=read: float(
            _logistic(np.array(read[0] * hit.logit + read[1] * hit.fused), 1.0, read[2])
        )
        print(
            f"{'STRONG' if strong else 'WEAK'}: curve=Curve({curve[0]:.2f}, {curve[1]:.2f}), "
            f"by_meaning=Curve({by_meaning[0]:.2f}, {by_meaning[1]:.2f}), "
            f"read=({read[0]:.3f}, {read[1]:.2f}, {read[2]:.2f})"
        )
    tops = [
        max(chances[way, hit.strong](hit) for hit in hits)
        for way in ("quick", "balanced") for answerable, hits in seen[way] if answerable and hits
    ]  # fmt: skip
    print(f"FITS = {np.quantile(tops, _WRONG):.2f}")


def _curve(fused: np.ndarray, middle: float, rise: float) -> np.ndarray:
    return -np.expm1(-((fused / middle) ** rise))


def _logistic(logits: np.ndarray, scale: float, offset: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(scale * logits + offset)))


def _likeliest(
    chance: Callable[[np.ndarray, float, float], np.ndarray], values: np.ndarray, right: np.ndarray,
    first: tuple[float, float], second: tuple[float, float],
) -> tuple[float, float]:  # fmt: skip
    """The two numbers within these ranges that make what was seen likeliest."""

    def unlikely(pair: tuple[float, float]) -> float:
        made = np.clip(chance(values, *pair), 1e-6, 1 - 1e-6)
        return float(-np.where(right > 0, np.log(made), np.log1p(-made)).mean())

    pairs = [(float(a), float(b)) for a in np.linspace(*first, 60) for b in np.linspace(*second, 60)]
    return min(pairs, key=unlikely)


def main() -> None:
    """Measure and keep what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", action="append", choices=("quick", "balanced", "thorough"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    if given.fit:
        fit(given.every)
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for effort in given.effort or ("quick", "balanced"):
        sets = {"test part": own(given.every, fitted=False if given.scores else None)}
        if given.data:
            sets["LoCoMo"] = locomo(given.data, given.every)
            if given.scores:
                sets["LongMemEval"] = longmemeval(given.data)
        for name, parts in sets.items():
            found = (scores if given.scores else measured)(parts, effort)
            kept[f"{'scores, ' if given.scores else ''}{name}, {effort}, every {given.every}"] = found
            print(name, effort, json.dumps(found), flush=True)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
