"""Search over one project or all of them, with facets; and names to complete."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from polymnia.dialects.explorer.shapes import (
    Cursor,
    Project,
    Time,
    decoded,
    encoded,
    head,
    in_project,
    most_frequent,
    opened,
    operation,
    remarks,
    title,
)
from polymnia.dialects.explorer.shapes import change as shown_change
from polymnia.dialects.notes import reasons
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.recall import Recalled, RecalledMemory
from polymnia.errors import Invalid
from polymnia.models import Filters, JsonObject, Remark, legal_name
from polymnia.operation import Context, Memory

_PROJECTS = 32  # searched at once
_FACETS = {"kind": "kinds", "tags": "tags", "scope": "scopes", "month": "months"}
_MISSES = frozenset(("filtered", "nearest", "nothing_fits"))  # notes that nothing was found, or nothing that fits
_FRAGMENT = 240  # characters of a memory that no piece of was chosen of


@operation("search", "Search", reads=True)
def search(
    context: Context,
    query: str = "",
    project: Project | None = None,
    projects: Annotated[list[str], about("Several projects.")] | None = None,
    kinds: list[str] | None = None,
    tags: list[str] | None = None,
    scope: Annotated[str, about("A scope, with those below it.")] | None = None,
    since: Time | None = None,
    until: Time | None = None,
    effort: Literal["quick", "balanced", "thorough"] | None = None,
    sort: Literal["relevance", "date"] | None = None,
    limit: Annotated[int, about("Hits of a page.", ge=1, le=100)] = 20,
    facets: bool = True,
    cursor: Cursor | None = None,
) -> JsonObject:
    """Find memories by words and by meaning, best first, with why each was found; without a query the newest."""
    begun = time.perf_counter()
    legal_name(query, "query", context.memory.limits)
    filters = Filters(
        kinds=tuple(kinds or ()),
        tags=tuple(tags or ()),
        scope=None if scope is None else scope.strip("/"),
        scopes_below=scope is not None,
        created_from=None if since is None else at_time(since, "since"),
        created_to=None if until is None else at_time(until, "until", end=True),
    )
    named = [project] if project is not None else projects
    memories = opened(context.memory) if named is None else [in_project(context.memory, one) for one in named]
    left_out = [one.project for one in memories[_PROJECTS:]]
    memories = memories[:_PROJECTS]
    asked = (query, named, kinds, tags, scope, since, until, sort)
    totals, places = decoded(cursor, tuple[dict[str, int], dict[str, tuple[int, int]]], *asked) or ({}, None)
    facets = facets and cursor is None
    results = []
    for one in memories:
        if places is None or one.project in places:
            offset, order = (0, 0) if places is None else places[one.project]
            found = _found(one, query, filters, offset, order, limit, effort, sort, facets)
            results.append(_Result(one, offset, order, found))
    chosen, following = _merged(results, limit, browsed=not query.strip(), by_date=sort == "date")
    totals |= {one.memory.project: one.found.total for one in results}
    recalled = [one.found for one in results]
    return {
        "total": sum(totals.values()),
        "next": encoded((totals, following), *asked) if following else None,
        "pending": sum(found.pending for found in recalled),
        "milliseconds": round((time.perf_counter() - begun) * 1000, 1),
        "projects": totals,
        "left_out": left_out,
        "notes": remarks(_notes(recalled)),
        "facets": _facets(totals, recalled) if facets else {},
        "hits": [_hit(one.project, found) for one, found in chosen],
    }


def _found(
    memory: Memory, query: str, filters: Filters, offset: int, order: int, limit: int,
    effort: str | None, sort: str | None, facets: bool,
) -> Recalled:  # fmt: skip
    if not query.strip():
        return memory.browse(filters=filters, before=order or None, size=limit, facets=facets)
    return memory.recall(
        query, filters=filters, offset=offset, order=order, size=limit, effort=effort, sort=sort, facets=facets
    )


class _Result(NamedTuple):
    """What a project has: how many were shown of it before, of which order, and what comes now."""

    memory: Memory
    offset: int
    order: int
    found: Recalled


def _merged(
    results: Sequence[_Result], limit: int, *, browsed: bool, by_date: bool
) -> tuple[list[tuple[Memory, RecalledMemory]], dict[str, tuple[int, int]]]:
    """The best of all projects, and where each of them goes on: how many were shown of it, and of which order.

    Within a project the order stays as it is: superseded memories stand below what replaced them. Without a search its
    place is the number of the last memory that was shown.
    """
    entries = []
    for which, result in enumerate(results):
        lowest = float("inf")
        for at, one in enumerate(result.found.memories):
            lowest = min(lowest, one.hit.record.created if browsed or by_date else one.hit.score)
            entries.append((-lowest, which, at, one))
    chosen = sorted(entries, key=lambda entry: entry[:3])[:limit]
    following = {}
    for which, result in enumerate(results):
        taken = [one for _, of, _, one in chosen if of == which]
        shown = result.offset + len(taken)
        order = result.found.order
        if browsed:
            order = taken[-1].hit.record.id & 0xFFFFFFFF if taken else result.order
        if shown < result.found.total:
            following[result.memory.project] = (shown, order)
    return [(results[which].memory, one) for _, which, _, one in chosen], following


def _notes(results: Sequence[Recalled]) -> list[Remark]:
    """The notes of all projects, each once. That nothing fits is told once, and only if it holds for every project."""
    telling = [result for result in results if result.memories] or results
    notes: dict[str, Remark] = {}
    for result in results:
        for note in result.notes:
            if note.code not in _MISSES:
                notes.setdefault(repr(note), note)
            elif all(any(other.code == note.code for other in one.notes) for one in telling):
                notes.setdefault(note.code if note.code == "nothing_fits" else repr(note), note)
    return list(notes.values())


def _facets(totals: dict[str, int], results: Sequence[Recalled]) -> JsonObject:
    counted = {
        name: most_frequent([dict(found.facets.get(facet, ())) for found in results]) for name, facet in _FACETS.items()
    }
    return {"project": most_frequent([{name: count for name, count in totals.items() if count}]), **counted}


def _hit(project: str, one: RecalledMemory) -> JsonObject:
    hit = one.hit
    record = hit.record
    fragments = [
        {"observation": piece.observation, "parts": _parts(piece.text, piece.marks)}
        for piece in hit.fragments
        if piece.observation is not None or piece.marks
    ]
    if not fragments and record.observations:
        text = record.observations[0]
        cut = text if len(text) <= _FRAGMENT else text[:_FRAGMENT].rstrip() + "…"
        fragments = [{"observation": 0, "parts": [{"text": cut, "match": False}]}]
    return {
        **head(record, project),
        "score": hit.score,
        "fragments": fragments,
        "why": hit.why,
        "reason": reasons(hit.why),
        "stored": None if one.stored is None else shown_change(one.stored, project),
        "superseded_by": None if one.superseded_by is None else title(one.superseded_by),
    }


def _parts(text: str, marks: Sequence[tuple[int, int]]) -> list[JsonObject]:
    """A text as parts that match or do not."""
    parts, at = [], 0
    for start, end in sorted(marks):
        if start > at:
            parts.append({"text": text[at:start], "match": False})
        if end > max(at, start):
            parts.append({"text": text[max(at, start) : end], "match": True})
        at = max(at, end)
    if at < len(text):
        parts.append({"text": text[at:], "match": False})
    return parts


@operation("names", "Complete a name", reads=True)
def names(
    context: Context,
    prefix: str,
    project: Project | None = None,
    limit: Annotated[int, about("Names to find.", ge=1, le=100)] = 20,
) -> JsonObject:
    """Complete the name of a memory: names that start with the prefix, then names that contain it."""
    if not prefix.strip():
        raise Invalid("prefix is empty", field="prefix", hint="Give the beginning of a name.")
    found = []
    for one in opened(context.memory, project)[:_PROJECTS]:
        completed = one.names(prefix, limit)
        with one.store.read(one.project) as snapshot:
            ids = snapshot.ids(completed) if completed else {}
            records = {record.name: record for record in snapshot.load(list(ids.values()))}
        found += [
            {"project": one.project, "id": records[name].uid, "name": name, "kind": records[name].kind}
            for name in completed
            if name in records
        ]
    return {"names": found[:limit]}
