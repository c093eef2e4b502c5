"""The lists of tools that come with the package say what the code says."""

from __future__ import annotations

import importlib.util
from functools import cache
from types import ModuleType

import pytest

from form import each
from polymnia import app
from polymnia.settings import DIALECTS, GRAPHS

from .tree import ROOT


@cache
def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_listings", ROOT / "docs" / "build_listings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_list_of_every_dialect_and_no_other() -> None:
    files = sorted(path.name for path in _builder().FOLDER.iterdir())
    assert files == sorted(_builder().listings())


@each("name", [*(f"{one}.json" for one in DIALECTS if one != "all"), *(f"all-{g}.json" for g in GRAPHS)])
def test_a_list_says_what_the_code_says(name: str) -> None:
    written = (_builder().FOLDER / name).read_bytes()
    assert written == _builder().listings()[name], f"{name} is stale; run: python docs/build_listings.py"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_sends_the_list_of_its_dialect(dialect: str) -> None:
    for graph in GRAPHS:
        listing = app.registry(app.settings({"dialect": dialect, "graph": graph}, {})).listing
        name = f"all-{graph}.json" if dialect == "all" else f"{dialect}.json"
        assert listing == str(_builder().FOLDER / name)
