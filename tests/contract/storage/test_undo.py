"""Taking back a change: all of it, and only it; or nothing, and the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from form import by_form
from polymnia.errors import Conflict, NotFound
from polymnia.models import Record

from .project import Project, State, draft, plain
from .wandering import Walk

Verb = Callable[[Project], int]


def _filled(project: Project) -> None:
    project.create(draft("a", "a1", "a2"), draft("b", "b1"), draft("c"))
    project.relate("a", "knows", "b")
    project.relate("b", "knows", "c")
    project.relate("nobody", "seeks", "a")


def _import(project: Project) -> int:
    """What an import does: some new, some extended, some replaced, relations, all in one change."""
    with project.changing("import") as tx:
        tx.add_records([draft("new 1", "text"), draft("new 2")])
        ids = tx.ids(["a", "b"])
        tx.add_observations([(ids["a"], ["from the file"])])
        tx.replace_record(ids["b"], draft("b", "as in the file", kind="other", extra={"key": [1, 2]}))
        tx.add_relations([("new 1", "a", "in", {}), ("a", "b", "knows", {})])
    return project.last().id


def _several(project: Project) -> int:
    """A change that takes back half of what it does itself."""
    with project.changing("several") as tx:
        new, other = tx.add_records([draft("new", "text"), draft("other")])
        tx.remove_records([new.id])
        tx.add_observations([(other.id, ["kept", "not kept"]), (tx.ids(["a"])["a"], ["kept", "not kept"])])
        for id in tx.ids(["a", "other"]).values():
            tx.remove_observations(id, ["not kept"])
        (relation, _) = tx.add_relations([("a", "other", "not kept", {}), ("a", "other", "kept", {})])
        tx.remove_relations([relation.id])
    return project.last().id


VERBS: dict[str, Verb] = {
    "create": lambda project: project.create(draft("new", "text", "text", extra={"key": 1}), draft("bare")),
    "observe": lambda project: project.observe("a", "new", "new", "a1"),
    "unobserve": lambda project: project.unobserve("a", "a1", "a2"),
    "replace": lambda project: project.replace("a", "other", kind="else", extra={"key": {"deep": None}}),
    "replace by the same": lambda project: project.replace("a", "a1", "a2"),
    "mark": lambda project: project.mark("b", colour="green"),
    "relate": lambda project: project.relate("a", "knows", "b"),
    "relate to nothing": lambda project: project.relate("x", "knows", "y", key=1),
    "unrelate": lambda project: project.unrelate("a", "knows", "b"),
    "delete": lambda project: project.delete("b"),
    "delete all": lambda project: project.delete("a", "b", "c", "nobody"),
    "import": _import,
    "several": _several,
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_newest_change_of_every_kind_is_undone_whole(project: Project, verb: str) -> None:
    _filled(project)
    before = project.state()
    number = VERBS[verb](project)
    assert project.state() != before
    with project.changing("undo") as tx:
        undone = tx.undo(None)
    assert undone.id == number
    assert plain(project.state()) == plain(before)
    assert project.last().undoes == number
    for record in before.records:
        assert project.finds(record.name) == [r.name for r in before.records if record.name in "".join(_words(r))]


def _words(record: Record) -> tuple[str, ...]:
    return (record.name, record.kind, *record.observations)


@pytest.mark.parametrize("verb", VERBS)
def test_an_undo_undone_brings_the_change_back_again_and_again(project: Project, verb: str) -> None:
    _filled(project)
    before = plain(project.state())
    number = VERBS[verb](project)
    after = plain(project.state())
    for _ in range(3):
        number = project.undo(number)
        assert plain(project.state()) == before
        number = project.undo(number)
        assert plain(project.state()) == after


@pytest.mark.parametrize("verb", VERBS)
def test_what_was_undone_is_searched_as_it_is(project: Project, verb: str) -> None:
    _filled(project)
    number = VERBS[verb](project)
    for _ in range(2):
        number = project.undo(number)
        for text in ("a1", "other", "green", "as in the file", "text", "new", "else", "thing", "b", "from"):
            held = [r.name for r in project.state().records if any(text in word for word in _words(r))]
            assert project.finds(text) == held, text


def test_undoing_again_and_again_goes_back_step_by_step(project: Project) -> None:
    states = [plain(project.state())]
    for step in (
        lambda: project.create(draft("a", "a1", "a2"), draft("b", "b1"), draft("c")),
        lambda: project.relate("a", "knows", "b"),
        lambda: project.replace("a", "other", kind="else"),
        lambda: project.observe("a", "more"),
        lambda: project.unobserve("a", "other"),
        lambda: _import(project),
        lambda: project.delete("a", "c"),
        lambda: project.create(draft("a", "anew")),
        lambda: project.delete("new 1"),
    ):
        step()
        states.append(plain(project.state()))
    assert plain(project.state()) == states.pop()
    while states:
        project.undo()
        assert plain(project.state()) == states.pop()
    with pytest.raises(Conflict):
        project.undo()


def test_steps_back_and_a_new_step_leave_the_undone_ones_undone(project: Project) -> None:
    for name in "abc":
        project.create(draft(name))
    project.undo()
    project.undo()
    project.create(draft("d"))
    assert project.names() == ["a", "d"]
    project.undo()
    assert project.names() == ["a"]
    project.undo()
    assert project.names() == []


# ── out of order ────────────────────────────────────────────────────────────────────────────────────────────

Script = tuple[Verb, ...]


def _create_a(project: Project) -> int:
    return project.create(draft("a", "a1", "a2"))


def _create_b(project: Project) -> int:
    return project.create(draft("b", "b1"))


# Changes, which of them is to be undone, and what is left then: observations by name, and types of relations.
INDEPENDENT: dict[str, tuple[Script, int, dict[str, tuple[str, ...]], list[str]]] = {
    "other records": ((_create_a, _create_b), 0, {"b": ("b1",)}, []),
    "an observation before another": (
        (_create_a, lambda p: p.observe("a", "x"), lambda p: p.observe("a", "y")),
        1,
        {"a": ("a1", "a2", "y")},
        [],
    ),
    "a deleted observation before another": (
        (_create_a, lambda p: p.unobserve("a", "a1"), lambda p: p.unobserve("a", "a2")),
        1,
        {"a": ("a1",)},
        [],
    ),
    "a deleted observation before a new one": (
        (_create_a, lambda p: p.unobserve("a", "a1"), lambda p: p.observe("a", "y")),
        1,
        {"a": ("a1", "a2", "y")},
        [],
    ),
    "a relation before a change of its ends": (
        (_create_a, lambda p: p.relate("a", "knows", "a"), lambda p: p.replace("a", "new", kind="other")),
        1,
        {"a": ("new",)},
        [],
    ),
    "one relation before another": (
        (_create_a, lambda p: p.relate("a", "r", "b"), lambda p: p.relate("a", "q", "b")),
        1,
        {"a": ("a1", "a2")},
        ["q"],
    ),
    "a deletion before a relation to the name": (
        (_create_a, lambda p: p.delete("a"), lambda p: p.relate("x", "seeks", "a")),
        1,
        {"a": ("a1", "a2")},
        ["seeks"],
    ),
    "a creation after a relation to the name": (
        (lambda p: p.relate("x", "seeks", "a"), _create_a),
        1,
        {},
        ["seeks"],
    ),
    "a creation whose extension was undone": (
        (_create_a, lambda p: p.observe("a", "x"), lambda p: p.undo()),
        0,
        {},
        [],
    ),
    "a creation whose deletion was undone": ((_create_a, lambda p: p.delete("a"), lambda p: p.undo()), 0, {}, []),
    "a change of kind before a new observation": (
        (_create_a, lambda p: p.mark("a", key=1), lambda p: p.observe("a", "x")),
        1,
        {"a": ("a1", "a2", "x")},
        [],
    ),
}


@pytest.mark.parametrize("case", INDEPENDENT)
def test_a_change_nothing_builds_on_is_undone_alone(project: Project, case: str) -> None:
    script, which, left, relations = INDEPENDENT[case]
    numbers = [verb(project) for verb in script]
    before = project.state()
    redo = project.undo(numbers[which])
    assert {record.name: record.observations for record in project.state().records} == left
    assert [relation.type for relation in project.state().relations] == relations
    project.undo(redo)
    assert plain(project.state()) == plain(before)


# Changes, which of them is to be undone, and which later ones stand in the way.
BUILT_ON: dict[str, tuple[Script, int, list[int]]] = {
    "a creation and an extension": ((_create_a, lambda p: p.observe("a", "x")), 0, [1]),
    "a creation and a replacement": ((_create_a, lambda p: p.replace("a", "x")), 0, [1]),
    "a creation and a deletion": ((_create_a, lambda p: p.delete("a")), 0, [1]),
    "a creation and a relation": ((_create_a, lambda p: p.relate("a", "knows", "x")), 0, [1]),
    "a creation and a relation to it": ((_create_a, lambda p: p.relate("x", "knows", "a")), 0, [1]),
    "a creation and several": (
        (_create_a, lambda p: p.observe("a", "x"), _create_b, lambda p: p.mark("a", key=1)),
        0,
        [1, 3],
    ),
    "an observation and its deletion": (
        (_create_a, lambda p: p.observe("a", "x"), lambda p: p.unobserve("a", "x")),
        1,
        [2],
    ),
    "an observation and a replacement": (
        (_create_a, lambda p: p.observe("a", "x"), lambda p: p.replace("a", "y")),
        1,
        [2],
    ),
    "a kind and another kind": (
        (_create_a, lambda p: p.replace("a", kind="one"), lambda p: p.replace("a", kind="two")),
        1,
        [2],
    ),
    "a mark and another mark": ((_create_a, lambda p: p.mark("a", key=1), lambda p: p.mark("a", key=2)), 1, [2]),
    "a mark and a deletion": ((_create_a, lambda p: p.mark("a", key=1), lambda p: p.delete("a")), 1, [2]),
    "a relation and its deletion": (
        (lambda p: p.relate("a", "knows", "b"), lambda p: p.unrelate("a", "knows", "b")),
        0,
        [1],
    ),
    "a relation and a deletion of its end": (
        (_create_a, lambda p: p.relate("x", "knows", "a"), lambda p: p.delete("a")),
        1,
        [2],
    ),
    "a creation, a deletion undone, and an extension": (
        (_create_a, lambda p: p.delete("a"), lambda p: p.undo(), lambda p: p.observe("a", "x")),
        0,
        [3],
    ),
    "an undo and what came after it": (
        (_create_a, lambda p: p.delete("a"), lambda p: p.undo(), lambda p: p.unobserve("a", "a1")),
        2,
        [3],
    ),
    "a deletion and the same name anew": ((_create_a, lambda p: p.delete("a"), _create_a), 1, [2]),
    "an undone creation and the same name anew": ((_create_a, lambda p: p.undo(), _create_a), 1, [2]),
    "an undo and an extension of what it brought back": (
        (_create_a, lambda p: p.delete("a"), lambda p: p.undo(), lambda p: p.observe("a", "x")),
        2,
        [3],
    ),
    "an undo and a relation to what it brought back": (
        (_create_a, lambda p: p.delete("a"), lambda p: p.undo(), lambda p: p.relate("x", "knows", "a")),
        2,
        [3],
    ),
    "a deleted observation and a deletion": (
        (_create_a, lambda p: p.unobserve("a", "a1"), lambda p: p.delete("a")),
        1,
        [2],
    ),
}


@pytest.mark.parametrize("case", BUILT_ON)
def test_a_change_others_build_on_is_refused_and_they_are_named(project: Project, case: str) -> None:
    script, which, standing = BUILT_ON[case]
    numbers = [verb(project) for verb in script]
    before, changes = project.state(), project.see(lambda snapshot: snapshot.changes(100))
    with pytest.raises(Conflict) as conflict:
        project.undo(numbers[which])
    assert conflict.value.changes == [numbers[index] for index in standing]
    assert project.state() == before
    assert project.see(lambda snapshot: snapshot.changes(100)) == changes


@pytest.mark.parametrize("case", BUILT_ON)
def test_undoing_what_stands_in_the_way_clears_it(project: Project, case: str) -> None:
    script, which, _ = BUILT_ON[case]
    numbers = [verb(project) for verb in script]
    with pytest.raises(Conflict) as conflict:
        project.undo(numbers[which])
    assert conflict.value.changes
    for number in reversed(conflict.value.changes):
        project.undo(number)
    project.undo(numbers[which])


def test_a_relation_that_stood_before_comes_back_with_a_cascade(project: Project) -> None:
    _filled(project)
    before = plain(project.state())
    first = project.delete("a")
    second = project.delete("b")
    assert [relation.ends for relation in project.state().relations] == []
    project.undo(second)
    project.undo(first)
    assert plain(project.state()) == before


def test_cascades_that_share_a_relation_come_back_in_any_order(project: Project) -> None:
    _filled(project)
    before = plain(project.state())
    first = project.delete("a")
    second = project.delete("b")
    project.undo(first)  # the relation between them went with the first
    project.undo(second)
    assert plain(project.state()) == before


def test_a_change_undone_already_is_not_undone_twice(project: Project) -> None:
    number = project.create(draft("a"))
    by = project.undo(number)
    with pytest.raises(Conflict) as conflict:
        project.undo(number)
    assert conflict.value.changes == [by]
    assert project.names() == []
    again = project.undo(by)
    with pytest.raises(Conflict) as conflict:
        project.undo(by)
    assert conflict.value.changes == [again]
    project.undo(number)  # it stands again
    assert project.names() == []


def test_an_unknown_change_is_not_found(project: Project) -> None:
    with pytest.raises(Conflict):
        project.undo()
    number = project.create(draft("a"))
    for unknown in (0, -1, number + 1):
        with pytest.raises(NotFound):
            project.undo(unknown)
    assert project.names() == ["a"]


def test_a_change_may_be_undone_and_done_again_any_number_of_times(project: Project) -> None:
    number = project.create(draft("a", "text"))
    first = number
    for _ in range(by_form(100, 1000)):
        number = project.undo(number)
    assert project.names() == ["a"]
    project.undo()
    assert project.names() == []
    with pytest.raises(Conflict, match="already undone"):
        project.undo(first)


# ── at random ───────────────────────────────────────────────────────────────────────────────────────────────

Rows = dict[Any, Any]


def _rows(state: State) -> Rows:
    """A state as separate facts, each of which one change can make, alter or take away."""
    rows: Rows = {}
    for record in state.records:
        rows["record", record.id] = record.name
        rows["kind", record.id] = record.kind
        rows["extra", record.id] = record.extra
        rows |= {("observation", text): record.id for text in record.observations}
    return rows | {("relation", relation.id): relation.ends for relation in state.relations}


def _without(now: Rows, before: Rows, after: Rows) -> Rows | None:
    """The facts as they must be when what led from one state to the next is taken back and all else stands.

    None where that cannot be: a fact the change left behind is not as it left it.
    """
    left = dict(now)
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if now.get(key) != new:
            return None
        left.pop(key, None)
        if old is not None:
            left[key] = old
    owners = {key[1] for key in left if key[0] == "record"}
    owned = {key[1] for key in left if key[0] in ("kind", "extra")} | {
        owner for key, owner in left.items() if key[0] == "observation"
    }
    names = [name for key, name in left.items() if key[0] == "record"]
    return left if owned <= owners and len(names) == len(set(names)) else None


@pytest.mark.parametrize("seed", range(4))
def test_any_change_is_undone_exactly_or_refused_with_its_reasons(project: Project, seed: int) -> None:
    walk = Walk(project, f"undo {seed}")
    walk.run(80)
    undone = 0
    for index, change in enumerate(walk.changes):
        now = project.state()
        expected = _without(_rows(now), _rows(walk.before(index)), _rows(walk.states[index]))
        try:
            redo = project.undo(change.id)
        except Conflict as conflict:
            assert project.state() == now
            assert all(number > change.id for number in conflict.changes)
            continue
        undone += 1
        assert _rows(project.state()) == expected, change
        for record in project.state().records:
            # Texts are numbered in the order of their making.
            assert list(record.observations) == sorted(record.observations, key=lambda text: int(text.split()[1]))
        project.undo(redo)
        assert plain(project.state()) == plain(now)
    assert undone >= 10


@pytest.mark.parametrize("seed", range(4))
def test_undoing_all_that_is_in_the_way_leads_back_to_any_change(project: Project, seed: int) -> None:
    walk = Walk(project, f"way back {seed}")
    walk.run(40)
    for change in reversed(walk.changes):
        _undo_with_what_builds_on_it(project, change.id)
    with pytest.raises(Conflict, match="nothing"):
        while True:
            project.undo()
    assert project.state() == State((), ())


def _undo_with_what_builds_on_it(project: Project, number: int) -> None:
    for _ in range(100):
        try:
            project.undo(number)
            return
        except Conflict as conflict:
            if "already undone" in conflict.message:
                return
            assert conflict.changes, conflict.message
            for later in reversed(conflict.changes):
                _undo_with_what_builds_on_it(project, later)
    pytest.fail("there is always something in the way")
