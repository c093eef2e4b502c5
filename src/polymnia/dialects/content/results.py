"""Leads from analyzing.py to call.py until that module is one with the others."""

from __future__ import annotations

import time
from typing import Any

from polymnia.engine.text.calendar import moment

__all__ = ["answer"]


def answer(begun: float, message: str | None = None, **fields: Any) -> dict[str, Any]:
    """An answer of success."""
    took = f"{(time.perf_counter() - begun) * 1000:.0f}ms"
    first: dict[str, Any] = {"success": True} if message is None else {"success": True, "message": message}
    return {**first, "timestamp": moment(time.time_ns() // 1000), "duration": took, **fields}
