"""Which form of the suite runs: the short one (`make test`) or the long one (`make test-all`, POLYMNIA_TEST_ALL=1).

The short form keeps every promise at least once. The long form adds more examples, larger data and every combination.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

__all__ = ["LONG_FORM", "by_form", "mostly_long"]

LONG_FORM = bool(os.environ.get("POLYMNIA_TEST_ALL"))
"""Whether this run is the long form."""

T = TypeVar("T")


def by_form(short: T, long: T) -> T:
    """A size or a number of examples: the first in the short form, the second in the long one."""
    return long if LONG_FORM else short


def mostly_long(cases: Sequence[object], short: int = 1) -> list[object]:
    """Cases for `parametrize`, of which the short form runs only the first few."""
    rest = [case if isinstance(case, tuple) else (case,) for case in cases[short:]]
    return [*cases[:short], *(pytest.param(*case, marks=pytest.mark.long) for case in rest)]
