"""The word index a store keeps: what it was told is there to be found, and what is gone or changed is said to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polymnia.engine.ports import Snapshot, Store
from polymnia.engine.search import Analysis
from polymnia.engine.search.index import Index
from polymnia.models import Passage, Text

from .engines import ENGINES, Engine
from .project import Project, draft

SECRET = "ჭხჯჰ ჱჲჳჴ ჵჶჷ"
LAST = "\U0010ffff"
FAR = 1 << 30


def _number(project: Project, name: str) -> int:
    return project.id(name) - (project.id(name) >> 32 << 32)


def _list(project: Project, most: int = FAR) -> int:
    with project.changing("list") as tx:
        return tx.index_words(most)


def _finds(project: Project, *terms: str) -> set[str]:
    """Names of the memories a fresh index finds by every one of the terms, in one passage."""

    def look(snapshot: Snapshot) -> set[str]:
        index = Index(Analysis())
        index.follow(snapshot)
        found: set[int] | None = None
        for term in terms:
            rows = {row for row in index.postings(snapshot, term)["passage"].tolist() if index.passages["alive"][row]}
            found = rows if found is None else found & rows
        memories = {int(index.memories["number"][index.passages["memory"][row]]) for row in found or ()}
        base = snapshot.numbers[0] << 32
        return {record.name for record in snapshot.load([base + number for number in memories])}

    return project.see(look)


@pytest.fixture(params=["not listed", "listed"])
def listed(request: pytest.FixtureRequest) -> bool:
    """Whether texts are in the store's word index, or only their readers have read them."""
    return bool(request.param == "listed")


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_texts_are_heads_and_observations_in_the_order_of_their_making(project: Project) -> None:
    project.create(
        draft("a", "one", "two", kind="k", tags=("t", "u"), category="c", summary="s", session="x"), draft("bare")
    )
    project.observe("a", "three")
    texts = project.see(lambda snapshot: list(snapshot.texts(0, FAR)))
    assert [(text.id, text.memory, text.body) for text in texts] == [
        (1, 1, None),
        (2, 1, "one"),
        (3, 1, "two"),
        (4, 4, None),
        (5, 1, "three"),
    ]
    head, one, _, bare, _ = texts
    assert (head.name, head.kind, head.tags, head.category, head.summary, head.bare) == (
        "a", "k", ("t", "u"), "c", "s", False,
    )  # fmt: skip
    assert (one.name, one.kind, one.session, one.created, one.tags) == ("a", "k", "x", head.created, ())
    assert bare.bare
    assert project.see(lambda snapshot: [text.id for text in snapshot.texts(1, 4)]) == [2, 3, 4]
    assert project.see(lambda snapshot: [text.id for text in snapshot.texts_of([5, 99, 1, 1])]) in ([1, 5], [1, 1, 5])


def test_a_name_that_is_the_id_says_nothing(project: Project) -> None:
    with project.changing() as tx:
        (made,) = tx.add_records([draft("named", "text")])
    assert project.see(lambda snapshot: snapshot.texts_of([1]))[0].name == "named"
    assert made.uid != made.name


def test_texts_that_are_gone_are_left_out(project: Project) -> None:
    project.create(draft("a", "one"), draft("b", "two"))
    project.delete("a")
    assert project.see(lambda snapshot: [text.id for text in snapshot.texts(0, FAR)]) == [3, 4]
    assert project.see(lambda snapshot: [text.id for text in snapshot.texts_of([1, 2, 3])]) == [3]


def test_numbers_tell_how_far_things_are(project: Project) -> None:
    assert project.see(lambda snapshot: snapshot.numbers[1:3]) == (0, 0)
    project.create(draft("a", "one", "two"))
    _, last, done, change = project.see(lambda snapshot: snapshot.numbers)
    assert (last, done) == (3, 0)
    assert _list(project, 2) == 1
    assert project.see(lambda snapshot: snapshot.numbers)[1:] == (3, 2, change)
    assert _list(project, 2) == 0
    assert project.see(lambda snapshot: snapshot.numbers)[1:] == (3, 3, change)


def test_listing_is_no_change_of_the_memory(project: Project) -> None:
    project.create(draft("a", "one"))
    before = (project.state(), project.store.stamp(project.name), project.last())
    _list(project)
    with project.changing() as tx:
        tx.drop_words()
        assert not tx.changed
    assert (project.state(), project.store.stamp(project.name), project.last()) == before


def test_passages_come_block_by_block_without_gaps(project: Project) -> None:
    for number in range(5):
        project.create(draft(f"a{number}", "text", "more"))
        _list(project)
    blocks = project.see(lambda snapshot: [(first, count) for first, count, _ in snapshot.passages()])
    assert [first for first, _ in blocks] == [1, 4, 7, 10, 13]
    assert all(count == 3 for _, count in blocks)
    assert project.see(lambda snapshot: [first for first, _, _ in snapshot.passages(4)]) == [7, 10, 13]


def test_terms_come_in_order_each_once_and_no_more_than_asked_for(project: Project) -> None:
    for word in ("tea", "teapot", "harbour", "tea"):
        project.create(draft(f"{word} {project.see(lambda s: s.numbers[1])}", word, kind=word))
        _list(project)
    terms = project.see(lambda snapshot: snapshot.terms("t", "u", 10))
    assert terms == sorted(set(terms))
    assert "tea" in terms
    assert project.see(lambda snapshot: snapshot.terms("t", "u", 1)) == terms[:1]
    assert project.see(lambda snapshot: snapshot.terms("tea", "tea", 10)) == []
    assert len(project.see(lambda snapshot: snapshot.postings("tea"))) == 2
    assert project.see(lambda snapshot: snapshot.postings("nothing")) == []


def test_the_index_of_one_project_knows_nothing_of_another(store: Store) -> None:
    one, other = Project(store, "one"), Project(store, "other")
    one.create(draft("a", "harbour"))
    other.create(draft("b", "teapot"))
    for project in (one, other):
        _list(project)
    assert _finds(one, "harbour") == {"a"}
    assert _finds(other, "harbour") == set()
    assert other.see(lambda snapshot: snapshot.postings("harbour")) == []
    with one.changing() as tx:
        tx.drop_words()
    assert _finds(other, "teapot") == {"b"}
    assert other.see(lambda snapshot: snapshot.numbers[2]) == 2


# ── coming, going and changing ──────────────────────────────────────────────────────────────────────────────


def test_listing_in_slices_finds_what_listing_at_once_does(project: Project) -> None:
    project.create(*(draft(f"a{number}", f"word{number} harbour") for number in range(20)))
    left = 40
    while left:
        now = _list(project, 7)
        assert now == max(0, left - 7)
        left = now
    assert _finds(project, "harbour") == {f"a{number}" for number in range(20)}
    assert len(project.see(lambda snapshot: list(snapshot.passages()))) == 6


def test_a_deleted_text_is_marked_and_a_returned_one_is_not(project: Project) -> None:
    project.create(draft("a", "harbour", "tea"))
    _list(project)
    project.unobserve("a", "tea")
    assert project.see(lambda snapshot: snapshot.deleted_texts()) == [3]
    assert (_finds(project, "tea"), _finds(project, "harbour")) == (set(), {"a"})
    project.delete("a")
    assert project.see(lambda snapshot: snapshot.deleted_texts()) == [1, 2, 3]
    project.undo()
    project.undo()
    assert project.see(lambda snapshot: (snapshot.deleted_texts(), snapshot.stale())) == ([], [])
    assert _finds(project, "tea") == {"a"}


def test_what_was_away_while_the_index_was_made_is_found_when_it_returns(project: Project) -> None:
    project.create(draft("a", "harbour"), draft("b", "tea"))
    project.delete("a")
    project.create(draft("c", "guitar"))
    _list(project)
    project.undo(2)
    assert project.see(lambda snapshot: snapshot.stale()) == [1, 2]
    project.observe("a", "violin")
    for _ in range(2):
        assert _finds(project, "harbour") == {"a"}
        assert _finds(project, "violin") == {"a"}
        assert _finds(project, "guitar") == {"c"}
        _list(project)
    assert project.see(lambda snapshot: snapshot.stale()) == []


def test_what_was_taken_back_and_made_again_is_found(project: Project, listed: bool) -> None:
    project.create(draft("a", "harbour"))
    if listed:
        _list(project)
    project.undo()
    assert _finds(project, "harbour") == set()
    if listed:
        _list(project)
    project.undo(2)
    assert _finds(project, "harbour") == {"a"}


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kind": ({"kind": "harbour"}, {"kind": "guitar"}),
    "tags": ({"tags": ("harbour", "sea")}, {"tags": ("guitar",)}),
    "summary": ({"summary": "the harbour"}, {"summary": "a guitar"}),
    "category": ({"category": "harbour"}, {"category": "guitar"}),
    "observation": ({"texts": ("harbour",)}, {"texts": ("guitar",)}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_found_by_its_new_words_and_not_by_its_old_ones(
    project: Project, listed: bool, what: str
) -> None:
    old, new = (dict(one) for one in CHANGES[what])
    project.create(draft("a", *old.pop("texts", ("text",)), **old))
    if listed:
        _list(project)
    assert (_finds(project, "harbour"), _finds(project, "guitar")) == ({"a"}, set())
    project.replace("a", *new.pop("texts", ("text",)), **new)
    for _ in range(2):
        assert (_finds(project, "harbour"), _finds(project, "guitar")) == (set(), {"a"})
        if listed:
            _list(project)
    project.undo()
    for _ in range(2):
        assert (_finds(project, "harbour"), _finds(project, "guitar")) == ({"a"}, set())
        if listed:
            _list(project)


def test_a_head_that_changed_and_went_comes_back_as_it_was_last(project: Project) -> None:
    project.create(draft("a", "text", kind="harbour"))
    _list(project)
    project.replace("a", "text", kind="guitar")
    project.delete("a")
    _list(project)
    project.undo()
    assert (_finds(project, "harbour"), _finds(project, "guitar")) == (set(), {"a"})
    _list(project)
    assert (_finds(project, "harbour"), _finds(project, "guitar")) == (set(), {"a"})


def test_the_journal_tells_which_texts_moved_since_a_change(project: Project) -> None:
    project.create(draft("a", "one", "two"), draft("b", "three"))
    first = project.last().id
    project.unobserve("a", "two")
    second = project.last().id
    project.relate("a", "knows", "b")
    project.create(draft("c", "four"))
    assert set(project.see(lambda snapshot: snapshot.changed_texts(first))) == {1, 3}
    assert project.see(lambda snapshot: snapshot.changed_texts(second)) == []
    project.delete("b")
    assert {4, 5} <= set(project.see(lambda snapshot: snapshot.changed_texts(second)))
    assert Project(project.store, "other").see(lambda snapshot: snapshot.changed_texts(0)) == []


# ── making it anew ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_dropped_index_is_made_again_from_the_texts(project: Project) -> None:
    project.create(draft("a", "harbour"), draft("b", "tea"))
    _list(project)
    project.replace("a", "harbour", kind="guitar")
    project.delete("b")
    before = project.see(lambda snapshot: snapshot.edition)
    with project.changing() as tx:
        tx.drop_words()
    assert project.see(lambda s: (s.numbers[2], list(s.passages()), s.deleted_texts(), s.stale())) == (0, [], [], [])
    assert project.see(lambda snapshot: snapshot.terms("", LAST, 10)) == []
    assert project.see(lambda snapshot: snapshot.edition) != before
    assert _finds(project, "harbour") == {"a"}
    _list(project)
    assert (_finds(project, "harbour"), _finds(project, "guitar"), _finds(project, "tea")) == ({"a"}, {"a"}, set())
    project.undo()
    assert _finds(project, "tea") == {"b"}


class Shouting:
    """An analyst who reads every text otherwise."""

    version = "loud"

    def __call__(self, texts: Iterable[Text]) -> Iterator[Passage]:
        for text in texts:
            said = f"{text.kind} {text.body or ''}"
            yield Passage(text.id, text.memory, 0, {word.upper(): 1 for word in said.split()}, len(said.split()))


def test_another_version_of_the_analyst_makes_the_whole_index_anew(engine: Engine) -> None:
    project = Project(engine.open(), "default")
    project.create(draft("a", "harbour"), draft("b", "tea"))
    _list(project)
    project.store.close()
    loud = Project(engine.open(analyst=Shouting()), "default")
    loud.create(draft("c", "guitar"))
    assert _list(loud, 2) == 4
    _list(loud)
    assert loud.see(lambda snapshot: snapshot.terms("", LAST, 10)) == ["GUITAR", "HARBOUR", "TEA", "THING"]
    assert loud.see(lambda snapshot: snapshot.numbers[1:3]) == (6, 6)
    loud.store.close()


def test_a_purge_finds_what_another_analyst_wrote(engine: Engine) -> None:
    loud = Project(engine.open(analyst=Shouting()), "default")
    loud.create(draft("a", SECRET), draft("b", "tea"))
    _list(loud)
    loud.store.close()
    project = Project(engine.open(), "default")
    project.purge("a")
    assert engine.strays() == []
    assert project.see(lambda snapshot: snapshot.terms("", LAST, 10)) == ["TEA", "THING"]
    project.store.close()


def test_without_an_analyst_nothing_is_listed_and_nothing_breaks(tmp_path: Path) -> None:
    from polymnia.storage.sqlite import SqliteStore

    store = SqliteStore(str(tmp_path / "memory.db"))
    project = Project(store, "default")
    project.create(draft("a", "harbour"))
    assert _list(project) == 2
    assert project.see(lambda snapshot: snapshot.numbers[2]) == 0
    assert _finds(project, "harbour") == {"a"}
    project.purge("a")
    store.close()


# ── purging ─────────────────────────────────────────────────────────────────────────────────────────────────

LIVES = ("living", "deleted", "replaced", "undone", "returned", "head changed", "listed twice")


@pytest.mark.parametrize("when", ["never listed", "listed before", "listed after", "listed each time"])
@pytest.mark.parametrize("life", LIVES)
def test_a_purge_leaves_no_trace_of_terms_passages_or_vectors(
    engine: Engine, project: Project, life: str, when: str
) -> None:
    step = _list if when == "listed each time" else lambda project: 0

    def embed() -> None:
        with project.changing() as tx:
            numbers = [text.id for text in tx.texts(0, FAR)]
            tx.put_vectors("model", 8, [(number, 0, b"half", b"b") for number in numbers])

    project.create(draft("kept", "harbour"), draft("s", SECRET, f"tea {SECRET}", kind=SECRET, tags=(SECRET,)))
    project.create(draft("also kept", "harbour tea"))
    embed()
    step(project)
    if when == "listed before":
        _list(project)
    if life == "deleted":
        project.delete("s")
    elif life == "replaced":
        project.replace("s", "harmless", kind="harmless")
        embed()
    elif life == "undone":
        project.replace("s", "harmless", kind="harmless")
        step(project)
        project.undo()
        embed()
    elif life == "returned":
        project.delete("s")
        step(project)
        project.undo()
    elif life == "head changed":
        project.replace("s", SECRET, kind="harmless", summary=SECRET)
        project.delete("s")
    elif life == "listed twice":
        for kind in ("one", "two"):
            project.replace("s", SECRET, kind=kind, summary=f"{SECRET} {kind}")
            _list(project)
    step(project)
    if when == "listed after":
        _list(project)
    with project.changing("purge") as tx:
        tx.purge(tx.ids_ever("s"))
    assert engine.traces(SECRET) == []
    assert engine.strays() == []
    assert _finds(project, "harbour") == {"kept", "also kept"}
    _list(project)
    assert _finds(project, "tea") == {"also kept"}
    assert engine.strays() == []


@pytest.mark.parametrize("name", ENGINES)
def test_a_change_lists_what_waits_when_there_is_enough_of_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ENGINES[name](tmp_path)
    route = next((route for route in engine.routes if route == "index"), engine.routes[0])
    engine.take_route(route, monkeypatch)
    project = Project(engine.open(), "default")
    project.create(draft("a", "harbour"))
    assert project.see(lambda snapshot: snapshot.numbers[1:3]) == (2, 2)
    assert _finds(project, "harbour") == {"a"}
    project.store.close()
