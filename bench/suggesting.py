"""``python -m bench.suggesting --data DIR``: how often a suggested scope is right, and what is left unsuggested.

The training part of a set is filed, its test part asked for. A set is a folder with ``docs.jsonl.gz``, whose rows
have ``text``, ``split`` and ``path``, the right scope; a row without a path belongs nowhere: nothing should be
suggested for it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench import peer
from polymnia import EntityDraft, Suggestion, app
from polymnia.models import new_id

__all__ = ["main"]

SETS = ("clinc150_en", "banking77_en")
TARGETS = {"clinc150_en": {"exact": 0.90, "abstained outside": 0.60}, "banking77_en": {"exact": 0.90}}
_EXAMPLES = 20  # a scope, where the targets hold
_SEED = 20_260_831
_FILED = 5000
_HELD_OUT = 1500
_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Item:
    """A text and its scope; None when it belongs nowhere."""

    text: str
    scope: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was suggested for an item, and how long that took."""

    item: Item
    found: Suggestion
    milliseconds: float


class Shelf:
    """The filed items, in a store of their own, asked through the library as the server asks."""

    def __init__(self, items: Sequence[Item], embedder: str, folder: str) -> None:
        chosen = app.settings({"store": os.path.join(folder, "memory.db"), "embedder": embedder})
        self.memory = app.open_memory(chosen, "bench")
        self.items = items
        for start in range(0, len(items), _FILED):
            drafts = []
            for item in items[start : start + _FILED]:
                uid = new_id()
                drafts.append(EntityDraft(uid, "memory", (item.text,), scope=item.scope, uid=uid))
            self.memory.create_entities(drafts)
        self.memory.finding().reindex(self.memory.project, lambda lane, done, total: None)

    def ask(self, asked: Sequence[Item]) -> list[Answer]:
        """What is suggested for each of these."""
        answers = []
        for item in asked:
            begun = time.perf_counter()
            found = self.memory.suggest_scope(item.text)
            answers.append(Answer(item, found, (time.perf_counter() - begun) * 1e3))
        return answers


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; answers 0 when no target was missed."""
    given = _parser().parse_args(arguments)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the server does
    pages: list[str] = []
    missed = False
    for name in given.set or SETS:
        filed, asked = _read(os.path.join(given.data, name), given.part)
        if given.examples:
            filed = _some(filed, given.examples)
        if given.sample is not None and given.sample < len(asked):
            asked = random.Random(_SEED).sample(asked, given.sample)
        with tempfile.TemporaryDirectory(prefix="suggesting-", dir=_scratch()) as folder:
            shelf = Shelf(filed, given.embedder, folder)
            answers = shelf.ask(asked)
            shelf.memory.close()
        page, kept = _page(name, filed, answers, judged=given.part == "test" and given.examples in (0, _EXAMPLES))
        pages.append(page)
        missed |= not kept
        print(page, flush=True)
    if given.results:
        os.makedirs(given.results, exist_ok=True)
        chosen = ("embedder", "part", "examples", "sample")
        options = "".join(f" --{key} {value}" for key in chosen if (value := getattr(given, key)) is not None)
        head = (
            "# Scope suggestion, measured\n\n"
            f"Written by `python -m bench.suggesting --data DIR{options}`: the {given.part} part of each set is\n"
            "asked, the training part filed, in a store through the library.\n"
        )
        with open(os.path.join(given.results, given.name), "w", encoding="utf-8") as file:
            file.write("\n".join((head, *pages)))
    return int(missed)


def _scratch() -> str:
    folder = os.path.join(peer.ROOT, ".cache")
    os.makedirs(folder, exist_ok=True)
    return folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.suggesting", description=__doc__)
    parser.add_argument("--data", required=True, help="folder of the sets")
    parser.add_argument("--set", action="append", choices=SETS, help="one set; may be given several times")
    parser.add_argument("--embedder", default="auto", help="as the setting of the server")
    parser.add_argument(
        "--part", default="test", choices=("test", "dev"), help="dev: what the constants were fitted on"
    )
    parser.add_argument(
        "--examples", type=int, default=_EXAMPLES, help="file so many of each scope (default: %(default)s); 0: all"
    )
    parser.add_argument("--sample", type=int, help="ask at most so many of a set, drawn by a seed")
    parser.add_argument("--results", help="folder to write the page to")
    parser.add_argument("--name", default="suggesting.md", help="what the page is called")
    return parser


def _read(folder: str, part: str) -> tuple[list[Item], list[Item]]:
    """What is filed and what is asked; a set without a validation part gives up a seeded part of its training items."""
    with gzip.open(os.path.join(folder, "docs.jsonl.gz"), "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    by_split: dict[str, list[Item]] = {}
    for row in rows:
        by_split.setdefault(row["split"], []).append(Item(row["text"], row.get("path")))
    filed = by_split["train"]
    if part == "test":
        return filed, by_split["test"] + by_split.get("oos_test", [])
    if "val" in by_split:
        return filed, by_split["val"] + by_split.get("oos_val", []) + by_split.get("oos_train", [])
    shuffled = random.Random(_SEED).sample(filed, len(filed))
    return shuffled[_HELD_OUT:], shuffled[:_HELD_OUT]


def _some(filed: Sequence[Item], examples: int) -> list[Item]:
    """So many of each scope, drawn by a seed."""
    by_scope: dict[str | None, list[Item]] = {}
    for item in filed:
        by_scope.setdefault(item.scope, []).append(item)
    draw = random.Random(_SEED)
    return [item for some in by_scope.values() for item in draw.sample(some, min(examples, len(some)))]


def _page(name: str, filed: Sequence[Item], answers: Sequence[Answer], judged: bool) -> tuple[str, bool]:
    """The tables of one set, and whether its targets were met."""
    inside = [one for one in answers if one.item.scope is not None]
    outside = [one for one in answers if one.item.scope is None]
    figures = {
        "exact": _share([_right(one) for one in inside]),
        "wrong scope": _share([not one.found.abstained and not _right(one) for one in inside]),
        "abstained inside": _share([one.found.abstained for one in inside]),
        "right or among the alternatives": _share([_right(one) or _second(one) for one in inside]),
    }
    if outside:
        figures["abstained outside"] = _share([one.found.abstained for one in outside])
    lines = [
        f"## {name}: {len(filed):,} filed in {len({item.scope for item in filed})} scopes, "
        f"{len(inside):,} asked that belong to one, {len(outside):,} that belong nowhere",
        "",
        "| | measured | target |",
        "|---|---|---|",
    ]
    kept = True
    for figure, value in figures.items():
        target = TARGETS[name].get(figure) if judged else None
        met = target is None or value >= target
        kept &= met
        aim = "" if target is None else f"at least {target:.2f}: {'met' if met else '**not met**'}"
        lines.append(f"| {figure} | {value:.3f} | {aim} |")
    for which, times in (("a suggestion", [one.milliseconds for one in answers]),):
        p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        lines.append(f"| {which}, p50 and p95 | {p50:.2f} ms, {p95:.2f} ms | |")
    lines += ["", *_reliability(answers), ""]
    return "\n".join(lines), kept


def _reliability(answers: Sequence[Answer]) -> list[str]:
    """How often suggestions of each confidence are right, those for items that belong nowhere counted as wrong."""
    made = [one for one in answers if not one.found.abstained]
    lines = ["| confidence | suggestions | mean confidence | right |", "|---|---|---|---|"]
    off = 0.0
    for low, high in pairwise(_BINS):
        part = [one for one in made if low <= one.found.confidence < high or one.found.confidence == high == 1.0]
        if part:
            mean = statistics.fmean(one.found.confidence for one in part)
            right = _share([_right(one) for one in part])
            off += abs(mean - right) * len(part)
            lines.append(f"| {low:.1f}–{high:.1f} | {len(part):,} | {mean:.3f} | {right:.3f} |")
    return [*lines, "", f"Expected calibration error over {len(made):,} suggestions: {off / max(1, len(made)):.3f}"]


def _right(one: Answer) -> bool:
    return not one.found.abstained and one.found.scope == one.item.scope


def _second(one: Answer) -> bool:
    return any(other.scope == one.item.scope for other in one.found.alternatives)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / max(1, len(flags))


if __name__ == "__main__":
    raise SystemExit(main())
