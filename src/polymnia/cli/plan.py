"""How a query is read and answered, laid open as tables."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import msgspec

from polymnia.cli.finding import filters, notes, zone
from polymnia.cli.output import dim, on_one_line, padded, print_json, strong, width
from polymnia.cli.reading import existing
from polymnia.engine.search.results import Lane, Plan
from polymnia.settings import Settings

__all__ = ["explain"]

_WIDEST = 60
_SHOWN = 8  # of the terms that a word stands for


def explain(arguments: Namespace, chosen: Settings) -> int:
    """Show the plan of a query, each lane's candidates, and the fusion."""
    with existing(chosen) as held:
        plan = held.explain(arguments.query, limit=arguments.limit, filters=filters(held, arguments), zone=zone())
    if arguments.json:
        print_json(msgspec.to_builtins(plan))
        return 0
    _print_reading(plan)
    for lane in plan.lanes:
        _print_lane(lane)
    _print_fusion(plan)
    notes(plan.found)
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
