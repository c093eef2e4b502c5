"""One thread for our products, and nobody else's setting changed."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from polymnia.inference import networks


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A library that would use four threads; the list holds the current number."""
    now = [4]
    monkeypatch.setattr(networks, "_switch", lambda: (lambda: now[0], lambda number: now.__setitem__(0, number)))
    return now


def test_one_thread_within_and_as_before_after(threads: list[int]) -> None:
    with networks.one_thread():
        assert threads == [1]
        with networks.one_thread():
            assert threads == [1]
        assert threads == [1]
    assert threads == [4]


def test_the_number_is_put_back_after_a_fault(threads: list[int]) -> None:
    with pytest.raises(RuntimeError), networks.one_thread():
        raise RuntimeError
    assert threads == [4]


def test_where_the_library_cannot_be_told_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "_switch", lambda: None)
    with networks.one_thread():
        product = np.ones((2, 3)) @ np.ones((3, 2))
    assert product.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_the_library_of_this_machine_is_asked_safely() -> None:
    switch = networks._switch()
    if switch is not None:
        before = switch[0]()
        with networks.one_thread():
            assert switch[0]() == 1
        assert switch[0]() == before


def test_a_server_multiplies_on_one_thread_unless_told_otherwise() -> None:
    code = (
        "from polymnia.cli import main\nmain(['list', '--bogus'])\nfrom polymnia.inference import networks\n"
        "switch = networks._switch()\nprint(1 if switch is None else switch[0]())"
    )
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    told = [
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False).stdout
        for env in (free, free | {"OPENBLAS_NUM_THREADS": "2"})
    ]
    assert told[0].split()[-1:] == ["1"], "what is small is slow on many threads where cores are busy"
    assert told[1].split()[-1:] == [str(min(2, os.cpu_count() or 1))] or networks._switch() is None
