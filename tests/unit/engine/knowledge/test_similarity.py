"""The similarity: a cosine that a reader can make sense of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia import Memory
from polymnia.engine.content import ItemDraft
from polymnia.engine.knowledge.similarity import cosine_at, similarities
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from ..search.toys import Toy

cosines = st.floats(-1, 1)
models = st.floats(-0.2, 0.8)


def similarity(cosine: float, unrelated: float) -> float:
    return float(similarities(np.array([cosine]), unrelated)[0])


@given(models)
def test_the_same_text_has_similarity_one(unrelated: float) -> None:
    assert similarity(1.0, unrelated) == 1.0


@given(models, st.floats(0, 1))
def test_unrelated_texts_have_similarity_zero(unrelated: float, below: float) -> None:
    assert similarity(unrelated - below, unrelated) == 0.0


@given(cosines, cosines, models)
def test_a_nearer_text_is_never_less_similar(a: float, b: float, unrelated: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= similarity(low, unrelated) <= similarity(high, unrelated) <= 1


@pytest.mark.long
@given(st.floats(0, 1), models)
def test_the_cosine_of_a_similarity_leads_back_to_it(value: float, unrelated: float) -> None:
    assert similarity(cosine_at(value, unrelated), unrelated) == pytest.approx(value, abs=1e-6)


def test_a_cosine_slightly_above_one_is_one() -> None:
    assert similarity(1.0000002, 0.05) == 1.0


@pytest.mark.parametrize("unrelated", [0.048, 0.384])
def test_the_border_of_a_duplicate_is_high_and_that_of_a_search_is_low(unrelated: float) -> None:
    share = (cosine_at(0.95, unrelated) - unrelated) / (1 - unrelated)
    assert 0.9 < share < 0.95
    share = (cosine_at(0.1, unrelated) - unrelated) / (1 - unrelated)
    assert 0.1 < share < 0.15


@pytest.mark.parametrize("measure", ["cosine", "euclidean", "manhattan"])
def test_every_model_is_asked_and_the_same_text_is_1(tmp_path: Path, measure: str) -> None:
    weak, strong = Toy("weak"), Toy("strong", 128)
    weak.strong, weak.unrelated, strong.unrelated = False, 0.05, 0.3
    weak.answers, strong.answers = (0.05, 1.0), (0.3, 1.0)
    weak.knows = lambda text: True  # type: ignore[method-assign]
    store = SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())
    finder = Finder(store, embedders=[weak, strong])
    memory = Memory(store, finding=LazySearch(lambda: finder, eager=True))
    texts = ["the ferry runs every hour", "tlhIngan ferry runs every hour", "a ferry runs daily", "bread and butter"]
    for text in texts:
        memory.store_item(ItemDraft(text=text))
    finder.reindex("default", lambda *_: None)
    found = memory.similar_items(text=texts[0], measure=measure)
    values = [value for _, value in found]
    assert [record.observations[0] for record, _ in found][:2] == texts[:2]
    assert values[0] == 1 > values[1] > 0.5
    assert values == sorted(values, reverse=True)
    assert len(memory.similar_items(text=texts[0], measure=measure, threshold=0.0)) == len(texts)
    memory.close()
