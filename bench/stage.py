"""Where a run takes place: its folder, its form, and the graphs prepared once for all benchmarks."""

from __future__ import annotations

import glob
import os
import shutil
import time
from dataclasses import dataclass, field
from functools import cached_property

from bench.graph import NODES, SEED, Graph, synthetic, wordnet
from bench.sides import Polymnia, Reference

__all__ = ["Imported", "Stage"]


@dataclass(frozen=True, slots=True)
class Imported:
    """A store that holds a graph, and what it cost to fill it."""

    place: str
    seconds: float
    report: str


@dataclass
class Stage:
    """The folder of one run, and what benchmarks share in it."""

    folder: str
    quick: bool
    wordnet: str | None = None
    seed: int = SEED
    _files: dict[int, str] = field(default_factory=dict)
    _stores: dict[int, Imported] = field(default_factory=dict)
    _places: int = 0

    @cached_property
    def graph(self) -> Graph:
        """The whole graph of this run."""
        if self.wordnet is not None:
            return wordnet(self.wordnet)
        return synthetic(20_000 if self.quick else NODES)

    def place(self, name: str) -> str:
        """A path nobody has used yet, in a folder of its own."""
        self._places += 1
        folder = os.path.join(self.folder, f"{self._places:04d}")
        os.mkdir(folder)
        return os.path.join(folder, name)

    def file(self, size: int) -> str:
        """A graph file with the first ``size`` entities."""
        if size not in self._files:
            path = self.place("graph.jsonl")
            self.graph.first(size).write(path)
            self._files[size] = path
        return self._files[size]

    def imported(self, size: int) -> Imported:
        """A store filled by the import command from that file; read it, but do not write to it."""
        if size not in self._stores:
            file, place = self.file(size), self.place("store.db")
            begun = time.perf_counter()
            report = Polymnia(place).take(file)
            self._stores[size] = Imported(place, time.perf_counter() - begun, report)
            self._look(place, size)
        return self._stores[size]

    def _look(self, place: str, size: int) -> None:
        """A fast import that took nothing must not pass for a fast import."""
        names = {self.graph.entities[0][0], self.graph.entities[:size][-1][0]}
        with Polymnia(place).start() as server:
            server.hello()
            found = server.expect("open_nodes", {"names": sorted(names)})["entities"]
        if {entity["name"] for entity in found} != names:
            raise RuntimeError("the store does not hold what was imported")

    def pair(self, size: int) -> tuple[Polymnia, Reference]:
        """Both sides on copies of the same graph, theirs to write to."""
        store = self.place("store.db")
        for part in glob.glob(glob.escape(self.imported(size).place) + "*"):
            shutil.copyfile(part, store + part.removeprefix(self.imported(size).place))
        reference = Reference(self.place("memory.jsonl"))
        reference.take(self.file(size))
        return Polymnia(store), reference

    def empty_pair(self) -> tuple[Polymnia, Reference]:
        """Both sides on places where nothing exists yet."""
        return Polymnia(self.place("store.db")), Reference(self.place("memory.jsonl"))
