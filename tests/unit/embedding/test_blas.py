"""One thread for our products, and nobody else's setting changed."""

from __future__ import annotations

import pytest

from polymnia.embedding import blas


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A library that would use four threads; the list holds the current number."""
    now = [4]
    monkeypatch.setattr(blas, "_switch", lambda: (lambda: now[0], lambda number: now.__setitem__(0, number)))
    return now


def test_one_thread_within_and_as_before_after(threads: list[int]) -> None:
    with blas.one_thread():
        assert threads == [1]
        with blas.one_thread():
            assert threads == [1]
        assert threads == [1]
    assert threads == [4]


def test_the_number_is_put_back_after_a_fault(threads: list[int]) -> None:
    with pytest.raises(RuntimeError), blas.one_thread():
        raise RuntimeError
    assert threads == [4]


def test_where_the_library_cannot_be_told_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_switch", lambda: None)
    with blas.one_thread():
        pass


def test_the_library_of_this_machine_is_asked_safely() -> None:
    switch = blas._switch()
    if switch is not None:
        before = switch[0]()
        with blas.one_thread():
            assert switch[0]() == 1
        assert switch[0]() == before
