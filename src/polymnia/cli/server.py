"""Commands on the server: serve, keys, config (including client configuration) and demo."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from argparse import Namespace
from typing import IO, Any

import msgspec

from polymnia.app import default_store, ignored_variables, key_file, misspelt_variables
from polymnia.cli.console import CommandResult, counted, dim, format_time, green, padded, strong
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.keys import Key
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, SETTINGS, Settings, without_password

_FIRST = " It is the first: from now on a server asks for a key, one that runs already and on this machine too."
_SHADE = "(set, not shown)"
_PATHS = ("config", "store", "file", "export_dir", "keys")


def serve(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Serve many clients until a signal arrives."""
    with importing():
        from polymnia.app.network import serve_http

    def ready(address: str) -> None:
        print(f"Serving every dialect at {address}/mcp (also /sse and /ws). Ctrl-C ends it.", file=sys.stderr)

    for text in (*misspelt_variables(), *ignored_variables(chosen)):
        print(f"polymnia: {text}", file=sys.stderr)
    serve_http(chosen, ready)
    return CommandResult()


def keys(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Create, list or revoke keys."""
    file = key_file(chosen)
    if arguments.action == "list":
        found = file.keys()
        lines = [f"{strong(k.id)}  {k.name}  {_opens(k)}  {dim(format_time(k.created)[:10])}" for k in found]
        return CommandResult(
            [_data(key) for key in found], [*lines, dim(f"{counted(len(found), 'key')} in {file.path}.")]
        )
    if not arguments.which:
        if arguments.action == "add":
            raise Invalid("keys add needs a name for the key", hint="Say whose it is: polymnia keys add NAME")
        raise Invalid("keys revoke needs the id of a key", hint="polymnia keys list shows the ids.")
    if arguments.action == "revoke":
        revoked = file.revoke(arguments.which)
        return CommandResult({"revoked": _data(revoked)}, [f"{revoked.name} ({revoked.id}) opens nothing any more."])
    metrics = arguments.access == "metrics"
    if metrics and arguments.projects:
        raise Invalid("A key with --access metrics opens no project", hint="Leave out --for.")
    projects = () if metrics else tuple(arguments.projects) or None
    key, text = file.add(arguments.which, projects=projects, write=arguments.access == "write", metrics=metrics)
    first = _FIRST if len(file.keys()) == 1 else ""
    note = f"This is {key.name} ({key.id}): {_opens(key)}. It is shown this once and kept nowhere.{first}"
    return CommandResult({"key": text, **_data(key)}, [text], [note])


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
        "created": format_time(key.created),
    }


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────


def config(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show every setting with its source, or the configuration of a client. The values of secrets are masked."""
    if arguments.client is not None:
        print(_for_client(arguments.client, chosen))
        return CommandResult()
    data: dict[str, JsonObject] = {}
    for setting in SETTINGS:
        value = getattr(chosen, setting.name)
        if setting.secret and value is not None:
            value = _SHADE
        if setting.name == "embedder_url" and value is not None:
            value = without_password(value)
        if value is None:
            value = _default_path(chosen, setting.name)
        data[setting.name] = {"value": value, "source": _source(chosen, setting.name)}
    width = max(map(len, data))
    lines = []
    for name, one in data.items():
        value = "–" if one["value"] is None else str(one["value"])
        lines.append(f"{strong(padded(name, width))}  {value}  {dim(one['source'])}")
    return CommandResult(data, lines, misspelt_variables())


def _default_path(chosen: Settings, name: str) -> str | None:
    """The effective value of a setting that is not set."""
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
    """The configuration to paste into a client, or the command that adds it; paths are absolute.

    Settings from the command line or the environment become server arguments: a client does not have this environment.
    """
    command, arguments = _program(), ["stdio", *_explicit_options(chosen)]
    if client == "claude-code":
        return shlex.join(["claude", "mcp", "add", "--scope", "user", "memory", "--", *command, *arguments])
    entry = {"command": command[0], "args": [*command[1:], *arguments]}
    wrapped: JsonObject = {"mcpServers": {"memory": entry}}
    if client == "vscode":
        wrapped = {"servers": {"memory": {"type": "stdio", **entry}}}
    return msgspec.json.format(msgspec.json.encode(wrapped), indent=2).decode()


def _program() -> list[str]:
    """The command that starts this installation from any folder: the script next to the interpreter, or ``-m``."""
    name = "polymnia.exe" if sys.platform == "win32" else "polymnia"
    script = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), name)
    return [script] if os.access(script, os.X_OK) else [os.path.abspath(sys.executable), "-m", "polymnia"]


def _explicit_options(chosen: Settings) -> list[str]:
    """Settings from the command line and the environment as arguments, with absolute paths."""
    words = []
    for setting in SETTINGS:
        # The server reads the settings file itself.
        here = chosen.sources[setting.name] not in ("default", "file")
        if here and setting.name not in NETWORK and not setting.secret:
            value = str(getattr(chosen, setting.name))
            words += [setting.flag, os.path.abspath(os.path.expanduser(value)) if setting.name in _PATHS else value]
    return words


# ── a tour ────────────────────────────────────────────────────────────────────────────────────────────────

_ENTITIES = [
    {
        "name": "authentication-strategy",
        "entityType": "decision",
        "observations": ["We use JWT tokens", "Access tokens expire after 1 hour", "Decided on 2026-03-02"],
    },
    {"name": "user-service", "entityType": "component", "observations": ["FastAPI service", "인증은 JWT로 처리한다"]},
]
_RELATION = {"from": "user-service", "to": "authentication-strategy", "relationType": "implements"}


class _Client:
    """A minimal client: one line out, one line back."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to = to
        self._back = back
        self._id = 0

    def ask(self, method: str, params: JsonObject) -> Any:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._to.write(msgspec.json.encode(message) + b"\n")
        self._to.flush()
        return msgspec.json.decode(self._back.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        print(f"\n{strong(tool)} {dim(msgspec.json.encode(arguments).decode())}")
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        print(green("  " + result["content"][0]["text"].replace("\n", "\n  ")))
        return result


def demo(arguments: Namespace, chosen: object) -> CommandResult:
    """Store, relate, search, show and undo over a real stdio server."""
    with tempfile.TemporaryDirectory(prefix="polymnia-demo-") as folder:
        store = os.path.join(folder, "memory.db")
        command = [sys.executable, "-m", "polymnia", "stdio", "--dialect", "strict", "--store", store]
        print(f"Starting {dim('polymnia stdio --dialect strict')} on a temporary store.")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            client = _Client(server.stdin, server.stdout)
            about = {"protocolVersion": "2025-11-25", "capabilities": {}}
            hello = client.ask("initialize", {**about, "clientInfo": {"name": "demo", "version": "1"}})
            print(f"Connected to {hello['serverInfo']['title']} {hello['serverInfo']['version']}.")
            client.call("create_entities", entities=_ENTITIES)
            client.call("create_relations", relations=[_RELATION])
            client.call("search_nodes", query="which tokens expire after an hour")
            client.call("search_nodes", query="인증")
            client.call("open_nodes", names=["user-service"])
            client.call("delete_entities", entityNames=["authentication-strategy"])
            server.stdin.close()
            server.wait()
        for words in (["undo"], ["history", "authentication-strategy"]):
            print(f"\n{strong(' '.join(['polymnia', *words]))}", flush=True)
            subprocess.run([sys.executable, "-m", "polymnia", *words, "--store", store], check=True)
    return CommandResult(lines=["\nThat was it. README.md shows how to give this memory to your AI client."])
