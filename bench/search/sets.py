"""The question sets: gzipped JSON Lines of texts and of questions that name the texts that answer them."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["SEED", "SETS", "Batch", "Question", "QuestionSet", "Text", "read"]

SEED = 20_260_831


@dataclass(frozen=True, slots=True)
class Text:
    """One memory to store."""

    id: str
    text: str
    kind: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids that answer it, where to look (a group, or a list of ids), and the answer if it is known."""

    id: str
    text: str
    relevant: tuple[str, ...]
    category: str
    group: str = ""
    within: tuple[str, ...] = ()
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that are searched together and the questions put to them."""

    group: str
    texts: list[Text]
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class _Source:
    title: str
    folder: str
    texts: str
    kind: str
    relevant: str = "relevant"
    grouped: bool = False
    haystack: bool = False


SETS = {
    "locomo": _Source("LoCoMo, turns of one conversation", "locomo", "corpus", "message", grouped=True),
    "haystack": _Source(
        "LongMemEval, a haystack of 48 sessions for each question", "longmemeval", "corpus", "session", haystack=True
    ),
    "sessions": _Source("LongMemEval, all sessions pooled", "longmemeval", "corpus", "session"),
    "turns": _Source("LongMemEval, all turns pooled", "longmemeval", "corpus_turns", "message", "relevant_turns"),
    "scifact": _Source("SciFact, abstracts", "scifact", "corpus", "document"),
    "korquad": _Source("KorQuAD, Korean paragraphs", "korquad_ko", "corpus", "document"),
}


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set as it is measured."""

    name: str
    title: str
    texts: list[Text]
    questions: list[Question]
    haystack: bool

    def batches(self, apart: bool) -> Iterator[Batch]:
        """What is loaded and searched together.

        ``apart`` gives each haystack a store of its own, for a server that cannot search among named memories.
        """
        if self.haystack and apart:
            by_id = {text.id: text for text in self.texts}
            for question in self.questions:
                texts = [by_id[id] for id in question.within]
                yield Batch(question.id, texts, [replace(question, within=())])
            return
        for group in dict.fromkeys(question.group for question in self.questions):
            texts = [text for text in self.texts if text.group == group]
            yield Batch(group, texts, [question for question in self.questions if question.group == group])

    def sample(self, questions: int | None, texts: int | None) -> QuestionSet:
        """A seeded part: at most so many questions, of as few groups as hold them, and at most so many texts.

        The texts that answer a question stay; the others are drawn. Fewer texts make a set easier.
        """
        draw = random.Random(SEED)
        chosen = list(self.questions)
        if questions is not None and questions < len(chosen):
            groups = sorted({question.group for question in chosen})
            draw.shuffle(groups)
            pool: list[Question] = []
            for group in groups:
                if len(pool) < questions:
                    pool += [question for question in chosen if question.group == group]
            kept = {question.id for question in draw.sample(pool, questions)}
            chosen = [question for question in chosen if question.id in kept]
        needed = {id for question in chosen for id in (*question.relevant, *question.within)}
        if self.haystack and questions is not None:
            return replace(self, questions=chosen, texts=[text for text in self.texts if text.id in needed])
        used = {question.group for question in chosen}
        stock = [text for text in self.texts if text.group in used]
        if texts is not None and texts < len(stock):
            spare = [text.id for text in stock if text.id not in needed]
            needed |= set(draw.sample(spare, max(0, min(len(spare), texts - len(needed)))))
            stock = [text for text in stock if text.id in needed]
        return replace(self, questions=chosen, texts=stock)


def read(data: str, name: str, dated: bool = False) -> QuestionSet:
    """A whole set from the folder of sets. ``dated`` writes the date of a message or session before its text."""
    source = SETS[name]
    folder = os.path.join(data, source.folder)
    texts = [
        Text(
            row["id"],
            _dated(row) if dated else row["text"],
            source.kind,
            row.get("group", "") if source.grouped else "",
        )
        for row in _rows(os.path.join(folder, f"{source.texts}.jsonl.gz"))
    ]
    questions = [
        Question(
            row["id"],
            row["text"],
            tuple(row[source.relevant]),
            row.get("category", ""),
            row.get("group", "") if source.grouped else "",
            tuple(row["haystack48"]) if source.haystack else (),
            str(row.get("answer", "")),
        )
        for row in _rows(os.path.join(folder, "queries.jsonl.gz"))
        if row.get(source.relevant)
    ]
    return QuestionSet(name, source.title, texts, questions, source.haystack)


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _dated(row: dict[str, Any]) -> str:
    date = row.get("meta", {}).get("date")
    return f"({date}) {row['text']}" if date else str(row["text"])
