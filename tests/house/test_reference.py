"""The generated pages of docs/reference are up to date."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest

from .tree import ROOT, load

_BUILDER = load("docs/build_reference.py")
_FOLDER = ROOT / "docs" / "reference"
_PAGES = ["commands.md", "errors.md", "operations.md", "protocol.md", "settings.md"]


@cache
def _pages() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in _FOLDER.iterdir()}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(_BUILDER.__file__), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_reference_has_exactly_these_pages() -> None:
    assert sorted(_pages()) == _PAGES


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    page = _pages()[name]
    assert page == _BUILDER.filled(page), f"docs/reference/{name} is stale; run: python docs/build_reference.py"


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_names_the_command_that_generates_it(name: str) -> None:
    assert "python docs/build_reference.py" in _pages()[name].split("\n\n")[1]


def test_every_block_is_on_exactly_one_page() -> None:
    blocks = [name for page in _pages().values() for name in re.findall(r"<!-- (.+) -->", page) if name != "end"]
    assert sorted(blocks) == sorted(_BUILDER.BLOCKS)
    assert sum(page.count("<!-- end -->") for page in _pages().values()) == len(blocks)


@pytest.mark.long
def test_the_check_names_the_pages_that_are_stale_and_ends_with_1(tmp_path: Path) -> None:
    shutil.copytree(_FOLDER, tmp_path, dirs_exist_ok=True)
    fresh = _run("--check", "--folder", str(tmp_path))
    assert (fresh.returncode, fresh.stderr) == (0, "")

    stale = tmp_path / "settings.md"
    stale.write_text(stale.read_text(encoding="utf-8").replace("POLYMNIA_STORE", "POLYMNIA_SHOP"), encoding="utf-8")
    before = stale.read_bytes()
    done = _run("--check", "--folder", str(tmp_path))
    assert done.returncode == 1
    assert "settings.md is stale" in done.stderr
    assert "operations.md" not in done.stderr
    assert stale.read_bytes() == before

    assert _run("--folder", str(tmp_path)).returncode == 0
    assert stale.read_text(encoding="utf-8") == _pages()["settings.md"]


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


def test_the_tables_written_by_hand_are_complete() -> None:
    from polymnia.engine.graph import Policy
    from polymnia.transports import errors, methods, rpc, wire

    protocol = _pages()["protocol.md"]
    rows = set(re.findall(r"^\| `([^`]+)` \| (yes|) \| (yes|) \| (.*?) \|", protocol, re.M))
    assert rows == {_method(name) for name in methods.HANDSHAKE | methods.MODERN}
    assert all(f"`{version}`" in protocol for version in (*wire.HANDSHAKE_VERSIONS, *wire.MODERN_VERSIONS))
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(rpc.__file__).parent.glob("*.py"))
    sent = set(re.findall(r'"(notifications/[\w/]+)"', sources))
    assert set(re.findall(r"^\| `(notifications/[^`]+)`", protocol, re.M)) == sent
    codes = {value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
    listed = _section("errors.md", "JSON-RPC codes")
    assert {int(number) for number in re.findall(r"^\| (-?\d+) \|", listed, re.M)} == codes
    differences = _section("operations.md", "Where the dialects differ")
    assert differences.count("\n| ") - 2 == len(Policy.__struct_fields__), "a head, a rule, and a row for each choice"


def _method(name: str) -> tuple[str, str, str, str]:
    """The row of a method: the eras that have it, and its parameters."""
    from polymnia.transports.methods import HANDSHAKE, MODERN

    fields = msgspec.structs.fields((HANDSHAKE | MODERN)[name].params)
    takes = [f"`{f.encode_name}{'' if f.required else '?'}`" for f in fields if f.encode_name != "_meta"]
    return name, "yes" if name in HANDSHAKE else "", "yes" if name in MODERN else "", ", ".join(takes)


def _section(page: str, heading: str) -> str:
    return _pages()[page].split(f"\n## {heading}\n")[1].split("\n## ")[0]
