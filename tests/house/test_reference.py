"""The pages of docs/reference say what the code says: they are written from it, and a stale one fails here."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from .tree import ROOT

_SCRIPT = ROOT / "docs" / "build_reference.py"
_FOLDER = ROOT / "docs" / "reference"
_PAGES = ["commands.md", "errors.md", "operations.md", "protocol.md", "settings.md"]


@cache
def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_reference", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _pages() -> dict[str, str]:
    pages: dict[str, str] = _builder().pages()
    return pages


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(_SCRIPT), *arguments], capture_output=True, encoding="utf-8", timeout=60, check=False
    )


def test_the_reference_has_exactly_the_pages_that_are_generated() -> None:
    assert sorted(_pages()) == _PAGES
    assert sorted(path.name for path in _FOLDER.iterdir()) == _PAGES


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_says_what_the_code_says(name: str) -> None:
    written = (_FOLDER / name).read_text(encoding="utf-8")
    assert written == _pages()[name], f"docs/reference/{name} is stale; run: python docs/build_reference.py"


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_says_by_which_command_it_was_generated(name: str) -> None:
    assert "python docs/build_reference.py" in _pages()[name].split("\n\n")[1]


@pytest.mark.long
def test_the_check_names_the_pages_that_are_stale_and_ends_with_1(tmp_path: Path) -> None:
    assert _run("--folder", str(tmp_path)).returncode == 0
    fresh = _run("--check", "--folder", str(tmp_path))
    assert (fresh.returncode, fresh.stderr) == (0, "")

    (tmp_path / "settings.md").write_text("Something else.")
    (tmp_path / "errors.md").unlink()
    (tmp_path / "old.md").write_text("Left over.")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    done = _run("--check", "--folder", str(tmp_path))
    assert done.returncode == 1
    assert "settings.md is stale" in done.stderr
    assert "errors.md is missing" in done.stderr
    assert "old.md" in done.stderr
    assert "operations.md" not in done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_every_tool_setting_fault_and_command_is_on_its_page() -> None:
    from polymnia import errors
    from polymnia.cli.commands import COMMANDS
    from polymnia.dialects import associative
    from polymnia.dialects.content import TOOLS
    from polymnia.dialects.graph import registry
    from polymnia.settings import SETTINGS

    pages = _pages()
    for dialect in ("simple", "strict", "bilingual", "official"):
        for tool in registry(dialect).operations.values():
            assert f"### {tool.name}\n" in pages["operations.md"]
    assert all(f"### {name}\n" in pages["operations.md"] for name in associative.registry().operations)
    assert all(f"### {name}\n" in pages["operations.md"] for tool in TOOLS.values() for name in tool.operations())
    flags = {s.variable: "none" if s.secret else f"`{s.flag}`" for s in SETTINGS}
    assert all(f"| {flag} | `{variable}` |" in pages["settings.md"] for variable, flag in flags.items())
    assert all(f"### {getattr(errors, name).code}\n" in pages["errors.md"] for name in errors.__all__)
    assert all(f"## polymnia {command.name}\n" in pages["commands.md"] for command in COMMANDS)


def test_something_the_tables_do_not_explain_stops_the_build() -> None:
    builder = _builder()
    with pytest.raises(builder.Incomplete, match="tools/forget"):
        builder.explained({"tools/list": "lists them"}, ["tools/list", "tools/forget"], "methods")
    with pytest.raises(builder.Incomplete, match="tools/list"):
        builder.explained({"tools/list": "lists them"}, [], "methods")
