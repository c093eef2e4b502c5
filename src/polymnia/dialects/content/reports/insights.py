"""Insights in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymnia.dialects.content.reports import Description, remark

__all__ = ["DESCRIPTIONS", "REMARKS"]

DESCRIPTIONS: dict[str, Callable[[Any], Description]] = {}

REMARKS: dict[str, Callable[..., str]] = {
    "of_type": lambda type, note: f"{type}: {remark(note)}",
    "recent": lambda note, days: f"{remark(note)} (The last {days} days were looked at.)",
}
