"""Efficiency opportunities: what could go or be drawn together, planted and in a project without any."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polymnia.engine.analysis.actions import Delete, Relate
from polymnia.engine.analysis.insights.savings import sections, spelling

from .planted import Project, named, of_type

_LETTERS = "bdfgklmnprstvz"
_LABELS = [f"label{number}" for number in range(10)]


def _varied(number: int) -> str:
    """Notes that have nothing in common: words that nobody has heard."""
    made = random.Random(number)
    return " ".join("".join(made.choice(_LETTERS) + made.choice("aeiou") for _ in range(3)) for _ in range(8)) + "."


def test_equal_memories_are_one(tmp_path: Path) -> None:
    project = Project(tmp_path)
    same = [
        project.note(text, days=9)
        for text in ("The ferry leaves at dawn.", "the ferry leaves  at dawn", "The ferry leaves at dawn.")
    ]
    for number in range(3):
        project.relate(same[2].name, project.note(_varied(number), days=8).name)
    (one,) = named(project.insights("efficiency_opportunities"), "duplicates")
    assert set(one.members) == {record.id for record in same}
    assert one.evidence["keep"] == same[2].uid  # the one that is related most
    assert one.evidence["saved_memories"] == 2
    assert one.evidence["saved_characters"] == len("The ferry leaves at dawn.") + len("the ferry leaves  at dawn")
    assert [type(step) for step in one.actions] == [Delete, Delete]


def test_near_copies_are_found_when_it_goes_deep(tmp_path: Path) -> None:
    project = Project(tmp_path)
    a = project.note("The old ferry leaves the stone quay at dawn for the far island.", days=9)
    b = project.note("The old ferry leaves the stone quay at dawn, for the far island!", days=8)
    for number in range(10):
        project.note(_varied(number), days=7)
    assert not named(project.insights("efficiency_opportunities"), "near_duplicates")
    (one,) = named(project.insights("efficiency_opportunities", depth="deep"), "near_duplicates")
    assert set(one.members) == {a.id, b.id}
    assert 0.5 < one.confidence < 1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Data-Base", "data base", True),
        ("배포 절차", "배포-절차", True),
        ("café", "Cafe", True),
        ("java", "javascript", False),
    ],
)
def test_spellings(a: str, b: str, same: bool) -> None:
    assert (spelling(a) == spelling(b)) is same


def test_tags_that_mean_the_same(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(24):
        tags = (
            ["quay", "pier"]
            if number % 3 == 0
            else ["lamp"]
            if number % 3 == 1
            else ["Oil-Lamp" if number % 2 else "oil lamp"]
        )
        project.note(_varied(number), days=30 - number, tags=tags)
    (spelled,) = named(project.insights("efficiency_opportunities"), "tag_spellings")
    assert set(spelled.evidence["tags"]) == {"Oil-Lamp", "oil lamp"}


def test_a_long_memory_of_several_sections_is_to_be_split(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(30):
        project.note(_varied(number), days=40 - number)
    text = "".join(f"## Part {part}\n\n{'The quay is long and the lamps are lit. ' * 80}\n\n" for part in range(4))
    long = project.note(text, days=3)
    project.note("The quay is long and the lamps are lit. " * 300, days=2)  # nothing to split it at
    (one,) = named(project.insights("efficiency_opportunities"), "split")
    assert one.members == (long.id,)
    assert one.evidence["section_count"] == 4
    assert one.evidence["saved_characters"] == pytest.approx(len(text) * 3 / 4, rel=0.02)


def test_sections_are_those_of_the_highest_level_that_repeats() -> None:
    text = "# A\n\nx\n\n## B\n\nyy\n\n```\n## no\n```\n\n## C\n\nz\n"
    assert [title for title, _ in sections(text)] == ["B", "C"]
    assert sections("# A\n\nonly one") == []


def test_sessions_that_were_left_are_counted_and_not_named(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.note("secret words", days=60, session="spring")
    project.note("An open note.", days=1)
    (one,) = named(project.insights("efficiency_opportunities"), "clean_sessions")
    assert one.evidence["saved_memories"] == 1
    assert "spring" not in str(one)
    assert not named(project.insights("efficiency_opportunities", horizon="long"), "clean_sessions")


def test_what_cannot_both_be_right_is_to_be_settled_when_it_goes_deep(tmp_path: Path) -> None:
    project = Project(tmp_path)
    a = project.note("The harbour server listens on port 8080.", days=40)
    b = project.note("The harbour server listens on port 9090.", days=4)
    assert not named(project.insights("efficiency_opportunities"), "settle_conflict")
    (one,) = named(project.insights("efficiency_opportunities", depth="deep"), "settle_conflict")
    assert set(one.members) == {a.id, b.id}
    assert [side["sentence"] for side in one.evidence["statements"]] == [a.observations[0], b.observations[0]]


def test_a_project_of_unlike_notes_has_nothing_to_save(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(30):
        project.note(_varied(number), days=40 - number, tags=[_LABELS[number % 7]])
    assert not of_type(project.insights("efficiency_opportunities", depth="comprehensive"), "efficiency_opportunities")


def _linked(path: Path, *, dealt: bool) -> Project:
    """Four circles of friends with some relations left out, or as many relations dealt by chance."""
    project = Project(path, model=False)
    made = random.Random(3)
    names = [f"friend {number}" for number in range(40)]
    for number, name in enumerate(names):
        project.entry(name, days=50 - number, tags=[])
    pairs = [(a, b) for a in range(40) for b in range(a + 1, 40) if a // 10 == b // 10 and made.random() < 0.85]
    if dealt:
        pairs = made.sample([(a, b) for a in range(40) for b in range(a + 1, 40)], len(pairs))
    for a, b in pairs:
        project.relate(names[a], names[b], "knows")
    return project


def test_relations_that_could_be_drawn(tmp_path: Path) -> None:
    found = named(_linked(tmp_path, dealt=False).insights("efficiency_opportunities", depth="deep"), "missing_link")
    assert found
    for one in found:
        assert [type(step) for step in one.actions] == [Relate]
        a, b = (int(line["title"].split()[1]) for line in one.evidence["records"])
        assert a // 10 == b // 10


def test_relations_dealt_by_chance_lack_none(tmp_path: Path) -> None:
    assert not named(_linked(tmp_path, dealt=True).insights("efficiency_opportunities", depth="deep"), "missing_link")
