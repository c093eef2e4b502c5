"""Similar items with two models, of which one does not know every language."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import Memory
from polymnia.engine.items import ItemDraft
from polymnia.engine.search import Analysis, Finding
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from .search.toys import Toy


@pytest.mark.parametrize("measure", ["cosine", "euclidean", "manhattan"])
def test_every_model_is_asked_and_the_same_text_is_1(tmp_path: Path, measure: str) -> None:
    weak, strong = Toy("weak"), Toy("strong", 128)
    weak.strong, weak.unrelated, strong.unrelated = False, 0.05, 0.3
    weak.answers, strong.answers = (0.05, 1.0), (0.3, 1.0)
    weak.knows = lambda text: True  # type: ignore[method-assign]
    store = SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())
    finder = Finder(store, embedders=[weak, strong])
    memory = Memory(store, finding=Finding(lambda: finder, eager=True))
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
