"""How much a project may hold: what would be too much is rolled back whole, on every engine."""

from __future__ import annotations

import pytest

from polymnia.engine.access import Metered, Quota
from polymnia.engine.ports import Store
from polymnia.errors import OverQuota

from .project import Project, draft


def _counts(project: Project) -> tuple[int, int]:
    return project.see(lambda snapshot: snapshot.count())[0], project.see(lambda snapshot: snapshot.size())


@pytest.mark.promise("store.quota")
def test_a_project_grows_up_to_its_limit_and_no_further(store: Store) -> None:
    metered, other = (Project(Metered(store, Quota(memories=3)), name) for name in ("default", "other"))
    with metered.changing() as tx:
        tx.add_records([draft("a", "one", "two"), draft("b", "three")])
    with pytest.raises(OverQuota) as refused, metered.changing() as tx:
        tx.add_records([draft("c"), draft("d")])
    assert refused.value.details == {"what": "memories", "limit": 3, "size": 4}
    assert "'default' may hold 3 memories, and would have 4" in refused.value.message
    assert "--max-project-memories" in refused.value.hint
    assert _counts(metered) == (2, 5)
    with metered.changing() as tx:
        tx.add_records([draft("c")])
    with other.changing() as tx:  # each has its own
        tx.add_records([draft("c")])
    assert _counts(metered)[0] == 3


@pytest.mark.promise("store.quota")
def test_what_does_not_grow_is_never_refused(store: Store) -> None:
    free = Project(store, "default")
    with free.changing() as tx:
        ids = [record.id for record in tx.add_records([draft(name, f"text of {name}") for name in "abcde"])]
    metered = Project(Metered(store, Quota(memories=2, texts=4)), "default")
    with metered.changing() as tx:
        tx.revise(ids[0], {"kind": "other"})
    with metered.changing() as tx:  # as many as before
        tx.remove_records(ids[:1])
        tx.add_records([draft("f", "text of f")])
    with metered.changing() as tx:
        tx.remove_records(ids[1:2])
    assert _counts(metered) == (4, 8)
    with pytest.raises(OverQuota), metered.changing() as tx:
        tx.undo(None)  # which would bring one back
    assert _counts(metered) == (4, 8)


@pytest.mark.promise("store.quota")
def test_texts_are_limited_too(store: Store) -> None:
    metered = Project(Metered(store, Quota(texts=4)), "default")
    with metered.changing() as tx:
        (made,) = tx.add_records([draft("a", "one", "two")])
    with pytest.raises(OverQuota) as refused, metered.changing() as tx:
        tx.add_observations([(made.id, ["three", "four"])])
    assert refused.value.details == {"what": "texts", "limit": 4, "size": 5}
    with metered.changing() as tx:
        tx.add_observations([(made.id, ["three"])])
    assert _counts(metered) == (1, 4)
