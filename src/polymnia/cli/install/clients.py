"""The clients: where each keeps its servers, and the shape of an entry.

As of November 2026; docs/guide/clients.md says how each fact is known, and what could not be checked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any, NamedTuple

from polymnia.cli.install import json_text, toml_text, yaml_text
from polymnia.cli.install.machine import Machine, Program
from polymnia.cli.install.text import Path
from polymnia.models import JsonObject

_PROGRAM = re.compile(r"polymnia(?:\.exe)?(?:\[[\w,-]*\])?(?:(?:@|==).*)?")
_RUN = ("run", "tool")  # uv tool run polymnia


class ConfigurationFile(NamedTuple):
    """A configuration file, and the folder whose presence says that the client is there."""

    file: str
    folder: str


class Client(NamedTuple):
    """A client. ``places`` lists its files, the likeliest first; ``text`` reads and edits them."""

    name: str
    title: str
    section: Path
    places: Callable[[Machine], Sequence[ConfigurationFile]]
    entry: Callable[[Program, Sequence[str]], JsonObject]
    afterwards: str
    text: ModuleType = json_text
    listed: bool = False
    preamble: str = ""
    """What a new file has to begin with."""

    def entries(self, document: JsonObject) -> dict[str, Any]:
        """The servers of a document by name."""
        servers: Any = document
        for key in self.section:
            servers = servers.get(key) if isinstance(servers, dict) else None
        if self.listed:
            servers = {str(one["name"]): one for one in servers or () if isinstance(one, dict) and "name" in one}
        return servers if isinstance(servers, dict) else {}

    def put(self, text: str, name: str, values: JsonObject) -> str:
        """The text of the configuration with an entry."""
        put = self.text.put_item if self.listed else self.text.put
        return str(put(text, self.section, name, values))

    def remove(self, text: str, name: str) -> str:
        """The text of the configuration without an entry."""
        remove = self.text.remove_item if self.listed else self.text.remove
        return str(remove(text, self.section, name))


def files(client: Client, machine: Machine) -> list[ConfigurationFile]:
    """The files of a client to work on: all that exist, else that of the first folder that does, else the likeliest."""
    places = client.places(machine)
    there = [place for place in places if os.path.exists(place.file)]
    return there or [next((place for place in places if os.path.isdir(place.folder)), places[0])]


def is_found(client: Client, machine: Machine) -> bool:
    """Whether a client seems to be installed."""
    return any(os.path.exists(place.file) or os.path.isdir(place.folder) for place in client.places(machine))


def words_of(entry: object) -> list[str]:
    """The command of an entry with its arguments, whatever the client calls them; empty if it starts none."""
    if not isinstance(entry, dict):
        return []
    command = entry.get("command", entry.get("cmd"))
    if isinstance(command, dict):  # as Zed wrote it before 2025
        return words_of({"command": command.get("path"), "args": command.get("args")})
    if not isinstance(command, str):
        return []
    given = entry.get("args")
    return [command, *(str(one) for one in given)] if isinstance(given, list) else [command]


def environment_of(entry: object) -> dict[str, str]:
    """The variables that an entry sets."""
    given = entry.get("env", entry.get("envs")) if isinstance(entry, dict) else None
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def is_ours(entry: object) -> bool:
    """Whether an entry starts Polymnia: by its command, or by the word that another program is to run.

    A folder or a repository of that name, which another server is given, is none.
    """
    words = words_of(entry)
    return any(
        _PROGRAM.fullmatch(word.replace("\\", "/").rpartition("/")[2])
        and (words[at + 1 : at + 2] == ["stdio"] or all(one[:1] == "-" or one in _RUN for one in words[1:at]))
        for at, word in enumerate(words)
    )


# ── the shapes of entries ─────────────────────────────────────────────────────────────────────────────────


def _usual(program: Program, arguments: Sequence[str]) -> JsonObject:
    return {"command": program.command, "args": [*program.words, *arguments]}


def _typed(program: Program, arguments: Sequence[str]) -> JsonObject:
    return {"type": "stdio", **_usual(program, arguments)}


def _of_goose(program: Program, arguments: Sequence[str]) -> JsonObject:
    return {
        "type": "stdio",
        "name": "polymnia",
        "description": "One memory for AI agents",
        "enabled": True,
        "cmd": program.command,
        "args": [*program.words, *arguments],
        "envs": {},
        "env_keys": [],
        "timeout": 300,
    }


# ── the places of files ───────────────────────────────────────────────────────────────────────────────────


def _file(*parts: str) -> ConfigurationFile:
    file = os.path.join(*parts)
    return ConfigurationFile(file, os.path.dirname(file))


def _claude_desktop(machine: Machine) -> list[ConfigurationFile]:
    name = "claude_desktop_config.json"
    places = [_file(machine.config(), "Claude", name)]
    if machine.platform != "win32":
        return places
    # The packaged app does not see %APPDATA%\\Claude, but a copy of it in a folder of its own.
    packages = os.path.join(machine.variable("LOCALAPPDATA", "AppData", "Local"), "Packages")
    found = sorted(os.listdir(packages)) if os.path.isdir(packages) else []
    inside = [
        _file(packages, package, "LocalCache", "Roaming", "Claude", name)
        for package in found
        if fnmatchcase(package, "Claude_*")
    ]
    return [place for place in inside if os.path.isdir(place.folder)] or places


def _claude_code(machine: Machine) -> list[ConfigurationFile]:
    if chosen := machine.environment.get("CLAUDE_CONFIG_DIR"):
        return [_file(chosen, ".claude.json")]
    return [ConfigurationFile(machine.below_home(".claude.json"), machine.below_home(".claude"))]


def _vs_code(machine: Machine) -> list[ConfigurationFile]:
    return [_file(machine.config(), "Code", "User", "mcp.json")]


def _zed(machine: Machine) -> list[ConfigurationFile]:
    if machine.platform == "win32":
        return [_file(machine.config(), "Zed", "settings.json")]
    if machine.platform == "darwin":
        return [_file(machine.below_home(".config", "zed", "settings.json"))]
    return [_file(machine.variable("XDG_CONFIG_HOME", ".config"), "zed", "settings.json")]


def _cline(machine: Machine) -> list[ConfigurationFile]:
    name = "cline_mcp_settings.json"
    extension = os.path.join(machine.config(), "Code", "User", "globalStorage", "saoudrizwan.claude-dev")
    if chosen := machine.environment.get("CLINE_MCP_SETTINGS_PATH"):
        return [_file(chosen)]
    shared = ConfigurationFile(machine.below_home(".cline", "data", "settings", name), machine.below_home(".cline"))
    return [shared, ConfigurationFile(os.path.join(extension, "settings", name), extension)]


def _continue(machine: Machine) -> list[ConfigurationFile]:
    return [_file(machine.below_home(".continue", "config.yaml"))]


def _goose(machine: Machine) -> list[ConfigurationFile]:
    if machine.platform == "win32":
        return [_file(machine.config(), "Block", "goose", "config", "config.yaml")]
    return [_file(machine.variable("XDG_CONFIG_HOME", ".config"), "goose", "config.yaml")]


def _lm_studio(machine: Machine) -> list[ConfigurationFile]:
    return [
        _file(machine.below_home(".lmstudio", "mcp.json")),
        _file(machine.below_home(".cache/lm-studio/mcp.json")),
    ]


def _at_home(*parts: str) -> Callable[[Machine], list[ConfigurationFile]]:
    return lambda machine: [_file(machine.below_home(*parts))]


_SERVERS = ("mcpServers",)
_RESTART = "Restart {title}."

CLIENTS = (
    Client("claude-desktop", "Claude Desktop", _SERVERS, _claude_desktop, _usual, "Quit {title} and start it again."),
    Client("claude-code", "Claude Code", _SERVERS, _claude_code, _typed, "New sessions have it; `/mcp` shows it."),
    Client("cursor", "Cursor", _SERVERS, _at_home(".cursor", "mcp.json"), _usual, _RESTART),
    Client("vscode", "VS Code", ("servers",), _vs_code, _typed, _RESTART),
    Client("windsurf", "Windsurf", _SERVERS, _at_home(".codeium", "windsurf", "mcp_config.json"), _usual, _RESTART),
    Client("zed", "Zed", ("context_servers",), _zed, _usual, _RESTART),
    Client(
        "codex",
        "Codex CLI",
        ("mcp_servers",),
        lambda machine: [_file(machine.variable("CODEX_HOME", ".codex"), "config.toml")],
        _usual,
        "New sessions have it; `codex mcp list` shows it.",
        toml_text,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        _SERVERS,
        lambda machine: [_file(machine.variable("GEMINI_CLI_HOME"), ".gemini", "settings.json")],
        _usual,
        "New sessions have it in folders that you trust; `/mcp` shows it.",
    ),
    Client("cline", "Cline", _SERVERS, _cline, _usual, _RESTART),
    Client(
        "continue",
        "Continue",
        _SERVERS,
        _continue,
        _typed,
        "Reload the window; it works in agent mode.",
        yaml_text,
        listed=True,
        preamble="name: Local Config\nversion: 1.0.0\nschema: v1\n",
    ),
    Client("goose", "Goose", ("extensions",), _goose, _of_goose, "New sessions have it.", yaml_text),
    Client("lm-studio", "LM Studio", _SERVERS, _lm_studio, _usual, _RESTART),
)

BY_NAME = {client.name: client for client in CLIENTS}

PROJECT_FILES: dict[str, Path] = {
    "claude-code": (".mcp.json",),
    "cursor": (".cursor", "mcp.json"),
    "vscode": (".vscode", "mcp.json"),
    "zed": (".zed", "settings.json"),
    "codex": (".codex", "config.toml"),
    "gemini": (".gemini", "settings.json"),
}
"""The file that a client reads in the folder of a project, with the same shape as the user's own."""


def project_file(client: Client, folder: str) -> str | None:
    """The client's file in the folder of a project, if it reads one."""
    return os.path.join(folder, *PROJECT_FILES[client.name]) if client.name in PROJECT_FILES else None
