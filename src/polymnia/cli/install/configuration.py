"""A client's configuration file: what is in it, what would change, and the change itself, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from difflib import unified_diff
from glob import escape, glob
from typing import Any, Literal

from msgspec import Struct

from polymnia.cli.install.clients import Client, is_ours, words_of
from polymnia.cli.install.text import BrokenConfiguration, UneditableConfiguration
from polymnia.errors import Conflict, Forbidden, Invalid
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, BadSetting
from polymnia.settings import read as read_settings

_MARK = b"\xef\xbb\xbf"  # some editors begin UTF-8 with it
_BACKUP = ".bak"
_WIDEST = 160  # columns of a line of a difference: a file may be one long line

Action = Literal["add", "change", "remove", "none"]


class Edit(Struct):
    """What would happen to one file."""

    client: Client
    file: str
    name: str
    action: Action
    before: bytes | None
    after: bytes
    entry: JsonObject | None

    def difference(self) -> list[str]:
        """The lines that change, with one line around them: what else is there is nobody's business."""
        old = _decoded(self.before or b"", self.file).splitlines()
        new = _decoded(self.after, self.file).splitlines()
        lines = list(unified_diff(old, new, lineterm="", n=1))[2:]
        return [one if len(one) <= _WIDEST else one[: _WIDEST - 1] + "…" for one in lines]


def read(client: Client, file: str) -> JsonObject:
    """The document in a client's file; empty if there is no file."""
    data = _bytes(file)
    return {} if data is None else _parsed(client, _decoded(data, file), file)


def our_names(client: Client, document: JsonObject) -> list[str]:
    """The names of the entries that start Polymnia."""
    return [name for name, entry in client.entries(document).items() if is_ours(entry)]


def addition(client: Client, file: str, entry: JsonObject, name: str | None, new: Sequence[str] = ()) -> Edit:
    """The change that brings an entry into a file.

    Without a name it is the entry that starts Polymnia already, so that there are never two; it keeps the options it
    has and is not given anew. ``new`` are options that only a new entry gets.
    """
    before = _bytes(file)
    _check_predecessor(client, file, before)
    text = client.preamble if before is None else _decoded(before, file)
    document = _parsed(client, text, file)
    ours = our_names(client, document)
    name = name or (ours[0] if ours and "polymnia" not in ours else "polymnia")
    old = client.entries(document).get(name)
    if isinstance(old, dict) and not is_ours(old):
        address = old.get("url") or old.get("serverUrl")
        what = f"for a server at {address}" if address else f"that starts {' '.join(words_of(old))[:80] or 'nothing'}"
        raise Invalid(
            f"{client.title} has an entry {name!r} {what}, in {file}",
            hint="Choose another name with --name, or remove that entry first: --remove --name NAME.",
        )
    entry = {**entry, "name": name} if client.name == "goose" else dict(entry)
    if isinstance(old, dict):
        # What the user has set stays: only how the server is started is ours.
        entry = {key: value for key, value in entry.items() if key not in old or key in ("command", "cmd", "args")}
    args, has = entry["args"], words_of(old)
    at = args.index("stdio") + 1
    kept = _valid(has)
    options = {**_options(new if kept is None else kept), **_options(args[at:])}
    entry["args"] = [*args[:at], *(word for words in options.values() for word in words)]
    wanted = _with(client, document, name, entry)
    after = _edited(client, file, client.put(text, name, entry), wanted)
    action: Action = "none" if after == text and before is not None else "add" if old is None else "change"
    return Edit(client, file, name, action, before, _encoded(after, before), client.entries(wanted)[name])


def _valid(words: list[str]) -> list[str] | None:
    """The options that an entry starts the server with; None if it starts none, or one that would refuse them."""
    options = words[words.index("stdio") + 1 :] if "stdio" in words else None
    try:
        read_settings(options or [], NETWORK)
    except BadSetting:
        return None
    return options


def _options(words: Sequence[str]) -> dict[str, list[str]]:
    """Options with their values, by name."""
    found: dict[str, list[str]] = {}
    name = ""
    for word in words:
        name = word.partition("=")[0] if word.startswith("--") else name
        found.setdefault(name, []).append(word)
    return found


def removal(client: Client, file: str, name: str | None) -> list[Edit]:
    """The changes that remove the entry with a name, or every one that starts Polymnia."""
    before = _bytes(file)
    if before is None:
        return []
    text = _decoded(before, file)
    document = _parsed(client, text, file)
    names = our_names(client, document) if name is None else [name] if name in client.entries(document) else []
    if not names:
        return []
    after = text
    for one in names:
        entry = client.entries(document)[one]
        document = _without(client, document, one)
        kept = _before_entry(client, file, after, one, entry)
        after = _edited(client, file, client.remove(after, one), document) if kept is None else kept
    return [Edit(client, file, ", ".join(names), "remove", before, _encoded(after, before), None)]


def _before_entry(client: Client, file: str, text: str, name: str, entry: JsonObject) -> str | None:
    """The text of a copy to which adding an entry gives the present text: so it was before, to the byte.

    Without one it cannot be known whether an empty section, or a line end, was there before the entry was.
    """
    path = os.path.realpath(file)
    for copy in sorted(glob(f"{escape(path)}.*{_BACKUP}"), reverse=True):
        with suppress(Invalid, Forbidden):
            old = _decoded(_bytes(copy) or b"", copy)
            if name not in client.entries(client.text.parse(old)) and client.put(old, name, entry) == text:
                return old
    return None


def write(change: Edit) -> str | None:
    """Make a change; the path of the copy of the file as it was, if there was one.

    The file is replaced in one step and keeps its rights; a link to it stays a link.
    """
    file = os.path.realpath(change.file)
    folder = os.path.dirname(file)
    if change.before is not None and not os.access(file, os.W_OK):
        raise Forbidden(
            f"{change.file} is read-only",
            hint="Make it writable, or change it where it is made: "
            f"`polymnia config --client {change.client.name}` prints the entry.",
        )
    try:
        os.makedirs(folder, exist_ok=True)
        mode = stat.S_IMODE(os.stat(file).st_mode) if change.before is not None else 0o600
        backup = None if change.before is None else _backup(file, change.before, mode)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".polymnia-", delete=False) as draft:
            try:
                draft.write(change.after)
                draft.flush()
                os.fsync(draft.fileno())
                draft.close()
                os.chmod(draft.name, mode)
                if _bytes(file) != change.before:
                    raise Conflict(
                        f"{change.file} was changed by another program in the meantime",
                        hint="Nothing was written. Run the command again.",
                    )
                os.replace(draft.name, file)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft.name)
                if backup is not None:
                    os.unlink(backup)
                raise
    except OSError as e:
        raise Forbidden(
            f"Cannot write {change.file}: {e.strerror}", hint=f"Check the rights of {folder}. The file is as it was."
        ) from e
    return backup


def _backup(file: str, data: bytes, mode: int) -> str:
    """Keep the file as it was beside it, under a name that is free."""
    base = f"{file}.{time.strftime('%Y%m%d-%H%M%S')}"
    for number in range(1000):
        path = f"{base}{f'-{number}' if number else ''}{_BACKUP}"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        with os.fdopen(handle, "wb") as copy:
            copy.write(data)
            copy.flush()
            os.fsync(copy.fileno())
        os.chmod(path, mode)
        return path
    raise FileExistsError(17, "a thousand backups of one second exist")


# ── texts and documents ───────────────────────────────────────────────────────────────────────────────────


def _bytes(file: str) -> bytes | None:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise Forbidden(f"Cannot read {file}: {e.strerror}", hint="Check its rights and try again.") from e


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.removeprefix(_MARK).decode()
    except UnicodeDecodeError as e:
        before = data[: e.start]
        line, column = before.count(b"\n") + 1, e.start - (before.rfind(b"\n") + 1) + 1
        where = f"line {line}, column {column}"
        raise BrokenConfiguration(f"{file} is broken at {where}: it is no UTF-8", line=line, column=column) from None


def _encoded(text: str, before: bytes | None) -> bytes:
    return (_MARK if before is not None and before.startswith(_MARK) else b"") + text.encode()


def _parsed(client: Client, text: str, file: str) -> JsonObject:
    try:
        found: JsonObject = client.text.parse(text)
    except BrokenConfiguration as e:
        line, column = e.details["line"], e.details["column"]
        raise BrokenConfiguration(f"{file} is broken at {e.message}", line=line, column=column) from None
    return found


def _edited(client: Client, file: str, text: str, wanted: JsonObject) -> str:
    """A text that was edited, once it is proven to say what is wanted and nothing else."""
    try:
        found: Any = client.text.parse(text)
    except BrokenConfiguration:
        found = None
    if found is None or _normal(client, found) != _normal(client, wanted):
        raise UneditableConfiguration(f"{file} is written in a way that cannot be edited safely")
    return text


def _with(client: Client, document: JsonObject, name: str, values: JsonObject) -> JsonObject:
    """A document with values in an entry."""
    wanted = deepcopy(document)
    place: Any = wanted
    for key in client.section[:-1]:
        place = place.setdefault(key, {})
    last = client.section[-1]
    servers = place.get(last)
    if servers is None:
        servers = place[last] = [] if client.listed else {}
    if client.listed:
        if not isinstance(servers, list):
            raise UneditableConfiguration(f"{last!r} holds no list of servers")
        item = next((one for one in servers if isinstance(one, dict) and one.get("name") == name), None)
        if item is None:
            item = {}
            servers.append(item)
        item.update({"name": name, **values})
    else:
        if not isinstance(servers, dict):
            raise UneditableConfiguration(f"{last!r} holds no servers by name")
        old = servers.get(name)
        servers[name] = {**(old if isinstance(old, dict) else {}), **values}
    return wanted


def _without(client: Client, document: JsonObject, name: str) -> JsonObject:
    """A document without an entry."""
    wanted = deepcopy(document)
    place: Any = wanted
    for key in client.section[:-1]:
        place = place[key]
    last = client.section[-1]
    if client.listed:
        place[last] = [one for one in place[last] if not (isinstance(one, dict) and one.get("name") == name)]
    else:
        del place[last][name]
    return wanted


def _normal(client: Client, document: JsonObject) -> JsonObject:
    """A document whose servers are left out where there are none: some formats cannot write that."""
    return {key: value for key, value in document.items() if value or key != client.section[0]}


def _check_predecessor(client: Client, file: str, before: bytes | None) -> None:
    """Refuse to make a file that would hide another one which the client still reads."""
    old = os.path.join(os.path.dirname(file), "config.json")
    if client.name == "continue" and before is None and os.path.exists(old):
        raise Invalid(
            f"Continue reads {old} here, and a new config.yaml would hide it",
            hint="Let Continue turn it into config.yaml first (its documentation: Migrating Config to YAML).",
        )
