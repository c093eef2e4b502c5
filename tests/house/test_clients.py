"""The generated parts of the clients match the server's schemas."""

from __future__ import annotations

import inspect
import json
import subprocess
from pathlib import Path

import pytest

from clients import testing
from clients.generate.__main__ import COMMAND, LANGUAGES, ROOT, generated, stale
from polymnia import __version__
from polymnia.client import AsyncMCPMemoryClient, MCPMemoryClient


@pytest.mark.promise("clients.generated")
def test_every_generated_file_is_up_to_date() -> None:
    assert not stale(), f"run: {COMMAND}"
    assert "clients/operations.json" in generated()
    for language in LANGUAGES:
        if (ROOT / "clients" / "generate" / f"{language}.py").exists():
            assert any(f"/{language}/" in path or language == "python" for path in generated())


@pytest.mark.promise("clients.generated")
def test_every_tool_and_every_operation_is_a_documented_method_of_both_python_clients() -> None:
    document = json.loads((ROOT / "clients" / "operations.json").read_text(encoding="utf-8"))
    assert document["version"] == __version__
    names = {one["name"] for one in (*document["tools"], *document["operations"])}
    assert len({one["name"] for one in document["operations"]}) == len(document["operations"])
    for client in (MCPMemoryClient, AsyncMCPMemoryClient):
        undocumented = [name for name in sorted(names) if not inspect.getdoc(getattr(client, name, None))]
        assert not undocumented
    for name, method in inspect.getmembers(AsyncMCPMemoryClient, inspect.isfunction):
        if not name.startswith("_") and inspect.iscoroutinefunction(method):
            other = inspect.signature(getattr(MCPMemoryClient, name))
            assert other == inspect.signature(method), f"{name} differs between the two clients"


def test_a_missing_toolchain_fails_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "go.mod").touch()
    (tmp_path / "package.json").touch()
    monkeypatch.setattr(testing, "GO", tmp_path)
    monkeypatch.setattr(testing, "TYPESCRIPT", tmp_path)
    monkeypatch.setattr(testing.shutil, "which", lambda name: None)
    monkeypatch.setattr(testing, "_installed", lambda module, package: False)
    assert testing.main(["typescript", "go"]) == 2
    output = capsys.readouterr().out
    assert "The typescript client was not tested: there is no Node 20 or newer" in output
    assert "The go client was not tested: there is no Go 1.24 or newer" in output
    assert testing.main(["cobol"]) == 2


def test_node_and_go_come_from_python_packages_if_the_machine_has_none_or_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    (tmp_path / "bin").mkdir()
    for name, version in {"node": "v18.20.0", "npm": "9.0.0", "go": "go version go1.19 linux/amd64"}.items():
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\necho {version} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setattr(testing, "PROGRAMS", tmp_path / "programs")
    monkeypatch.setattr(testing, "_installed", lambda module, package: True)
    monkeypatch.setattr(testing, "_home", lambda module: tmp_path)
    monkeypatch.setattr(testing, "_ran", lambda command, folder, environment: commands.append(list(command)))
    for found in (lambda name: None, lambda name: str(tmp_path / "bin" / name)):
        monkeypatch.setattr(testing.shutil, "which", found)
        assert testing.main(["typescript", "go"]) == 2
    for npm, go in (commands[:2], commands[2:]):
        assert Path(npm[0]).parent == tmp_path / "programs"  # where the scripts of package.json find it too
        assert Path(go[0]) == tmp_path / "bin" / "go"
        printed = subprocess.run([npm[0], "run", "build"], capture_output=True, text=True, check=True).stdout.split()
        script = tmp_path / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        assert printed == ["v18.20.0", str(script), "run", "build"]
