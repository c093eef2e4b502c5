"""The tree of faults is complete: drawn, coded, explained, and worded by every dialect."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from polymnia import errors
from polymnia.errors import Fault


def _faults() -> list[type[Fault]]:
    """Every kind of fault, parents before children."""

    def below(kind: type[Fault]) -> list[type[Fault]]:
        return [kind, *(each for child in kind.__subclasses__() for each in below(child))]

    return [kind for kind in dict.fromkeys(below(Fault)) if kind.__module__ == errors.__name__]


def _drawn() -> list[tuple[int, str]]:
    """The lines of the drawing: how deep, and which fault."""
    lines = re.findall(r"^    ([│├└─ ]*)([A-Z]\w+) {2,}\S", errors.__doc__ or "", re.M)
    return [(len(indent) // 4, name) for indent, name in lines]


_each_fault = pytest.mark.parametrize("fault", _faults(), ids=lambda fault: fault.__name__)


def test_every_fault_is_public() -> None:
    assert sorted(fault.__name__ for fault in _faults()) == sorted(errors.__all__)


def test_every_fault_has_a_code_of_its_own() -> None:
    codes = Counter(fault.code for fault in _faults())
    assert not [code for code, times in codes.items() if times > 1]


@_each_fault
def test_a_fault_is_explained(fault: type[Fault]) -> None:
    assert "code" in vars(fault), f"{fault.__name__} borrows its parent's code"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", fault.code)
    assert (fault.__doc__ or "").strip()
    assert fault.hint.strip().endswith(".")


def test_the_drawing_shows_every_fault_below_its_parent() -> None:
    drawn = _drawn()
    assert sorted(name for _, name in drawn) == sorted(fault.__name__ for fault in _faults())
    above: list[str] = []
    for depth, name in drawn:
        del above[depth:]
        parent = getattr(errors, name).__bases__[0].__name__
        assert parent == (above[-1] if above else "Exception"), name
        above.append(name)


def test_importing_everything_from_errors_gives_the_faults() -> None:
    assert all(issubclass(getattr(errors, name), Fault) for name in errors.__all__)
