"""The versions of one memory, read from the journal alone."""

from __future__ import annotations

from .project import Project, draft


def _told(project: Project, id: int) -> list[tuple[int, str, tuple[str, ...], tuple[str, ...]]]:
    found = project.see(lambda snapshot: snapshot.versions(id))
    return [(record.version, change.action, record.observations, record.tags) for change, record in found]


def test_every_version_is_told_as_it_was_newest_first(project: Project) -> None:
    project.create(draft("other", "noise"), draft("a", "one", "two", tags=("x",)))
    id = project.id("a")
    project.observe("a", "three")
    project.replace("a", "new", kind="other", tags=("y",))
    project.unobserve("a", "new")
    project.observe("other", "more noise")
    assert _told(project, id) == [
        (4, "unobserve", (), ("y",)),
        (3, "replace", ("new",), ("y",)),
        (2, "observe", ("one", "two", "three"), ("x",)),
        (1, "create", ("one", "two"), ("x",)),
    ]


def test_a_deleted_memory_tells_what_it_was(project: Project) -> None:
    project.create(draft("a", "one"))
    id = project.id("a")
    project.replace("a", "two")
    deleted = project.delete("a")
    assert _told(project, id) == [(2, "replace", ("two",), ()), (1, "create", ("one",), ())]
    project.undo(deleted)
    assert [(version, action, texts) for version, action, texts, _ in _told(project, id)] == [
        (3, "undo", ("two",)),
        (2, "replace", ("two",)),
        (1, "create", ("one",)),
    ]


def test_what_is_forgotten_of_the_past_is_gone_for_good(project: Project) -> None:
    project.create(draft("a", "one secret"))
    id = project.id("a")
    project.replace("a", "two")
    with project.changing("replace") as tx:
        tx.replace_record(id, draft("a", "three"))
        tx.purge_versions(id)
    assert _told(project, id) == [(3, "replace", ("three",), ())]
    assert project.get("a").observations == ("three",)
    assert project.finds("secret") == []
    assert "secret" not in repr(project.see(lambda snapshot: snapshot.history("a")))


def test_notes_are_forgotten_by_a_range_of_keys(project: Project) -> None:
    with project.changing() as tx:
        for key in ("a/1", "a/2", "b/1"):
            tx.note(key, "kept")
    with project.changing() as tx:
        tx.forget_notes("a/", "a/2")
    assert project.see(lambda snapshot: [snapshot.noted(key) for key in ("a/1", "a/2", "b/1")]) == [
        None,
        "kept",
        "kept",
    ]
