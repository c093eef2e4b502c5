"""Finding a part of a text: exactly the records that hold it, in any script, by every way there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from form import by_form
from polymnia.engine.ports import Store
from polymnia.models import folded_forms

from .corpus import Truth, drafts, forms, queries, text
from .engines import ENGINES, SHIPPED, Engine
from .project import Project, State, draft

ROUTES = [(name, route) for name, engine in ENGINES.items() for route in engine.routes]


@pytest.fixture(params=ROUTES, ids=lambda pair: f"{pair[0]}, {pair[1]}")
def routed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A fresh store of each engine that finds texts by each of its ways."""
    name, route = request.param
    with closing(ENGINES[name](tmp_path)) as engine:
        engine.take_route(route, monkeypatch)
        store = engine.open()
        yield store
        store.close()


def _truth(state: State) -> Truth:
    truth = Truth()
    for record in state.records:
        truth.set(record.id, record.name, record.kind, record.observations)
    return truth


def _compare(project: Project, random: Random, count: int) -> None:
    state = project.state()
    truth = _truth(state)
    texts = [text for record in state.records for text in (record.name, record.kind, *record.observations)]
    with project.store.read(project.name) as snapshot:
        for query in queries(random, count, texts):
            assert snapshot.containing(folded_forms(query)) == truth.containing(query), ascii(query)


def _disturb(project: Project, random: Random) -> None:
    """Delete, replace, add to and bring back a good part of what is there."""
    records = list(project.state().records)
    random.shuffle(records)
    names = [record.name for record in records]
    project.delete(*names[:200])
    with project.changing() as tx:
        for record in records[200:400]:
            tx.replace_record(record.id, draft(record.name, text(random), text(random), kind=text(random, 5)))
    with project.changing() as tx:
        tx.add_observations([(record.id, [text(random), text(random)]) for record in records[400:600]])
    with project.changing() as tx:
        for record in records[600:800]:
            tx.remove_observations(record.id, record.observations)
    with project.changing() as tx:
        for record in records[800:900]:
            tx.set_extra(record.id, {"said": "nothing that is searched"})


def test_exactly_the_records_that_hold_the_query_are_found(routed: Store) -> None:
    random = Random("substring")
    project, other = Project(routed, "default"), Project(routed, "other")
    many = by_form(350, 700)
    for part in range(3):
        other.create(*drafts(random, 100, start=part * 100))
        project.create(*drafts(random, many, start=part * many))
    _compare(project, random, by_form(30, 160))
    _disturb(project, random)
    _compare(project, random, by_form(30, 160))
    newest = project.last().id
    for number in range(newest, newest - 5, -1):
        project.undo(number)
    _compare(project, random, by_form(30, 160))
    for _ in range(5):
        project.undo(project.last().id - 4)  # each undo is undone, in the order in which they came
    _compare(project, random, by_form(30, 160))
    _compare(other, random, 30)


def test_a_text_is_found_by_every_part_of_it(routed: Store) -> None:
    whole = "Straße 서울 e\u0301ﬁ %_\"'\\ 漢😀İ\x01z"
    project = Project(routed, "default")
    project.create(draft("other", "Strand 서초 ef %-"))
    project.create(draft("n", whole), draft(whole), draft("k", kind=whole))
    project.create(draft("another", "strasbourg"))
    found = project.names()[1:4]
    for start in range(len(whole)):
        for end in range(start + 1, len(whole) + 1):
            part = whole[start:end]
            names = project.see(lambda s, part=part: [r.name for r in s.load(s.containing(folded_forms(part)))])
            assert [name for name in names if name in found] == found, ascii(part)


def test_of_an_id_in_place_of_a_name_only_a_long_part_is_searched_for(routed: Store) -> None:
    project = Project(routed, "default")
    uid = "9d41b7f0-26ce-4a58-8c3e-51fd0a7b9e64"
    project.create(draft(uid, "Lilys grow tips.", uid=uid))
    project.create(draft(uid[:5], "Ivys grow tips."))
    first, second = (record.id for record in project.state().records)
    for size in range(1, 37):
        found = project.see(lambda s, part=uid[:size]: s.containing([part]))
        assert found == [first] * (size >= 8) + [second] * (size <= 5), size


def test_a_part_never_reaches_from_one_text_into_the_next(routed: Store) -> None:
    project = Project(routed, "default")
    project.create(draft("name", "first", "second", kind="kind"))
    for across in (
        "namekind",
        "name kind",
        "name\x01kind",
        "kindfirst",
        "firstsecond",
        "t\x01",
        "t\x01\x01",
        "\x01",
        "e\x01k",
    ):
        assert project.finds(across) == [], ascii(across)


def test_one_form_of_a_text_never_reaches_into_the_other(routed: Store) -> None:
    project = Project(routed, "default")
    project.create(draft("n", "e\u0301a\u0300"))
    composed, written = "\xe9\xe0", "e\u0301a\u0300"
    assert project.finds(composed) == project.finds(written) == ["n"]
    assert project.finds(composed + written) == project.finds("\xe0e") == []


@pytest.mark.parametrize("query", ["", "a", "서", "ab", "서울", "abc"])
def test_nothing_is_found_where_nothing_is(routed: Store, query: str) -> None:
    assert Project(routed, "default").finds(query) == []
    project = Project(routed, "default")
    project.create(draft("a 서울 abc", "abc"))
    project.delete("a 서울 abc")
    assert project.finds(query) == []


def test_several_forms_are_found_together_each_record_once(routed: Store) -> None:
    project = Project(routed, "default")
    project.create(draft("one", "apple"), draft("two", "pear"), draft("three", "apple and pear"), draft("four", "fig"))
    assert project.finds("apple", "pear", "apple") == ["one", "two", "three"]
    assert project.finds("fig", "") == ["one", "two", "three", "four"]
    assert project.finds() == []


@pytest.mark.parametrize("odd", ["\U0010ffff", "\uffff", "\ufffe", "\ufffd"], ids=ascii)
def test_characters_at_the_end_of_unicode_are_found_like_any_other(routed: Store, odd: str) -> None:
    project = Project(routed, "default")
    project.create(draft("one", f"a{odd}b"), draft("two", f"{odd}{odd}{odd}"), draft("three", "ab"))
    for query, names in {
        odd: ["one", "two"],
        f"a{odd}": ["one"],
        f"{odd}b": ["one"],
        "a": ["one", "three"],
        f"{odd}{odd}": ["two"],
        f"a{odd}b": ["one"],
    }.items():
        assert project.finds(query) == names, ascii(query)


def test_what_is_common_is_told_from_what_is_rare(project: Project) -> None:
    """Only about: the answer saves work, and never decides what is found."""
    for part in range(4):
        project.create(
            *(draft(f"{part}-{number}", "everywhere", "often" if number < 100 else "") for number in range(400))
        )
    project.observe("0-0", "zebra crossing")
    with project.store.read(project.name) as snapshot:
        assert snapshot.is_common(["everywhere"], 1000)
        assert snapshot.is_common(["zebra", "everywhere"], 1000)
        assert not snapshot.is_common(["zebra"], 100)
        assert not snapshot.is_common(["nowhere"], 100)
        assert not snapshot.is_common(["often"], 5000)
        assert not snapshot.is_common(["everywhere"], 100_000)
        assert snapshot.size() >= 1600


def test_forms_are_what_the_models_say_they_are() -> None:
    random = Random("forms")
    for _ in range(3000):
        one = text(random)
        assert set(folded_forms(one)) == set(forms(one)), ascii(one)


@pytest.mark.long
def test_a_large_store_is_searched_as_shipped(engine: Engine) -> None:
    """Large enough that short queries go by the index too, without any threshold being moved."""
    random = Random("large")
    assert SHIPPED in engine.routes
    project = Project(engine.open(), "default")
    project.create(*(draft(f"{number:x}", *(text(random, 5) for _ in range(10))) for number in range(2200)))
    project.create(*drafts(random, 60))
    _compare(project, random, 150)
    project.store.close()
