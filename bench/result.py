"""What a benchmark hands back: verdicts, tables and the numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Result", "Table", "Verdict", "at_least", "at_most", "ratio"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and what was measured against it; ``met`` is None where this run cannot judge it."""

    target: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as they are printed."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(slots=True)
class Result:
    """Everything one benchmark found."""

    name: str
    title: str
    summary: str
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)


def ratio(value: float) -> str:
    """A ratio with as many digits as it deserves."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def at_most(what: str, measured: float, bound: float) -> Verdict:
    """The measured ratio must not exceed the bound."""
    return Verdict(f"{what}: at most {bound:g} of the reference", f"{ratio(measured)} of it", measured <= bound)


def at_least(what: str, measured: float, bound: float) -> Verdict:
    """The measured ratio must reach the bound."""
    return Verdict(f"{what}: at least {bound:g} times faster", f"{ratio(measured)} times faster", measured >= bound)
