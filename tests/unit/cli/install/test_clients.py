"""Every client, on every platform: the place and the shape it documents, and a file that is otherwise untouched."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from polymnia.cli.install import configuration
from polymnia.cli.install.clients import BY_NAME, files, is_found
from polymnia.cli.install.machine import Machine, Program

SAMPLES = Path(__file__).parent / "samples"
PROGRAM = Program("/usr/bin/polymnia", (), "pipx")
WORDS = ["stdio", "--dialect", "native", "--project", "집"]
USUAL = {"command": PROGRAM.command, "args": WORDS}
TYPED = {"type": "stdio", **USUAL}
_GOOSE = {"type": "stdio", "name": "polymnia", "description": "One memory for AI agents", "enabled": True}
_GOOSE |= {"cmd": PROGRAM.command, "args": WORDS, "envs": {}, "env_keys": [], "timeout": 300}

# client: where its file is on Linux, macOS and Windows, below the home folder, and the entry below which keys.
DOCUMENTED: dict[str, tuple[str, str, str, tuple[str, ...], dict[str, Any]]] = {
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
        ("mcpServers", "polymnia"),
        USUAL,
    ),
    "claude-code": (*[".claude.json"] * 3, ("mcpServers", "polymnia"), TYPED),
    "cursor": (*[".cursor/mcp.json"] * 3, ("mcpServers", "polymnia"), USUAL),
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
        ("servers", "polymnia"),
        TYPED,
    ),
    "windsurf": (*[".codeium/windsurf/mcp_config.json"] * 3, ("mcpServers", "polymnia"), USUAL),
    "zed": (
        ".config/zed/settings.json",
        ".config/zed/settings.json",
        "AppData/Roaming/Zed/settings.json",
        ("context_servers", "polymnia"),
        USUAL,
    ),
    "codex": (*[".codex/config.toml"] * 3, ("mcp_servers", "polymnia"), USUAL),
    "gemini": (*[".gemini/settings.json"] * 3, ("mcpServers", "polymnia"), USUAL),
    "cline": (*[".cline/data/settings/cline_mcp_settings.json"] * 3, ("mcpServers", "polymnia"), USUAL),
    "continue": (*[".continue/config.yaml"] * 3, ("mcpServers",), {"name": "polymnia", **TYPED}),
    "goose": (
        ".config/goose/config.yaml",
        ".config/goose/config.yaml",
        "AppData/Roaming/Block/goose/config/config.yaml",
        ("extensions", "polymnia"),
        _GOOSE,
    ),
    "lm-studio": (*[".lmstudio/mcp.json"] * 3, ("mcpServers", "polymnia"), USUAL),
}
PLATFORMS = ("linux", "darwin", "win32")


def machine(home: Path, platform: str, **more: str) -> Machine:
    """A machine of a platform whose home is a folder of the test."""
    environment = {"APPDATA": str(home / "AppData/Roaming"), "LOCALAPPDATA": str(home / "AppData/Local")}
    return Machine(platform, str(home), {**(environment if platform == "win32" else {}), **more})


def understood(file: Path) -> Any:
    """What a client reads in a file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".toml":
        return tomllib.loads(text)
    # YAML has JSON in it, but for tabs and comments, which no string of the samples has.
    return yaml.safe_load(
        text if file.suffix == ".yaml" else re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.S).replace("\t", " ")
    )


def entry_in(document: Any, keys: tuple[str, ...]) -> Any:
    """The entry of Polymnia in what a client has read."""
    for key in keys:
        document = document[key]
    return document if isinstance(document, dict) else next(one for one in document if one["name"] == "polymnia")


def added(name: str, file: str) -> configuration.Edit:
    """The change that brings Polymnia into a client's file."""
    client = BY_NAME[name]
    return configuration.addition(client, file, client.entry(PROGRAM, WORDS), None)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_client_gets_the_entry_it_documents_and_its_file_stays_as_it_was(
    tmp_path: Path, name: str, platform: str
) -> None:
    *places, keys, entry = DOCUMENTED[name]
    file = tmp_path / places[PLATFORMS.index(platform)]
    file.parent.mkdir(parents=True, exist_ok=True)
    (sample,) = SAMPLES.glob(f"{name}.*")
    before = sample.read_bytes()
    file.write_bytes(before)
    file.chmod(0o640)

    (place,) = files(BY_NAME[name], machine(tmp_path, platform))
    assert place.file == str(file)
    edit = added(name, place.file)
    assert edit.action == "add"
    backup = configuration.write(edit)

    after = understood(file)
    assert entry_in(after, keys) == entry
    assert backup is not None
    assert Path(backup).read_bytes() == before
    assert {path.stat().st_mode & 0o777 for path in (file, Path(backup))} == {0o640}
    # Every line that was there is there, in its order: comments, commas and line ends included.
    rest = iter(file.read_bytes().splitlines(keepends=True))
    missing = [line for line in before.splitlines(keepends=True) if line not in rest]
    assert len(missing) <= 2, missing  # the lines which the entry was put behind or into
    assert b"\r\n" not in before or file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")

    assert added(name, place.file).action == "none"
    (removal,) = configuration.removal(BY_NAME[name], place.file, None)
    configuration.write(removal)
    assert file.read_bytes() == before


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_client_without_a_file_gets_one_that_others_cannot_read(tmp_path: Path, name: str, platform: str) -> None:
    *places, keys, entry = DOCUMENTED[name]
    assert not is_found(BY_NAME[name], machine(tmp_path, platform))
    (place,) = files(BY_NAME[name], machine(tmp_path, platform))
    assert configuration.write(added(name, place.file)) is None
    file = tmp_path / places[PLATFORMS.index(platform)]
    assert entry_in(understood(file), keys) == entry
    assert file.stat().st_mode & 0o777 == 0o600
    assert is_found(BY_NAME[name], machine(tmp_path, platform))
    assert added(name, place.file).action == "none"


def test_the_packaged_claude_desktop_of_windows_has_a_file_of_its_own(tmp_path: Path) -> None:
    inside = tmp_path / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"
    inside.mkdir(parents=True)
    (tmp_path / "AppData/Roaming/Claude").mkdir(parents=True)
    (tmp_path / "AppData/Roaming/Claude/claude_desktop_config.json").write_text("{}")
    (place,) = files(BY_NAME["claude-desktop"], machine(tmp_path, "win32"))
    assert place.file == str(inside / "claude_desktop_config.json")


def test_both_files_of_cline_are_written_where_both_are(tmp_path: Path) -> None:
    extension = tmp_path / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
    shared = tmp_path / ".cline/data/settings/cline_mcp_settings.json"
    extension.parent.mkdir(parents=True)
    here = machine(tmp_path, "linux")
    assert [place.file for place in files(BY_NAME["cline"], here)] == [str(extension)]
    for file in (extension, shared):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    assert [place.file for place in files(BY_NAME["cline"], here)] == [str(shared), str(extension)]


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
        ("goose", "XDG_CONFIG_HOME", "goose/config.yaml"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
    ],
)
def test_a_variable_of_the_client_moves_its_file(tmp_path: Path, name: str, variable: str, file: str) -> None:
    here = machine(tmp_path, "linux", **{variable: str(tmp_path / "elsewhere")})
    assert files(BY_NAME[name], here)[0].file == str(tmp_path / "elsewhere" / file)


def test_continue_keeps_its_old_file_until_it_is_migrated(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(configuration.Invalid, match="would hide it"):
        added("continue", str(tmp_path / "config.yaml"))
    assert not (tmp_path / "config.yaml").exists()
