"""The files of the packages say what is true, agree with each other, and pass the linters made for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from polymnia.cli import commands
from polymnia.settings import DIALECTS, SETTINGS
from programs import program

from .tree import ROOT, load

_PACKAGING = ROOT / "packaging"
_WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
_VARIABLES = {setting.variable for setting in SETTINGS}


def _lint(*command: str, folder: Path = ROOT) -> None:
    done = subprocess.run([program(command[0]), *command[1:]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_file_names_the_same_version() -> None:
    found = load("packaging/versions.py").versions()
    assert len(set(found.values())) == 1, found


# ── the MCP registry ─────────────────────────────────────────────────────────────────────────────────────


def test_the_registry_entry_has_what_the_registry_asks_for() -> None:
    """Field by field, as its schema of 2025-12-11 has them."""
    entry = _json(ROOT / "server.json")
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100
    assert 1 <= len(entry["title"]) <= 100
    assert entry["repository"] == {"url": "https://github.com/polymnia/polymnia", "source": "github"}
    assert entry.keys() <= {"$schema", "name", "title", "description", "version", "repository", "packages"}
    (package,) = entry["packages"]
    assert (package["registryType"], package["identifier"], package["runtimeHint"]) == ("pypi", "polymnia", "uvx")
    assert package["transport"] == {"type": "stdio"}
    words = []
    for argument in package["packageArguments"]:
        assert argument["type"] in ("positional", "named")
        words += [argument["name"]] if argument["type"] == "named" else []
        words.append(argument.get("value") or argument["default"])
    assert words[0] in {command.name for command in commands.COMMANDS}
    assert commands.parser().parse_args(words).dialect == "native"
    (dialect,) = (one for one in package["packageArguments"] if one.get("name") == "--dialect")
    assert dialect["choices"] == list(DIALECTS)
    assert "value" not in dialect, "a value is what a user cannot choose"
    for variable in package["environmentVariables"]:
        assert variable["name"] in _VARIABLES
        assert variable.keys() <= {"name", "description", "format", "isRequired", "isSecret", "default"}


def test_the_readme_proves_to_the_registry_that_the_package_is_ours() -> None:
    name = _json(ROOT / "server.json")["name"]
    assert f"mcp-name: {name}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f'server.name="{name}"' in (ROOT / "Dockerfile").read_text(encoding="utf-8")


# ── the bundle ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_bundle_starts_a_server_with_what_its_user_chose(tmp_path: Path) -> None:
    path = load("packaging/build_bundle.py").build(tmp_path)
    with ZipFile(path) as bundle:
        bundle.extractall(tmp_path / "bundle")
    folder = tmp_path / "bundle"
    manifest = _json(folder / "manifest.json")
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    assert all({"type", "title", "description"} <= one.keys() for one in manifest["user_config"].values())
    config = manifest["server"]["mcp_config"]
    assert set(config["env"]) <= _VARIABLES
    assert config["args"][-1] == manifest["server"]["entry_point"]
    chosen = {name: one["default"] for name, one in manifest["user_config"].items()}
    chosen["store"] = str(tmp_path / "한국어.db")
    given = {
        name: re.sub(r"\$\{user_config\.(\w+)\}", lambda found: chosen[found[1]], value)
        for name, value in config["env"].items()
    } | {"POLYMNIA_EXPORT_DIR": "${user_config.unknown}"}
    variables = {name: value for name, value in os.environ.items() if not name.startswith("POLYMNIA_")}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "remember", "arguments": {"memories": ["Ann likes green tea"]}}},
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, config["args"][-1]], cwd=folder, env=variables | given, timeout=60, check=True,
        input="".join(json.dumps(one) + "\n" for one in asked), stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    answers = {one["id"]: one for one in map(json.loads, done.stdout.splitlines()) if "id" in one}
    assert answers[1]["result"]["serverInfo"]["version"] == manifest["version"]
    assert not answers[2]["result"].get("isError"), answers[2]
    assert Path(chosen["store"]).exists()
    assert path.stat().st_size < 50_000


def test_a_bundle_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = load("packaging/build_bundle.py")
    shutil.copytree(builder.PARTS, tmp_path / "parts")
    text = (tmp_path / "parts" / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "parts" / "pyproject.toml").write_text(text.replace("polymnia==", "polymnia==9."))
    monkeypatch.setattr(builder, "PARTS", tmp_path / "parts")
    with pytest.raises(SystemExit, match="another version"):
        builder.build(tmp_path)


# ── the container ────────────────────────────────────────────────────────────────────────────────────────


def test_the_container_is_not_root_and_takes_only_what_is_there() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    final = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", final, re.M)
    assert "HEALTHCHECK" in final
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        for one in copied.split():
            assert (ROOT / one).exists(), one
            assert f"!{one}" in (ROOT / ".dockerignore").read_text(encoding="utf-8").split(), one
    assert set(re.findall(r"(POLYMNIA_\w+)=", text)) <= _VARIABLES
    extras = re.search(r"'\.\[(.+?)\]'", text)
    assert extras is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= set(known)


def test_the_container_file_passes_hadolint() -> None:
    _lint("hadolint", "Dockerfile")


# ── services, workflows, formula, man page ───────────────────────────────────────────────────────────────


def test_the_unit_passes_systemd_and_can_do_little(tmp_path: Path) -> None:
    text = (_PACKAGING / "polymnia.service").read_text(encoding="utf-8")
    assert set(re.findall(r"(POLYMNIA_\w+)=", text)) <= _VARIABLES
    # Neither the command nor its man page is installed here.
    unit = re.sub(
        r"(?m)^ExecStart=\S+|^Documentation=.*$", lambda f: f"ExecStart={sys.executable}" * f[0].startswith("E"), text
    )
    (tmp_path / "polymnia.service").write_text(unit)
    analyze = program("systemd-analyze")
    done = subprocess.run([analyze, "verify", "polymnia.service"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    _lint("systemd-analyze", "security", "--offline=true", "--threshold=15", "polymnia.service", folder=tmp_path)


def test_the_workflow_tests_every_python_it_claims_and_trusts_no_moving_tag() -> None:
    workflow = yaml.safe_load(_WORKFLOW.read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)]
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == claimed
    assert {one.partition("-")[0] for one in matrix["system"]} == {"ubuntu", "macos", "windows"}
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert not [one for one in used if not re.search(r"@[0-9a-f]{40}$", one)]
    for script in re.findall(r"python ((?:packaging|tests)/\S+\.py)", _WORKFLOW.read_text(encoding="utf-8")):
        assert (ROOT / script).exists(), script


_YAML = (
    "{extends: default, rules: {line-length: {max: 120}, document-start: disable, truthy: {check-keys: false}, "
    "comments: {min-spaces-from-content: 1}}}"
)


@pytest.mark.parametrize(
    "command",
    [
        ("actionlint", "-shellcheck=", ".github/workflows/release.yml"),
        ("zizmor", "--offline", "--quiet", ".github/workflows"),
        ("yamllint", "--strict", "-d", _YAML, ".github", "packaging/compose.yaml"),
        ("shellcheck", ".ci/run"),
        ("ruby", "-wc", "packaging/polymnia.rb"),
        ("mandoc", "-T", "lint", "-W", "style", "packaging/polymnia.1"),
    ],
    ids=lambda command: command[0],
)
def test_the_files_pass_the_linter_made_for_them(command: tuple[str, ...]) -> None:
    _lint(*command)


def test_the_formula_of_a_release_has_its_digest(tmp_path: Path) -> None:
    source = tmp_path / "polymnia-9.8.7.tar.gz"
    source.write_bytes(b"x")
    made = load("packaging/build_formula.py").formula(source)
    assert 'releases/download/v9.8.7/polymnia-9.8.7.tar.gz"' in made
    assert 'sha256 "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"' in made


def test_the_man_page_is_up_to_date() -> None:
    builder = load("docs/build_man.py")
    assert builder.PAGE.read_text(encoding="utf-8") == builder.page(), "python docs/build_man.py"
