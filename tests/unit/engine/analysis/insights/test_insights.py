"""Insights as a whole: options, scopes, too little to tell, missing libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polymnia import describe, remark
from polymnia.engine.analysis.insights import TYPES, insights
from polymnia.engine.analysis.insights.view import InsightResults

from .planted import Project


def _messy(path: Path) -> Project:
    """A bit of everything that can be counted."""
    project = Project(path)
    for number in range(12):
        project.note(f"Lamp {number} stands at pier {number}.\n\nTODO: say who lights lamp {number}", days=30 - number)
    for number in range(3):
        project.note("The ferry leaves at dawn.", days=10 - number)
    return project


@pytest.mark.parametrize("depth", ["surface", "deep", "comprehensive"])
@pytest.mark.parametrize("notes", [0, 1])
def test_a_project_with_hardly_anything_in_it_says_so(tmp_path: Path, depth: str, notes: int) -> None:
    project = Project(tmp_path)
    for _ in range(notes):
        project.note("The ferry leaves at dawn.", days=3)
    found = project.insights(depth=depth)
    assert found.insights == []
    assert found.looked_at["memories"] == notes
    for type in ("usage_insights", "trend_analysis", "knowledge_synthesis"):
        assert any(note.startswith(type) for note in map(remark, found.notes))


def test_only_the_types_asked_for_are_told(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    assert {one.type for one in project.insights("content_gaps").insights} == {"content_gaps"}
    both = project.insights("content_gaps", "efficiency_opportunities")
    assert {one.type for one in both.insights} == {"content_gaps", "efficiency_opportunities"}


def test_depth_is_how_many_are_told(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    counts = [
        len(project.insights("content_gaps", depth=depth).insights) for depth in ("surface", "deep", "comprehensive")
    ]
    assert counts == [3, 10, 12]


def test_each_depth_looks_at_more(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    looked = [project.insights("efficiency_opportunities", depth=depth).looked_at for depth in ("surface", "deep")]
    surface, deep = (set(one["efficiency_opportunities"]) for one in looked)
    assert {"compared_for_conflicts", "compared_for_near_duplicates", "relations"} <= deep - surface


def test_recommendations_can_be_left_out(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    assert all(one.actions for one in project.insights("content_gaps").insights)
    assert not any(one.actions for one in project.insights("content_gaps", recommend=False).insights)


def test_a_set_of_items_is_all_that_is_looked_at(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    some = [record.uid for record in project.memory.read_graph().records[:2]]
    found = project.insights("content_gaps", ids=some, depth="comprehensive")
    assert found.looked_at["memories"] == 2
    assert len(found.insights) == 2
    assert not project.insights("efficiency_opportunities", ids=some).insights


def test_a_session_is_apart(tmp_path: Path) -> None:
    project = _messy(tmp_path)
    own = project.note("TODO: only here", session="spring")
    assert own.id not in {
        id for one in project.insights("content_gaps", depth="comprehensive").insights for id in one.members
    }
    (one,) = project.insights("content_gaps", session="spring", only_session=True).insights
    assert one.members == (own.id,)


def test_the_same_store_gives_the_same_answer(tmp_path: Path) -> None:
    project = _messy(tmp_path)

    def work(material: Any) -> Any:
        return insights(material, types=("content_gaps", "efficiency_opportunities"), depth="deep")

    project.insights("content_gaps")
    first, second = (project.memory.analysed(work, key=number)[0] for number in range(2))
    assert first == second


def test_every_insight_carries_its_evidence(tmp_path: Path) -> None:
    found = _messy(tmp_path).insights(depth="comprehensive")
    assert found.insights
    for one in found.insights:
        assert one.type in TYPES
        words = describe(one)
        assert one.evidence and words.explanation and words.summary
        assert 0 <= one.confidence <= 1
        assert any(c.isdigit() for c in words.summary)


def test_the_best_of_each_name_comes_before_the_second_of_any() -> None:
    looked = InsightResults(type="t")
    for name, sure in (("a", 0.9), ("a", 0.8), ("a", 0.7), ("b", 0.6)):
        looked.add(name, sure, {})
    assert [(one.name, one.confidence) for one in looked.strongest(3)] == [("a", 0.9), ("b", 0.6), ("a", 0.8)]


def test_it_can_be_called_off(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def step(done: int, total: int) -> None:
        if total:
            raise Stopped

    with pytest.raises(Stopped):
        _messy(tmp_path).insights(step=step)


def test_progress_never_goes_back(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    _messy(tmp_path).insights(
        "content_gaps", "efficiency_opportunities", step=lambda done, total: told.append((done, total))
    )
    shares = [done for done, total in told if total]
    assert shares == sorted(shares)
