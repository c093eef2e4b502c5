"""The vectors in memory: a first look by bits, an exact second one, whether halves are held or read from the store."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from polymnia.engine.ports import Snapshot
from polymnia.engine.search import Analysis, index
from polymnia.engine.search.index import Index, Vectors, packed
from polymnia.models import EntityDraft
from polymnia.storage.sqlite import SqliteStore

COUNT, DIMENSIONS = 3000, 100
RANDOM = np.random.default_rng(7)


def _unit(rows: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    made = RANDOM.normal(size=(rows, dimensions)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


MADE = _unit(COUNT)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """One memory of many observations, each with a vector."""
    store = SqliteStore(str(tmp_path_factory.mktemp("vectors") / "memory.db"), analyst=Analysis())
    with store.write("default", "test", "create") as tx:
        tx.add_records([EntityDraft("a", "k", tuple(f"t{number}" for number in range(COUNT)))])
    with store.write("default", "test", "embed") as tx:
        given = [(number + 2, 0, half, bits) for number, (half, bits) in enumerate(packed(MADE))]
        assert tx.put_vectors("toy", DIMENSIONS, given) == COUNT
    yield store
    store.close()


def _index(snapshot: Snapshot, dimensions: int = DIMENSIONS) -> tuple[Index, Vectors]:
    index = Index(Analysis())
    index.vectors["toy"] = Vectors("toy", dimensions)
    index.follow(snapshot)
    return index, index.vectors["toy"]


@pytest.fixture(params=["held", "in the store"])
def halves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the exact vectors are."""
    if request.param != "held":
        monkeypatch.setattr(index, "_IN_MEMORY", 10)
    monkeypatch.setattr(index, "_READ", 700)
    return str(request.param)


@pytest.mark.usefixtures("halves")
def test_the_nearest_are_found_and_compared_exactly(store: SqliteStore) -> None:
    with store.read("default") as snapshot:
        index, held = _index(snapshot)
        query = _unit(1)[0] * 0.2 + MADE[1234]
        query /= np.linalg.norm(query)
        rows = held.nearest(query, index.count, np.ones(index.count, bool), 300)
        texts = index.passages["text"][rows]
        cosines = held.cosines(snapshot, query, rows)
        assert texts[np.argmax(cosines)] == 1234 + 2
        assert np.allclose(cosines, MADE[texts - 2] @ query, atol=2e-3)
        best = np.argsort(-(MADE @ query))[:10]
        assert len(set(best.tolist()) & set((texts - 2).tolist())) >= 8


@pytest.mark.usefixtures("halves")
def test_only_what_is_allowed_and_has_a_vector_is_near(store: SqliteStore) -> None:
    with store.read("default") as snapshot:
        index, held = _index(snapshot)
        allowed = np.zeros(index.count, bool)
        allowed[:50] = True
        rows = held.nearest(MADE[0], index.count, allowed, 300)
        assert set(rows.tolist()) == set(range(2, 50))  # row 0 is no passage and row 1 the head
        assert np.isnan(held.cosines(snapshot, MADE[0], np.array([1]))).all()
        assert len(held.nearest(MADE[0], index.count, np.zeros(index.count, bool), 300)) == 0


def test_vectors_of_other_dimensions_are_none(store: SqliteStore) -> None:
    with store.read("default") as snapshot:
        index, held = _index(snapshot, 64)
        assert not held.has().any()
        assert len(held.nearest(_unit(1, 64)[0], index.count, np.ones(index.count, bool), 10)) == 0


@pytest.mark.usefixtures("halves")
def test_vectors_move_with_their_passages_and_go_when_the_store_lets_them_go(store: SqliteStore) -> None:
    with store.read("default") as snapshot:
        index, held = _index(snapshot)
        index.passages.add(1)
        new = index.count - 1
        held.put_back(held.take_out(np.array([5])), np.array([new]))
        assert not held.has(np.array([5])).any()
        assert held.cosines(snapshot, MADE[3], np.array([new]))[0] == pytest.approx(1.0, abs=2e-3)
        held.check(snapshot, np.array([new, 6]))
        assert held.has(np.array([new, 6])).all()
        held.arrival[new] = 1 << 40
        held.check(snapshot, np.array([new, 6]))
        assert held.has(np.array([new, 6])).tolist() == [False, True]


def test_a_vector_is_kept_as_halves_and_signs() -> None:
    (half, bits), _ = packed(np.array([[0.5, -0.25, 0.0, 1.0], [0.0] * 4], np.float32))
    assert np.frombuffer(half, "<f2").tolist() == [0.5, -0.25, 0.0, 1.0]
    assert bits == bytes([0b10010000])
