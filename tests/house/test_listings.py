"""The tool lists in the package are up to date."""

from __future__ import annotations

import pytest

from form import each
from polymnia import app
from polymnia.settings import DIALECTS, GRAPHS

from .tree import load

_BUILDER = load("docs/build_listings.py")


def test_there_is_a_list_for_every_dialect_and_no_other() -> None:
    files = sorted(path.name for path in _BUILDER.FOLDER.iterdir())
    assert files == sorted(_BUILDER.listings())


@each("name", [*(f"{one}.json" for one in DIALECTS if one != "all"), *(f"all-{g}.json" for g in GRAPHS)])
def test_a_list_is_up_to_date(name: str) -> None:
    written = (_BUILDER.FOLDER / name).read_bytes()
    assert written == _BUILDER.listings()[name], f"{name} is stale; run: python docs/build_listings.py"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_sends_the_list_of_its_dialect(dialect: str) -> None:
    for graph in GRAPHS:
        listing = app.registry(app.settings({"dialect": dialect, "graph": graph}, {})).listing
        name = f"all-{graph}.json" if dialect == "all" else f"{dialect}.json"
        assert listing == str(_BUILDER.FOLDER / name)
