"""The store against a plain dict: whatever is done to both, they agree, and the past stays readable."""

from __future__ import annotations

import copy
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from form import by_form
from polymnia import EntityDraft, Memory, connect
from polymnia.storage import indexes
from polymnia.storage.sqlite import grams
from stdio_client import Place

NAMES = st.sampled_from(["ann", "Ann", "서울", "straße", "x"])
TEXTS = st.sampled_from(
    ["likes tea", "Likes TEA", "서울에 산다", "STRASSE", "İstanbul", "100%", 'a "b" \\ c', "", "tea"]
)
QUERIES = st.sampled_from(["tea", "TE", "t", "서울", "울", "ß", "ss", "İ", "i", "%", '"', "\\", "", "nothing", "한"])
KINDS = st.sampled_from(["person", "city", "Ort"])
Model = dict[str, Any]


def folded(text: str) -> str:
    return text.casefold()


class StoreMachine(RuleBasedStateMachine):
    """Random verbs on a memory with the most forgiving manners, and on a dict beside it."""

    @initialize()
    def open(self) -> None:
        self.place = Place(Path(tempfile.mkdtemp(prefix="polymnia-machine-")))
        self.time = 1_700_000_000_000_000
        self.memory = self.connect()
        self.model: Model = {"entities": {}, "relations": []}
        self.done: list[Model] = []  # states to go back to, one a standing change
        self.past: list[tuple[int, Model]] = []

    def connect(self) -> Memory:
        memory = connect(self.place.address, graph="simple")
        memory.unscreened._clock = self.tick  # type: ignore[attr-defined]
        return memory

    def tick(self) -> int:
        self.time += 1000
        return self.time

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            self.place.close()
            shutil.rmtree(self.place.folder, ignore_errors=True)  # a thread may be closing its files still

    def changed(self, before: Model) -> None:
        """Remember a state once something really changed."""
        self.done.append(before)
        self.past.append((self.time, copy.deepcopy(self.model)))

    @rule(drafts=st.lists(st.tuples(NAMES, KINDS, st.lists(TEXTS, max_size=3)), min_size=1, max_size=3))
    def create(self, drafts: list[tuple[str, str, list[str]]]) -> None:
        before = copy.deepcopy(self.model)
        self.memory.create_entities(EntityDraft(name, kind, tuple(texts)) for name, kind, texts in drafts)
        for name, kind, texts in drafts:
            self.model["entities"][name] = (kind, list(texts))
        self.changed(before)

    @rule(ends=st.tuples(NAMES, NAMES, st.sampled_from(["knows", "in"])))
    def relate(self, ends: tuple[str, str, str]) -> None:
        before = copy.deepcopy(self.model)
        self.memory.create_relations([ends])
        self.model["relations"].append(ends)
        self.changed(before)

    @rule(name=NAMES, texts=st.lists(TEXTS, min_size=1, max_size=2))
    def observe(self, name: str, texts: list[str]) -> None:
        before = copy.deepcopy(self.model)
        self.memory.add_observations([(name, texts)])
        if name in self.model["entities"]:
            self.model["entities"][name][1].extend(texts)
            self.changed(before)

    @rule(name=NAMES, text=TEXTS)
    def unobserve(self, name: str, text: str) -> None:
        before = copy.deepcopy(self.model)
        gone = self.memory.delete_observations([(name, [text])])
        kind, texts = self.model["entities"].get(name, ("", []))
        assert gone == texts.count(text)
        if gone:
            self.model["entities"][name] = (kind, [t for t in texts if t != text])
            self.changed(before)

    @rule(ends=st.tuples(NAMES, NAMES, st.sampled_from(["knows", "in"])))
    def unrelate(self, ends: tuple[str, str, str]) -> None:
        before = copy.deepcopy(self.model)
        gone = self.memory.delete_relations([ends])
        assert len(gone) == self.model["relations"].count(ends)
        if gone:
            self.model["relations"] = [r for r in self.model["relations"] if r != ends]
            self.changed(before)

    @rule(names=st.lists(NAMES, min_size=1, max_size=2))
    def delete(self, names: list[str]) -> None:
        before = copy.deepcopy(self.model)
        gone = {record.name for record in self.memory.delete_entities(names).records}
        assert gone == set(names) & self.model["entities"].keys()
        if gone:
            for name in gone:
                del self.model["entities"][name]
            self.model["relations"] = [r for r in self.model["relations"] if not {r[0], r[1]} & gone]
            self.changed(before)

    @precondition(lambda self: self.done)
    @rule()
    def undo(self) -> None:
        self.memory.undo()
        self.model = self.done.pop()
        self.past.append((self.time, copy.deepcopy(self.model)))

    @precondition(lambda self: self.past)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        at, model = data.draw(st.sampled_from(self.past))
        graph = self.memory.as_of(at)
        assert {r.name: (r.kind, list(r.observations)) for r in graph.records} == model["entities"]
        assert sorted(r.ends for r in graph.relations) == sorted(model["relations"])

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.connect()

    @rule(query=QUERIES)
    def search(self, query: str) -> None:
        self.finds(query)

    def finds(self, query: str) -> None:
        found = {record.name for record in self.memory.search_nodes(query).records}
        assert found == {
            name
            for name, (kind, texts) in self.model["entities"].items()
            if any(folded(query) in folded(text) for text in (name, kind, *texts))
        }

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "memory"):
            return
        graph = self.memory.read_graph()
        assert {r.name: (r.kind, list(r.observations)) for r in graph.records} == self.model["entities"]
        assert sorted(r.ends for r in graph.relations) == sorted(self.model["relations"])
        for query in ("likes tea", "straße", "서울에", "person"):  # long enough for the index
            self.finds(query)


@pytest.mark.parametrize("unindexed", [0, 4, 10_000], ids=["every text indexed", "both routes", "no text indexed"])
def test_the_store_agrees_with_a_plain_dict(unindexed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_UNINDEXED", unindexed)
    monkeypatch.setattr(grams, "_SCAN_BELOW", 0)
    monkeypatch.setattr(grams, "_SCAN_SHORT_BELOW", 3)
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=by_form(12, 40),
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
