"""The settings in force and where each comes from, and what a client needs to start this server."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

import msgspec

from polymnia.app import default_store, key_file, misspelt
from polymnia.cli.output import dim, padded, print_json, strong
from polymnia.settings import NETWORK, SETTINGS, Settings, without_password

__all__ = ["config"]

_SHADE = "(set, not shown)"
_PATHS = ("config", "store", "file", "export_dir", "keys")


def config(arguments: Namespace, chosen: Settings) -> int:
    """Show every setting with its source, or what a client needs. Keys are shown to be set, not what they are."""
    if arguments.client is not None:
        print(_for_client(arguments.client, chosen))
        return 0
    told: dict[str, dict[str, Any]] = {}
    for setting in SETTINGS:
        value = getattr(chosen, setting.name)
        if setting.secret and value is not None:
            value = _SHADE
        if setting.name == "embedder_url" and value is not None:
            value = without_password(value)
        if value is None:
            value = _meant(chosen, setting.name)
        told[setting.name] = {"value": value, "source": _source(chosen, setting.name)}
    if arguments.json:
        print_json(told)
        return 0
    wide = max(map(len, told))
    for name, one in told.items():
        value = "–" if one["value"] is None else str(one["value"])
        print(f"{strong(padded(name, wide))}  {value}  {dim(one['source'])}")
    sys.stdout.flush()
    for text in misspelt():
        print(text, file=sys.stderr)
    return 0


def _meant(chosen: Settings, name: str) -> str | None:
    """What a setting comes to that has no value of its own."""
    if name == "keys":
        return key_file(chosen).path
    if name == "export_dir":
        return os.path.join(os.path.dirname(chosen.store or default_store()), "exports")
    return default_store() if name == "store" and chosen.file is None else None


def _source(chosen: Settings, name: str) -> str:
    source = chosen.sources[name]
    if source == "file":
        return str(chosen.config)
    if name == "config" and source == "default":
        return "default" if os.path.exists(str(chosen.config)) else "default, there is no such file"
    return source


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────


def _for_client(client: str, chosen: Settings) -> str:
    """What to paste into the configuration of a client, or to type: absolute paths, since clients search other folders.

    Settings given here or in the environment become arguments of the server: a client does not have this environment.
    """
    command, arguments = _program(), ["stdio", *_given(chosen)]
    if client == "claude-code":
        import shlex

        return shlex.join(["claude", "mcp", "add", "--scope", "user", "memory", "--", *command, *arguments])
    entry = {"command": command[0], "args": [*command[1:], *arguments]}
    if client == "vscode":
        return _pretty({"servers": {"memory": {"type": "stdio", **entry}}})
    return _pretty({"mcpServers": {"memory": entry}})


def _program() -> list[str]:
    """How to start this installation from any folder: the script beside the interpreter, or the interpreter itself."""
    name = "polymnia.exe" if sys.platform == "win32" else "polymnia"
    script = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), name)
    return [script] if os.access(script, os.X_OK) else [os.path.abspath(sys.executable), "-m", "polymnia"]


def _given(chosen: Settings) -> list[str]:
    """The settings of the command line and the environment as arguments that mean the same in any folder."""
    words = []
    for setting in SETTINGS:
        # The server reads the file of settings itself.
        here = chosen.sources[setting.name] not in ("default", "file")
        if here and setting.name not in NETWORK and not setting.secret:
            value = str(getattr(chosen, setting.name))
            words += [setting.flag, os.path.abspath(os.path.expanduser(value)) if setting.name in _PATHS else value]
    return words


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
