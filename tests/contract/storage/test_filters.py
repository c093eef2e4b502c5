"""Which memories may be found at all: every filter against the plainest truth there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from form import by_form, each
from polymnia.engine.ports import Store
from polymnia.models import Filters, Record

from .engines import ENGINES
from .project import Project, draft

NAMES = ("a", "A", "서울", "it's", 'a "b"', "a%", "%", "straße")
SCOPES = (None, "a", "a/b", "a/b/c", "a/bc", "a/b0", "a0", "서울/구", "a/b'c")
SESSIONS = (None, "s1", "s2", "")
TAGS = ("x", "y", "X", "서울", 'a "q"', "it's", "x,y", "[]")
KEYS = ("k", "K", "a.b", 'a"b', "$.k", "서울", "", "it's", "k\\n", "[0]")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 1.0, 1.5, -1, 10**12, 10**30, "1", "true", "", "text", "it's", 'a "q"', "서울", "[1]",
    "null", [], [1, 2], ["text", None], [True], [[1], {"a": 1}], {}, {"a": 1}, {"a": 1, "b": [1.0]}, {"b": [1], "a": 1},
    "{}",
)  # fmt: skip
START = 1_700_000_000_000_000
MONTH = 31 * 86_400_000_000


def _pick(values: tuple[Any, ...], number: int) -> Any:
    return values[number % len(values)]


@pytest.fixture(scope="module", params=list(ENGINES))
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project in which everything occurs that is asked for, in many combinations, and another one beside it."""
    folder: Path = tmp_path_factory.mktemp("filters")
    times = (START + number * MONTH // 4 for number in range(1000))
    store: Store = ENGINES[request.param](folder).open(clock=lambda: next(times))
    other = Project(store, "other")
    other.create(draft("a", kind="k", scope="a/b", tags=("x",), metadata={"k": 1}))
    project = Project(store, "default")
    for number in range(60):
        metadata = {_pick(KEYS, number + 3 * i): _pick(VALUES, number * 2 + 7 * i) for i in range(number % 4)}
        project.create(
            draft(
                NAMES[number] if number < len(NAMES) else f"n{number}",
                "text",
                kind=("k", "K", "person")[number % 3],
                scope=_pick(SCOPES, number),
                session=_pick(SESSIONS, number // 2),
                category=(None, "c", "d")[number % 3],
                content_type=(None, "note", "text/plain")[number % 5 % 3],
                tags=tuple(_pick(TAGS, number + 2 * i) for i in range(number % 4)),
                metadata=metadata,
            )
        )
    for number in range(0, 60, 5):
        project.observe(project.names()[number], "more")
    project.delete("n59")
    yield project
    store.close()


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return (type(one) is type(other) and one == other) or (
        isinstance(one, int | float) and isinstance(other, int | float) and float(one) == float(other)
    )


def _passes(record: Record, wanted: Filters) -> bool:
    scope = wanted.scope
    below = wanted.scopes_below and scope is not None and (record.scope or "").startswith(scope + "/")
    tags = set(wanted.tags)
    return all(
        (
            not wanted.names or record.name in wanted.names,
            not wanted.kinds or record.kind in wanted.kinds,
            not wanted.content_types or record.content_type in wanted.content_types,
            not wanted.categories or record.category in wanted.categories,
            not tags or (tags <= set(record.tags) if wanted.all_tags else bool(tags & set(record.tags))),
            scope is None or record.scope == scope or below,
            record.session == wanted.session or record.session is None
            if wanted.session is not None
            else wanted.any_session or record.session is None,
            wanted.created_from is None or record.created >= wanted.created_from,
            wanted.created_to is None or record.created < wanted.created_to,
            wanted.updated_from is None or record.updated >= wanted.updated_from,
            wanted.updated_to is None or record.updated < wanted.updated_to,
            all(
                key in record.metadata
                and (
                    _same(record.metadata[key], value)
                    or (isinstance(held := record.metadata[key], list) and any(_same(one, value) for one in held))
                )
                for key, value in wanted.metadata.items()
            ),
        )
    )


def _some(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from((*values, "nobody's")), max_size=3).map(tuple)


def _maybe(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from((None, *values))


MOMENTS = tuple(START + number * MONTH // 2 for number in range(0, 40, 3))
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "names": _some((*NAMES, "n20")),
        "kinds": _some(("k", "K", "person")),
        "content_types": _some(("note", "text/plain")),
        "categories": _some(("c", "d")),
        "tags": _some(TAGS),
        "all_tags": st.booleans(),
        "scope": _maybe((*SCOPES[1:], "", "/")),
        "scopes_below": st.booleans(),
        "session": _maybe(SESSIONS[1:]),
        "any_session": st.booleans(),
        "created_from": _maybe(MOMENTS),
        "created_to": _maybe(MOMENTS),
        "updated_from": _maybe(MOMENTS),
        "updated_to": _maybe(MOMENTS),
        "metadata": st.dictionaries(st.sampled_from((*KEYS, "none")), st.sampled_from(VALUES), max_size=2),
    },
).map(lambda values: Filters(**values))
RELAXED = settings(max_examples=by_form(50, 150), deadline=None, derandomize=True, database=None,
                   suppress_health_check=list(HealthCheck))  # fmt: skip


@pytest.mark.long
@RELAXED
@given(wanted=WANTED, limit=st.none() | st.integers(0, 5), among=st.none() | st.lists(st.integers(0, 200)))
def test_exactly_the_memories_that_are_as_wanted_pass(
    filled: Project, wanted: Filters, limit: int | None, among: list[int] | None
) -> None:
    with filled.store.read(filled.name) as snapshot:
        base = snapshot.numbers[0] << 32
        passing = [record.id - base for record in snapshot.records() if _passes(record, wanted)]
        if among is not None:
            passing = [number for number in passing if number in among]
        found = snapshot.matching(wanted, sorted(set(among)) if among is not None else None, limit)
    assert found == sorted(found) and set(found) <= set(passing)
    assert len(found) == (len(passing) if limit is None else min(limit, len(passing)))


@RELAXED
@given(wanted=WANTED, count=st.integers(0, 50))
def test_it_is_known_whether_more_than_so_many_pass(filled: Project, wanted: Filters, count: int) -> None:
    with filled.store.read(filled.name) as snapshot:
        assert snapshot.passes_more(wanted, count) == (len(snapshot.matching(wanted)) > count)


@each("value", VALUES)
def test_metadata_of_every_type_is_matched_by_itself_and_in_a_list(filled: Project, value: Any) -> None:
    with filled.store.read(filled.name) as snapshot:
        base = snapshot.numbers[0] << 32
        for key in KEYS:
            wanted = Filters(metadata={key: value})
            assert snapshot.matching(wanted) == [r.id - base for r in snapshot.records() if _passes(r, wanted)]


def test_a_scope_is_that_one_or_with_all_below_it_and_never_one_that_merely_starts_alike(project: Project) -> None:
    project.create(*(draft(scope, scope=scope) for scope in ("a/b", "a/bc", "a/b/c", "a", "a/b c", "a/b/", "a/b-c")))

    def found(**wanted: Any) -> list[str]:
        with project.store.read(project.name) as snapshot:
            base = snapshot.numbers[0] << 32
            return [r.name for r in snapshot.load([base + n for n in snapshot.matching(Filters(**wanted))])]

    assert found(scope="a/b") == ["a/b"]
    assert found(scope="a/b", scopes_below=True) == ["a/b", "a/b/c", "a/b/"]
    assert found(scope="a", scopes_below=True) == ["a/b", "a/bc", "a/b/c", "a", "a/b c", "a/b/", "a/b-c"]


def test_filters_follow_what_changes(project: Project) -> None:
    project.create(draft("a", kind="k", tags=("x", "y"), scope="s"))
    x, z = Filters(tags=("x",)), Filters(tags=("z",), kinds=("l",))

    def passes(wanted: Filters) -> bool:
        return bool(project.see(lambda snapshot: snapshot.matching(wanted)))

    assert (passes(x), passes(z)) == (True, False)
    project.replace("a", kind="l", tags=("z",))
    assert (passes(x), passes(z)) == (False, True)
    project.undo()
    assert (passes(x), passes(z)) == (True, False)
    project.delete("a")
    assert (passes(x), passes(z)) == (False, False)
    project.undo()
    assert (passes(x), passes(z)) == (True, False)
    project.purge("a")
    assert (passes(x), passes(z)) == (False, False)


def test_facets_count_what_occurs_among_the_memories_asked_for(filled: Project) -> None:
    with filled.store.read(filled.name) as snapshot:
        base = snapshot.numbers[0] << 32
        records = list(snapshot.records())[5:45]
        counted = snapshot.facets([record.id - base for record in records], 100)
        few = snapshot.facets([record.id - base for record in records], 2)
    truth = {
        "kinds": Counter(record.kind for record in records),
        "content_types": Counter(record.content_type for record in records if record.content_type is not None),
        "tags": Counter(tag for record in records for tag in record.tags),
        "scopes": Counter(record.scope for record in records if record.scope is not None),
        "months": Counter(f"{datetime.fromtimestamp(r.created / 1e6, UTC):%Y-%m}" for r in records),
    }
    assert {name: dict(pairs) for name, pairs in counted.items()} == truth
    for name, pairs in counted.items():
        assert [count for _, count in pairs] == sorted((count for _, count in pairs), reverse=True)
        assert few[name] == pairs[:2]


def test_who_is_who_stored_it_or_who_said_it_whatever_the_case(project: Project) -> None:
    with project.changing(who="Bea via Cursor 1.0 (native)") as tx:
        tx.add_records([draft("one"), draft("two")])
    with project.changing(who="Cal") as tx:
        tx.add_records([replace(draft("three"), metadata={"speaker": "Beate"}), draft("four")])
    with project.store.read("default") as snapshot:
        base = snapshot.numbers[0] << 32

        def named(who: str) -> set[str]:
            return {one.name for one in snapshot.load([base + n for n in snapshot.matching(Filters(who=who))])}

        assert named("bea") == {"one", "two", "three"}
        assert named("CURSOR") == {"one", "two"}
        assert named("cal") == {"three", "four"}
        assert named("nobody") == set()


def test_the_newest_of_a_kind_and_the_kinds_there_are(project: Project) -> None:
    project.create(*(replace(draft(f"{kind} {n}"), kind=kind) for n in range(3) for kind in ("plan", "fact")))
    project.create(replace(draft("last"), kind="fact"))
    for _ in range(3):  # from the file, then from memory
        with project.store.read("default") as snapshot:
            assert [one.name for one in snapshot.newest(2, ["fact"])] == ["last", "fact 2"]
            assert [one.name for one in snapshot.newest(3, ["plan", "fact"])] == ["last", "fact 2", "plan 2"]
            assert snapshot.newest(3, ["other"]) == []
            assert snapshot.kinds() == {"fact": 4, "plan": 3}
