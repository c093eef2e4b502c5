"""Switching off one constant of the conflict rules, and what is told of a few texts then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from polymnia.engine.analysis.conflicts import conflicts, priors, weighing
from polymnia.models import Record

from .planted import DAY, NOW

__all__ = ["RULES", "constants", "switched_off", "told"]

RULES = ("priors", "weighing")
"""The modules of which each constant must be needed by a case."""

_NEVER = re.compile(r"(?!)")
_GONE = -12.0  # log odds that nothing has
_FALSE: dict[type, Any] = {frozenset: frozenset(), dict: {}, tuple: ()}
_ZERO = frozenset({"priors._COMMON", "weighing._EXTRA", "weighing._ELSE", "weighing._LOOSELY"})  # what is taken off


_MODULES: dict[str, ModuleType] = {"priors": priors, "weighing": weighing}


def constants(name: str) -> list[str]:
    """The constants that a module defines for itself: patterns, numbers, tables of words."""
    module = _MODULES[name]
    own = (word for word in vars(module) if re.fullmatch(r"_[A-Z][A-Z_]*", word))
    return [word for word in own if isinstance(getattr(module, word), re.Pattern | float | frozenset | dict | tuple)]


def _off(name: str, constant: str, value: Any) -> Any:
    """A constant that does nothing: a pattern that never matches, an empty table, a factor of 1, no weight."""
    if isinstance(value, re.Pattern):
        return _NEVER
    if f"{name}.{constant}" in _ZERO:
        return 0.0
    if isinstance(value, float):
        return _GONE if name == "weighing" else 0.999
    if isinstance(value, tuple) and value and all(isinstance(one, float) for one in value):
        return tuple(0.005 for _ in value)
    return _FALSE[type(value)]


@contextmanager
def switched_off(name: str, constant: str) -> Iterator[None]:
    """One constant does nothing for a while."""
    module = _MODULES[name]
    value = getattr(module, constant)
    setattr(module, constant, _off(name, constant, value))
    try:
        yield
    finally:
        setattr(module, constant, value)


class _Moment:
    """What a look for conflicts reads, without a store and a model."""

    model = None
    relations: Sequence[Any] = ()

    def __init__(self, texts: Sequence[str]) -> None:
        self.items = [
            Record(
                id=at + 1, uid=f"content_{at}", name=f"content_{at}", kind="content", observations=(text,), version=1,
                created=NOW + 40 * at * DAY, updated=NOW + 40 * at * DAY, tags=(), content_type="text/plain",
            )
            for at, text in enumerate(texts)
        ]  # fmt: skip
        by_number = {one.id: one for one in self.items}
        self.wanted = None
        self.snapshot = SimpleNamespace(matching=lambda _, among: among, relations_of=lambda _: [])
        self.look = SimpleNamespace(
            base=0, index=SimpleNamespace(vectors={}), load=lambda some: {at: by_number[at] for at in some}
        )

    def tick(self, done: int = 0, total: int = 0) -> None:
        """Nobody waits."""


def told(*texts: str) -> list[tuple[Any, ...]]:
    """What is told of some texts, stored forty days apart: as a project, and as items that a caller names."""
    moment: Any = _Moment(texts)
    found = []
    for among in (None, [one.id for one in moment.items]):
        for one in conflicts(moment, sensitivity="high", among=among).clashes:
            level = sum(one.confidence >= least for least in (0.3, 0.5, 0.8))
            action = one.resolution.action if one.resolution else None
            found.append((one.type, one.subtype, one.differs, one.newer, level, action))
    return found
