"""Evidence within a budget: of what the best twenty hits hold, how much stands in an answer of 2,000 tokens?"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from bench.agents.definitions import count
from bench.client import Server
from bench.search.sets import Batch, QuestionSet, Text, read

__all__ = ["run"]

_BUDGET = 2_000
_UNLIMITED = 100_000
_PIECE = 60  # characters of a turn that must stand in an answer, one after another, for the turn to count as shown
_BESIDE = ("  before: ", "  after: ", "  why: ", "  superseded by ")  # lines that are not of the memory itself


def run(folder: str, data: str, questions: int, texts: int | None) -> dict[str, Any]:
    """The share of questions whose whole evidence stands in the answer, within the budget and without one.

    Beside it, of the questions whose answer stands word for word in their evidence, how often it stands in ours.
    """
    found = {}
    for name in ("locomo", "turns"):
        found[name] = _measure(folder, read(data, name).sample(questions, texts))
        print(name, found[name], file=sys.stderr, flush=True)
    return found


def _measure(folder: str, asked: QuestionSet) -> dict[str, Any]:
    store = os.path.join(folder, f"{asked.name}.db")
    rows, literal, answers = [], [], []
    environment = {**os.environ, "POLYMNIA_STORE": store}
    for batch in asked.batches(apart=False):
        _fill(environment, batch)
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
        "memories": len(asked.texts),
        "all evidence within the budget": round(shown, 4),
        "all evidence in the best twenty": round(top, 4),
        "ratio": round(shown / top, 4),
        "literal answers": len(literal),
        "literal answer within the budget": sum(row[0] for row in literal),
        "literal answer in the best twenty": sum(row[1] for row in literal),
        "tokens p50": sizes[len(sizes) // 2],
        "tokens max": sizes[-1],
    }


def _fill(environment: dict[str, str], batch: Batch) -> None:
    """Store the turns of a batch, in order, and give them their vectors."""
    flags = ["--project", _project(batch)]
    with Server([sys.executable, "-m", "polymnia", "stdio", "--dialect", "native", *flags], environment) as server:
        server.hello()
        for start in range(0, len(batch.texts), 1000):
            turns = [_turn(one) for one in batch.texts[start : start + 1000]]
            answer = server.call("remember", {"conversation": turns, "session": "talk", "extract": False})
            if answer.failed:
                raise RuntimeError(answer.line[:400])
    subprocess.run(
        [sys.executable, "-m", "polymnia", "reindex", *flags], env=environment, check=True, stdout=subprocess.DEVNULL
    )


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
