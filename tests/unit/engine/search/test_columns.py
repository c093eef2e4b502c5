"""Columns that grow together."""

from __future__ import annotations

from polymnia.engine.search.index import Columns


def test_new_rows_are_zero_and_old_ones_stay() -> None:
    columns = Columns(a="u4", b="?")
    assert columns.add(2) == 0
    columns["a"][:] = (7, 8)
    columns["b"][:] = True
    assert columns.add(1000) == 2
    assert columns.count == len(columns["a"]) == len(columns["b"]) == 1002
    assert columns["a"][:4].tolist() == [7, 8, 0, 0]
    assert columns["b"][:3].tolist() == [True, True, False]


def test_rows_that_were_cut_come_back_as_zero() -> None:
    columns = Columns(a="u4")
    columns.add(5)
    columns["a"][:] = 9
    columns.cut(2)
    assert columns["a"].tolist() == [9, 9]
    assert columns.add(3) == 2
    assert columns["a"].tolist() == [9, 9, 0, 0, 0]
