"""Usage insights: what the patterns of use come to, within the horizon."""

from __future__ import annotations

from pathlib import Path

from polymnia import remark
from polymnia.engine.analysis.actions import CheckQuality

from .planted import Project, named, of_type


def _read(path: Path) -> Project:
    """Forty memories read now and then within a month, one of them all the time and one found but never opened."""
    project = Project(path)
    records = [project.note(f"The lamp {number} burns.", days=90 - number / 100) for number in range(40)]
    for number, record in enumerate(records[2:]):
        project.read(record, days=[3 + number % 20], opened=1, found=1, who=f"reader{number % 3}")
    for reader in range(3):
        project.read(records[0], days=[1 + step for step in range(0, 25, 2)], opened=2, found=1, who=f"reader{reader}")
        project.read(records[1], days=[1 + step for step in range(0, 25, 2)], found=3, who=f"reader{reader}")
    return project


def test_what_is_read_most_and_what_is_found_but_never_opened(tmp_path: Path) -> None:
    project = _read(tmp_path)
    found = project.insights("usage_insights", depth="deep")
    (most,) = named(found, "most_read")
    assert len(most.members) == 1
    assert [type(step) for step in most.actions] == [CheckQuality]
    (passed,) = named(found, "found_not_opened")
    assert passed.members != most.members
    assert all(one.evidence["days"] == 30 for one in of_type(found, "usage_insights"))


def test_use_before_the_horizon_does_not_count(tmp_path: Path) -> None:
    project = Project(tmp_path)
    records = [project.note(f"The lamp {number} burns.", days=90 - number / 100) for number in range(40)]
    for number, record in enumerate(records):
        project.read(record, days=[40 + number % 20], opened=1, who="ana")
    project.read(records[0], days=[40 + step for step in range(30)], opened=1, who="ben")
    assert named(project.insights("usage_insights", horizon="long"), "most_read")
    found = project.insights("usage_insights", horizon="short")
    assert found.insights == []
    assert any("Too little reading" in note and "7 days" in note for note in map(remark, found.notes))


def test_users_are_looked_at_when_it_goes_deep(tmp_path: Path) -> None:
    project = _read(tmp_path)
    assert project.insights("usage_insights").looked_at["usage_insights"]["questions"] == ["usage"]
    assert "users" in project.insights("usage_insights", depth="deep").looked_at["usage_insights"]["questions"]
