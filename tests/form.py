"""Which form of the suite runs: the short one (`make test`) or the long one (`make test-all`, POLYMNIA_TEST_ALL=1).

The short form keeps every promise at least once. The long form adds more examples, larger data and every combination.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import pytest

__all__ = ["LONG_FORM", "by_form", "each", "mostly_long"]

LONG_FORM = bool(os.environ.get("POLYMNIA_TEST_ALL"))
"""Whether this run is the long form."""

T = TypeVar("T")


def by_form(short: T, long: T) -> T:
    """A size or a number of examples: the first in the short form, the second in the long one."""
    return long if LONG_FORM else short


def mostly_long(cases: Sequence[object], short: int = 1) -> list[object]:
    """Cases for `parametrize`, of which the short form runs only the first few."""
    rest = [case if type(case) is tuple else (case,) for case in cases[short:]]
    return [*cases[:short], *(pytest.param(*case, marks=pytest.mark.long) for case in rest)]


_Param = type(pytest.param())


def _values(case: Any, count: int) -> Sequence[Any]:
    if isinstance(case, _Param):
        assert not case.marks, f"a case with marks needs `parametrize`: {case}"
        return case.values
    return (case,) if count == 1 else case


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `parametrize`, for small cases that may share their fixtures: one test, which tells of every case that fails.

    A test of its own costs a case several milliseconds, which is more than most of them take.
    """
    fields = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
    every = [_values(case, len(fields)) for case in cases]
    assert every, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**given: Any) -> None:
            failed = []
            for case in every:
                values = dict(zip(fields, case, strict=True))
                try:
                    test(**given, **values)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f"{values!s:.200}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} of {len(every)} cases:\n" + "\n".join(failed)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in fields]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
