"""What was asked for on the command line, and where the parts of a run work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.search.sets import QuestionSet, read

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One run. ``sample`` and ``most`` limit questions and texts of a set; None takes all of them."""

    data: str | None
    folder: str
    results: str
    quick: bool
    sets: Sequence[str]
    sample: int | None
    most: int | None
    dated: bool
    embedders: Sequence[str]
    variants: Sequence[str]
    peers: Sequence[str]
    sizes: Sequence[int]

    @property
    def form(self) -> str:
        """What the results call this run: they stand for the whole sets only in the full form."""
        return "quick" if self.quick else "full"

    def question_sets(self, sample: int | None, most: int | None) -> Iterator[QuestionSet]:
        """The chosen sets, or a part of each that is the same for every side."""
        if self.data is None:
            raise SystemExit("The question sets are not part of the repository: give their folder with --data DIR.")
        for name in self.sets:
            yield read(self.data, name, self.dated).sample(self.sample or sample, self.most or most)

    def scratch(self, name: str) -> str:
        """A new empty folder of the run."""
        return tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder)

    def path(self, name: str) -> str:
        """Where the kept result of a part lies."""
        return os.path.join(self.results, f"{name}.json")
