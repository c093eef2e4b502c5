"""The texts the models learn from, and the fifth of them that none of them ever sees."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "DATA", "LABELS", "Collection", "Conversation", "Pair", "Project", "Question", "Statement", "collections",
    "conversations", "is_test", "pairs", "parallel", "projects", "rows", "statements",
]  # fmt: skip

DATA = Path(__file__).parent / "data"
LABELS = ("conflict", "update", "same", "narrower", "compatible", "unrelated")


class Question(NamedTuple):
    """A question, the numbers of the texts that answer it (none where nothing does), its kind and its language."""

    text: str
    evidence: tuple[int, ...]
    kind: str
    language: str


class Collection(NamedTuple):
    """Texts that one person or team might have stored, and questions about them."""

    id: str
    language: str
    kind: str
    texts: tuple[str, ...]
    questions: tuple[Question, ...]


class Pair(NamedTuple):
    """Two statements and what the second one is to the first."""

    a: str
    b: str
    label: str
    language: str


class Project(NamedTuple):
    """Statements about one subject, and what some of them are to each other; others can hold together."""

    language: str
    items: tuple[str, ...]
    pairs: tuple[tuple[int, int, str], ...]


class Statement(NamedTuple):
    """A sentence, what kind of statement it is, and where it comes from: a note, a user or an assistant."""

    text: str
    kind: str
    role: str
    language: str


class Conversation(NamedTuple):
    """Turns, each a role, a speaker's name if there is one, and sentences with whether they are worth keeping."""

    language: str
    turns: tuple[tuple[str, str | None, tuple[tuple[str, bool], ...]], ...]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def is_test(key: str) -> bool:
    """Whether what this key names belongs to the fifth that is kept for measuring."""
    return _fifth(key) == 0


def _fifth(key: str) -> int:
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % 5


def collections(*, test: bool, folder: Path = DATA) -> list[Collection]:
    """The collections of one part. Questions that were written later stand in files of their own."""
    later: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("questions*.jsonl.gz")):
        for row in rows(path):
            later.setdefault(row["collection"], []).append(row)
    found = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        if path.name.startswith(("pairs", "projects", "questions", "parallel", "statements")):
            continue
        for row in rows(path):
            if is_test(row["id"]) == test:
                texts = tuple(f"{one['who']}: {one['text']}" if one.get("who") else one["text"] for one in row["items"])
                asked = tuple(
                    Question(q["q"], tuple(q["evidence"]), q["type"], q.get("lang") or row["lang"])
                    for q in row["questions"] + later.get(row["id"], [])
                )
                found.append(Collection(row["id"], row["lang"], row["kind"], texts, asked))
    return found


def pairs(*, test: bool, folder: Path = DATA) -> list[Pair]:
    """The pairs of one part; pairs that share their first statement are in the same one."""
    return [
        Pair(row["a"], row["b"], row["label"], row["lang"])
        for path in sorted(folder.glob("pairs*.jsonl.gz"))
        for row in rows(path)
        if is_test(row["a"]) == test
    ]


def projects(part: str, *, folder: Path = DATA) -> list[Project]:
    """The small projects of one part: "train", "fit" (a fifth, from which the engine's borders are fitted), "test"."""
    return [
        Project(row["lang"], tuple(row["items"]), tuple((i, j, label) for i, j, label in row["pairs"]))
        for path in sorted(folder.glob("projects*.jsonl.gz"))
        for row in rows(path)
        if {0: "test", 1: "fit"}.get(_fifth(row["id"]), "train") == part
    ]


def parallel(folder: Path = DATA) -> list[tuple[str, str, str]]:
    """English sentences of the training part, a language, and the same sentence in it."""
    return [
        (row["en"], language, text)
        for path in sorted(folder.glob("parallel*.jsonl.gz"))
        for row in rows(path)
        for language, text in row.items()
        if language != "en"
    ]


def statements(*, test: bool, folder: Path = DATA) -> list[Statement]:
    """The sentences of one part with their kinds. Those of the test part were written apart, on other subjects."""
    names = ("test",) if test else ("en", "ko", "multi")
    return [
        Statement(row["text"], row["kind"], row["role"], row["lang"])
        for name in names
        for row in rows(folder / f"statements_{name}.jsonl.gz")
    ]


def conversations(folder: Path = DATA) -> list[Conversation]:
    """The conversations of the test part."""
    return [
        Conversation(
            row["lang"],
            tuple(
                (turn["role"], turn.get("who"), tuple((text, kept) for text, kept in turn["sentences"]))
                for turn in row["turns"]
            ),
        )
        for row in rows(folder / "statements_conversations.jsonl.gz")
    ]
