"""Searches: what one finds, for people and for programs, and how a query is read and answered."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from polymnia.cli.console import (
    counted,
    dim,
    existing,
    known_scope,
    line,
    moment,
    on_one_line,
    padded,
    print_json,
    print_notes,
    shown,
    strong,
    width,
)
from polymnia.engine import scopes
from polymnia.engine.memory import Memory
from polymnia.engine.search.results import Found, Fragment, Hit, Lane, Plan, Turn
from polymnia.errors import Invalid
from polymnia.models import Filters, JsonObject
from polymnia.settings import Settings

_INDENT = " " * 6
_PIECE = 300  # characters of a text that is shown for want of a better piece
_WIDEST = 60
_SHOWN = 8  # of the terms that a word stands for


def search(arguments: Namespace, chosen: Settings) -> int:
    """Find memories by words and by meaning."""
    if arguments.max_tokens is not None and arguments.max_tokens < 1:
        raise Invalid(f"--max-tokens is {arguments.max_tokens}, but must be a number above zero", field="max_tokens")
    with existing(chosen) as held:
        wanted = _filters(held, arguments)
        if not arguments.query.strip() and wanted == Filters():
            raise Invalid("Nothing was asked for", field="query", hint="`polymnia list` shows everything there is.")
        found = held.search(
            arguments.query,
            limit=arguments.limit,
            cursor=arguments.cursor,
            filters=wanted,
            zone=_zone(),
            max_tokens=arguments.max_tokens,
            facets=arguments.facets,
            at_least=arguments.threshold,
        )
    if arguments.json:
        print_json(_data(arguments.query, found))
        return 0
    for hit in found.hits:
        _print_hit(hit)
    _print_facets(found)
    shown_of = f" of {found.total:,}" if found.total > len(found.hits) else ""
    if found.hits:
        print(dim(f"{counted(len(found.hits), 'memory')}{shown_of}."))
    elif not found.nearest:
        print(dim("Nothing matches."))
    print_notes(note.text for note in found.notes)
    return 0


def _zone() -> int:
    """How many minutes east of Greenwich the clocks here are: a day of the week is meant as it is here."""
    return (datetime.now().astimezone().utcoffset() or timedelta()) // timedelta(minutes=1)


def _filters(held: Memory, arguments: Namespace) -> Filters:
    """What may be found at all, as the options say."""
    if arguments.below and arguments.scope is None:
        raise Invalid("--below needs a scope to be below of", field="below", hint="Add --scope, or leave out --below.")
    return Filters(
        kinds=tuple(arguments.kind),
        categories=tuple(arguments.category),
        tags=tuple(arguments.tag),
        scope=None if arguments.scope is None else known_scope(held, arguments.scope),
        scopes_below=arguments.below,
        session=arguments.session,
        created_from=None if arguments.since is None else moment(arguments.since),
        created_to=None if arguments.until is None else moment(arguments.until),
        metadata=metadata(arguments.meta),
    )


def metadata(given: list[str]) -> JsonObject:
    """Metadata from pairs as they are written on the command line."""
    return dict(_pair(text) for text in given)


def _pair(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value read as JSON where it is JSON: 3, true and "3" are three different things."""
    key, given, value = text.partition("=")
    if not given:
        raise Invalid(f"--meta is {text!r}, but must be KEY=VALUE", field="meta", hint="Write it as --meta team=blue.")
    try:
        return key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return key, value


def _print_hit(hit: Hit) -> None:
    record = hit.record
    where = dim(f" {on_one_line(scopes.shown(record.scope))}") if record.scope or record.name == record.uid else ""
    print(f"{hit.score:.2f}  {strong(on_one_line(record.name))} {dim('(' + on_one_line(record.kind) + ')')}{where}")
    # A passage without a word of the query is worth a line only where none has one.
    pieces = [one for one in hit.fragments if one.marks] or list(hit.fragments[:1])
    bare = record.name == record.uid
    if bare or not any(one.marks for one in pieces):
        # What a memory says tells more than its kind and tags do; one without a name is nothing but what it says.
        pieces = [one for one in pieces if one.observation is not None]
        if record.observations and (bare or hit.fragments) and not pieces:
            print(f"{_INDENT}{line(record.observations[0][:_PIECE], len(_INDENT))}")
    for fragment in pieces:
        before, after = _cut(hit, fragment)
        print(f"{_INDENT}{before}{_marked(fragment)}{after}")
    for where, turn in (("before", hit.previous), ("after", hit.next)):
        if turn is not None:
            print(dim(f"{_INDENT}{_said(where, turn)}"))
    print(dim(f"{_INDENT}{on_one_line(hit.why.sentence)}"))


def _said(where: str, turn: Turn) -> str:
    """The turn before or after a hit, in one line."""
    name = "" if turn.name == turn.id else f" ({turn.name})"
    return on_one_line(f"{where}{name}: {turn.who}: {turn.text}" if turn.who else f"{where}{name}: {turn.text}")


def _marked(fragment: Fragment) -> str:
    text = on_one_line(fragment.text)
    pieces, done = [], 0
    for start, end in fragment.marks:
        pieces += [text[done:start], strong(text[start:end])]
        done = end
    return "".join(pieces) + text[done:]


def _cut(hit: Hit, fragment: Fragment) -> tuple[str, str]:
    """What shows that a fragment is a part of a longer text."""
    if fragment.observation is None or fragment.observation >= len(hit.record.observations):
        return "", ""
    whole = hit.record.observations[fragment.observation].strip()
    start = whole.find(fragment.text)
    return "…" if start > 0 else "", "…" if start >= 0 and start + len(fragment.text) < len(whole) else ""


def _print_facets(found: Found) -> None:
    for name, counts in found.facets.items():
        if counts:
            listed = ", ".join(f"{on_one_line(str(value))} {dim(f'{count:,}')}" for value, count in counts)
            print(f"{name.replace('_', ' ')}: {listed}")


def _data(query: str, found: Found) -> JsonObject:
    return {
        "query": query,
        "total": found.total,
        "hits": [_hit(hit) for hit in found.hits],
        "next": found.next,
        "pending": found.pending,
        "nearest": msgspec.to_builtins(found.nearest),
        "facets": {name: dict(counts) for name, counts in found.facets.items()},
        "notes": msgspec.to_builtins(found.notes),
        "budget": msgspec.to_builtins(found.cut),
    }


def _hit(hit: Hit) -> JsonObject:
    record = hit.record
    return {
        "id": record.uid,
        "name": record.name,
        "entityType": record.kind,
        "observations": record.observations,
        "category": record.category,
        "tags": record.tags,
        "scope": scopes.shown(record.scope),
        "session": record.session,
        "metadata": record.metadata,
        "created": shown(record.created),
        "updated": shown(record.updated),
        "score": hit.score,
        "why": msgspec.to_builtins(hit.why),
        "fragments": msgspec.to_builtins(hit.fragments),
        "cut": hit.cut,
        "previous": msgspec.to_builtins(hit.previous),
        "next": msgspec.to_builtins(hit.next),
    }


# ── explained ─────────────────────────────────────────────────────────────────────────────────────────


def explain(arguments: Namespace, chosen: Settings) -> int:
    """Show the plan of a query, each lane's candidates, and the fusion."""
    with existing(chosen) as held:
        plan = held.explain(arguments.query, limit=arguments.limit, filters=_filters(held, arguments), zone=_zone())
    if arguments.json:
        print_json(msgspec.to_builtins(plan))
        return 0
    _print_reading(plan)
    for lane in plan.lanes:
        _print_lane(lane)
    _print_fusion(plan)
    print_notes(note.text for note in plan.found.notes)
    return 0


def _print_reading(plan: Plan) -> None:
    print(f"{strong('query')}     {on_one_line(plan.query)}")
    print(f"{strong('language')}  {plan.language or 'not certain'}, script {plan.script or 'none'}")
    print(f"{strong('time')}      {on_one_line(plan.time) if plan.time else 'none asked for'}")
    print(f"{strong('words')}     {'' if plan.words else 'none that tell anything'}")
    rows = [(word, *_terms(terms)) for word, terms in plan.words]
    _print_table(("word", "looked up as (weight, passages that have it)"), rows)


def _terms(terms: Sequence[tuple[str, float, int]]) -> tuple[str]:
    listed = [f"{term} ({weight:.2g}, {count:,})" for term, weight, count in terms[:_SHOWN]]
    if len(terms) > _SHOWN:
        listed.append(f"and {len(terms) - _SHOWN} more")
    return (", ".join(listed) or "nothing has it",)


def _print_lane(lane: Lane) -> None:
    print(f"\n{strong(lane.name)}  {on_one_line(lane.asked)}  {dim(f'{lane.milliseconds:.2f} ms')}")
    if not lane.best:
        print(dim("  nothing"))
    for name, score in lane.best:
        print(f"  {score:5.3f}  {on_one_line(name)}")


def _print_fusion(plan: Plan) -> None:
    print(f"\n{strong('together')}  {dim(f'{plan.milliseconds:.2f} ms')}")
    if not plan.fusion:
        print(dim("  nothing"))
        return
    parts = ("words", "meaning", "lent", "score")
    rows = [(name, *(f"{shares.get(part, 0.0):.3f}" for part in parts)) for name, shares in plan.fusion]
    _print_table(("memory", *parts), rows)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns under each other; the last one takes the room it needs."""
    if not rows:
        return
    rows = [[on_one_line(cell) for cell in row] for row in rows]
    columns = [min(_WIDEST, max(width(cell) for cell in cells)) for cells in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        shown = [padded(cell, columns[i]) for i, cell in enumerate(cells[:-1])]
        return "  " + "  ".join([*shown, cells[-1]])

    print(dim(line(head)))
    for row in rows:
        print(line(row))
