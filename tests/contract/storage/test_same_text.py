"""What says exactly the same as a text is found by the store itself."""

from __future__ import annotations

from polymnia.engine.ports import Snapshot

from .project import Project, draft


def _same(project: Project, text: str, scope: str | None = None) -> str | None:
    def look(snapshot: Snapshot) -> str | None:
        id = snapshot.same_text(text, scope)
        return None if id is None else snapshot.load([id])[0].name

    return project.see(look)


def test_the_oldest_memory_that_says_the_same_and_nothing_else_is_found(project: Project) -> None:
    project.create(draft("two", "Likes tea", "Likes rain"), draft("one", "Likes tea."), draft("again", "likes  tea"))
    assert _same(project, "likes tea") == "one"
    assert _same(project, "likes TEA") is None
    assert _same(project, "Likes rain") is None
    assert _same(project, "likes tea", "elsewhere") is None
    project.delete("one")
    assert _same(project, "Likes tea") == "again"
    project.observe("again", "and more")
    assert _same(project, "Likes tea") is None


def test_another_project_is_not_looked_through(project: Project) -> None:
    Project(project.store, "other").create(draft("theirs", "Likes tea"))
    assert _same(project, "Likes tea") is None
    assert _same(Project(project.store, "other"), "Likes tea") == "theirs"
