"""The index follows the store: each test is something that once went wrong, or nearly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polymnia import connect
from polymnia.engine.ports import Transaction
from polymnia.engine.search import Analysis
from polymnia.engine.search.index import Index, Vectors, packed
from polymnia.engine.text import words
from polymnia.models import EntityDraft
from polymnia.storage.sqlite import SqliteStore

from .toys import Toy


class Followed:
    """A store, and an index that looks when it is told to."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(str(path), analyst=Analysis())
        self.index = Index(Analysis())
        self.index.vectors["toy"] = Vectors("toy", 256)

    def do(self, work: Callable[[Transaction], object]) -> None:
        with self.store.write("default", "test", "do") as tx:
            work(tx)

    def create(self, *drafts: EntityDraft) -> None:
        self.do(lambda tx: tx.add_records(drafts))

    def delete(self, name: str) -> None:
        self.do(lambda tx: tx.remove_records([tx.ids([name])[name]]))

    def undo(self) -> None:
        self.do(lambda tx: tx.undo(None))

    def list(self) -> None:
        self.do(lambda tx: tx.index_words(1000))

    def embed(self) -> None:
        def embed(tx: Transaction) -> None:
            texts = list(tx.texts(0, 1000))
            made = packed(Toy().embed([text.body or text.kind for text in texts]))
            tx.put_vectors("toy", 256, [(text.id, 0, *one) for text, one in zip(texts, made, strict=True)])

        self.do(embed)

    def look(self, index: Index | None = None) -> None:
        with self.store.read("default") as snapshot:
            (index or self.index).follow(snapshot)

    def finds(self, term: str) -> set[int]:
        """Numbers of the memories a term is found in, by the index that follows."""
        with self.store.read("default") as snapshot:
            self.index.follow(snapshot)
            rows = self.index.postings(snapshot, term)["passage"]
            rows = rows[self.index.passages["alive"][rows]]
            return set(self.index.memories["number"][self.index.passages["memory"][rows]].tolist())

    def pictured(self) -> set[int]:
        """Numbers of the living texts that have a vector."""
        self.look()
        held = self.index.vectors["toy"].arrival[: self.index.count] > 0
        return set(self.index.passages["text"][held & self.index.passages["alive"]].tolist())


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path / "memory.db")


def _draft(name: str, *texts: str, kind: str = "thing") -> EntityDraft:
    return EntityDraft(name, kind, texts)


def test_a_memory_returns_that_was_away_while_all_others_were_listed(followed: Followed) -> None:
    followed.create(_draft("a", "harbour"))
    followed.delete("a")
    followed.create(_draft("b", "tea"))
    followed.list()
    followed.look()
    followed.do(lambda tx: tx.undo(2))
    assert followed.finds("harbour") == {1}
    followed.do(lambda tx: tx.add_observations([(tx.ids(["a"])["a"], ["guitar"])]))
    assert followed.finds("guitar") == {1}
    followed.list()
    assert followed.finds("harbour") == followed.finds("guitar") == {1}
    assert followed.finds("tea") == {3}


def test_a_head_that_was_merely_touched_stays_when_more_is_listed(followed: Followed) -> None:
    followed.create(_draft("a", "tea", kind="harbour"))
    followed.list()
    followed.embed()
    assert followed.pictured() == {1, 2}
    followed.do(lambda tx: tx.add_observations([(tx.ids(["a"])["a"], ["guitar"])]))
    assert followed.finds("harbour") == {1}
    assert followed.pictured() == {1, 2}
    followed.list()
    assert followed.finds("harbour") == {1}
    assert followed.pictured() == {1, 2}


def test_a_head_that_changed_loses_its_vector_and_gets_the_new_one(followed: Followed) -> None:
    followed.create(_draft("a", "tea", kind="harbour"))
    followed.list()
    followed.embed()
    followed.look()
    followed.do(lambda tx: tx.replace_record(tx.ids(["a"])["a"], _draft("a", "tea", kind="guitar")))
    assert (followed.finds("harbour"), followed.finds("guitar")) == (set(), {1})
    assert 1 not in followed.pictured()
    followed.embed()
    assert 1 in followed.pictured()
    followed.list()
    assert (followed.finds("harbour"), followed.finds("guitar")) == (set(), {1})
    assert 1 in followed.pictured()


@pytest.mark.parametrize("listed", [False, True])
def test_whatever_a_purged_memory_said_is_not_found_any_more(followed: Followed, listed: bool) -> None:
    followed.create(_draft("a", "harbour"), _draft("b", "tea"))
    if listed:
        followed.list()
    assert followed.finds("harbour") == {1}
    followed.do(lambda tx: tx.purge([tx.ids(["a"])["a"]]))
    assert followed.finds("harbour") == set()
    followed.create(_draft("c", "tea"))
    followed.list()
    assert followed.finds("harbour") == set()
    assert followed.finds("tea") == {3, 5}


def test_an_index_made_anew_between_two_looks_is_read_anew(followed: Followed) -> None:
    followed.create(_draft("a", "harbour"), _draft("b", "tea"))
    followed.list()
    followed.delete("a")
    followed.look()
    followed.do(lambda tx: (tx.drop_words(), tx.index_words(1000)))
    assert (followed.finds("harbour"), followed.finds("tea")) == (set(), {3})


def test_an_index_that_was_dropped_is_not_asked_any_more(followed: Followed) -> None:
    followed.create(_draft("a", "harbour"))
    followed.list()
    for _ in range(3):  # a small project that is read again and again is held by the store
        assert followed.finds("harbour") == {1}
    followed.do(lambda tx: tx.drop_words())
    assert followed.finds("harbour") == {1}
    followed.list()
    assert followed.finds("harbour") == {1}


def test_a_vector_that_came_while_its_text_was_away_is_there_when_it_returns(followed: Followed) -> None:
    followed.create(_draft("a", "harbour"), _draft("b", "tea"))
    followed.embed()
    followed.delete("a")
    assert followed.pictured() == {3, 4}
    followed.undo()
    assert followed.pictured() == {1, 2, 3, 4}
    followed.delete("a")
    other = Index(Analysis())
    other.vectors["toy"] = Vectors("toy", 256)
    followed.look(other)
    followed.undo()
    followed.list()
    followed.index = other
    assert followed.pictured() == {1, 2, 3, 4}


def test_a_model_that_becomes_ready_when_more_was_listed_is_taken_in(followed: Followed) -> None:
    del followed.index.vectors["toy"]
    followed.create(_draft("a", "harbour"))
    followed.embed()
    followed.look()
    followed.list()
    followed.index.vectors["toy"] = Vectors("toy", 256)
    assert followed.pictured() == {1, 2}


def test_another_project_changes_nothing_here(followed: Followed) -> None:
    followed.create(_draft("a", "harbour"))
    followed.look()
    before = followed.index.count
    with followed.store.write("other", "test", "create") as tx:
        tx.add_records([_draft("b", "harbour")])
    assert followed.finds("harbour") == {1}
    assert followed.index.count == before


def test_a_long_text_has_several_passages_that_come_and_go_together(followed: Followed) -> None:
    followed.create(_draft("a", " ".join(f"Sentence {number} about the sea." for number in range(200)), "tea"))
    for step in (lambda: None, followed.list):
        step()
        followed.look()
        alive = followed.index.passages["alive"]
        parts = followed.index.passages["part"][alive & (followed.index.passages["text"] == 2)]
        assert len(parts) > 3
        assert parts.tolist() == list(range(len(parts)))
        followed.do(lambda tx: tx.remove_observations(tx.ids(["a"])["a"], [tx.texts_of([2])[0].body or ""]))
        assert followed.finds("sea") == set()
        followed.undo()
        assert followed.finds("sea") == {1}
        assert np.count_nonzero(followed.index.passages["alive"]) == len(parts) + 2


@pytest.mark.parametrize("step", range(1, 6))
def test_a_look_that_is_broken_off_leaves_no_half_of_a_change(
    followed: Followed, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    followed.create(_draft("a", "harbour"), _draft("b", "tea"))
    followed.list()
    followed.embed()
    followed.look()
    followed.delete("b")
    followed.create(_draft("c", "harbour"))
    followed.list()
    calls = iter(range(1, 100))

    def stop(work: Callable[..., object]) -> Callable[..., object]:
        def stopped(*given: object, **named: object) -> object:
            if next(calls) == step:
                raise KeyboardInterrupt
            return work(*given, **named)

        return stopped

    with followed.store.read("default") as snapshot, monkeypatch.context() as patch:
        for name in ("passages", "deleted_texts", "stale", "texts", "changed_texts", "vectors"):
            patch.setattr(snapshot, name, stop(getattr(snapshot, name)))
        with pytest.raises(KeyboardInterrupt):
            followed.index.follow(snapshot)
    assert followed.finds("harbour") == {1, 5}
    assert followed.finds("tea") == set()
    assert followed.pictured() == {1, 2}


def test_a_query_that_nothing_answers_does_not_read_a_long_text_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    read: list[str] = []
    with connect(str(tmp_path / "long.db")) as memory:
        memory.remember("tea with lemon")
        memory.remember("한국어 word " * 90_000)
        memory.search("lemon")
        terms = words.terms
        monkeypatch.setattr(words, "terms", lambda text: (read.append(text), terms(text))[1])
        assert not memory.search("zzyzx").hits
    assert sum(map(len, read)) < 10_000
