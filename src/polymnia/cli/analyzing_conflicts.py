"""A conflict for people: both statements, which is newer, and what to do about it, with the commands that do it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from polymnia.cli.advice import advised
from polymnia.cli.console import dim, line, on_one_line, shown
from polymnia.dialects.content.reports import describe
from polymnia.engine.analysis.actions import Delete, DeleteObservations

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts import Clash, Side

__all__ = ["sides"]

_INDENT = 6


def sides(one: Clash, project: str, arguments: Namespace) -> Iterator[str]:
    """The lines below the heading of a conflict."""
    indent = " " * _INDENT
    alone = (one.left.record.id, one.left.place) == (one.right.record.id, one.right.place)
    for side in (one.left,) if alone else (one.left, one.right):
        yield f"{indent}{line(side.sentence, _INDENT)}  {dim(f'{side.record.uid}, {_when(side)}')}"
    late = {"left": one.left, "right": one.right}.get(one.newer)
    if not alone:
        yield f"{indent}newer: {f'{on_one_line(late.sentence)} ({_when(late)})' if late else 'cannot be told'}"
    words = describe(one)
    yield dim(f"{indent}{on_one_line(words.explanation)}")
    if one.resolution is None:
        return
    if one.resolution.action == "ask" and not alone and not one.left.drawn:
        yield f"{indent}ask: which of the two holds?"
        for order, other in (("first", one.right), ("second", one.left)):
            yield f"{indent}if the {order}: {_without(other, project, arguments)}"
        return
    why = on_one_line(words.recommendation or "")
    yield f"{indent}{one.resolution.action}: {why}"
    for step in one.resolution.steps:
        yield f"{indent}{on_one_line(advised(step, arguments))}"


def _when(side: Side) -> str:
    if side.dated:
        return f"since {shown(side.at)[:10]} by its own words"
    return f"{'drawn' if side.drawn else 'stored'} {shown(side.at)[:16].replace('T', ' ')} UTC"


def _without(side: Side, project: str, arguments: Namespace) -> str:
    """What takes a statement out: a command where nothing else stands with it, else where it stands."""
    record, said = side.record, " ".join(side.sentence.split())
    whole = [one for one in record.observations if " ".join(one.split()) == said]
    if record.name != record.uid and whole:
        return on_one_line(advised(DeleteObservations(name=record.name, texts=tuple(whole)), arguments))
    if record.name == record.uid and whole and len(record.observations) == 1:
        return advised(Delete(id=record.uid), arguments)
    return f"take the sentence out of {record.name} in project {project}"
