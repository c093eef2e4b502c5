"""Content gaps: what a project asks for or speaks of and does not hold."""

from __future__ import annotations

from polymnia.engine.analysis.actions import FindSimilar
from polymnia.engine.analysis.insights.decided import thin_decisions
from polymnia.engine.analysis.insights.mentioned import unwritten_names
from polymnia.engine.analysis.insights.questions import open_questions
from polymnia.engine.analysis.insights.references import loose_ends, missing_references
from polymnia.engine.analysis.insights.unfinished import unfinished
from polymnia.engine.analysis.insights.values import Looked
from polymnia.engine.analysis.insights.view import View
from polymnia.engine.analysis.insights.wanted import asked_of_one, not_opened, reads_in
from polymnia.errors import NoLibrary

__all__ = ["content_gaps"]


def content_gaps(view: View) -> Looked:
    """What is missing: unfinished places, open questions, loose ends and decisions without their parts at any depth;
    what searches do not serve when it goes deep, and what fits into no topic when it is comprehensive."""
    looked = Looked(looked_at={"memories": len(view.records)})
    unfinished(view, looked)
    open_questions(view, looked)
    missing_references(view, looked)
    loose_ends(view, looked)
    thin_decisions(view, looked)
    unwritten_names(view, looked)
    if view.at_least(1):
        reads = reads_in(view)
        not_opened(view, looked, reads)
        asked_of_one(view, looked, reads)
    if view.at_least(2):
        _alone(view, looked)
    return looked


def _alone(view: View, looked: Looked) -> None:
    """Memories that fit into none of the topics: each is all there is on its matter."""
    try:
        topics = view.topics
    except NoLibrary as e:
        looked.notes.append(f"What fits into no topic is left out. {e.message}. {e.hint}")
        return
    for one in topics.patterns:
        if one.name == "outliers":
            record = view.record(one.members[0])
            advice = None if record is None else (
                "Write more on what matters among them, or relate it to what is there.", FindSimilar(id=record.uid)
            )  # fmt: skip
            looked.add(view.passed_on("content_gaps", one, advice), len(one.members))
