"""The vectors of a project: halves for the exact comparison, and their signs for the first look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import apsw

from polymnia.engine.ports import Vector
from polymnia.errors import Invalid
from polymnia.storage.sqlite.statements import SQL

Run: TypeAlias = Callable[..., Any]


def put(db: apsw.Connection, project: int, base: int, model: str, dimensions: int, given: Sequence[Vector]) -> int:
    """Keep vectors, an empty one where there will be none.

    Those of a text that is gone, or that another process was faster with, are passed over.
    """
    run = db.execute
    kept = 0
    number = _model(run, model, dimensions)
    for text, part, half, bits in given:
        if run(SQL["has_text"], (base + text,)).fetchone() is None:
            continue
        run(SQL["add_vector"], (number, base + text, part, half))
        if db.changes():
            run(SQL["add_bits"], (project, number, db.last_insert_rowid(), text, part, bits))
            kept += 1
    return kept


def _model(run: Run, name: str, dimensions: int) -> int:
    known = run(SQL["model"], (name,)).fetchone()
    if known is None:
        run(SQL["add_model"], (name, dimensions))
        known = run(SQL["model"], (name,)).fetchone()
    if known[1] != dimensions:
        if run(SQL["model_in_use"], (known[0],)).fetchone() is None:
            run(SQL["set_dimensions"], (dimensions, known[0]))
            return int(known[0])
        raise Invalid(
            f"The model {name} gave vectors of {known[1]} numbers before and of {dimensions} now",
            hint="Give the new model another name, or run `polymnia reindex --anew`.",
        )
    return int(known[0])


def forget(run: Run, project: int, text: int) -> None:
    """Take the vectors of one text out, for good."""
    for id, model in run(SQL["vectors_of_text"], (text,)).fetchall():
        run(SQL["drop_bits"], (project, model, id))
        run(SQL["drop_vector"], (id,))


def drop(run: Run, project: int, span: tuple[int, int], keep: Sequence[str]) -> int:
    """Let go of the vectors of every model but these; answers how many went."""
    dropped = 0
    if not keep:  # whatever is left of them, and of models that are not known
        run(SQL["drop_vectors"], span)
        (dropped,) = run(SQL["count_bits"], (project,)).fetchone()
        run(SQL["drop_bits_of_project"], (project,))
        return int(dropped)
    for id, name, _, count in run(SQL["models"], (project,)).fetchall():
        if name not in keep:
            run(SQL["drop_vectors_of_model"], (*span, id))
            run(SQL["drop_bits_of_model"], (project, id))
            dropped += count
    return dropped
