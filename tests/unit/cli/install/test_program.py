"""The command a client is given works from any folder, and tomorrow: venv, pipx, uv tool, uvx, pipx run, pip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polymnia.cli.install.machine import Machine, Program, program


def script(*parts: str | Path) -> str:
    """A program that can be run."""
    path = Path(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return str(path)


def machine(home: Path, platform: str = "linux", **environment: str) -> Machine:
    """A machine with nothing on its PATH but what the test says."""
    return Machine(platform, str(home), {"PATH": "", **environment})


@pytest.mark.parametrize(
    ("marker", "installed"),
    [(None, "virtual environment"), ("pipx_metadata.json", "pipx"), ("uv-receipt.toml", "uv tool")],
)
@pytest.mark.parametrize(("platform", "where"), [("linux", "bin/polymnia"), ("win32", "Scripts/polymnia.exe")])
def test_an_environment_that_stays_is_named_itself(
    tmp_path: Path, platform: str, where: str, marker: str | None, installed: str
) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "CACHEDIR.TAG").write_text("")  # as uv and pipx write it into every environment
    if marker:
        (tmp_path / "env" / marker).write_text("")
    path = script(tmp_path, "env", where)
    found = program(str(tmp_path / "env"), str(tmp_path / "env/bin/python"), machine(tmp_path, platform))
    assert found == Program(path, (), installed)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A folder of files that may be deleted at any time."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "CACHEDIR.TAG").write_text("")
    return tmp_path / "cache"


def test_uvx_is_asked_again_each_time(tmp_path: Path, cache: Path) -> None:
    prefix = cache / "archive-v0" / "IgLO0ov6"
    script(prefix, "bin", "polymnia")
    uvx = script(tmp_path, "tools", "uvx")
    here = machine(tmp_path, UV=str(tmp_path / "tools" / "uv"))
    assert program(str(prefix), "python", here) == Program(uvx, ("polymnia",), "uvx")
    by_path = machine(tmp_path, PATH=str(tmp_path / "tools"))
    assert program(str(prefix), "python", by_path, "git+https://x.test/p@main") == Program(
        uvx, ("--from", "git+https://x.test/p@main", "polymnia"), "uvx"
    )


def test_pipx_run_is_asked_again_each_time(tmp_path: Path, cache: Path) -> None:
    prefix = cache / "fe294438"
    script(prefix, "bin", "polymnia")
    (prefix / "pipx_metadata.json").write_text("")
    pipx = script(tmp_path, "tools", "pipx")
    here = machine(tmp_path, PATH=str(tmp_path / "tools"))
    assert program(str(prefix), "python", here) == Program(pipx, ("run", "polymnia"), "pipx run")


def test_without_a_script_the_interpreter_is_named(tmp_path: Path) -> None:
    python = script(tmp_path, "env", "bin", "python")
    assert program(str(tmp_path / "env"), python, machine(tmp_path)) == Program(
        python, ("-m", "polymnia"), "virtual environment"
    )


def test_a_script_beside_the_interpreter_of_the_system_is_named(tmp_path: Path) -> None:
    python, path = script(tmp_path, "bin", "python3"), script(tmp_path, "bin", "polymnia")
    found = program(None, python, machine(tmp_path))
    assert found == Program(path, (), "pip")
    assert os.path.isabs(found.command)
