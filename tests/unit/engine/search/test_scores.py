"""One score: it falls with the order of every answer, whatever made the order, and thresholds are on its scale."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from form import by_form, mostly_long
from polymnia import EntityDraft, Memory
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.engine.search.results import Found
from polymnia.storage.sqlite import SqliteStore

from .toys import Toy

WORDS = [
    "harbour", "boat", "dawn", "bread", "oven", "flour", "ticket", "train", "invoice", "harvest", "rain", "항구",
    "새벽", "빵", "회의", "結婚", "会議", "Hafen", "Brot",
]  # fmt: skip
QUERIES = [
    "boat", "the boat at dawn", "ADR-012", "항구 새벽", "빵", "会議", "Hafen am Morgen", "bread oven flour", "tic",
    "what happened to the train?", "zzqx", "invoice harvest", "note", "ship setting out",
]  # fmt: skip
SOME = by_form(QUERIES[::2], QUERIES)


class Judge:
    """A reranker that says the opposite of what one would expect, and does not know every text."""

    id = "judge"

    def load(self) -> None:
        """Ready."""

    def knows(self, text: str) -> bool:
        """Nothing that mentions rain."""
        return "rain" not in text

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Longer texts are better."""
        return [min(0.99, len(text) / 200) for text in texts]


@pytest.fixture(scope="module", params=mostly_long(["judged", "words", "weak", "strong", "two"]))
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The same memories, ordered in every way there is."""
    weak, strong = Toy("weak"), Toy("strong", 128)
    weak.strong, weak.unrelated, strong.unrelated = False, 0.05, 0.3
    weak.answers, strong.answers = (0.05, 1.0), (0.3, 1.0)
    toys = {"words": [], "weak": [weak], "strong": [strong], "two": [weak, strong], "judged": [weak, strong]}
    store = SqliteStore(str(tmp_path_factory.mktemp("scores") / "memory.db"), analyst=Analysis())
    finder = Finder(store, embedders=toys[request.param], reranker=Judge() if request.param == "judged" else None)
    one = Memory(store, finding=LazySearch(lambda: finder, eager=True))
    draw = random.Random(7)
    drafts = [
        EntityDraft(
            f"note {i}", draw.choice(("note", "message")), (" ".join(draw.choices(WORDS, k=draw.randint(3, 40))),)
        )
        for i in range(120)
    ]
    drafts += [
        EntityDraft(f"adr-{i}", "decision", (f"ADR-{i:03d}: we take the boat, see ADR-012",)) for i in (11, 12, 13)
    ]
    drafts += [EntityDraft("said", "note", ("the boat at dawn",))]
    one.create_entities(drafts)
    one.create_relations([("note 3", "note 4", "follows"), ("note 5", "said", "follows")])
    finder.reindex("default", lambda *_: None)
    yield one
    one.close()


def _fall(found: Found) -> bool:
    scores = [hit.score for hit in found.hits]
    return scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


@pytest.mark.promise("search.scores")
def test_scores_fall_with_the_order_of_every_answer(memory: Memory) -> None:
    for query in SOME:
        for more in ({}, {"recency": 0.7, "related": 1.0}, {"lanes": "words"}, {"lanes": "meaning"}, {"at_least": 0.0}):
            assert _fall(memory.search(query, limit=100, **more)), (query, more)


@pytest.mark.promise("search.scores.identical")
def test_only_the_text_itself_has_a_score_of_one(memory: Memory) -> None:
    for query in QUERIES:
        ones = [hit.record.name for hit in memory.search(query, limit=100, at_least=0.0).hits if hit.score == 1]
        assert ones == {"the boat at dawn": ["said"], "ADR-012": ["adr-12"]}.get(query, []), query


@pytest.mark.promise("search.scores.threshold")
def test_thresholds_are_on_the_scale_of_the_scores_and_zero_hides_nothing(memory: Memory) -> None:
    for query in ("the boat at dawn", "빵", "zzqx", "ADR-012"):
        every = memory.search(query, limit=1000, at_least=0.0).hits
        assert len(every) == 124
        for least in (0.1, 0.5, 0.7):
            some = memory.search(query, limit=1000, at_least=least).hits
            assert all(hit.score >= least for hit in some)
            strong = {hit.record.name for hit in every if hit.score >= least}
            if len(some) < 100:
                assert {hit.record.name for hit in some} <= {hit.record.name for hit in every}
                assert strong >= {hit.record.name for hit in some if hit.score >= least + 0.02}


def test_searches_side_by_side_share_what_is_read_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = memory.finding()
    if finder.reranker is None:
        return
    read: list[int] = []
    score = finder.reranker.score
    monkeypatch.setattr(finder.reranker, "knows", lambda text: True)
    monkeypatch.setattr(finder.reranker, "score", lambda query, texts: read.append(len(texts)) or score(query, texts))
    memory.search("bread oven flour")
    alone = sum(read)
    read.clear()
    monkeypatch.setattr("polymnia.engine.search.finder._CORES", 2)
    monkeypatch.setattr(finder, "_searching", 15)
    monkeypatch.setattr("polymnia.engine.search.ranking._DEPTHS", {"balanced": (8, 24, 0.0, 0.0)})
    assert memory.search("bread oven flour").hits
    assert sum(read) == 2
    assert alone >= 8
