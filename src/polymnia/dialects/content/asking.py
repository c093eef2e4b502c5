"""Leads from analyzing.py to call.py until that module is one with the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from polymnia.operation import Reply

__all__ = ["Asking", "replied"]


def replied(call: Any, work: Callable[[], dict[str, Any]]) -> Reply:
    """What the analysis answers."""
    return cast(Reply, work())


class Asking:
    """The call."""

    asked: int
    begun: float
    memory: Any
    step: Any

    def __new__(cls, call: Any, given: Any) -> Any:
        """The call itself."""
        return call
