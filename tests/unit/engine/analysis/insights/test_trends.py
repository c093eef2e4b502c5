"""Trend analysis: subjects that rise, fall, begin and fall silent, and a project in which nothing does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polymnia import describe, remark
from polymnia.engine.analysis.insights import InsightFinding

from .planted import Project, of_type


def _told(project: Project, **options: object) -> dict[tuple[str, str], InsightFinding]:
    found = project.insights("trend_analysis", **options)  # type: ignore[arg-type]
    told = {}
    for one in found.insights:
        subject = one.evidence.get("subject", {"project": ""})
        told[one.name, next(iter(subject.values()))] = one
    return told


def _diary(path: Path, seed: int = 1, *, dealt: bool = False) -> Project:
    """Two months, some notes a day: one tag rises, one falls, one begins, one ends, two do nothing."""
    project = Project(path, model=False)
    made = random.Random(seed)
    days, tags = [], []
    for day in range(59, -1, -1):
        late = day < 30  # nothing begins or ends around it: which side a day is on goes by the hour of the clock
        weights = {
            "steady": 3, "even": 3, "rising": 6 if late else 1, "falling": 1 if late else 6,
            "new": 3 if day < 28 else 0, "ended": 3 if day > 31 else 0,
        }  # fmt: skip
        for part in range(5):
            days.append(day + 0.9 - part / 10)
            tags.append(made.choices(list(weights), list(weights.values()))[0])
    if dealt:
        made.shuffle(tags)
    for number, (day, tag) in enumerate(zip(days, tags, strict=True)):
        project.entry(f"{made.random()} {number}", days=day, tags=[tag])
    return project


@pytest.mark.long
def test_what_rises_falls_begins_and_ends(tmp_path: Path) -> None:
    told = _told(_diary(tmp_path), depth="comprehensive")
    tags = {key for key in told if key[1] in ("steady", "even", "rising", "falling", "new", "ended")}
    assert tags == {
        ("rising_subject", "rising"),
        ("falling_subject", "falling"),
        ("new_subject", "new"),
        ("silent_subject", "ended"),
    }
    assert all(told[key].confidence >= 0.95 for key in tags)
    rising = told["rising_subject", "rising"]
    assert rising.evidence["within"] > rising.evidence["before"]
    assert str(rising.evidence["within"]) in describe(rising).summary
    assert len(rising.members) == sum(rising.evidence["counts"])


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tags_dealt_by_chance_show_no_trend(tmp_path: Path, seed: int) -> None:
    assert _told(_diary(tmp_path, seed, dealt=True)) == {}


def test_the_horizon_is_the_time_that_counts(tmp_path: Path) -> None:
    project = _diary(tmp_path)
    assert ("new_subject", "new") not in _told(project, horizon="short")  # a week ago it was there already
    found = project.insights("trend_analysis", horizon="long")
    assert found.insights == []
    assert any("Too little to tell a trend over 365 days" in note for note in map(remark, found.notes))


def test_the_surface_tells_three(tmp_path: Path) -> None:
    project = _diary(tmp_path)
    assert len(of_type(project.insights("trend_analysis"), "trend_analysis")) == 3


def test_a_project_that_gets_busier(tmp_path: Path) -> None:
    project = Project(tmp_path, model=False)
    for day in range(59, -1, -1):
        for part in range(1 + (59 - day) // 8):
            project.entry(f"Entry {day} {part}.", days=day + 0.9 - part / 20, tags=["log"])
    told = _told(project)
    assert ("rising_project", "") in told
    assert not any(name.endswith("subject") for name, _ in told)  # its one tag grows as everything does


def test_korean_tags_have_trends_too(tmp_path: Path) -> None:
    project = Project(tmp_path, model=False)
    for day in range(59, -1, -1):
        # Around the border of thirty days there is neither, as in the diary above.
        for part, tag in enumerate(("회의", *(["배포"] if day < 28 else ["조사"] if day > 31 else []))):
            project.entry(f"{day}일 전의 기록 {part}", days=day + 0.9 - part / 10, tags=[tag])
    assert {("new_subject", "배포"), ("silent_subject", "조사")} == set(_told(project))
