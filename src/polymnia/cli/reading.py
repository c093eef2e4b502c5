"""What a person gives to a command: a text as an argument or on stdin, a scope or a memory that must be there."""

from __future__ import annotations

import os
import sys

from polymnia.app import memory
from polymnia.engine import scopes
from polymnia.engine.memory import Memory
from polymnia.errors import Invalid, NotFound
from polymnia.settings import Settings

__all__ = ["check_target", "existing", "known_scope", "resolved", "text"]


def text(given: str) -> str:
    """The text of an argument; a dash stands for all of stdin, without the line breaks at its end."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        print("Type the text; Ctrl-D ends it.", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as e:
        raise Invalid(f"stdin is no UTF-8: {e.reason} at byte {e.start}", hint="Convert the text to UTF-8.") from None


def existing(chosen: Settings) -> Memory:
    """The memory of a project that is there; for any other the error names the nearest one."""
    held = memory(chosen, "cli", create=False)
    try:
        if chosen.project != "default" and not held.stamp():
            near = held.nearest_project()
            did_you_mean = f"Did you mean {near}? " if near else ""
            raise NotFound([chosen.project], "Project", hint=f"{did_you_mean}`polymnia health` lists them.")
    except BaseException:
        held.close()
        raise
    return held


def known_scope(held: Memory, given: str) -> str:
    """A scope that has memories in it or below it; for any other the error names the nearest one."""
    scope = scopes.legal_scope(given, "scope")
    if held.scopes(scope):
        return scope
    near = held.nearest_scope(scope)
    did_you_mean = f"Did you mean {near}? " if near else ""
    raise NotFound([scope], "Scope", hint=f"{did_you_mean}`polymnia scopes` lists them.")


def resolved(held: Memory, given: str) -> str:
    """The name of the memory that a name, an id or its beginning stands for; what was given where none is there."""
    try:
        return held.resolve(given).name
    except NotFound:
        return given  # it may have been deleted: its history is still there


def check_target(path: str, force: bool, chosen: Settings) -> None:
    """Refuse to write over a file that exists unless forced, and over the memory itself always."""
    if not os.path.exists(path):
        return
    if chosen.file is not None and os.path.samefile(path, chosen.file):
        raise Invalid(f"{path} is the JSON file that this memory is kept in", hint="Choose another name.")
    if not force:
        raise Invalid(f"{path} exists", hint="Choose another name, or pass --force to replace it.")
