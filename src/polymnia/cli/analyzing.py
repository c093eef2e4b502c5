"""What holds in a memory: patterns, the quality of one, what belongs together, what cannot be true, what follows."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from polymnia.cli.advice import advised
from polymnia.cli.analyzing_conflicts import sides
from polymnia.cli.console import bar, dim, existing, green, line, moment, on_one_line, print_json, strong
from polymnia.dialects.content import reports
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.graph import Step
from polymnia.engine.items import title_of
from polymnia.engine.memory import Memory
from polymnia.engine.verbs.analysis import PATTERNS
from polymnia.errors import Invalid, NoLibrary
from polymnia.importing import importing
from polymnia.models import Record
from polymnia.settings import Settings

__all__ = ["analyze"]

_INDENT = 6
_CONFLICTS = ("factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts")
_WHATS = {
    "patterns [ID]": "topics, usage, quality issues, times, people",
    "quality ID": "how good one memory is, and how to make it better",
    "relationships ID": "what one memory has to do with others",
    "conflicts [ID ...]": "what cannot both be true, and what to do about it",
    "insights [ID ...]": "what is missing, what could be saved, what follows",
}
_INSIGHTS = (
    "content_gaps", "usage_insights", "trend_analysis", "efficiency_opportunities", "knowledge_synthesis",
)  # fmt: skip


class _Told(Struct):
    """What an analysis answers: data for programs, lines for people, and what else is worth knowing."""

    data: dict[str, Any]
    lines: Iterator[str]
    notes: Sequence[str] = ()


def analyze(arguments: Namespace, chosen: Settings) -> int:
    """Run one analysis and tell what it found."""
    if arguments.what is None:
        ways = "\n".join(f"  polymnia analyze {way:<20}{about}" for way, about in _WHATS.items())
        raise Invalid("Say what to analyze", hint=f"{ways}\npolymnia analyze --help tells the rest.")
    one = arguments.what in ("quality", "relationships")
    if one and len(arguments.ids) != 1:
        raise Invalid(f"analyze {arguments.what} needs the id of one memory", hint="polymnia list shows the ids.")
    if arguments.what == "patterns" and arguments.ids and len(arguments.ids) > 1:
        raise Invalid("analyze patterns takes one id at most", hint="Ask for one memory, or for all of the project.")
    with existing(chosen) as held:
        ids = [held.resolve(id).uid for id in arguments.ids]
        with bar("Analyzing") as step:
            told = _ANALYSES[arguments.what](held, arguments, ids, step)
        if arguments.json:
            print_json(_plain(told.data) | {"notes": list(told.notes)})
        else:
            for text in told.lines:
                print(text)
    sys.stdout.flush()
    for note in told.notes if not arguments.json else ():
        print(on_one_line(note), file=sys.stderr)
    return 0


def _patterns(held: Memory, arguments: Namespace, ids: list[str], step: Step) -> _Told:
    types = _types(arguments, tuple(PATTERNS))
    found, _ = held.patterns(
        types, session=arguments.session, id=ids[0] if ids else None, start=_time(arguments.since),
        end=_time(arguments.until), step=step,
    )  # fmt: skip
    missing = [one for one in found.values() if isinstance(one, NoLibrary)]
    if missing and (arguments.type or len(missing) == len(found)):
        raise missing[0]
    patterns = [
        one
        for each in found.values()
        if not isinstance(each, NoLibrary)
        for one in each.patterns
        if one.confidence >= (0.5 if arguments.least is None else arguments.least)
    ]
    several = len(found) > 1
    notes = []
    for type, each in found.items():
        said = [f"{each.message}. {each.hint}"] if isinstance(each, NoLibrary) else _notes(each)
        notes += [f"{type}: {note}" if several else note for note in said]
    shown_ids = held.ids_shown({id for one in patterns for id in one.members})

    def lines() -> Iterator[str]:
        for one in patterns:
            yield f"{one.confidence:.2f}  {strong(one.type)}  {green(one.name)}"
            yield f"{' ' * _INDENT}{line(reports.describe(one).summary, _INDENT)}"
        yield dim(f"{len(patterns):,} found.")

    data = [
        _plain(reports.fields(one)) | {"members": [shown_ids[id] for id in one.members if id in shown_ids]}
        for one in patterns
    ]
    return _Told({"patterns": data}, lines(), notes)


def _quality(held: Memory, arguments: Namespace, ids: list[str], step: Step) -> _Told:
    with importing():
        from polymnia.dialects.content.reports.quality import worded
        from polymnia.engine.analysis.quality import DIMENSIONS

    found, _ = held.quality(
        ids[0], dimensions=_types(arguments, DIMENSIONS), session=arguments.session, step=step
    )  # fmt: skip
    words = worded(found)

    def lines() -> Iterator[str]:
        yield f"{_score(found.score)}  {strong(on_one_line(found.title))}"
        for one in words["dimensions"]:
            yield f"{_score(one['score'])}  {one['name']}" + (dim(f"  {one['note']}") if "note" in one else "")
        for each in words["suggestions"]:
            yield f"{' ' * _INDENT}{green(each['dimension'])}  {line(each['problem'], _INDENT)}"
            yield f"{' ' * _INDENT}{line('“' + each['quote'] + '”', _INDENT)}"
            yield dim(f"{' ' * _INDENT}{on_one_line(each['advice'])}")

    return _Told(_plain(words), lines(), [])


def _relationships(held: Memory, arguments: Namespace, ids: list[str], step: Step) -> _Told:
    found, _ = held.connections(
        ids[0], types=tuple(arguments.type) or None, max_depth=arguments.depth, session=arguments.session,
        least=arguments.least or 0.0, step=step,
    )  # fmt: skip

    def lines() -> Iterator[str]:
        for one in found.found:
            arrow = "->" if one.direction == "outgoing" else "<-"
            much = "    " if one.strength is None else f"{one.strength:.2f}"
            yield f"{much}  {arrow} {green(one.type)}  {strong(on_one_line(title_of(one.target)))}"
            if one.context:
                yield dim(f"{' ' * _INDENT}{line(one.context, _INDENT)}")
        yield dim(f"{len(found.found):,} found.")

    return _Told({"relationships": _plain(found.found)}, lines(), _notes(found))


def _conflicts(held: Memory, arguments: Namespace, ids: list[str], step: Step) -> _Told:
    found, _ = held.conflicts(
        types=_types(arguments, _CONFLICTS), ids=ids or None, sensitivity=arguments.sensitivity,
        session=arguments.session, step=step,
    )  # fmt: skip

    def lines() -> Iterator[str]:
        for one in found.clashes:
            yield f"{one.confidence:.2f}  {strong(one.type)}  {green(reports.describe(one).summary)}"
            yield from sides(one, held.project, arguments)
        yield dim(f"{len(found.clashes):,} found.")

    with importing():
        from polymnia.dialects.content.reports import conflicts

    data = []
    for one in found.clashes:
        told = _plain(conflicts.fields(one))
        if one.resolution is not None:
            told["resolution"]["steps"] = [advised(step, arguments) for step in one.resolution.steps]
        data.append(told)
    return _Told({"conflicts": data}, lines(), _notes(found))


def _insights(held: Memory, arguments: Namespace, ids: list[str], step: Step) -> _Told:
    found, _ = held.insights(
        types=_types(arguments, _INSIGHTS), ids=ids or None, session=arguments.session, step=step
    )  # fmt: skip
    shown_ids = held.ids_shown({id for one in found.insights for id in one.members})
    steps = [[advised(action, arguments) for action in one.actions] for one in found.insights]

    def lines() -> Iterator[str]:
        for one, to_do in zip(found.insights, steps, strict=True):
            yield f"{one.confidence:.2f}  {strong(one.type)}  {green(one.name)}"
            words = reports.describe(one)
            yield f"{' ' * _INDENT}{line(words.summary, _INDENT)}"
            for text in (words.recommendation, *to_do):
                if text:
                    yield dim(f"{' ' * _INDENT}{on_one_line(text)}")
        yield dim(f"{len(found.insights):,} found.")

    data = [
        _plain(reports.fields(one))
        | {"members": [shown_ids[uid] for uid in one.members if uid in shown_ids], "actions": to_do}
        for one, to_do in zip(found.insights, steps, strict=True)
    ]
    return _Told({"insights": data}, lines(), _notes(found))


_ANALYSES: dict[str, Callable[[Memory, Namespace, list[str], Step], _Told]] = {
    "patterns": _patterns,
    "quality": _quality,
    "relationships": _relationships,
    "conflicts": _conflicts,
    "insights": _insights,
}


def _notes(found: Any) -> list[str]:
    return [reports.remark(one) for one in found.notes]


def _types(arguments: Namespace, every: Sequence[str]) -> tuple[str, ...]:
    for one in arguments.type:
        if one not in every:
            raise Invalid(f"There is no type {one!r} of {arguments.what}", hint=f"One of: {', '.join(every)}.")
    return tuple(dict.fromkeys(arguments.type)) or tuple(every)


def _time(text: str | None) -> int | None:
    return None if text is None else moment(text)


def _score(score: float | None) -> str:
    return "  – " if score is None else f"{score:.2f}"


def _plain(value: Any) -> Any:
    """Values of the engine as data; memories by their ids and titles."""
    if isinstance(value, Record):
        return {"id": value.uid, "title": title_of(value)}
    if isinstance(value, Remark):
        return reports.remark(value)
    if isinstance(value, Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value
