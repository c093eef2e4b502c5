"""Memories as they are shown: one in full, or many line by line."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from msgspec.json import encode

from polymnia.cli.output import counted, dim, green, line, on_one_line, print_json, print_rows, shown, strong
from polymnia.cli.past import instant
from polymnia.cli.reading import existing, known_scope, resolved
from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.models import Filters, Record, Relation
from polymnia.settings import Settings

__all__ = ["called", "linked", "list_", "print_linked", "show"]

Links = list[tuple[Record, Relation]]
_LINKS = 10  # shown on a terminal or page; --json tells them all
_SCOPE = 24  # columns of a list


def called(record: Record) -> str:
    """What a memory is called by: its name, which is its id where nobody gave it one."""
    return on_one_line(record.name)


# ── one ──────────────────────────────────────────────────────────────────────────────────────────────────


def show(arguments: Namespace, chosen: Settings) -> int:
    """Show one memory, now or as it was."""
    links: Links = []
    with existing(chosen) as held:
        if arguments.at is None:
            found, links = held.read(held.resolve(arguments.name).uid)
            record, relations = held.get(found.name)
        else:
            record, relations = _as_it_was(held, arguments.name, instant(held, arguments.at))
    if arguments.json:
        print_json(_data(record, relations, links))
        return 0
    print(f"{strong(called(record))} {dim('(' + on_one_line(record.kind) + ')')}")
    for text in record.observations:
        print("  - " + "\n    ".join(map(on_one_line, text.split("\n"))))
    drawn = {name for r in relations if r.origin == "auto" for name in (r.source, r.target)}
    for relation in relations:
        if relation.origin == "manual":
            ends = map(on_one_line, (relation.source, relation.type, relation.target))
            print("  {} {} {}".format(*(dim(end + " →") if i == 1 else end for i, end in enumerate(ends))))
    print_linked([one for one in links if one[0].name in drawn])
    for what, told in _details(record):
        print(f"  {dim(what)} {on_one_line(told)}")
    print(dim(f"  version {record.version}, created {shown(record.created)}, updated {shown(record.updated)}"))
    return 0


def _as_it_was(held: Memory, name: str, at: int) -> tuple[Record, list[Relation]]:
    try:
        return held.get(name, at=at)
    except NotFound:
        if (known := resolved(held, name)) == name:
            raise
        return held.get(known, at=at)


def _details(record: Record) -> list[tuple[str, str]]:
    told = [
        ("scope", scopes.shown(record.scope) if record.scope or record.name == record.uid else ""),
        ("category", record.category or ""),
        ("tags", ", ".join(record.tags)),
        ("metadata", encode(record.metadata).decode() if record.metadata else ""),
        ("summary", record.summary or ""),
    ]
    return [(what, text) for what, text in told if text]


def print_linked(links: Links) -> None:
    """Print the memories that another one is linked to, the strongest ones."""
    for record, relation in links[:_LINKS]:
        much = "    " if relation.strength is None else f"{relation.strength:.2f}"
        arrow = f"{'<-' if relation.source == record.name else '->'} {on_one_line(relation.type)}"
        shown = f"  {much}  {arrow}  {called(record)}"
        print(f"  {much}  {green(arrow)}  {dim(called(record))}  {line(content(record), len(shown) + 2)}")
    if len(links) > _LINKS:
        print(dim(f"  … and {len(links) - _LINKS:,} more (--json lists them all)"))


def linked(links: Links) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "id": record.uid,
            "name": record.name,
            "scope": scopes.shown(record.scope),
            "relationType": relation.type,
            "direction": "incoming" if relation.source == record.name else "outgoing",
            "strength": relation.strength,
            "text": content(record),
        }
        for record, relation in links
    ]


def _data(record: Record, relations: list[Relation], links: Links) -> dict[str, Any]:
    return {
        **_listed(record),
        "session": record.session,
        "contentType": record.content_type,
        "summary": record.summary,
        "relations": [
            {"from": r.source, "to": r.target, "relationType": r.type, "strength": r.strength, "origin": r.origin}
            for r in relations
        ],
        "associations": linked(links),
    }


def _listed(record: Record) -> dict[str, Any]:
    return {
        "id": record.uid,
        "name": record.name,
        "entityType": record.kind,
        "observations": record.observations,
        "scope": scopes.shown(record.scope),
        "category": record.category,
        "tags": record.tags,
        "metadata": record.metadata,
        "version": record.version,
        "created": shown(record.created),
        "updated": shown(record.updated),
    }


# ── many ─────────────────────────────────────────────────────────────────────────────────────────────────


def list_(arguments: Namespace, chosen: Settings) -> int:
    """List memories, newest first, page by page."""
    if arguments.below and arguments.scope is None:
        raise Invalid("--below needs a scope to be below of", field="below", hint="Add --scope, or leave out --below.")
    page, size, below = arguments.page, arguments.per_page, ""
    with existing(chosen) as held:
        if arguments.scope is None:
            records, total = held.page(page, size)
        else:
            scope = known_scope(held, arguments.scope)
            records, total = _filed(held, scope, arguments.below, page, size)
            if not total:
                below = f", but {counted(held.scopes(scope)[0].total, 'memory')} below: --below shows them too"
    pages = -(-total // size)
    if arguments.json:
        told = {"page": page, "perPage": size, "total": total, "pages": pages}
        print_json({"memories": [_listed(record) for record in records], **told})
        return 0
    rows = [(called(one), scopes.shown(one.scope), content(one)) for one in records]
    print_rows(rows, most=(36, _SCOPE), paint=(strong, dim))
    sys.stdout.flush()
    if page < pages:
        print(f"Page {page:,} of {pages:,}, {counted(total, 'memory')} in all; --page {page + 1} goes on.",
              file=sys.stderr)  # fmt: skip
    elif not records:
        none = f"There are no memories here{below}."
        print(none if not total else f"The last page is {pages:,}.", file=sys.stderr)
    return 0


def _filed(held: Memory, scope: str, below: bool, page: int, size: int) -> tuple[list[Record], int]:
    """A page of the memories of a scope, newest first, and how many it has in all."""
    with held.store.read(held.project) as snapshot:
        base = snapshot.numbers[0] << 32
        numbers = snapshot.matching(Filters(scope=scope, scopes_below=below))
        wanted = sorted(numbers, reverse=True)[(page - 1) * size : page * size]
        return snapshot.load([base + number for number in wanted])[::-1] if wanted else [], len(numbers)
