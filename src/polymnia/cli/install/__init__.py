"""The ``install`` command: give clients this memory, or take it from them again."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress

from polymnia.cli.console import (
    CommandResult,
    columns,
    dim,
    green,
    labelled,
    on_one_line,
    padded,
    red,
    strong,
    table,
)
from polymnia.cli.install import configuration
from polymnia.cli.install.clients import BY_NAME, CLIENTS, PROJECT_FILES, Client, files, is_found, project_file
from polymnia.cli.install.configuration import Edit
from polymnia.cli.install.machine import Machine, Program, this_machine, this_program
from polymnia.errors import Fault, Invalid
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, SETTINGS, Settings, did_you_mean, has_password, is_database

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATHS = ("config", "store", "file", "export_dir", "keys")
_DID = {"add": "added", "change": "changed", "remove": "removed", "none": "unchanged"}
_WOULD = {"add": "Adds", "change": "Changes", "remove": "Removes"}


def install(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Write the configuration of clients, list what they have, or remove it."""
    machine = this_machine()
    if arguments.list:
        return _listed(machine)
    clients = _clients(arguments, machine)
    if arguments.name is not None and not _NAME.fullmatch(arguments.name):
        raise Invalid(
            f"--name {arguments.name!r} is no name of an entry", hint="Take letters, digits, dashes and underscores."
        )
    words, notes = ([], []) if arguments.remove else server_words(chosen)
    new = new_options(chosen)
    program = this_program()
    told: list[JsonObject] = []
    for client in clients:
        here = is_found(client, machine)
        file = project_file(client, os.getcwd()) if arguments.here else None
        for each in [place.file for place in files(client, machine)] if file is None else [file]:
            told += _handled(arguments, client, each, program, words, new)
        if not here and not arguments.remove and told[-1]["action"] == "added":
            notes.append(f"{client.title} was not found on this machine; its file is there for when it is.")
    if arguments.here and any(one["action"] in ("added", "changed") for one in told):
        notes.append("The command is one of this machine: others who share this folder need their own.")
    failed = any("error" in one for one in told)
    refused = any(one["action"] == "declined" for one in told)
    return CommandResult(told, (), notes, code=1 if failed or refused else 0)


def _clients(arguments: Namespace, machine: Machine) -> list[Client]:
    """The clients that are meant."""
    names = list(BY_NAME)
    if arguments.all:
        if arguments.clients:
            raise Invalid(
                "Name clients, or say --all, but not both", hint="polymnia install --list shows what is here."
            )
        known = [client for client in CLIENTS if not arguments.here or client.name in PROJECT_FILES]
        found = [client for client in known if is_found(client, machine)]
        if not found:
            raise Invalid(
                "No client was found on this machine",
                hint=f"Name the one you are about to install. These are known: {', '.join(names)}.",
            )
        return found
    if not arguments.clients:
        raise Invalid(
            "Say which client is to have this memory",
            hint=f"These are known: {', '.join(names)}. --list shows which of them are here, --all takes those.",
        )
    for name in arguments.clients:
        if name not in BY_NAME:
            raise Invalid(
                f"There is no client {name!r}{did_you_mean(name, names)}", hint=f"These are known: {', '.join(names)}."
            )
        if arguments.here and name not in PROJECT_FILES:
            raise Invalid(
                f"{BY_NAME[name].title} reads no file in the folder of a project",
                hint=f"These do: {', '.join(PROJECT_FILES)}. Without --here it has this memory everywhere.",
            )
    return [BY_NAME[name] for name in dict.fromkeys(arguments.clients)]


def _handled(
    arguments: Namespace, client: Client, file: str, program: Program, words: Sequence[str], new: Sequence[str]
) -> list[JsonObject]:
    """Do what was asked to one file, and tell it. A file that cannot be edited does not stop the others."""
    about: JsonObject = {"client": client.name, "file": file}
    try:
        if arguments.remove:
            edits = configuration.removal(client, file, arguments.name)
        else:
            entry = client.entry(program, words)
            edits = [configuration.addition(client, file, entry, arguments.name, new)]
        if not edits:
            _say(arguments, f"{strong(client.title)}: nothing of Polymnia in {file}.")
            return [{**about, "action": "unchanged"}]
        return [_done(arguments, edit) for edit in edits]
    except Fault as e:
        if arguments.json:
            return [{**about, "action": "failed", "error": {"message": e.message, "hint": e.hint}}]
        sys.stdout.flush()
        print(f"polymnia: {client.title}: {e.message}\n{e.hint}", file=sys.stderr)
        return [{**about, "action": "failed", "error": {"message": e.message, "hint": e.hint}}]


def _done(arguments: Namespace, edit: Edit) -> JsonObject:
    """Show a change, ask, and make it."""
    title = strong(edit.client.title)
    told: JsonObject = {"client": edit.client.name, "file": edit.file, "name": edit.name, "entry": edit.entry}
    if edit.action == "none":
        _say(arguments, f"{title} has this memory already, as {edit.name!r} in {edit.file}. Nothing was changed.")
        return {**told, "action": "unchanged", "backup": None}
    to = {"add": "to", "remove": "from"}.get(edit.action, "in")
    _say(arguments, f"{title}: {_WOULD[edit.action]} {edit.name!r} {to} {edit.file}")
    for one in edit.difference():
        _say(arguments, "  " + {"+": green, "-": red, "@": dim}.get(one[:1], str)(one))
    if arguments.dry_run:
        _say(arguments, "Nothing was written (dry run).")
        return {**told, "action": f"would {edit.action}", "backup": None}
    if not arguments.yes and not _agreed(arguments):
        _say(arguments, "Nothing was written.")
        return {**told, "action": "declined", "backup": None}
    backup = configuration.write(edit)
    kept = f" The file as it was: {backup}" if backup else ""
    after = edit.client.afterwards.format(title=edit.client.title)
    _say(arguments, f"{_DID[edit.action].capitalize()}.{kept}")
    _say(arguments, dim(after if edit.action != "remove" else f"Restart {edit.client.title} if it is running."))
    return {**told, "action": _DID[edit.action], "backup": backup}


def _agreed(arguments: Namespace) -> bool:
    """Ask the person at the terminal. Where there is none, --yes has to say so."""
    if arguments.json or not sys.stdin.isatty():
        print("polymnia: there is nobody to ask here: --yes writes without asking", file=sys.stderr)
        return False
    sys.stdout.flush()
    print("Write this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(arguments: Namespace, text: str) -> None:
    if not arguments.json:
        print(text)


# ── what there is ─────────────────────────────────────────────────────────────────────────────────────────


def _listed(machine: Machine) -> CommandResult:
    data = list(survey(machine))
    rows = [(one["client"], _STATES[one["state"]], one["file"]) for one in data]
    if columns() is None:
        return CommandResult(data, table([("client", "state", "file"), *rows]))
    client, state = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:2])
    lines = [dim(f"{padded('client', client)}  {padded('state', state)}  file")]
    for name, is_there, file in rows:
        shown = padded(is_there, state)
        head = f"{strong(padded(name, client))}  {green(shown) if is_there == _STATES['installed'] else shown}"
        # Never cut: the end of a path is what tells it from others.
        lines.append(labelled(head, on_one_line(file), client + state + 4))
    return CommandResult(data, lines)


_STATES = {
    "installed": "has it",
    "found": "without it",
    "absent": "not here",
    "broken": "cannot be read",
}


def survey(machine: Machine) -> Iterator[JsonObject]:
    """Every client with the state of each of its files, and the entries there that start Polymnia.

    Files in this folder, as that of a project, are among them where they have such an entry.
    """
    for client in CLIENTS:
        here = is_found(client, machine)
        own = [place.file for place in files(client, machine)]
        for file in own:
            about: JsonObject = {"client": client.name, "title": client.title, "file": file, "here": False}
            try:
                entries = _our_entries(client, file)
            except Fault as e:
                yield {**about, "entries": {}, "state": "broken", "why": e.message, "hint": e.hint}
                continue
            state = "installed" if entries else "found" if here else "absent"
            yield {**about, "entries": entries, "state": state}
        with suppress(Fault, OSError):  # such as a folder that is gone
            file = project_file(client, os.getcwd()) or ""
            is_another = os.path.realpath(file) not in map(os.path.realpath, own)
            if file and is_another and (entries := _our_entries(client, file)):
                about = {"client": client.name, "title": client.title, "file": file, "here": True}
                yield {**about, "entries": entries, "state": "installed"}


def _our_entries(client: Client, file: str) -> JsonObject:
    document = configuration.read(client, file)
    return {name: client.entries(document)[name] for name in configuration.our_names(client, document)}


# ── how the server is started ─────────────────────────────────────────────────────────────────────────────


def server_words(chosen: Settings) -> tuple[list[str], list[str]]:
    """The arguments a client has to start the server with, and notes on what they cannot have.

    Settings from the command line or the environment become arguments: a client does not have this environment.
    """
    words, notes = ["stdio"], []
    for setting in SETTINGS:
        value = getattr(chosen, setting.name)
        # The server reads the settings file itself, if it is the one it looks for.
        if chosen.sources[setting.name] in ("default", "file") or setting.name in NETWORK or value is None:
            continue
        if setting.secret:
            notes.append(f"{setting.variable} is not written into files; name a file with {setting.flag}-file instead.")
        elif setting.name == "store" and has_password(str(value)):
            raise Invalid(
                "The address of the store has a password, which would lie in a client's configuration",
                hint="Keep the password in ~/.pgpass and leave it out of the address.",
            )
        else:
            text = os.path.abspath(os.path.expanduser(str(value))) if _is_path(setting.name, str(value)) else str(value)
            words += [setting.flag, text]
    return words, notes


def new_options(chosen: Settings) -> list[str]:
    """The options of an entry that is new: the dialect made for agents, unless one is chosen."""
    return ["--dialect", "native"] if chosen.sources["dialect"] == "default" else []


def _is_path(name: str, value: str) -> bool:
    return name in _PATHS and not is_database(value)
