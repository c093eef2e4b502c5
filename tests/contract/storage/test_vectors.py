"""The vectors a store keeps: of texts that are there, each once, numbered in the order of their arrival."""

from __future__ import annotations

import pytest

from polymnia.engine.ports import Store, Vector
from polymnia.errors import Invalid

from .engines import Engine
from .project import Project, draft


def _put(project: Project, *texts: int, model: str = "toy", dimensions: int = 8, part: int = 0) -> int:
    given: list[Vector] = [(text, part, f"half {model} {text} {part}".encode(), bytes([text])) for text in texts]
    with project.changing("embed") as tx:
        return tx.put_vectors(model, dimensions, given)


def _kept(project: Project, model: str = "toy") -> list[tuple[int, int, bytes]]:
    return [(text, part, bits) for _, text, part, bits in project.see(lambda s: s.vectors(model, 0, 100))]


@pytest.fixture
def three(project: Project) -> Project:
    """A project of three texts."""
    project.create(draft("a", "one", "two"))
    return project


def test_vectors_come_in_the_order_of_their_arrival(three: Project) -> None:
    assert _put(three, 3, 1) == 2
    assert _put(three, 2) == 1
    assert _kept(three) == [(3, 0, b"\3"), (1, 0, b"\1"), (2, 0, b"\2")]
    arrivals = three.see(lambda snapshot: [one[0] for one in snapshot.vectors("toy", 0, 100)])
    assert arrivals == sorted(arrivals)
    assert three.see(lambda s: [one[1] for one in s.vectors("toy", arrivals[0], 100)]) == [1, 2]
    assert three.see(lambda s: [one[1] for one in s.vectors("toy", 0, 1)]) == [3]
    halves = dict(three.see(lambda snapshot: snapshot.halves([*arrivals, 99])))
    assert halves == {arrivals[0]: b"half toy 3 0", arrivals[1]: b"half toy 1 0", arrivals[2]: b"half toy 2 0"}


def test_a_vector_that_is_there_stays_and_the_later_one_is_passed_over(three: Project) -> None:
    assert _put(three, 1) == 1
    assert _put(three, 1, 1, 2) == 1
    assert _kept(three) == [(1, 0, b"\1"), (2, 0, b"\2")]
    assert _put(three, 1, part=1) == 1
    assert _put(three, 1, model="other") == 1


def test_a_text_that_is_gone_gets_no_vector(three: Project) -> None:
    three.unobserve("a", "two")
    assert _put(three, 1, 3, 99) == 1
    assert _kept(three) == [(1, 0, b"\1")]


def test_a_vector_stays_with_a_deleted_text_that_may_come_back(three: Project) -> None:
    _put(three, 1, 2, 3)
    three.delete("a")
    three.undo()
    assert [text for text, _, _ in _kept(three)] == [1, 2, 3]


@pytest.mark.parametrize("what", ["kind", "tags", "summary"])
def test_a_head_that_changed_loses_its_vector_and_the_observations_keep_theirs(three: Project, what: str) -> None:
    three.create(draft("b", "text"))
    _put(three, 1, 2, 3, 4, 5)
    with three.changing() as tx:
        new = {"kind": "other"} if what == "kind" else {what: ("x",) if what == "tags" else "x"}
        tx.replace_record(three.id("b"), draft("b", "text", **new))
    assert [text for text, _, _ in _kept(three)][:3] == [1, 2, 3]
    assert 4 not in [text for text, _, _ in _kept(three)]
    assert _put(three, 4) == 1


def test_vectors_of_other_dimensions_are_refused(three: Project) -> None:
    _put(three, 1)
    with pytest.raises(Invalid, match="toy"):
        _put(three, 2, dimensions=16)
    assert _kept(three) == [(1, 0, b"\1")]


def test_a_model_whose_vectors_are_all_gone_may_come_back_with_other_dimensions(three: Project) -> None:
    _put(three, 1)
    with three.changing() as tx:
        assert tx.drop_vectors([]) == 1
    assert _put(three, 1, dimensions=16) == 1
    assert three.see(lambda snapshot: snapshot.models()) == {"toy": (16, 1)}


def test_models_are_counted_and_dropped_by_name(three: Project) -> None:
    assert three.see(lambda snapshot: snapshot.models()) == {}
    _put(three, 1, 2)
    _put(three, 1, model="old", dimensions=4)
    _put(three, 1, 2, 3, model="older", dimensions=4)
    assert three.see(lambda snapshot: snapshot.models()) == {"toy": (8, 2), "old": (4, 1), "older": (4, 3)}
    with three.changing() as tx:
        assert tx.drop_vectors(["toy", "unknown"]) == 4
        assert not tx.changed
    assert three.see(lambda snapshot: snapshot.models()) == {"toy": (8, 2)}
    assert _kept(three, "old") == []


def test_an_arrival_number_is_never_given_twice(three: Project) -> None:
    _put(three, 1, 2)
    (_, last) = three.see(lambda snapshot: [one[0] for one in snapshot.vectors("toy", 0, 100)])
    with three.changing() as tx:
        tx.drop_vectors([])
    _put(three, 1)
    assert three.see(lambda snapshot: [one[0] for one in snapshot.vectors("toy", last, 100)]) != []


def test_the_vectors_of_one_project_are_nothing_to_another(store: Store, engine: Engine) -> None:
    one, other = Project(store, "one"), Project(store, "other")
    for project in (one, other):
        project.create(draft("a", "text"))
        _put(project, 1, 2)
    with one.changing() as tx:
        tx.drop_vectors([])
    assert one.see(lambda snapshot: snapshot.models()) == {}
    assert _kept(other) == [(1, 0, b"\1"), (2, 0, b"\2")]
    assert engine.strays() == []


def test_a_purge_takes_the_vectors_of_all_its_texts(engine: Engine, three: Project) -> None:
    three.create(draft("b", "kept"))
    _put(three, 1, 2, 3, 4, 5)
    three.unobserve("a", "one")
    three.purge("a")
    assert [text for text, _, _ in _kept(three)] == [4, 5]
    assert engine.strays() == []
