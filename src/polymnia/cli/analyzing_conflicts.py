"""A conflict for people: both statements, which is newer, and what to do about it, with the calls to make."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from polymnia.cli.output import dim, line, on_one_line, shown

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts import Clash, Side

__all__ = ["sides"]

_INDENT = 6


def sides(one: Clash, project: str) -> Iterator[str]:
    """The lines below the heading of a conflict."""
    indent = " " * _INDENT
    alone = (one.left.record.id, one.left.place) == (one.right.record.id, one.right.place)
    for side in (one.left,) if alone else (one.left, one.right):
        yield f"{indent}{line(side.sentence, _INDENT)}  {dim(f'{side.record.uid}, {_when(side)}')}"
    late = {"left": one.left, "right": one.right}.get(one.newer)
    if not alone:
        yield f"{indent}newer: {f'{on_one_line(late.sentence)} ({_when(late)})' if late else 'cannot be told'}"
    yield dim(f"{indent}{on_one_line(one.explanation)}")
    if one.resolution is None:
        return
    if one.resolution.action == "ask" and not alone and not one.left.drawn:
        yield f"{indent}ask: which of the two holds?"
        for order, other in (("first", one.right), ("second", one.left)):
            yield f"{indent}if the {order}: {_without(other, project)}"
        return
    yield f"{indent}{one.resolution.action}: {on_one_line(one.resolution.why)}"
    for call in (one.resolution.call, one.resolution.then):
        if call is not None:
            yield f"{indent}{_call(call['tool'], call['arguments'])}"


def _when(side: Side) -> str:
    if side.dated:
        return f"since {shown(side.at)[:10]} by its own words"
    return f"{'drawn' if side.drawn else 'stored'} {shown(side.at)[:16].replace('T', ' ')} UTC"


def _call(tool: str, arguments: dict[str, Any]) -> str:
    return f"call {tool} {json.dumps(arguments, ensure_ascii=False)}"


def _without(side: Side, project: str) -> str:
    """What takes a statement out: a call where nothing else stands with it, else where it stands."""
    record, said = side.record, " ".join(side.sentence.split())
    whole = [one for one in record.observations if " ".join(one.split()) == said]
    if record.name != record.uid and whole:
        gone = {"entityName": record.name, "observations": whole}
        return _call("delete_observations", {"deletions": [gone]})
    if record.name == record.uid and whole and len(record.observations) == 1:
        given = {"operation": "delete_content", "project_id": project, "content_id": record.uid}
        return _call("memory_store", given | ({} if record.session is None else {"session_id": record.session}))
    return f"take the sentence out of {record.name} in project {project}"
