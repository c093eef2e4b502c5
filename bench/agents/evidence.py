"""Evidence within a budget: of what the best twenty hits hold, how much stands in an answer of 2,000 tokens?

Every question is asked of all texts of its set. The display was chosen by a part of the questions; the figure for new
ones is that of the others, which the choice has not seen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from random import Random
from typing import Any

from bench.agents.definitions import count
from bench.client import Server
from bench.search.sets import SEED, Batch, Question, QuestionSet, Text, read

__all__ = ["parts", "run"]

_BUDGET = 2_000
_UNLIMITED = 100_000
_PIECE = 60  # characters of a turn that must stand in an answer, one after another, for the turn to count as shown
_BESIDE = ("  before: ", "  after: ", "  why: ", "  superseded by ")  # lines that are not of the memory itself
_CHOOSING = (100, 50)  # samples the display was chosen by; the smaller is no part of the larger


def run(stores: str, data: str, questions: int | None) -> dict[str, Any]:
    """The share of questions whose whole evidence stands in the answer, within the budget and without one.

    Beside it, of the questions whose answer stands word for word in their evidence, how often it stands in ours. A
    store that a run before has filled is used again.
    """
    found: dict[str, Any] = {}
    for name in ("locomo", "turns"):
        asked = read(data, name)
        environment = {**os.environ, "POLYMNIA_STORE": os.path.join(stores, f"{name}.db")}
        _fill(environment, asked)
        found[name] = {"memories": len(asked.texts)}
        for part, chosen in parts(asked, questions).items():
            found[name][part] = _measure(environment, replace(asked, questions=chosen))
            print(name, part, found[name][part], file=sys.stderr, flush=True)
    return found


def parts(asked: QuestionSet, questions: int | None = None) -> dict[str, list[Question]]:
    """The questions the display was chosen by, and those held out: of other conversations where a set has several."""
    samples = [asked.sample(size, None).questions for size in _CHOOSING]
    known = {one.id for sample in samples for one in sample}
    groups = {one.group for one in samples[0] if one.group}
    others = [one for one in asked.questions if one.id not in known and one.group not in groups]
    if questions is not None and questions < len(others):
        drawn = {one.id for one in Random(SEED).sample(others, questions)}
        others = [one for one in others if one.id in drawn]
    return {"choosing": samples[0], "held out": others}


def _measure(environment: dict[str, str], asked: QuestionSet) -> dict[str, Any]:
    rows, literal, answers = [], [], []
    with Server([sys.executable, "-m", "polymnia", "stdio", "--dialect", "native"], environment) as server:
        server.hello()
        for batch in asked.batches(apart=False):
            texts = {one.id: " ".join(_turn(one)["text"].split()) for one in batch.texts}
            for question in batch.questions:
                evidence = [texts[id] for id in question.relevant if id in texts]
                if not evidence:
                    continue
                given = {"query": question.text, "project": _project(batch), "limit": 20}
                both = [_text(server, {**given, "budget": size}) for size in (_BUDGET, _UNLIMITED)]
                rows.append([all(_stands(one, _own(text)) for one in evidence) for text in both])
                wanted = question.answer.casefold()
                if wanted and any(wanted in one.casefold() for one in evidence):
                    literal.append([wanted in " ".join(text.split()).casefold() for text in both])
                answers.append(both[0])
    sizes = sorted(count(answers))
    shown, top = (sum(row[i] for row in rows) / len(rows) for i in (0, 1))
    return {
        "questions": len(rows),
        "all evidence within the budget": round(shown, 4),
        "all evidence in the best twenty": round(top, 4),
        "ratio": round(shown / top, 4),
        "literal answers": len(literal),
        "literal answer within the budget": sum(row[0] for row in literal),
        "literal answer in the best twenty": sum(row[1] for row in literal),
        "tokens p50": sizes[len(sizes) // 2],
        "tokens max": sizes[-1],
    }


def _fill(environment: dict[str, str], asked: QuestionSet) -> None:
    """Store all turns, in order, and give them their vectors; a store that was filled before has both."""
    filled = environment["POLYMNIA_STORE"] + ".filled"
    if os.path.exists(filled):
        return
    for batch in asked.batches(apart=False):
        flags = ["--project", _project(batch)]
        with Server([sys.executable, "-m", "polymnia", "stdio", "--dialect", "native", *flags], environment) as server:
            server.hello()
            for start in range(0, len(batch.texts), 1000):
                turns = [_turn(one) for one in batch.texts[start : start + 1000]]
                answer = server.call("remember", {"conversation": turns, "session": "talk", "extract": False})
                if answer.failed:
                    raise RuntimeError(answer.line[:400])
        reindex = [sys.executable, "-m", "polymnia", "reindex", *flags]
        subprocess.run(reindex, env=environment, check=True, stdout=subprocess.DEVNULL)
    with open(filled, "w", encoding="ascii"):
        pass


def _turn(one: Text) -> dict[str, str]:
    who, colon, said = one.text.partition(": ")
    if not colon or len(who) > 30:
        return {"role": "user", "text": one.text}
    return {"role": who, "text": said}


def _own(text: str) -> str:
    """What an answer shows of the memories themselves, without the turns around them."""
    return " ".join(" ".join(line for line in text.splitlines() if not line.startswith(_BESIDE)).split())


def _stands(turn: str, text: str) -> bool:
    """Whether a piece of the turn, or all of a short one, stands in a text."""
    return any(turn[at : at + _PIECE] in text for at in range(max(1, len(turn) - _PIECE + 1)))


def _project(batch: Batch) -> str:
    return batch.group or "all"


def _text(server: Server, arguments: dict[str, Any]) -> str:
    answer = server.call("recall", arguments)
    if answer.failed:
        raise RuntimeError(answer.line[:400])
    return str(answer.message["result"]["content"][0]["text"])
