"""What is found: every side answers the same questions about the same texts."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bench import probe
from bench.search.door import Polymnia
from bench.search.metrics import Figures, figures, macro, mean
from bench.search.sets import Batch, Question, QuestionSet
from bench.search.side import Asker, Clock, Family, Loading

__all__ = ["LIMIT", "Sheet", "Shelves", "measure"]

LIMIT = 10
TOKEN = 4  # characters, a usual estimate for English

Shelves = dict[tuple[str, str, tuple[str, ...]], tuple[str, Loading]]
"""What is stored already: by whom, which group, which texts; where it lies and what that cost."""


@dataclass(slots=True)
class Sheet:
    """Everything one variant of one family did on one set."""

    side: str
    rows: list[tuple[str, Figures]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    characters: int = 0
    cpu: float = 0.0
    resident: int = 0
    empty: int = 0
    rising: int | None = None

    def check(self, batch: Batch, asker: Asker) -> None:
        """Put the questions once more to count the answers in which a score is higher than the one before it."""
        rising = 0
        for question in batch.questions:
            scores = self._ask(asker, question).scores
            rising += any(later > earlier for earlier, later in pairwise(scores))
        self.rising = (self.rising or 0) + rising

    def add(self, batch: Batch, asker: Asker) -> None:
        """Put the questions of a batch; the first one is put twice, so that loading a model is not in the figures."""
        self._ask(asker, batch.questions[0])
        clock = Clock(asker.server.pid)
        for question in batch.questions:
            found = self._ask(asker, question)
            self.rows.append((question.category, figures(found.ids, question.relevant)))
            self.seconds.append(found.seconds)
            self.characters += found.characters
            self.empty += not found.ids
        self.cpu += clock.stop()
        self.resident = max(self.resident, probe.memory(asker.server.pid)[0])

    def kept(self, loadings: Sequence[Loading]) -> dict[str, Any]:
        """The figures as they are kept."""
        averages, by_category = macro(self.rows)
        wall, n = probe.spread(self.seconds), len(self.rows)
        texts = sum(loading.texts for loading in loadings)
        return {
            "side": self.side,
            "when": time.strftime("%Y-%m-%d", time.gmtime()),
            "n": n,
            "texts": texts,
            **mean([row for _, row in self.rows]),
            "macro": averages,
            "by_category": by_category,
            "p50_ms": wall.p50 * 1e3,
            "p95_ms": wall.p95 * 1e3,
            "cpu_ms": self.cpu / n * 1e3,
            "tokens": self.characters / n / TOKEN,
            "empty": self.empty / n,
            "rising": self.rising,
            "resident_mb": self.resident / 1024,
            "load_seconds": sum(loading.seconds for loading in loadings),
            "load_ms": sum(loading.seconds for loading in loadings) / texts * 1e3,
            "load_cpu_ms": sum(loading.cpu_seconds for loading in loadings) / texts * 1e3,
            "refused": sum(loading.refused for loading in loadings),
            "left": sum(loading.left for loading in loadings),
        }

    def _ask(self, asker: Asker, question: Question) -> Any:
        return asker.find(question.text, LIMIT, question.within)


def measure(
    family: Family, asked: QuestionSet, folder: str, variants: Sequence[str], shelves: Shelves | None = None
) -> Iterator[dict[str, Any]]:
    """Load a set once and let each variant answer all of it; yields the figures of one variant after another.

    With ``shelves`` what was stored stays there, for another set of questions about the same texts.
    """
    sheets = {variant: Sheet(f"{family.name} · {variant}") for variant in variants}
    loadings: list[Loading] = []
    batches = list(asked.batches(apart=not family.filters))
    for number, batch in enumerate(batches, 1):
        key = (family.name, batch.group, tuple(text.id for text in batch.texts))
        if shelves is None or key not in shelves:
            _tell(f"{asked.name}: {family.name} stores {len(batch.texts)} texts ({number} of {len(batches)})")
            place = tempfile.mkdtemp(dir=folder)
            loading = family.load(place, batch.group, batch.texts)
        else:
            place, loading = shelves[key]
        loadings.append(loading)
        for variant, sheet in sheets.items():
            _tell(f"{asked.name}: {sheet.side} answers {len(batch.questions)} questions ({number} of {len(batches)})")
            asker = _asker(family, asked, place, batch, variant)
            try:
                sheet.add(batch, asker)
            finally:
                asker.close()
            if isinstance(family, Polymnia) and family.filters:
                library = family.ask_within(place, variant, batch.group)
                try:
                    sheet.check(batch, library)
                finally:
                    library.close()
        if shelves is None:
            shutil.rmtree(place, ignore_errors=True)
        else:
            shelves[key] = place, loading
    yield from (sheet.kept(loadings) for sheet in sheets.values())


def _asker(family: Family, asked: QuestionSet, place: str, batch: Batch, variant: str) -> Asker:
    if asked.haystack and isinstance(family, Polymnia) and family.filters:
        return family.ask_within(place, variant)
    return family.ask(place, batch.group, variant)


def _tell(line: str) -> None:
    width = shutil.get_terminal_size().columns - 1
    if sys.stderr.isatty():
        print(f"\r{line[:width]:<{width}}", end="", file=sys.stderr, flush=True)
