"""Searching while models load, break, heal, lag behind or are exchanged: words always answer, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polymnia import EntityDraft, Memory, remark
from polymnia.engine.ports import Snapshot
from polymnia.engine.search import Analysis, LazySearch, finder, worker
from polymnia.engine.search.finder import Finder
from polymnia.engine.search.index import Index
from polymnia.engine.search.results import Found
from polymnia.errors import Invalid
from polymnia.storage.sqlite import SqliteStore

from .toys import Toy

PROJECT = "default"


class Bench:
    """A memory with the toys a test wants, as one process has it."""

    def __init__(self, path: Path, *toys: Toy, lanes: str = "all") -> None:
        self.store = SqliteStore(str(path), analyst=Analysis())
        self.finder = Finder(self.store, embedders=toys, lanes=lanes)
        self.memory = Memory(self.store, finding=LazySearch(lambda: self.finder, eager=True))
        self.memory.finding()

    def fill(self) -> None:
        self.memory.create_entities(
            [
                EntityDraft("Ann", "person", ("Drives an old automobile to work",)),
                EntityDraft("Bob", "person", ("Saw a movie about whales",)),
                EntityDraft("Rex", "pet", ("Barks at the doctor",)),
            ]
        )

    def ask(self, query: str) -> Found:
        return self.memory.search(query)

    def names(self, query: str) -> list[str]:
        return [hit.record.name for hit in self.ask(query).hits]

    def by_meaning(self, query: str) -> list[str]:
        return [hit.record.name for hit in self.memory.search(query, lanes="meaning").hits]

    def settle(self) -> None:
        """Wait until nothing is left to do in the background."""
        self.finder._worker.wait(PROJECT, 30)

    def codes(self, query: str) -> set[str]:
        return {note.code for note in self.ask(query).notes}

    def reindex(self, step: Callable[[str, int, int], None] = lambda lane, done, total: None, **how: bool) -> None:
        self.finder.reindex(PROJECT, step, **how)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """Makes benches on one store; whatever failed is tried again at once."""
    monkeypatch.setattr(finder, "_RETRY", 0.0)
    made: list[Bench] = []

    def make(*toys: Toy, lanes: str = "all") -> Bench:
        made.append(Bench(tmp_path / "memory.db", *toys, lanes=lanes))
        return made[-1]

    yield make
    for one in made:
        for channel in one.finder.channels:
            if isinstance(channel.embedder, Toy):
                channel.embedder.gate.set()
                channel.embedder.asking.set()
                channel.embedder.loading.set()
        one.memory.close()


def test_what_was_written_is_found_by_meaning_in_the_next_search(bench: Callable[..., Bench]) -> None:
    one = bench(Toy())
    one.fill()
    found = one.ask("who has a car")
    assert found.hits[0].record.name == "Ann"
    assert found.hits[0].why.similarity is not None
    assert (found.pending, found.notes) == (0, [])
    one.memory.add_observations([("Bob", ["Met a physician"])])
    assert set(one.by_meaning("doctor")) == {"Rex", "Bob"}


def test_without_a_model_words_answer_and_nothing_is_said_to_be_missing(bench: Callable[..., Bench]) -> None:
    one = bench()
    one.fill()
    found = one.ask("automobile")
    assert [hit.record.name for hit in found.hits] == ["Ann"]
    assert (found.pending, found.notes) == (0, [])


def test_a_model_that_cannot_be_loaded_leaves_words_and_a_note_that_says_why(bench: Callable[..., Bench]) -> None:
    toy = Toy()
    toy.unloadable = Invalid("The weights are missing", hint="Install them.")
    one = bench(toy)
    one.fill()
    found = one.ask("automobile")
    assert [hit.record.name for hit in found.hits] == ["Ann"]
    assert [note.code for note in found.notes] == ["no_meaning"]
    assert "The weights are missing" in remark(found.notes[0])
    assert "Install them." in remark(found.notes[0])
    toy.unloadable = None
    assert one.finder.channels[0].load()
    assert one.names("who has a car")[0] == "Ann"
    assert one.codes("car") == set()


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), Invalid("The service said no", hint="Ask again.")])
def test_a_model_that_breaks_leaves_words_and_heals_without_a_loss(
    bench: Callable[..., Bench], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_RETRY", 3600.0)
    toy = Toy()
    one = bench(toy)
    one.fill()
    one.settle()
    toy.broken = error
    one.memory.create_entities([EntityDraft("Tom", "pet", ("A kitten that sleeps",))])
    one.settle()
    found = one.ask("sleeps")
    assert [hit.record.name for hit in found.hits][:1] == ["Tom"]
    assert "no_meaning" in {note.code for note in found.notes}
    assert any(str(error.args[0]) in remark(note) for note in found.notes)
    toy.broken = None
    monkeypatch.setattr(finder, "_RETRY", 0.0)
    assert one.finder.channels[0].load()
    assert one.by_meaning("cat") == ["Tom"]
    assert one.codes("cat") == set()
    assert one.finder.health(PROJECT).pending == 0


def test_a_model_that_is_still_loading_is_not_waited_for_too_long(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_LOADING", 0.05)
    toy = Toy()
    toy.loading.clear()
    one = bench(toy)
    one.fill()
    found = one.ask("automobile")
    assert [hit.record.name for hit in found.hits] == ["Ann"]
    assert [note.code for note in found.notes] == ["loading"]
    toy.loading.set()
    assert one.finder.channels[0].ready.wait(30)
    assert one.names("who has a car")[0] == "Ann"
    assert one.codes("car") == set()


def test_a_slow_model_is_not_waited_for_and_the_answer_says_what_is_pending(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_CATCHING_UP", 0.05)
    toy = Toy()
    one = bench(toy)
    one.fill()
    one.settle()
    toy.gate.clear()
    one.memory.create_entities([EntityDraft("Tom", "pet", ("A kitten that sleeps",))])
    found = one.ask("sleeps")
    assert [hit.record.name for hit in found.hits][:1] == ["Tom"]
    assert found.pending == 1
    assert "pending" in {note.code for note in found.notes}
    assert one.names("who has a car")[0] == "Ann"
    toy.gate.set()
    one.settle()
    found = one.ask("cat")
    assert [hit.record.name for hit in found.hits] == ["Tom"]
    assert (found.pending, found.notes) == (0, [])


def test_a_model_that_does_not_answer_a_query_is_left_alone_until_it_does(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_RETRY", 3600.0)
    monkeypatch.setattr(finder, "_EMBEDDING", 0.05)
    toy = Toy()
    one = bench(toy)
    one.fill()
    one.settle()
    toy.asking.clear()
    found = one.ask("automobile")
    assert [hit.record.name for hit in found.hits] == ["Ann"]
    assert [note.code for note in found.notes] == ["no_meaning"]
    assert "within 0.05 s" in remark(found.notes[0])
    toy.asking.set()
    monkeypatch.setattr(finder, "_EMBEDDING", 30.0)
    monkeypatch.setattr(finder, "_RETRY", 0.0)
    assert one.finder.channels[0].load()
    assert one.by_meaning("car") == ["Ann"]
    assert one.codes("car") == set()


def test_writing_never_waits_for_a_model(bench: Callable[..., Bench]) -> None:
    toy = Toy()
    toy.gate.clear()
    one = bench(toy)
    one.fill()
    assert toy.begun.wait(30)
    # Whoever did wait would wait for this very thread.
    one.memory.add_observations([("Ann", ["Sings"])])
    one.memory.delete_entities(["Bob"])
    one.memory.purge(["Rex"])
    toy.gate.set()
    one.settle()
    assert one.by_meaning("car") == ["Ann"]
    with one.store.read(PROJECT) as snapshot:
        there = {text.id for text in snapshot.texts(0, 1000)}
        assert {text for _, text, _, _ in snapshot.vectors("toy", 0, 1000)} <= there


def test_a_head_that_changes_while_its_vector_is_made_gets_the_vector_of_what_it_says_now(
    bench: Callable[..., Bench],
) -> None:
    toy = Toy()
    one = bench(toy)
    one.fill()
    one.settle()
    toy.begun.clear()
    toy.gate.clear()
    with one.store.write(PROJECT, "test", "create") as tx:
        tx.add_records([EntityDraft("Tom", "pet", (), summary="A film")])
    one.finder.notify(PROJECT)
    assert toy.begun.wait(30)
    with one.store.write(PROJECT, "test", "replace") as tx:
        tx.replace_record(tx.ids(["Tom"])["Tom"], EntityDraft("Tom", "pet", (), summary="A physician"))
    toy.gate.set()
    one.settle()
    assert set(one.by_meaning("doctor")) >= {"Tom"}
    assert "Tom" not in one.by_meaning("movie")
    assert one.finder.health(PROJECT).pending == 0


def test_what_a_model_does_not_know_is_left_to_words_and_not_pending(bench: Callable[..., Bench]) -> None:
    one = bench(Toy())
    one.fill()
    one.memory.create_entities([EntityDraft("Worf", "person", ("tlhIngan maH",))])
    one.settle()
    found = one.ask("tlhIngan maH")
    assert found.hits[0].record.name == "Worf"
    assert (found.pending, found.notes) == (0, [])
    assert one.finder.health(PROJECT).pending == 0


def test_a_first_question_in_another_language_is_read_by_the_model_that_knows_it(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the index is being read for the first time, when it looks as if there were nothing in it."""

    class Everything(Toy):
        def knows(self, text: str) -> bool:
            return True

    one = bench(Toy("first"), Everything("second"))
    one.memory.create_entities([EntityDraft("Worf", "person", ("tlhIngan maH",))])
    one.settle()
    first = Toy("first")
    first.loading.clear()
    two = bench(first, Everything("second"))
    waits, begun, asked = threading.Event(), threading.Event(), threading.Event()
    follow, models, settled = Index.follow, Finder._needed, Finder._caught_up

    def begin(index: Index, snapshot: Snapshot) -> None:
        if first.loading.is_set() and threading.current_thread() is not asking:
            begun.set()
            assert asked.wait(30)
        follow(index, snapshot)

    def once_begun(self: Finder, project: str) -> Any:
        if waits.is_set():
            assert begun.wait(30)
        waits.set()
        return models(self, project)

    def note(*args: Any, **more: Any) -> Any:
        asked.set()
        return settled(*args, **more)

    monkeypatch.setattr(Index, "follow", begin)
    monkeypatch.setattr(Finder, "_needed", once_begun)
    monkeypatch.setattr(Finder, "_caught_up", note)
    found: list[list[str]] = []
    asking = threading.Thread(target=lambda: found.append(two.by_meaning("tlhIngan Hol maH")))
    asking.start()
    assert waits.wait(30)
    first.loading.set()
    asking.join(60)
    assert found == [["Worf"]]


def test_one_model_that_breaks_leaves_the_other_one_at_work(bench: Callable[..., Bench]) -> None:
    good, bad = Toy("good"), Toy("bad")
    bad.unloadable = RuntimeError("no room")
    one = bench(good, bad)
    one.fill()
    one.memory.create_entities([EntityDraft("Worf", "person", ("tlhIngan maH",))])  # which the first does not know
    one.settle()
    found = one.ask("who has a car")
    assert found.hits[0].record.name == "Ann"
    assert [note.code for note in found.notes] == ["no_meaning"]


def test_two_processes_make_each_vector_once_and_both_find_it(bench: Callable[..., Bench]) -> None:
    mine, other = Toy(), Toy()
    one, two = bench(mine), bench(other)
    one.fill()
    one.settle()
    assert two.by_meaning("car") == ["Ann"]
    assert other.embedded == []
    two.memory.add_observations([("Rex", ["Loves a kitten"])])
    two.settle()
    assert one.by_meaning("cat") == ["Rex"]
    assert len(mine.embedded) + len(other.embedded) == one.finder.health(PROJECT).passages - 3  # but for the heads


def test_many_read_one_index_at_once_and_a_change_waits_until_nobody_does(bench: Callable[..., Bench]) -> None:
    one = bench()
    one.fill()
    found: list[list[str]] = []
    with one.finder.at(PROJECT) as view:
        beside = threading.Thread(target=lambda: found.append(one.names("automobile")))
        beside.start()
        beside.join(30)
        assert found == [["Ann"]]
        passages = view.index.count
        one.memory.add_observations([("Bob", ["Sold an automobile"])])
        later = threading.Thread(target=lambda: found.append(one.names("automobile")))
        later.start()
        later.join(0.2)
        assert (len(found), view.index.count) == (1, passages)
    later.join(30)
    assert [sorted(names) for names in found] == [["Ann"], ["Ann", "Bob"]]


# ── exchanging the model ────────────────────────────────────────────────────────────────────────────────────


def test_a_store_with_another_models_vectors_is_searched_at_once_and_they_go_with_a_reindex(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_CATCHING_UP", 0.05)
    old = bench(Toy("old", 128))
    old.fill()
    old.settle()
    old.finder.close()
    toy = Toy("new")
    toy.gate.clear()
    new = bench(toy)
    found = new.ask("automobile")
    assert found.hits[0].record.name == "Ann"
    assert found.pending == 3
    with new.store.read(PROJECT) as snapshot:
        assert snapshot.models() == {"old": (128, 3)}
    toy.gate.set()
    new.settle()
    assert new.by_meaning("car") == ["Ann"]
    new.reindex()
    with new.store.read(PROJECT) as snapshot:
        assert snapshot.models() == {"new": (256, 3)}


def test_a_reindex_that_was_stopped_goes_on_where_it_stopped(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_AT_ONCE", 4)
    old = bench(Toy("old", 128))
    old.memory.create_entities(EntityDraft(f"n{number}", "t", (f"text {number}",)) for number in range(20))
    old.reindex()
    old.finder.close()
    first = Toy("new")
    new = bench(first)

    def stop(lane: str, done: int, total: int) -> None:
        if lane == "new" and done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new.reindex(stop)
    new.finder.close()
    assert len(first.embedded) == 8
    with new.store.read(PROJECT) as snapshot:
        assert snapshot.models() == {"old": (128, 20), "new": (256, 8)}
    second = Toy("new")
    again = bench(second)
    steps: list[tuple[str, int, int]] = []
    again.reindex(lambda *step: steps.append(step))
    assert len(second.embedded) == 12
    assert not set(first.embedded) & set(second.embedded)
    assert [step for step in steps if step[0] == "new"] == [("new", 4, 12), ("new", 8, 12), ("new", 12, 12)]
    with again.store.read(PROJECT) as snapshot:
        assert snapshot.models() == {"new": (256, 20)}


def test_a_reindex_anew_makes_every_vector_again_from_the_texts(bench: Callable[..., Bench]) -> None:
    toy = Toy()
    one = bench(toy)
    one.fill()
    one.settle()
    before = sorted(toy.embedded)
    toy.embedded.clear()
    one.reindex(anew=True)
    assert sorted(toy.embedded) == before
    assert one.by_meaning("car") == ["Ann"]


def test_a_model_of_the_same_name_with_other_dimensions_is_refused_until_everything_is_made_anew(
    bench: Callable[..., Bench],
) -> None:
    one = bench(Toy("toy", 128))
    one.fill()
    one.settle()
    one.finder.close()
    two = bench(Toy("toy", 256))
    two.memory.create_entities([EntityDraft("Tom", "pet", ("A kitten that sleeps",))])
    assert two.names("sleeps")[:1] == ["Tom"]
    two.settle()
    two.reindex(anew=True)
    assert two.by_meaning("cat") == ["Tom"]


def test_a_reindex_fails_with_the_models_fault_and_has_the_words_by_then(bench: Callable[..., Bench]) -> None:
    toy = Toy()
    toy.unloadable = Invalid("The weights are missing")
    one = bench(toy)
    one.fill()
    with pytest.raises(Invalid, match="weights"):
        one.reindex()
    health = one.finder.health(PROJECT)
    assert (health.waiting_words, health.pending) == (0, 3)
    assert health.models["toy"]["state"] == "broken"
    assert "weights" in health.models["toy"]["why"]


def test_a_reindex_reads_every_text_again_when_the_analyst_has_changed(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench()
    one.fill()
    one.reindex()
    with one.store.read(PROJECT) as snapshot:
        before = snapshot.edition
    monkeypatch.setattr(Analysis, "version", "another")
    one.reindex()
    with one.store.read(PROJECT) as snapshot:
        assert snapshot.edition != before
    assert one.names("automobile") == ["Ann"]


def test_health_loads_nothing(bench: Callable[..., Bench]) -> None:
    toy = Toy()
    toy.unloadable = RuntimeError("must not be loaded")
    writer = bench()
    writer.fill()
    one = bench(toy)
    health = one.finder.health(PROJECT)
    assert (health.models["toy"]["state"], health.pending) == ("not loaded", 3)


# ── several threads ─────────────────────────────────────────────────────────────────────────────────────────


def test_threads_search_while_others_write(bench: Callable[..., Bench]) -> None:
    one = bench(Toy())
    one.fill()
    done = threading.Event()
    wrong: list[object] = []

    def look() -> None:
        try:
            while not done.is_set():
                if one.names("automobile")[:1] != ["Ann"]:
                    wrong.append("lost")
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        one.memory.create_entities([EntityDraft(f"n{number}", "t", (f"whale {number}",))])
        if number % 3 == 2:
            one.memory.delete_entities([f"n{number}"])
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == []


# ── what waits to be listed ─────────────────────────────────────────────────────────────────────────────────


def test_a_store_with_much_to_list_is_listed_by_the_first_search(
    bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_BACKLOG", 5)
    one = bench()
    one.fill()
    assert one.names("automobile") == ["Ann"]
    with one.store.read(PROJECT) as snapshot:
        assert snapshot.numbers[1:3] == (6, 6)


def test_a_store_that_cannot_be_written_to_is_searched_all_the_same(
    bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_BACKLOG", 5)
    bench().fill()
    hasty = SqliteStore(str(tmp_path / "memory.db"), busy_timeout=0.01, analyst=Analysis())
    memory = Memory(hasty)
    with bench().store.write(PROJECT, "test", "hold"):
        assert [hit.record.name for hit in memory.search("automobile").hits] == ["Ann"]
    memory.close()


def test_a_store_without_an_analyst_is_searched_and_its_reindex_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_BACKLOG", 5)
    store = SqliteStore(str(tmp_path / "memory.db"))
    memory = Memory(store)
    memory.create_entities([EntityDraft(f"n{number}", "t", (f"whale {number}",)) for number in range(9)])
    assert len(memory.search("whale").hits) == 9
    health = memory.finding().reindex(PROJECT, lambda lane, done, total: None)
    assert health.waiting_words == 18
    memory.close()


def test_what_a_model_does_not_know_is_not_waited_for_by_another_process_either(bench: Callable[..., Bench]) -> None:
    one = bench(Toy())
    one.memory.create_entities(
        [EntityDraft("Worf", "person", ("tlhIngan maH",)), EntityDraft("Ann", "person", ("Tea",))]
    )
    one.settle()
    toy = Toy()
    other = bench(toy)
    assert other.finder.health(PROJECT).pending == 0
    assert other.ask("a drink").pending == 0
    assert toy.embedded == []


def test_beside_a_model_that_is_not_strong_the_words_say_more(tmp_path: Path) -> None:
    """One memory says a word of the query, another means one: how far they lie apart is a matter of the model."""
    apart = []
    for strong in (True, False):
        toy = Toy()
        toy.strong = strong
        one = Bench(tmp_path / f"{strong}.db", toy)
        one.fill()
        one.settle()
        said, meant = one.ask("car doctor").hits
        assert (said.record.name, meant.record.name) == ("Rex", "Ann")
        apart.append(said.score / meant.score)
        one.memory.close()
    assert apart[1] > apart[0]
