"""``python -m bench.statements``: how often the kind of a statement is right, and what is kept of a conversation.

Measured on the test part of training/data/statements_*, which was written apart from the training part and is about
other things, with the models that come with the package. ``--eval DIR`` adds how much is kept of the turns that answer
LoCoMo's questions, and of its other turns.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polymnia import EntityDraft, Memory, app
from polymnia.engine.knowledge.kinds import KINDS, WORTH, ConversationTurn, KindGuess
from training.texts import KeptStatement, conversations, statements

__all__ = ["main"]

_RESULTS = Path(__file__).parent / "results" / "statements.json"
_GROUPS = ("English", "Korean", "other languages")
_BINS = 10
_STORED = 100_000
_ROUNDS = 20
_NO_GUESS = KindGuess("unknown", 0.0, 0.0)
_EVERY = 10  # so many turns of LoCoMo that answer nothing are passed over for one that is read


def _group(language: str) -> str:
    return {"en": "English", "ko": "Korean"}.get(language, "other languages")


def _scores(wanted: Sequence[str], found: Sequence[str]) -> dict[str, float]:
    """The F1 of each kind, their mean and the share that is right."""
    each = {}
    for kind in KINDS:
        both = sum(a == b == kind for a, b in zip(wanted, found, strict=True))
        each[kind] = 2 * both / max(1, wanted.count(kind) + found.count(kind))
    right = sum(a == b for a, b in zip(wanted, found, strict=True)) / len(wanted)
    rounded = {name: round(value, 3) for name, value in each.items()}
    return {"macro F1": round(statistics.fmean(each.values()), 3), "right": round(right, 3), **rounded}


def _kept(wanted: Sequence[bool], found: Sequence[bool]) -> dict[str, float]:
    both = sum(a and b for a, b in zip(wanted, found, strict=True))
    precision, recall = both / max(1, sum(found)), both / max(1, sum(wanted))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": round(precision, 3), "recall": round(recall, 3), "F1": round(f1, 3), "of": len(wanted)}


def _calibration(chances: Sequence[float], right: Sequence[bool]) -> float:
    """The expected calibration error, in ten bins."""
    error = 0.0
    for one in range(_BINS):
        held = [(c, r) for c, r in zip(chances, right, strict=True) if min(_BINS - 1, int(c * _BINS)) == one]
        if held:
            mean, share = statistics.fmean(c for c, _ in held), statistics.fmean(r for _, r in held)
            error += abs(mean - share) * len(held) / len(chances)
    return round(error, 3)


def _kinds(memory: Memory, found: Sequence[KeptStatement]) -> list[KindGuess]:
    guesses: list[KindGuess | None] = [None] * len(found)
    for role in {one.role for one in found}:
        at = [i for i, one in enumerate(found) if one.role == role]
        for i, one in zip(at, memory.kinds([found[i].text for i in at], role=role), strict=True):
            guesses[i] = one
    return [one or _NO_GUESS for one in guesses]


def _sentences(memory: Memory) -> dict[str, Any]:
    """How well the test part's sentences are told apart, one by one."""
    found = statements(test=True)
    memory.kinds(["The models are loaded by now."])
    memory.kinds(["모델을 미리 읽어 둔다."])
    begun = time.perf_counter()
    guesses = _kinds(memory, found)
    seconds = time.perf_counter() - begun
    wanted, got = [one.kind for one in found], [one.kind for one in guesses]
    groups = [_group(one.language) for one in found]
    by_group = {}
    for group in _GROUPS:
        at = [i for i, one in enumerate(groups) if one == group]
        by_group[group] = {
            "sentences": len(at),
            **_scores([wanted[i] for i in at], [got[i] for i in at]),
            "worth keeping": _kept([wanted[i] != "other" for i in at], [guesses[i].worth >= WORTH for i in at]),
        }
    return {
        "sentences": len(found),
        "without a guess": guesses.count(_NO_GUESS),
        **_scores(wanted, got),
        "worth keeping": _kept([one != "other" for one in wanted], [one.worth >= WORTH for one in guesses]),
        "calibration error of the kind": _calibration(
            [one.probability for one in guesses], [a == b for a, b in zip(wanted, got, strict=True)]
        ),
        "calibration error of worth": _calibration([one.worth for one in guesses], [one != "other" for one in wanted]),
        "texts a second": round(len(found) / seconds),
        "by language": by_group,
    }


def _talks(memory: Memory) -> dict[str, Any]:
    """What is kept of the test part's conversations, sentence by sentence."""
    wanted: list[bool] = []
    got: list[bool] = []
    groups: list[str] = []
    talks = conversations()
    for talk in talks:
        messages = [ConversationTurn(" ".join(text for text, _ in said), role, who) for role, who, said in talk.turns]
        kept = memory.extract(messages).kept
        for at, (_, _, said) in enumerate(talk.turns):
            texts = [one.text for one in kept if one.message == at]
            for text, worth in said:
                wanted.append(worth)
                got.append(any(text in one or one in text for one in texts))
                groups.append(_group(talk.language))
    found: dict[str, Any] = {"conversations": len(talks), **_kept(wanted, got)}
    for group in _GROUPS:
        at = [i for i, one in enumerate(groups) if one == group]
        found[group] = _kept([wanted[i] for i in at], [got[i] for i in at])
    return found


def _stored(memory: Memory, count: int) -> dict[str, Any]:
    """How long the kinds of stored memories take among many, and whether they are as good as those of new texts."""
    found = [one for one in statements(test=True) if one.role == "note"]
    drafts = [EntityDraft(f"m-{at}", "memory", (one.text,)) for at, one in enumerate(found)]
    filler = [EntityDraft(f"f-{at}", "memory", (f"Reading {at} of meter {at % 977}.",)) for at in range(count)]
    for start in range(0, len(filler), 5000):
        memory.create_entities(filler[start : start + 5000])
    memory.create_entities(drafts)
    memory.finding().reindex(memory.project, lambda lane, done, total: None)
    records = memory.open_nodes([draft.name for draft in drafts])[0].records
    times, used = [], []
    for _ in range(_ROUNDS):
        begun, used_before = time.perf_counter(), time.thread_time()
        guesses = memory.kinds_of(records)
        times.append((time.perf_counter() - begun) * 1e3)
        used.append((time.thread_time() - used_before) * 1e3)
    kinds = {f"m-{at}": one.kind for at, one in enumerate(found)}
    pairs = [(kinds[r.name], g[0].kind) for r, g in zip(records, guesses, strict=True) if g[0] is not None]
    return {
        "memories": count + len(drafts),
        "asked": len(records),
        "with a guess": len(pairs),
        "macro F1": _scores([a for a, _ in pairs], [b for _, b in pairs])["macro F1"],
        "p50 ms": round(statistics.median(times), 1),
        "p50 ms of CPU": round(statistics.median(used), 1),
    }


def _locomo(memory: Memory, folder: Path) -> dict[str, Any]:
    """How many of the turns that answer a question have a sentence that is kept, and how many of the others."""
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = [json.loads(line) for line in lines]
    evidence = {id for one in asked for id in one["relevant"]}
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        turns = [json.loads(line) for line in lines]
    counts = {True: [0, 0], False: [0, 0]}
    for at, turn in enumerate(turns):
        answers = turn["id"] in evidence
        if at % _EVERY and not (answers and at % 3 == 0):
            continue
        who, _, text = turn["text"].partition(": ")
        counts[answers][0] += 1
        counts[answers][1] += bool(memory.extract([ConversationTurn(text, "user", who)]).kept)
    return {
        name: {"turns": counts[answers][0], "kept": round(counts[answers][1] / max(1, counts[answers][0]), 3)}
        for answers, name in ((True, "turns that answer a question"), (False, "other turns"))
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write the figures down."""
    parser = argparse.ArgumentParser(prog="python -m bench.statements", description=__doc__)
    parser.add_argument("--eval", type=Path, help="a folder with locomo/ in it")
    parser.add_argument("--stored", type=int, default=_STORED, help="memories in the store that is asked")
    parser.add_argument("--results", type=Path, default=_RESULTS)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    for embedder in ("auto", "multi"):
        with tempfile.TemporaryDirectory() as folder:
            chosen = app.settings({"store": os.path.join(folder, "memory.db"), "embedder": embedder}, {})
            with app.open_memory(chosen, "bench") as memory:
                found[embedder] = {"sentences": _sentences(memory), "conversations": _talks(memory)}
                if options.eval is not None and embedder == "auto":
                    found[embedder]["LoCoMo"] = _locomo(memory, options.eval / "locomo")
                if embedder == "multi":  # whose vectors are made in half a millisecond
                    found[embedder]["stored"] = _stored(memory, options.stored)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    print(text)
    options.results.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
