"""The commands ``search`` and ``explain``: results as lines and as JSON, and how a query was processed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import to_builtins
from msgspec.structs import replace

from polymnia.cli.console import (
    CommandResult,
    columns,
    counted,
    dim,
    existing_scope,
    labelled,
    line,
    on_one_line,
    open_existing,
    padded,
    parse_time,
    record_data,
    strong,
    width,
)
from polymnia.dialects.notes import reasons, sentence
from polymnia.engine.memory import Memory
from polymnia.engine.search.results import Found, Fragment, Hit, Lane, Plan
from polymnia.errors import Invalid
from polymnia.models import Filters, JsonObject
from polymnia.settings import Settings

_INDENT = " " * 6
_PIECE = 300  # characters shown of a text if no passage matches
_WIDEST = 60
_TERMS = 6  # shown of a time
_SHOWN = 8  # expansions shown of a query term
_WHY = "exact terms missing alike words meaning similarity model lent date judged"
_HIT = "id name entityType observations category tags scope session metadata created updated"


def search(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Find memories by words and by meaning."""
    with open_existing(chosen) as memory:
        filters = _filters(memory, arguments)
        if not arguments.query.strip() and filters == Filters():
            raise Invalid("Nothing was asked for", field="query", hint="`polymnia list` shows everything there is.")
        found = memory.search(
            arguments.query,
            limit=arguments.limit,
            cursor=arguments.cursor,
            filters=filters,
            zone=_zone(),
            max_tokens=arguments.max_tokens,
            facets=arguments.facets,
            at_least=arguments.threshold,
        )
    data = {
        "query": arguments.query,
        "total": found.total,
        "hits": [_hit_data(hit) for hit in found.hits],
        "next": found.next,
        "pending": found.pending,
        "nearest": to_builtins(found.nearest),
        "facets": {name: dict(counts) for name, counts in found.facets.items()},
        "notes": _notes(found),
        "budget": to_builtins(found.cut),
    }
    return CommandResult(data, _found_lines(found), list(map(sentence, found.notes)))


def _notes(found: Found) -> list[JsonObject]:
    return [{"code": note.code, "text": sentence(note)} for note in found.notes]


def _zone() -> int:
    """The local UTC offset in minutes: dates in a query are in local time."""
    return (datetime.now().astimezone().utcoffset() or timedelta()) // timedelta(minutes=1)


def scope_filters(memory: Memory, arguments: Namespace) -> Filters:
    """Filters for the scope in the options, and the scopes below it if requested."""
    if arguments.below and arguments.scope is None:
        raise Invalid("--below needs a scope to be below of", field="below", hint="Add --scope, or leave out --below.")
    scope = None if arguments.scope is None else existing_scope(memory, arguments.scope)
    return Filters(scope=scope, scopes_below=arguments.below)


def _filters(memory: Memory, arguments: Namespace) -> Filters:
    """The filters set by the options."""
    return replace(
        scope_filters(memory, arguments),
        kinds=tuple(arguments.kind),
        categories=tuple(arguments.category),
        tags=tuple(arguments.tag),
        session=arguments.session,
        created_from=None if arguments.since is None else parse_time(arguments.since),
        created_to=None if arguments.until is None else parse_time(arguments.until),
        metadata=metadata(arguments.meta),
    )


def metadata(pairs: list[str]) -> JsonObject:
    """Parse metadata from KEY=VALUE pairs."""
    return dict(map(_pair, pairs))


def _pair(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; a value that is valid JSON is read as JSON, so 3, true and "3" differ."""
    key, sign, value = text.partition("=")
    if not sign:
        raise Invalid(f"--meta is {text!r}, but must be KEY=VALUE", field="meta", hint="Write it as --meta team=blue.")
    try:
        return key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return key, value


def _found_lines(found: Found) -> Iterator[str]:
    for hit in found.hits:
        yield from _hit_lines(hit)
    for name, counts in found.facets.items():
        if counts:
            listed = ", ".join(f"{on_one_line(str(value))} {dim(f'{count:,}')}" for value, count in counts)
            yield f"{name.replace('_', ' ')}: {listed}"
    if found.hits:
        of = f" of {found.total:,}" if found.total > len(found.hits) else ""
        yield dim(f"{counted(len(found.hits), 'memory')}{of}.")
    elif not found.nearest:
        yield dim("Nothing matches.")


def _hit_lines(hit: Hit) -> Iterator[str]:
    record = hit.record
    where = dim(f" {on_one_line(record.path)}") if record.scope or record.name == record.uid else ""
    yield f"{hit.score:.2f}  {strong(on_one_line(record.name))} {dim('(' + on_one_line(record.kind) + ')')}{where}"
    # A passage without a query term is shown only if no passage has one.
    pieces = [one for one in hit.fragments if one.marks] or list(hit.fragments[:1])
    bare = record.name == record.uid
    if bare or not any(one.marks for one in pieces):
        # The text is more informative than kind and tags; a memory without a name has nothing but its text.
        pieces = [one for one in pieces if one.observation is not None]
        if record.observations and (bare or hit.fragments) and not pieces:
            yield f"{_INDENT}{line(record.observations[0][:_PIECE], len(_INDENT))}"
    for fragment in pieces:
        before, after = _cut(hit, fragment)
        yield f"{_INDENT}{before}{_marked(fragment)}{after}"
    for where, turn in (("before", hit.previous), ("after", hit.next)):
        if turn is not None:
            name = "" if turn.name == turn.id else f" ({turn.name})"
            speaker = f"{turn.who}: " if turn.who else ""
            yield dim(f"{_INDENT}{on_one_line(f'{where}{name}: {speaker}{turn.text}')}")
    yield dim(f"{_INDENT}{on_one_line(reasons(hit.why))}")


def _marked(fragment: Fragment) -> str:
    text = on_one_line(fragment.text)
    pieces, done = [], 0
    for start, end in fragment.marks:
        pieces += [text[done:start], strong(text[start:end])]
        done = end
    return "".join(pieces) + text[done:]


def _cut(hit: Hit, fragment: Fragment) -> tuple[str, str]:
    """An ellipsis if a fragment is part of a longer text."""
    if fragment.observation is None or fragment.observation >= len(hit.record.observations):
        return "", ""
    whole = hit.record.observations[fragment.observation].strip()
    start = whole.find(fragment.text)
    return "…" if start > 0 else "", "…" if start >= 0 and start + len(fragment.text) < len(whole) else ""


def _hit_data(hit: Hit) -> JsonObject:
    return record_data(hit.record, _HIT) | {
        "score": hit.score,
        "why": _why(hit),
        "fragments": to_builtins(hit.fragments),
        "cut": hit.cut,
        "previous": to_builtins(hit.previous),
        "next": to_builtins(hit.next),
    }


def _why(hit: Hit) -> JsonObject:
    fields = to_builtins(hit.why)
    if fields["similarity"] is not None:
        fields["similarity"] = round(fields["similarity"], 4)
    return {"sentence": reasons(hit.why)} | {name: fields[name] for name in _WHY.split()}


# ── explained ─────────────────────────────────────────────────────────────────────────────────────────


def explain(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show the plan of a query, each lane's candidates, and the fusion."""
    with open_existing(chosen) as memory:
        plan = memory.explain(arguments.query, limit=arguments.limit, filters=_filters(memory, arguments), zone=_zone())
    return CommandResult(_plan_data(plan), _plan_lines(plan), list(map(sentence, plan.found.notes)))


def _plan_data(plan: Plan) -> JsonObject:
    data: JsonObject = to_builtins(plan)
    found = data["found"] | {"notes": _notes(plan.found)}
    for fields, hit in zip(found["hits"], plan.found.hits, strict=True):
        fields["why"] = _why(hit)
    lanes = [
        {
            "name": _lane_name(one),
            "asked": _lane_asked(one),
            "best": to_builtins(one.best),
            "milliseconds": one.milliseconds,
        }
        for one in plan.lanes
    ]
    return data | {"time": _time(plan), "lanes": lanes, "found": found}


def _time(plan: Plan) -> str | None:
    if plan.time is None:
        return None
    text, terms = plan.time
    return f"{text}: {', '.join(terms[:_TERMS])}"


def _lane_name(lane: Lane) -> str:
    return lane.name if lane.model is None else f"{lane.name} ({lane.model})"


def _lane_asked(lane: Lane) -> str:
    """What a lane looked up, in words."""
    if lane.name == "exact":
        return f"the query as it stands: {lane.terms[0]!r}" if lane.terms else "nothing: too long"
    if lane.name == "words":
        return ", ".join(lane.terms) or "no words"
    return "the cosine of each passage to the query"


def _plan_lines(plan: Plan) -> Iterator[str]:
    about = {
        "query": on_one_line(plan.query),
        "language": f"{plan.language or 'not certain'}, script {plan.script or 'none'}",
        "time": on_one_line(_time(plan) or "none asked for"),
        "words": "" if plan.words else "none that tell anything",
    }
    yield from (labelled(strong(name), text, 10) for name, text in about.items())
    rows = [(word, _terms(terms)) for word, terms in plan.words]
    yield from _columns(("word", "looked up as (weight, passages that have it)"), rows)
    for lane in plan.lanes:
        yield ""
        name, asked = _lane_name(lane), on_one_line(_lane_asked(lane))
        yield labelled(strong(name), f"{asked}  {dim(f'{lane.milliseconds:.2f} ms')}", width(name) + 2)
        best = [labelled(f"{score:5.3f}", on_one_line(name), 9, 2) for name, score in lane.best]
        yield from best or [dim("  nothing")]
    yield ""
    yield f"{strong('together')}  {dim(f'{plan.milliseconds:.2f} ms')}"
    parts = ("words", "meaning", "lent", "score")
    scores = [(name, *(f"{shares.get(part, 0.0):.3f}" for part in parts)) for name, shares in plan.fusion]
    yield from _columns(("memory", *parts), scores) if scores else [dim("  nothing")]


def _terms(terms: Sequence[tuple[str, float, int]]) -> str:
    listed = [f"{term} ({weight:.2g}, {count:,})" for term, weight, count in terms[:_SHOWN]]
    if len(terms) > _SHOWN:
        listed.append(f"and {len(terms) - _SHOWN} more")
    return ", ".join(listed) or "nothing has it"


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align cells in columns below a heading. Columns of figures that have no room beside the first go below it."""
    if not rows:
        return
    rows = [head, *([on_one_line(cell) for cell in row] for row in rows)]
    first, *others = (min(_WIDEST, max(map(width, cells))) for cells in zip(*rows, strict=True))
    texts = ["  ".join([*map(padded, row[1:-1], others), row[-1]]) for row in rows]
    room, column = columns(), first + 4
    if room is not None and others[1:] and column + max(map(width, texts)) > room:
        column = 0
    for i, (row, text) in enumerate(zip(rows, texts, strict=True)):
        shown = labelled(row[0], text, column, 2)
        yield shown if i else dim(shown)
