"""The ``doctor`` command: what is installed, the store, the models, the port, and every client that starts a server."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import stat
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from typing import Literal, NamedTuple

from polymnia import __version__, app
from polymnia.cli.console import (
    CommandResult,
    columns,
    counted,
    dim,
    green,
    labelled,
    on_one_line,
    padded,
    red,
    strong,
    waiting,
    yellow,
)
from polymnia.cli.handshake import Greeting, greet, handed_on
from polymnia.cli.install import survey
from polymnia.cli.install.clients import environment_of, words_of
from polymnia.cli.install.machine import Machine, this_machine, this_program
from polymnia.cli.upgrade import installed_by
from polymnia.engine.ports.maintenance import CheckRequest
from polymnia.engine.search import Analysis
from polymnia.errors import Fault
from polymnia.importing import importing, load
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, BadSetting, Settings, is_database, read

State = Literal["ok", "warning", "problem"]
_EXTRAS = {"postgres": "psycopg", "oauth": "jwt", "onnx": "tokenizers"}
_LITTLE, _TOO_LITTLE = 1 << 30, 50 << 20  # bytes of free disk
_ANEW = {"uv tool": "uv tool upgrade --reinstall polymnia", "pipx": "pipx reinstall polymnia"}
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Diagnosis(NamedTuple):
    """One check: what was looked at, how it is, and what to do about it."""

    what: str
    state: State
    text: str
    do: str = ""


def doctor(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Run every check; the exit code is 1 if there is a problem."""
    machine = this_machine()
    found: list[Diagnosis] = []
    broken = getattr(arguments, "broken_settings", None)
    for check in (_installed, _settings, _store, _disk, _models, _keys, _port):
        found += check(chosen)
        if check is _settings and broken is not None:  # in place of what is said of the file
            found[-1] = Diagnosis("settings", "problem", broken, "Correct it: no command, no server starts with it.")
    found += _clients(machine, chosen, None if arguments.no_start else arguments.wait, quiet=arguments.json)
    problems = sum(one.state == "problem" for one in found)
    warnings = sum(one.state == "warning" for one in found)
    data = {
        "well": not problems,
        "problems": problems,
        "warnings": warnings,
        "checks": [one._asdict() for one in found],
    }
    return CommandResult(data, _lines(found, problems, warnings), code=1 if problems else 0)


def _lines(found: list[Diagnosis], problems: int, warnings: int) -> Iterator[str]:
    paint: dict[State, Callable[[str], str]] = {"ok": green, "warning": yellow, "problem": red}
    what = max(len(one.what) for one in found)
    indent = 9 + what + 2
    if (room := columns()) is not None and room < 3 * indent:
        indent = 4  # beside the names there would be little room
    for one in found:
        head = f"{paint[one.state](padded(one.state, 7))}  {strong(padded(one.what, what))}"
        yield labelled(head, on_one_line(one.text), indent)
        if one.do:
            yield labelled("", on_one_line(f"→ {one.do}"), indent)
    if problems:
        yield red(f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}.")
    else:
        yield dim(f"No problem, {counted(warnings, 'warning')}." if warnings else "All is well.")


# ── the installation ──────────────────────────────────────────────────────────────────────────────────────


def _installed(chosen: Settings) -> Iterator[Diagnosis]:
    program = this_program()
    command = " ".join((program.command, *program.words))
    yield Diagnosis("polymnia", "ok", f"{__version__}, {program.installed}: {command}")
    yield Diagnosis("python", "ok", f"{sys.version.partition(' ')[0]}: {sys.executable}")
    yield Diagnosis("sqlite", "ok", app.sqlite_version())
    extras = []
    for extra, module in _EXTRAS.items():
        try:
            load(module)
        except ImportError:
            extras.append(f"{extra}: no")
        else:
            extras.append(f"{extra}: yes")
    yield Diagnosis("extras", "ok", ", ".join(extras))


def _settings(chosen: Settings) -> Iterator[Diagnosis]:
    for text in (*app.misspelt_variables(), *app.ignored_variables(chosen)):
        yield Diagnosis("settings", "warning", text, "Correct the variable, or unset it.")
    given = sum(source != "default" for name, source in chosen.sources.items() if name != "config")
    file = f"{chosen.config}" if os.path.exists(str(chosen.config)) else "there is no file of settings"
    yield Diagnosis("settings", "ok", f"{counted(given, 'setting')} given; {file}")


# ── the store ─────────────────────────────────────────────────────────────────────────────────────────────


def _store(chosen: Settings) -> Iterator[Diagnosis]:
    """Open the store, count, and let the database check its own file, quickly."""
    path = chosen.store or app.default_store()
    if chosen.file is None and app.has_no_store(chosen):
        folder = _first_folder(path)
        if os.access(folder, os.W_OK):
            yield Diagnosis("store", "ok", f"{path}: none yet, it is made with the first memory")
        else:
            yield Diagnosis("store", "problem", f"{folder} cannot be written", "Allow it, or name another --store.")
        return
    try:
        with app.open_memory(chosen, "cli", create=False) as memory:
            about = memory.store.about()
            projects = memory.store.projects()
            memories, relations = memory.count()
            request = CheckRequest(checks=["file"], is_scope=bool, analyst=Analysis())
            facts = memory.store.check(None, request).facts
    except Fault as e:
        yield Diagnosis("store", "problem", e.message, e.hint)
        return
    counts = f"{counted(memories, 'memory')} and {counted(relations, 'relation')} in project {chosen.project!r}"
    text = f"{about['path']}, format {about['format']}, {counted(int(str(about['bytes'])), 'byte')}"
    yield Diagnosis("store", "ok", f"{text}: {counted(len(projects), 'project')}, {counts}")
    for fact in facts:
        where = ", ".join(spot.label for spot in fact.spots[:3])
        yield Diagnosis("store", "problem", f"damaged ({fact.kind.replace('_', ' ')}): {where}", _REPAIR)
    if os.path.exists(str(about["path"])):  # which is no file if it is the address of a database
        yield from _rights("store", str(about["path"]), needs=os.R_OK | os.W_OK)


_REPAIR = "Keep a copy, then `polymnia restore` a backup. `polymnia health` tells more; `reindex --anew` mends indexes."


def _rights(what: str, path: str, needs: int) -> Iterator[Diagnosis]:
    around = os.path.dirname(os.path.abspath(path))
    for place in (path, *((around,) if needs & os.W_OK else ())):  # a writer keeps files beside the store
        if not os.access(place, needs):
            yield Diagnosis(what, "problem", f"{place} cannot be written", "Change its owner or its rights.")
    if sys.platform != "win32":
        mode = stat.S_IMODE(os.stat(path).st_mode)
        folder = stat.S_IMODE(os.stat(around).st_mode)
        if mode & _OTHERS and folder & _OTHERS & (stat.S_IXGRP | stat.S_IXOTH):
            yield Diagnosis(what, "warning", f"Others on this machine can open {path}", f"Run: chmod 600 {path}")


def _disk(chosen: Settings) -> Iterator[Diagnosis]:
    path = app.local_folder(chosen)
    free = shutil.disk_usage(_first_folder(path)).free
    text = f"{free / (1 << 30):,.1f} GiB free at {path}"
    if free < _TOO_LITTLE:
        yield Diagnosis("disk", "problem", text, "Free some space: writes will be refused soon.")
    else:
        do = "Free some space before it runs out." if free < _LITTLE else ""
        yield Diagnosis("disk", "warning" if do else "ok", text, do)


def _first_folder(path: str) -> str:
    """The nearest folder above a path that exists."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _models(chosen: Settings) -> Iterator[Diagnosis]:
    if chosen.embedder == "none":
        yield Diagnosis("models", "ok", "none: search goes by words alone (--embedder none)")
        return
    if (fault := app.damaged_models(chosen)) is not None:
        anew = _ANEW.get(installed_by())
        yield Diagnosis("models", "problem", fault.message, f"Run: {anew}" if anew else fault.hint)
    elif (missing := app.missing_models(chosen)) is not None:
        text, _, do = missing.partition(". Run ")
        yield Diagnosis("models", "warning", text, f"Run {do}" if do else "")
    else:
        yield Diagnosis("models", "ok", f"{chosen.embedder}: all files are whole")


# ── the network ───────────────────────────────────────────────────────────────────────────────────────────


def _keys(chosen: Settings) -> Iterator[Diagnosis]:
    file = app.key_file(chosen)
    if not os.path.exists(file.path):
        yield Diagnosis("keys", "ok", "none: a server answers this machine only")
        return
    try:
        count = len(file.keys())
    except Fault as e:
        yield Diagnosis("keys", "problem", e.message, e.hint)
        return
    yield Diagnosis("keys", "ok", f"{counted(count, 'key')} in {file.path}")
    yield from _rights("keys", file.path, needs=os.R_OK)


def _port(chosen: Settings) -> Iterator[Diagnosis]:
    """Whether `polymnia serve` could listen, or does already."""
    where = f"{chosen.host}:{chosen.port}"
    try:
        family = socket.getaddrinfo(chosen.host, chosen.port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if sys.platform != "win32":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((chosen.host, chosen.port))
    except socket.gaierror as e:
        yield Diagnosis("port", "problem", f"{where}: {e.strerror}", "Name another --host.")
    except OSError as e:
        if _answers(chosen):
            yield Diagnosis("port", "ok", f"{where}: a Polymnia server answers there")
        else:
            text = f"{where} cannot be used by `polymnia serve`: {e.strerror}"
            yield Diagnosis("port", "warning", text, "Take another one with --port, or end the program that has it.")
    else:
        yield Diagnosis("port", "ok", f"{where} is free for `polymnia serve`")


def _answers(chosen: Settings) -> bool:
    with importing():
        from http.client import HTTPException

        from polymnia.cli.explorer import connection

    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(chosen.host, chosen.host)
    link = connection("http" if chosen.tls_certificate is None else "https", host, chosen.port, 2)
    with suppress(OSError, HTTPException), closing(link):
        link.request("GET", "/healthz")
        return b'"alive"' in link.getresponse().read(200)
    return False


# ── clients ───────────────────────────────────────────────────────────────────────────────────────────────


def _clients(machine: Machine, chosen: Settings, seconds: float | None, *, quiet: bool) -> Iterator[Diagnosis]:
    """Every client that is here, the servers it would start, and the stores of those servers."""
    greetings: dict[tuple[object, ...], Greeting | Fault] = {}
    memories: dict[str, list[str]] = {}  # where they are kept → the clients that keep them there
    looked_at = {chosen.store or app.default_store()}
    here = False
    for one in survey(machine):
        name = one["client"]
        if one["state"] == "broken":
            yield Diagnosis(name, "problem", one["why"], one["hint"])
        elif one["state"] == "found":
            yield Diagnosis(
                name, "ok", "is here, without this memory", f"`polymnia install {name}` gives it this memory."
            )
        for entry_name, entry in one["entries"].items():
            which = f"{name}{' --here' * one['here']}{'' if entry_name == 'polymnia' else f' --name {entry_name}'}"
            again = f"polymnia install {which} --yes"
            where = f"{entry_name!r} in {one['file']}"
            yield from _entry(name, where, again, entry, machine, seconds, greetings, quiet=quiet)
            if (theirs := _settings_of(entry, machine)) is None:
                continue
            memories.setdefault(_place(theirs), []).append(name)
            store = theirs.store or app.default_store()
            if theirs.file is None and not is_database(store) and store not in looked_at:
                looked_at.add(store)
                # A server starts and lists its tools before it opens its store.
                wrong = (found for found in _store(theirs) if found.state != "ok")
                yield from (Diagnosis(name, found.state, f"store {store}: {found.text}", found.do) for found in wrong)
        here = here or one["state"] != "absent"
    if len(memories) > 1:
        places = "; ".join(f"{', '.join(dict.fromkeys(names))}: {place}" for place, names in memories.items())
        yield Diagnosis(
            "clients",
            "warning",
            f"They do not share one memory. {places}",
            "If that is not meant: `polymnia install CLIENT --store PATH --project NAME`.",
        )
    if not here:
        yield Diagnosis(
            "clients", "warning", "No AI client was found", "`polymnia install --list` shows where it looks."
        )


def _settings_of(entry: JsonObject, machine: Machine) -> Settings | None:
    """The settings of the server of an entry; None if it would refuse its options, which is told with the entry."""
    words = words_of(entry)
    environment = {**handed_on(machine.environment), **environment_of(entry)}
    if os.path.exists(app.default_config()):
        environment.setdefault("POLYMNIA_CONFIG", app.default_config())
    try:
        options = read(words[words.index("stdio") + 1 :] if "stdio" in words else [], NETWORK)
        return app.settings(options, environment)
    except (BadSetting, Fault):
        return None


def _place(chosen: Settings) -> str:
    """Where a server keeps its memories: file or store, and the project unless it is the usual one."""
    place = chosen.file or chosen.store or app.default_store()
    if is_database(place):
        kind, _, address = place.partition("://")
        place = f"{kind}://{address.rpartition('@')[2]}"  # without a password
    else:
        place = os.path.abspath(os.path.expanduser(place))
    return place if chosen.project == "default" else f"{place}, project {chosen.project}"


def _entry(
    name: str,
    where: str,
    again: str,
    entry: JsonObject,
    machine: Machine,
    seconds: float | None,
    greetings: dict[tuple[object, ...], Greeting | Fault],
    *,
    quiet: bool,
) -> Iterator[Diagnosis]:
    """One entry of a client: whether its command is there, and whether the server it starts answers.

    ``where`` says which entry it is, ``again`` is the command that writes it anew.
    """
    words = words_of(entry)
    if entry.get("disabled") is True or entry.get("enabled") is False:
        yield Diagnosis(name, "warning", f"{where} is switched off", "Switch it on in the client.")
        return
    if any("${" in word for word in words):
        yield Diagnosis(name, "warning", f"{where} has variables that only the client knows, so it was not started")
        return
    if os.path.dirname(words[0]):
        found = words[0] if os.access(words[0], os.X_OK) else None
    else:
        found = shutil.which(words[0], path=machine.environment.get("PATH", ""))
    if found is None:
        yield Diagnosis(name, "problem", f"{where} starts {words[0]}, which is not there", f"Run: {again}")
        return
    if not os.path.isabs(words[0]):
        text = f"{where} starts {words[0]!r} by its name, which programs with a window often do not find"
        yield Diagnosis(name, "warning", text, f"Run: {again}")
    if seconds is None:
        yield Diagnosis(name, "ok", f"{where}, not started")
        return
    environment: Mapping[str, str] = {**handed_on(machine.environment), **environment_of(entry)}
    key = (*words, *sorted(environment_of(entry).items()))
    if key not in greetings:
        try:
            with waiting(f"Starting the server of {name}", quiet=quiet):
                greetings[key] = greet(words, environment, seconds)
        except Fault as e:
            greetings[key] = e
    told = greetings[key]
    if isinstance(told, Fault):
        yield Diagnosis(
            name, "problem", f"{where}: {told.message}", f"Run {shlex.join(words)} to see more, or: {again}"
        )
    elif told.version != __version__:
        text = f"{where} starts version {told.version}, this is {__version__}"
        yield Diagnosis(name, "warning", text, f"To take this one: {again}")
    else:
        text = f"{where}: {counted(told.tools, 'tool')} after {told.seconds:.1f} s"
        yield Diagnosis(name, "ok", text)
