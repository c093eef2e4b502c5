"""Commands on the server: serve, keys, config (including client configuration) and demo."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import IO, Any

import msgspec

from polymnia.app import default_store, ignored_variables, key_file, local_folder, misspelt_variables, running
from polymnia.cli.console import CommandResult, counted, dim, format_time, green, labelled, strong
from polymnia.cli.install import new_options, server_words
from polymnia.cli.install.clients import BY_NAME
from polymnia.cli.install.machine import this_program
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.keys import Key
from polymnia.models import JsonObject
from polymnia.settings import SETTINGS, Settings, duration, is_database, without_password

_PATHS = ("config", "store", "file", "export_dir", "keys", "tls_certificate", "tls_key")
_FIRST = " It is the first: from now on a server asks for a key, one that runs already and on this machine too."
_SHADE = "(set, not shown)"


def serve(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Serve many clients until a signal arrives."""
    with importing():
        from polymnia.app.network import serve_http

    def ready(address: str) -> None:
        page = "" if chosen.explorer == "off" else f" The explorer is at {address}/"
        print(f"Serving every dialect at {address}/mcp (also /sse and /ws). Ctrl-C ends it.{page}", file=sys.stderr)
        running.record(chosen, address)

    for text in (*misspelt_variables(), *ignored_variables(chosen)):
        print(f"polymnia: {text}", file=sys.stderr)
    try:
        return CommandResult(code=serve_http(chosen, ready))
    finally:
        running.forget(chosen)


def keys(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Create, list, show, change, rotate or revoke keys."""
    file, action, which = key_file(chosen), arguments.action, arguments.which
    if action == "list":
        found = file.keys()
        lines = [f"{strong(k.id)}  {k.name}  {_opens(k)}  {dim(format_time(k.created)[:10])}" for k in found]
        return CommandResult(
            [_data(key) for key in found], [*lines, dim(f"{counted(len(found), 'key')} in {file.path}.")]
        )
    if not which:
        if action == "add":
            raise Invalid("keys add needs a name for the key", hint="Say whose it is: polymnia keys add NAME")
        raise Invalid(f"keys {action} needs the id of a key", hint="polymnia keys list shows the ids.")
    if action == "revoke":
        revoked = file.revoke(which)
        return CommandResult({"revoked": _data(revoked)}, [f"{revoked.name} ({revoked.id}) opens nothing any more."])
    if action == "rotate":
        key, text = file.rotate(which)
        note = f"{key.name} ({key.id}) has another text, shown this once; the one before opens nothing any more."
        return CommandResult({"key": text, **_data(key)}, [text], [note])
    if action == "add":
        changes = _changes(arguments, arguments.access or "write")
        key, text = file.add(which, **changes)  # type: ignore[arg-type]
        first = _FIRST if len(file.keys()) == 1 else ""
        note = f"This is {key.name} ({key.id}): {_opens(key)}. It is shown this once and kept nowhere.{first}"
        return CommandResult({"key": text, **_data(key)}, [text], [note])
    if action == "set":
        changes = _changes(arguments, arguments.access)
        if not changes:
            hint = "Such as --access read, --for PROJECT, --expires 90d or --max-calls 60."
            raise Invalid("keys set needs something to change", hint=hint)
        key = file.get(which)
        if (changes.get("manage") or ("manage" not in changes and key.manage)) and changes.get("projects"):
            raise Invalid("A key with --access manage opens all projects", hint="Leave out --for.")
        if key.metrics and "projects" in changes and "metrics" not in changes:
            raise Invalid("A key with --access metrics opens no project", hint="Say what it may do: --access read")
        if key.metrics and changes.get("metrics") is False and "projects" not in changes:
            changes["projects"] = None
        file.change(which, **changes)
    key = file.get(which)
    lines = [f"{strong(name)}  {value}" for name, value in _data(key).items() if value is not None]
    return CommandResult(_data(key), [*lines, f"{key.name} ({key.id}): {_opens(key)}."])


def _changes(arguments: Namespace, access: str | None) -> dict[str, object]:
    """What the options say of a key; without a word of something it stays as it is."""
    metrics, manage = access == "metrics", access == "manage"
    if arguments.projects and arguments.all_projects:
        raise Invalid("--for and --all-projects contradict each other", hint="Give one of them.")
    if (metrics or manage) and arguments.projects:
        what = "opens no project" if metrics else "opens all projects"
        raise Invalid(f"A key with --access {access} {what}", hint="Leave out --for.")
    changes: dict[str, object] = {}
    if access is not None:
        changes |= {"write": access in ("write", "manage"), "metrics": metrics, "manage": manage}
    if metrics:
        changes["projects"] = ()
    elif arguments.projects:
        changes["projects"] = tuple(arguments.projects)
    elif arguments.all_projects or manage:
        changes["projects"] = None
    if arguments.user is not None:
        changes["user"] = arguments.user
    if arguments.expires is not None:
        changes["expires"] = _moment(arguments.expires)
    for name in ("calls", "memories", "texts"):
        limit = getattr(arguments, f"max_{name}")
        if limit is not None:
            changes[name] = limit or None
    return changes


def _moment(text: str) -> int | None:
    """When a key expires, in microseconds since 1970: after a duration, or at the beginning of a day; None is never."""
    if text == "never":
        return None
    try:
        if text[-1:].isalpha():
            return time.time_ns() // 1000 + int(duration(text, "--expires") * 1_000_000)
        day = datetime.fromisoformat(text)
        return int((day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp() * 1_000_000)
    except ValueError:  # BadSetting is one
        hint = "Give a time from now such as 90d or 12h, a day such as 2027-01-31, or never."
        raise Invalid(f"--expires is {text!r}, which is no time", hint=hint) from None


def _opens(key: Key) -> str:
    if key.expired:
        return f"expired at {format_time(key.expires or 0)[:16]}"
    more = [
        *([f"of {key.user}"] if key.user else []),
        *([f"until {format_time(key.expires)[:16]}"] if key.expires else []),
        *([f"{key.calls:,} calls a minute"] if key.calls else []),
        *([f"up to {key.memories:,} memories a project"] if key.memories else []),
        *([f"up to {key.texts:,} texts a project"] if key.texts else []),
    ]
    if key.metrics and not key.projects:
        return ", ".join(["read /metrics", *more])
    where = "all projects" if key.projects is None else ", ".join(key.projects)
    rights = f"{'read and write' if key.write else 'read'} {where}{', manage keys' if key.manage else ''}"
    return ", ".join([rights, *more])


def _data(key: Key) -> JsonObject:
    return {
        "id": key.id,
        "name": key.name,
        "user": key.user,
        "projects": None if key.projects is None else list(key.projects),
        "access": "metrics" if key.metrics else "manage" if key.manage else "write" if key.write else "read",
        "created": format_time(key.created),
        "expires": None if key.expires is None else format_time(key.expires),
        "limits": {"calls": key.calls, "memories": key.memories, "texts": key.texts},
    }


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────


def config(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show every setting with its source, or the configuration of a client. The values of secrets are masked."""
    if arguments.client is not None:
        text = _for_client(arguments.client, chosen)
        return CommandResult({"client": arguments.client, "text": text}, [text], verbatim=True)
    data: dict[str, JsonObject] = {}
    for setting in SETTINGS:
        value = getattr(chosen, setting.name)
        if setting.secret and value is not None:
            value = _SHADE
        if setting.name in ("embedder_url", "store") and value is not None:
            value = without_password(value)
        if value is None:
            value = _default_path(chosen, setting.name)
        data[setting.name] = {"value": value, "source": _source(chosen, setting.name)}
    column = max(map(len, data)) + 2
    lines = []
    for name, one in data.items():
        value = "–" if one["value"] is None else str(one["value"])
        lines.append(labelled(strong(name), f"{value}  {dim(one['source'])}", column))
    return CommandResult(data, lines, misspelt_variables())


def _default_path(chosen: Settings, name: str) -> str | None:
    """The effective value of a setting that is not set."""
    if name == "keys":
        return key_file(chosen).path
    if name == "export_dir":
        return os.path.join(local_folder(chosen), "exports")
    return default_store() if name == "store" and chosen.file is None else None


def _source(chosen: Settings, name: str) -> str:
    source = chosen.sources[name]
    if source == "file":
        return str(chosen.config)
    if name == "config" and source == "default":
        return "default" if os.path.exists(str(chosen.config)) else "default, there is no such file"
    return source


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────


def _for_client(name: str, chosen: Settings) -> str:
    """The configuration to paste into a client, or the command that adds it; paths are absolute."""
    client, program = BY_NAME[name], this_program()
    given, _ = server_words(chosen)
    words = [*given, *new_options(chosen)]
    if name == "claude-code":
        start = [program.command, *program.words, *words]
        return shlex.join(["claude", "mcp", "add", "--scope", "user", "polymnia", "--", *start])
    return client.put("", "polymnia", client.entry(program, words)).rstrip()


def program() -> list[str]:
    """The command that starts this installation from any folder: the script next to the interpreter, or ``-m``."""
    name = "polymnia.exe" if sys.platform == "win32" else "polymnia"
    script = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), name)
    return [script] if os.access(script, os.X_OK) else [os.path.abspath(sys.executable), "-m", "polymnia"]


def explicit_options(chosen: Settings, without: Collection[str]) -> list[str]:
    """Settings from the command line and the environment as arguments, with absolute paths, ``without`` some."""
    words = []
    for setting in SETTINGS:
        # The server reads the settings file itself.
        here = chosen.sources[setting.name] not in ("default", "file")
        if here and setting.name not in without and not setting.secret:
            value = str(getattr(chosen, setting.name))
            is_path = setting.name in _PATHS and not is_database(value)
            words += [setting.flag, os.path.abspath(os.path.expanduser(value)) if is_path else value]
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

    def __init__(self, to: IO[bytes], back: IO[bytes], show: Callable[[str], None]) -> None:
        self._to = to
        self._back = back
        self._show = show
        self._id = 0
        self.steps: list[JsonObject] = []

    def ask(self, method: str, params: JsonObject) -> Any:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._to.write(msgspec.json.encode(message) + b"\n")
        self._to.flush()
        return msgspec.json.decode(self._back.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        self._show(f"\n{strong(tool)} {dim(msgspec.json.encode(arguments).decode())}")
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        self._show(green("  " + result["content"][0]["text"].replace("\n", "\n  ")))
        self.steps.append({"tool": tool, "arguments": arguments, "answer": result})
        return result


def demo(arguments: Namespace, chosen: object) -> CommandResult:
    """Store, relate, search, show and undo over a real stdio server."""

    def show(text: str) -> None:
        if not arguments.json:
            print(text, flush=True)

    with tempfile.TemporaryDirectory(prefix="polymnia-demo-") as folder:
        store = os.path.join(folder, "memory.db")
        command = [sys.executable, "-m", "polymnia", "stdio", "--dialect", "strict", "--store", store]
        show(f"Starting {dim('polymnia stdio --dialect strict')} on a temporary store.")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            client = _Client(server.stdin, server.stdout, show)
            about = {"protocolVersion": "2025-11-25", "capabilities": {}}
            hello = client.ask("initialize", {**about, "clientInfo": {"name": "demo", "version": "1"}})
            show(f"Connected to {hello['serverInfo']['title']} {hello['serverInfo']['version']}.")
            client.call("create_entities", entities=_ENTITIES)
            client.call("create_relations", relations=[_RELATION])
            client.call("search_nodes", query="which tokens expire after an hour")
            client.call("search_nodes", query="인증")
            client.call("open_nodes", names=["user-service"])
            client.call("delete_entities", entityNames=["authentication-strategy"])
            server.stdin.close()
            server.wait()
        for words in (["undo"], ["history", "authentication-strategy"]):
            show(f"\n{strong(' '.join(['polymnia', *words]))}")
            command = [sys.executable, "-m", "polymnia", *words, "--store", store]
            if arguments.json:
                told = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE).stdout
                client.steps.append({"command": words, "answer": msgspec.json.decode(told)})
            else:
                subprocess.run(command, check=True)
    end = "\nThat was it. README.md shows how to give this memory to your AI client."
    return CommandResult({"steps": client.steps}, [end])
