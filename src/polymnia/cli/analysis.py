"""The ``analyze`` command: patterns, quality, relationships, conflicts and insights, and what to do about them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, assert_never

from msgspec import Struct

from polymnia.cli.console import (
    CommandResult,
    bar,
    dim,
    format_time,
    green,
    labelled,
    line,
    on_one_line,
    open_existing,
    parse_time,
    strong,
)
from polymnia.dialects.content import reports
from polymnia.engine.analysis import PATTERNS, actions
from polymnia.engine.analysis.actions import Delete, DeleteObservations
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.content import title_of
from polymnia.engine.memory import Memory
from polymnia.engine.project import Step
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Record
from polymnia.settings import Settings

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts import Clash, Side
    from polymnia.engine.analysis.findings import Finding
    from polymnia.engine.analysis.insights.view import InsightFinding

_INDENT = " " * 6
_CONFLICTS = ("factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts")
_WHATS = {
    "patterns [ID]": "topics, usage, quality issues, times, people",
    "quality ID": "how good one memory is, and how to make it better",
    "relationships ID": "what one memory has to do with others",
    "conflicts [ID ...]": "what cannot both be true, and what to do about it",
    "insights [ID ...]": "what is missing, what could be saved, what follows",
}
_INSIGHTS = ("content_gaps", "usage_insights", "trend_analysis", "efficiency_opportunities", "knowledge_synthesis")
_WHERE = ("config", "store", "file", "project")
"""Settings that select the memory a command works on."""


def analyze(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Run one analysis and report its findings."""
    if arguments.what is None:
        ways = "\n".join(f"  polymnia analyze {way:<20}{about}" for way, about in _WHATS.items())
        raise Invalid("Say what to analyze", hint=f"{ways}\npolymnia analyze --help tells the rest.")
    if arguments.what in ("quality", "relationships") and len(arguments.ids) != 1:
        raise Invalid(f"analyze {arguments.what} needs the id of one memory", hint="polymnia list shows the ids.")
    if arguments.what == "patterns" and len(arguments.ids) > 1:
        raise Invalid("analyze patterns takes one id at most", hint="Ask for one memory, or for all of the project.")
    with open_existing(chosen) as memory:
        ids = [memory.resolve(id).uid for id in arguments.ids]
        with bar("Analyzing") as step:
            answer = _ANALYSES[arguments.what](memory, arguments, ids, step)
    answer.data = _plain(answer.data) | {"notes": answer.notes}
    return answer


def _patterns(memory: Memory, arguments: Namespace, ids: list[str], step: Step) -> CommandResult:
    found, _ = memory.patterns(
        _types(arguments, tuple(PATTERNS)),
        session=arguments.session,
        id=ids[0] if ids else None,
        start=_time(arguments.since),
        end=_time(arguments.until),
        step=step,
    )
    min_confidence = 0.5 if arguments.least is None else arguments.least
    patterns = [one for each in found.values() for one in each.patterns if one.confidence >= min_confidence]
    notes = []
    for type, each in found.items():
        notes += [f"{type}: {note}" if len(found) > 1 else note for note in _notes(each)]
    shown_ids = memory.ids_shown({id for one in patterns for id in one.members})
    data, lines = [], []
    for one in patterns:
        data.append({**reports.fields(one), "members": [shown_ids[id] for id in one.members if id in shown_ids]})
        lines += _heading(one, reports.describe(one).summary)
    return CommandResult({"patterns": data}, _numbered(lines, patterns), notes)


def _quality(memory: Memory, arguments: Namespace, ids: list[str], step: Step) -> CommandResult:
    with importing():
        from polymnia.dialects.content.reports.quality import worded
        from polymnia.engine.analysis.quality import DIMENSIONS

    found, _ = memory.quality(ids[0], dimensions=_types(arguments, DIMENSIONS), session=arguments.session, step=step)
    words = worded(found)
    lines = [f"{_score(found.score)}  {strong(on_one_line(found.title))}"]
    for one in words["dimensions"]:
        head = f"{_score(one['score'])}  {one['name']}"
        lines.append(labelled(head, dim(one["note"]), len(head) + 2) if "note" in one else head)
    for each in words["suggestions"]:
        lines += [
            f"{_INDENT}{green(each['dimension'])}  {line(each['problem'], len(_INDENT))}",
            f"{_INDENT}{line('“' + each['quote'] + '”', len(_INDENT))}",
            dim(f"{_INDENT}{on_one_line(each['advice'])}"),
        ]
    return CommandResult(words, lines)


def _relationships(memory: Memory, arguments: Namespace, ids: list[str], step: Step) -> CommandResult:
    found, _ = memory.connections(
        ids[0],
        types=tuple(arguments.type) or None,
        max_depth=arguments.depth,
        session=arguments.session,
        least=arguments.least or 0.0,
        step=step,
    )
    lines = []
    for one in found.found:
        arrow = "->" if one.direction == "outgoing" else "<-"
        strength = "    " if one.strength is None else f"{one.strength:.2f}"
        lines.append(f"{strength}  {arrow} {green(one.type)}  {strong(on_one_line(title_of(one.target)))}")
        if one.context:
            lines.append(dim(f"{_INDENT}{line(one.context, len(_INDENT))}"))
    return CommandResult({"relationships": found.found}, _numbered(lines, found.found), _notes(found))


def _conflicts(memory: Memory, arguments: Namespace, ids: list[str], step: Step) -> CommandResult:
    found, _ = memory.conflicts(
        types=_types(arguments, _CONFLICTS),
        ids=ids or None,
        sensitivity=arguments.sensitivity,
        session=arguments.session,
        step=step,
    )
    with importing():
        from polymnia.dialects.content.reports import conflicts
    data, lines = [], []
    for one in found.clashes:
        fields = _plain(conflicts.fields(one))
        if one.resolution is not None:
            fields["resolution"]["steps"] = [as_command(step, arguments) for step in one.resolution.steps]
        data.append(fields)
        lines.append(f"{one.confidence:.2f}  {strong(one.type)}  {green(reports.describe(one).summary)}")
        lines += _sides(one, memory.project, arguments)
    return CommandResult({"conflicts": data}, _numbered(lines, found.clashes), _notes(found))


def _insights(memory: Memory, arguments: Namespace, ids: list[str], step: Step) -> CommandResult:
    found, _ = memory.insights(
        types=_types(arguments, _INSIGHTS), ids=ids or None, session=arguments.session, step=step
    )
    shown_ids = memory.ids_shown({id for one in found.insights for id in one.members})
    data, lines = [], []
    for one in found.insights:
        steps = [as_command(action, arguments) for action in one.actions]
        members = [shown_ids[uid] for uid in one.members if uid in shown_ids]
        data.append({**reports.fields(one), "members": members, "actions": steps})
        words = reports.describe(one)
        lines += _heading(one, words.summary)
        lines += [dim(f"{_INDENT}{on_one_line(text)}") for text in (words.recommendation, *steps) if text]
    return CommandResult({"insights": data}, _numbered(lines, found.insights), _notes(found))


def _heading(one: Finding | InsightFinding, summary: str) -> list[str]:
    heading = f"{one.confidence:.2f}  {strong(one.type)}  {green(one.name)}"
    return [heading, f"{_INDENT}{line(summary, len(_INDENT))}"]


def _numbered(lines: list[str], found: Sequence[object]) -> list[str]:
    return [*lines, dim(f"{len(found):,} found.")]


_ANALYSES: dict[str, Callable[[Memory, Namespace, list[str], Step], CommandResult]] = {
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
    return None if text is None else parse_time(text)


def _score(score: float | None) -> str:
    return "  – " if score is None else f"{score:.2f}"


def _plain(value: Any) -> Any:
    """Convert engine values to JSON data; memories become their id and title."""
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


# ── conflicts ─────────────────────────────────────────────────────────────────────────────────────────


def _sides(one: Clash, project: str, arguments: Namespace) -> Iterator[str]:
    """The lines printed below a conflict's heading."""
    alone = (one.left.record.id, one.left.place) == (one.right.record.id, one.right.place)
    for side in (one.left,) if alone else (one.left, one.right):
        yield f"{_INDENT}{line(side.sentence, len(_INDENT))}  {dim(f'{side.record.uid}, {_when(side)}')}"
    newer = {"left": one.left, "right": one.right}.get(one.newer)
    if not alone:
        yield f"{_INDENT}newer: {f'{on_one_line(newer.sentence)} ({_when(newer)})' if newer else 'cannot be told'}"
    words = reports.describe(one)
    yield dim(f"{_INDENT}{on_one_line(words.explanation)}")
    if one.resolution is None:
        return
    if one.resolution.action == "ask" and not alone and not one.left.drawn:
        yield f"{_INDENT}ask: which of the two holds?"
        for order, other in (("first", one.right), ("second", one.left)):
            yield f"{_INDENT}if the {order}: {_removal(other, project, arguments)}"
        return
    yield f"{_INDENT}{one.resolution.action}: {on_one_line(words.recommendation or '')}"
    for step in one.resolution.steps:
        yield f"{_INDENT}{on_one_line(as_command(step, arguments))}"


def _when(side: Side) -> str:
    if side.dated:
        return f"since {format_time(side.at)[:10]} by its own words"
    return f"{'drawn' if side.drawn else 'stored'} {format_time(side.at)[:16].replace('T', ' ')} UTC"


def _removal(side: Side, project: str, arguments: Namespace) -> str:
    """How to remove a statement: a command if it is a whole observation, else where to edit it."""
    record, sentence = side.record, " ".join(side.sentence.split())
    whole = [one for one in record.observations if " ".join(one.split()) == sentence]
    if record.name != record.uid and whole:
        return on_one_line(as_command(DeleteObservations(name=record.name, texts=tuple(whole)), arguments))
    if record.name == record.uid and whole and len(record.observations) == 1:
        return as_command(Delete(id=record.uid), arguments)
    return f"take the sentence out of {record.name} in project {project}"


# ── advice ────────────────────────────────────────────────────────────────────────────────────────────


def as_command(action: actions.Action, arguments: Namespace) -> str:
    """The action as a command for the memory selected by ``arguments``, or as a sentence if there is no command."""

    def command(*words: str) -> str:
        options = {name: getattr(arguments, name, None) for name in _WHERE}
        where = [word for name, value in options.items() if value is not None for word in (f"--{name}", value)]
        return " ".join(["polymnia", *map(_word, (*words, *where))])

    match action:
        case actions.StoreItem(content=content, title=title, tags=tags):
            about = [word for tag in tags for word in ("--tag", tag)]
            about += [] if title is None else ["--meta", f"title={title}"]
            return command("add", content, *about)
        case actions.Delete(id=id):
            return command("delete", id)
        case actions.Show(id=id):
            return command("show", id)
        case actions.ShowHistory(id=id):
            return command("history", id)
        case actions.CheckQuality(id=id):
            return command("analyze", "quality", id)
        case actions.CheckConflicts(ids=ids, sensitivity=sensitivity):
            return command("analyze", "conflicts", *ids, "--sensitivity", sensitivity)
        case actions.CleanSessions(days=days):
            return command("sessions", "cleanup", "--older-than", str(days))
        case actions.Update(id=id):
            return f"change {id}: {_changes(action)}"
        case actions.Relate(source=source, target=target, type=type_):
            return f"relate {source} to {target} as {type_}"
        case actions.CreateEntity(name=name):
            return f"describe “{name}”"
        case actions.AddObservations(name=name, texts=texts):
            return f"add to “{name}”: {_quoted(texts)}"
        case actions.DeleteObservations(name=name, texts=texts):
            return f"take out of “{name}”: {_quoted(texts)}"
        case actions.DeleteRelations(relations=relations):
            return "remove the relations " + ", ".join(f"{a} {type_} {b}" for a, b, type_ in relations)
    assert_never(action)


def _word(text: str) -> str:
    """A word quoted for the shell, on one line."""
    if text.isprintable():
        return quote(text)
    escaped = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return "$'" + "".join("\\" + one if one in "\\'" else one for one in escaped) + "'"


def _changes(action: actions.Update) -> str:
    parts = [
        action.content is not None and f"the text becomes “{action.content}”",
        action.summary is not None and f"the summary becomes “{action.summary}”",
        action.tags is not None and f"the tags become {', '.join(action.tags)}",
        action.metadata is not None and ", ".join(f"{key} becomes {value}" for key, value in action.metadata.items()),
    ]
    return "; ".join(one for one in parts if one)


def _quoted(texts: tuple[str, ...]) -> str:
    return ", ".join(f"“{text}”" for text in texts)
