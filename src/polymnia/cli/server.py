"""The server: the network, the keys that open it, the settings in force, and what a client needs to start it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

import msgspec

from polymnia.app import default_store, key_file, misspelt, passed_over
from polymnia.cli.console import counted, dim, padded, print_json, shown, strong
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.keys import Key
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, SETTINGS, Settings, without_password

_FIRST = " It is the first: from now on a server asks for a key, one that runs already and on this machine too."
_SHADE = "(set, not shown)"
_PATHS = ("config", "store", "file", "export_dir", "keys")


def serve(arguments: Namespace, chosen: Settings) -> int:
    """Serve many clients until a signal comes."""
    with importing():
        from polymnia.app.network import serve_http

    def ready(address: str) -> None:
        print(f"Serving every dialect at {address}/mcp (also /sse and /ws). Ctrl-C ends it.", file=sys.stderr)

    for text in (*misspelt(), *passed_over(chosen)):
        print(f"polymnia: {text}", file=sys.stderr)
    serve_http(chosen, ready)
    return 0


def keys(arguments: Namespace, chosen: Settings) -> int:
    """Make, list or revoke keys."""
    file = key_file(chosen)
    if arguments.action == "list":
        found = file.keys()
        if arguments.json:
            print_json([_data(key) for key in found])
            return 0
        for key in found:
            print(f"{strong(key.id)}  {key.name}  {_opens(key)}  {dim(shown(key.created)[:10])}")
        print(dim(f"{counted(len(found), 'key')} in {file.path}."))
        return 0
    if not arguments.which:
        if arguments.action == "add":
            raise Invalid("keys add needs a name for the key", hint="Say whose it is: polymnia keys add NAME")
        raise Invalid("keys revoke needs the id of a key", hint="polymnia keys list shows the ids.")
    if arguments.action == "revoke":
        gone = file.revoke(arguments.which)
        if arguments.json:
            print_json({"revoked": _data(gone)})
        else:
            print(f"{gone.name} ({gone.id}) opens nothing any more.")
        return 0
    metrics = arguments.access == "metrics"
    if metrics and arguments.projects:
        raise Invalid("A key with --access metrics opens no project", hint="Leave out --for.")
    projects = () if metrics else tuple(arguments.projects) or None
    key, text = file.add(arguments.which, projects=projects, write=arguments.access == "write", metrics=metrics)
    if arguments.json:
        print_json({"key": text, **_data(key)})
    else:
        print(text)
        print(
            dim(
                f"This is {key.name} ({key.id}): {_opens(key)}. It is shown this once and kept nowhere."
                + (_FIRST if len(file.keys()) == 1 else "")
            ),
            file=sys.stderr,
        )
    return 0


def _opens(key: Key) -> str:
    if key.metrics and not key.projects:
        return "read /metrics"
    where = "all projects" if key.projects is None else ", ".join(key.projects)
    return f"{'read and write' if key.write else 'read'} {where}"


def _data(key: Key) -> JsonObject:
    return {
        "id": key.id,
        "name": key.name,
        "projects": None if key.projects is None else list(key.projects),
        "access": "metrics" if key.metrics else "write" if key.write else "read",
        "created": shown(key.created),
    }


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────


def config(arguments: Namespace, chosen: Settings) -> int:
    """Show every setting with its source, or what a client needs. Keys are shown to be set, not what they are."""
    if arguments.client is not None:
        print(_for_client(arguments.client, chosen))
        return 0
    told: dict[str, JsonObject] = {}
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
