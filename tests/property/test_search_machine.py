"""The index of every process agrees with the store, whatever is done to it, by whom, and however late it looks."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from form import by_form, mostly_long
from polymnia import EntityDraft, Memory
from polymnia.dialects.graph.behaviours import BEHAVIOURS
from polymnia.engine.ports import Snapshot, Store
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.engine.search.index import Index, Vectors
from polymnia.engine.search.results import Query, ResultPage
from polymnia.engine.search.worker import embed_some
from polymnia.errors import Conflict
from polymnia.storage import indexes
from stdio_client import Place

PROJECT = "default"
NAMES = st.sampled_from(["Ann", "Bob Stone", "서울", "ADR-016", "x"])
KINDS = st.sampled_from(["person", "city", "decision"])
LONG = " ".join(f"Sentence {number} tells about the {word}." for number, word in enumerate(["harbour", "tea"] * 60))
TEXTS = st.sampled_from(
    ["likes green tea", "works at the harbour", "서울에 산다", "plays guitar", "tea", "in May 2023", LONG, "", "…"]
)
TAGS = st.sampled_from([(), ("storage",), ("music", "green")])
SUMMARIES = st.sampled_from([None, "a summary about guitars", "harbour master"])
DRAFTS = st.builds(
    lambda name, kind, texts, tags, summary: EntityDraft(name, kind, tuple(texts), tags=tags, summary=summary),
    NAMES, KINDS, st.lists(TEXTS, max_size=3), TAGS, SUMMARIES,
)  # fmt: skip
QUERIES = ("green tea", "who works at the harbour", "서울", "guitars", "decision", "storage", "stone", "teas")
SIDES = st.integers(0, 1)
EYES = st.frozensets(st.integers(0, 2))
"""Who looks after a step; who does not has more to take in the next time."""


class Toy:
    """A bag of hashed words: instantaneous, and the same in every process."""

    id = "toy"
    dimensions = 64
    near = False
    strong = True
    unrelated = 0.0
    answers = (0.0, 1.0)

    def knows(self, text: str) -> bool:
        return "…" not in text

    def load(self) -> None: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        made = np.zeros((len(texts), 64), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % 64] += 1
            row[63] += 0.1
            row /= np.linalg.norm(row)
        return made


class Process:
    """A store, a memory and a finder of its own, as another process has them."""

    def __init__(self, place: Place, clock: Any) -> None:
        self.store = place.open_store(clock=clock, analyst=Analysis())
        self.finder = finder(self.store)
        self.memory = Memory(
            self.store, policy=BEHAVIOURS["simple"].policy, project=PROJECT, finding=LazySearch(lambda: self.finder)
        )

    def embed(self, most: int) -> None:
        """What the work in the background does, one batch of it."""
        (channel,) = self.finder.channels
        wanted = self.finder.waiting(PROJECT, channel, most)
        with self.store.read(PROJECT) as snapshot:
            texts = snapshot.texts_of(sorted({number for number, _ in wanted}))
        embed_some(self.store, PROJECT, channel, texts, wanted)


def finder(store: Store) -> Finder:
    """A finder whose model is ready, and that does nothing in the background."""
    made = Finder(store, embedders=[Toy()])
    made._worker.notice = lambda project: None  # type: ignore[method-assign]
    assert made.channels[0].load()
    return made


# ── what an index says, in plain values ─────────────────────────────────────────────────────────────────────


def living(index: Index) -> list[tuple[int, int, int]]:
    """Text, part and memory of every passage that can be found."""
    rows = np.flatnonzero(index.passages["alive"])
    columns = index.passages
    memories = index.memories["number"][columns["memory"][rows]]
    return sorted(zip(columns["text"][rows].tolist(), columns["part"][rows].tolist(), memories.tolist(), strict=True))


def standing(index: Index, snapshot: Snapshot, term: str) -> dict[tuple[int, int], int]:
    """The passages that hold a term and can be found, with how often."""
    columns = index.passages
    found = {}
    for row, count, length in index.postings(snapshot, term).tolist():
        if columns["alive"][row]:
            key = (int(columns["text"][row]), int(columns["part"][row]))
            assert key not in found, f"{term} stands twice at {key}"
            assert length == columns["length"][row]
            found[key] = count
    return found


def pictured(index: Index, snapshot: Snapshot) -> dict[tuple[int, int], tuple[int, float]]:
    """The vector of every passage that can be found and has one: its arrival, and how near it is to a question."""
    vectors = index.vectors["toy"]
    rows = np.flatnonzero(index.passages["alive"] & (vectors.arrival[: index.count] > 0))
    near = vectors.cosines(snapshot, Toy().embed(["green tea at the harbour"])[0], rows)
    columns = index.passages
    return {
        (int(columns["text"][row]), int(columns["part"][row])): (int(vectors.arrival[row]), round(float(one), 6))
        for row, one in zip(rows, near, strict=True)
    }


def loaded(snapshot: Snapshot) -> Index:
    """An index that has followed nothing."""
    index = Index(Analysis())
    index.vectors["toy"] = Vectors("toy", 64)
    index.follow(snapshot)
    return index


def check(index: Index, snapshot: Snapshot) -> None:
    """The index says what the texts say, and what a new index says."""
    last = snapshot.numbers[1]
    passages = list(Analysis()(snapshot.texts(0, last)))
    truth = sorted((one.text, one.part, one.memory) for one in passages)
    fresh = loaded(snapshot)
    assert living(fresh) == truth
    assert living(index) == truth
    terms: dict[str, dict[tuple[int, int], int]] = {}
    for one in passages:
        for term, count in one.terms.items():
            terms.setdefault(term, {})[one.text, one.part] = count
    for term in {*terms, *snapshot.terms("", "\U0010ffff", 100_000), *index.recent_terms("", "\U0010ffff")}:
        assert standing(fresh, snapshot, term) == terms.get(term, {}), term
        assert standing(index, snapshot, term) == terms.get(term, {}), term
    kept = {(text, part): arrival for arrival, text, part, bits in snapshot.vectors("toy", 0, 100_000) if bits}
    there = {(text, part) for text, part, _ in truth}
    assert {key: arrival for key, (arrival, _) in pictured(fresh, snapshot).items()} == {
        key: arrival for key, arrival in kept.items() if key in there
    }
    assert pictured(index, snapshot) == pictured(fresh, snapshot)
    assert weighed(index) == weighed(fresh)


def weighed(index: Index) -> dict[tuple[int, int], tuple[Any, ...]]:
    """What else is known of every passage that can be found."""
    columns = index.passages
    names = ("thread", "day", "script", "length", "embeds", "weight")
    return {
        (int(columns["text"][row]), int(columns["part"][row])): tuple(columns[name][row].item() for name in names)
        for row in np.flatnonzero(columns["alive"])
    }


def hits(finder: Finder, query: str) -> list[tuple[str, float]]:
    found = finder.search(PROJECT, Query(text=query, now=1_700_000_000_000_000), ResultPage(limit=20))
    return [(hit.record.name, round(hit.score, 3)) for hit in found.hits]


class SearchMachine(RuleBasedStateMachine):
    """Two processes write and search, a third one only searches."""

    @initialize()
    def open(self) -> None:
        self.place = Place(Path(tempfile.mkdtemp(prefix="polymnia-machine-")))
        self.time = 1_700_000_000_000_000
        self.processes = [Process(self.place, self.tick) for _ in range(3)]
        self.changes = 0

    def tick(self) -> int:
        self.time += 1000
        return self.time

    def teardown(self) -> None:
        if hasattr(self, "processes"):
            try:
                self.look(frozenset({0, 1, 2}))
            finally:
                for process in self.processes:
                    process.memory.close()
                self.place.close()
                shutil.rmtree(self.place.folder, ignore_errors=True)  # a thread may be closing its files still

    def look(self, eyes: frozenset[int]) -> None:
        for number in sorted(eyes):
            finder = self.processes[number].finder
            with finder.at(PROJECT) as view:
                check(view.index, view.snapshot)
        if len(eyes) > 1:
            self.search(eyes)

    def search(self, eyes: frozenset[int]) -> None:
        store = self.processes[2].store
        for query in QUERIES:
            expected = hits(finder(store), query)
            for number in sorted(eyes):
                assert hits(self.processes[number].finder, query) == expected, query

    @rule(who=SIDES, eyes=EYES, drafts=st.lists(DRAFTS, min_size=1, max_size=2))
    def create(self, who: int, eyes: frozenset[int], drafts: list[EntityDraft]) -> None:
        """Also replaces: that is how this dialect treats a taken name."""
        self.processes[who].memory.create_entities(drafts)
        self.changes += 1
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, name=NAMES, texts=st.lists(TEXTS, min_size=1, max_size=2))
    def observe(self, who: int, eyes: frozenset[int], name: str, texts: list[str]) -> None:
        self.processes[who].memory.add_observations([(name, texts)])
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, name=NAMES, text=TEXTS)
    def unobserve(self, who: int, eyes: frozenset[int], name: str, text: str) -> None:
        self.processes[who].memory.delete_observations([(name, [text])])
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, names=st.lists(NAMES, min_size=1, max_size=2))
    def delete(self, who: int, eyes: frozenset[int], names: list[str]) -> None:
        self.processes[who].memory.delete_entities(names)
        self.look(eyes)

    @precondition(lambda self: self.changes)
    @rule(who=SIDES, eyes=EYES, back=st.integers(0, 4))
    def undo(self, who: int, eyes: frozenset[int], back: int) -> None:
        memory = self.processes[who].memory
        changes = memory.changes(5)
        with suppress(Conflict):
            memory.undo(changes[min(back, len(changes) - 1)].id if back else None)
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, name=NAMES)
    def purge(self, who: int, eyes: frozenset[int], name: str) -> None:
        self.processes[who].memory.purge([name])
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, most=st.integers(0, 8))
    def list_words(self, who: int, eyes: frozenset[int], most: int) -> None:
        with self.processes[who].store.write(PROJECT, "test", "list") as tx:
            tx.index_words(most)
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, again=st.booleans())
    def drop_words(self, who: int, eyes: frozenset[int], again: bool) -> None:
        """Drop the index, perhaps with a new one at once."""
        with self.processes[who].store.write(PROJECT, "test", "drop") as tx:
            tx.drop_words()
            if again:
                tx.index_words(1000)
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, most=st.integers(1, 8))
    def embed(self, who: int, eyes: frozenset[int], most: int) -> None:
        self.processes[who].embed(most)
        self.look(eyes)

    @rule(who=SIDES, eyes=EYES, anew=st.booleans())
    def reindex(self, who: int, eyes: frozenset[int], anew: bool) -> None:
        health = self.processes[who].finder.reindex(PROJECT, lambda lane, done, total: None, anew=anew)
        assert (health.pending, health.waiting_words) == (0, 0)
        self.look(eyes)


@pytest.mark.parametrize("unlisted", mostly_long([4, 0]), ids=["listed now and then", "every text listed"])
def test_every_index_agrees_with_the_store(unlisted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_UNLISTED", unlisted)
    monkeypatch.setattr(indexes, "_MAX_LISTED", 3)
    run_state_machine_as_test(
        SearchMachine,
        settings=settings(
            max_examples=by_form(4, 20),
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
