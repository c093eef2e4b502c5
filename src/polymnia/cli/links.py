"""What has to do with a memory, and why."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from polymnia.cli.filing import judged_by
from polymnia.cli.output import counted, dim, green, line, on_one_line, print_json, strong
from polymnia.cli.reading import existing
from polymnia.cli.showing import called
from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.knowledge.associations import Association
from polymnia.settings import Settings

__all__ = ["associations"]

_INDENT = 6


def associations(arguments: Namespace, chosen: Settings) -> int:
    """Find what has to do with a memory."""
    with existing(chosen) as held:
        found = held.discover(held.resolve(arguments.name).uid, limit=arguments.limit, threshold=arguments.threshold)
        notes = judged_by(held)
    if arguments.json:
        told = [_data(one) for one in found.associations]
        print_json({"id": found.source.uid, "associations": told, "candidates": found.candidates, "notes": notes})
        return 0
    for one in found.associations:
        where = dim(on_one_line(scopes.shown(one.record.scope)))
        print(f"{one.strength:.2f}  {strong(called(one.record))}  {green(one.kind)}  {where}")
        print(f"{' ' * _INDENT}{line(content(one.record), _INDENT)}")
        print(dim(f"{' ' * _INDENT}{on_one_line(one.reason)}"))
    looked = counted(found.candidates, "memory")
    print(dim(f"{len(found.associations):,} of {looked} that were looked at."))
    sys.stdout.flush()
    for note in notes:
        print(on_one_line(note), file=sys.stderr)
    return 0


def _data(one: Association) -> dict[str, Any]:
    return {
        "id": one.record.uid,
        "name": one.record.name,
        "scope": scopes.shown(one.record.scope),
        "type": one.kind,
        "strength": one.strength,
        "similarity": one.similarity,
        "reason": one.reason,
        "text": content(one.record),
    }
