"""The commands and their arguments. What a command does is in the module it names."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from polymnia import __version__
from polymnia.cli import arguments as given
from polymnia.errors import Fault
from polymnia.settings import NETWORK, SETTINGS, BadSetting, Setting

__all__ = ["parser", "run"]

_EVERYWHERE = ("config", "store", "project", "dialect", "file", "busy_timeout")
_EMBEDDING = ("embedder", "embedder_url", "embedder_key", "embedder_key_file", "embedder_timeout")
_SEARCHING = (*_EMBEDDING, "effort", "lanes")
_TEXTS = ("add", "search", "explain")  # commands that take a text
_IMPORTING = ("max_text_bytes", "max_import_bytes")
_ABOUT = """One memory for AI agents, spoken in every dialect they already know.

In an AI client's configuration, the command is `polymnia` and its arguments are, for example:
  stdio --dialect official
Started by a program without arguments, polymnia serves stdio with every tool."""


class _Table(RawDescriptionHelpFormatter):
    """The commands with their helps beside them, however long their names are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        # argparse forgets to count the indent of the commands, and would break the line of the longest one.
        self._action_max_length = 2 * self._indent_increment + max(len(command.name) for command in COMMANDS)


class _Parser(ArgumentParser):
    """Says what is wrong and where help is, without a screen of options in between."""

    def error(self, message: str) -> NoReturn:
        """Tell it and leave."""
        self.exit(2, f"{self.prog}: {message}\nSee: {self.prog} --help\n")


class _Command:
    """A command: its name, the function that runs it (module:function), its help, its arguments, its settings."""

    def __init__(
        self,
        name: str,
        runs: str,
        help: str,
        arguments: Callable[[ArgumentParser], None] | None = None,
        settings: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.runs = runs
        self.help = help
        self.arguments = arguments
        self.settings = (*_EVERYWHERE, *settings)

    def takes_all(self, setting: str) -> bool:
        """Whether it takes every setting, and so this one."""
        return self.name in ("serve", "config") or (self.name == "stdio" and setting not in NETWORK)


COMMANDS = (
    _Command("stdio", "", "serve one AI client on stdin and stdout"),
    _Command("serve", "serving:serve", "serve many clients over HTTP, server-sent events and WebSocket"),
    _Command("keys", "serving:keys", "make, list and revoke keys for the network", given.keys, ("keys",)),
    _Command("demo", "demo:demo", "a short visible tour on a temporary store"),
    _Command("add", "keeping:add", "remember a text, unless it is known already", given.add, _EMBEDDING),
    _Command("search", "finding:search", "find memories by words and by meaning", given.search, _SEARCHING),
    _Command("explain", "plan:explain", "show how a query is read and answered", given.explain, _SEARCHING),
    _Command("show", "showing:show", "show one memory, now or as it was", given.show),
    _Command("list", "showing:list_", "list memories, newest first", given.list_),
    _Command("move", "keeping:move", "file memories under another scope, or rename a scope", given.move),
    _Command("delete", "keeping:delete", "delete memories; `undo` brings them back", given.delete),
    _Command("scopes", "filing:scopes", "show the tree of scopes, or where a text belongs", given.scopes, _EMBEDDING),
    _Command(
        "associations", "links:associations", "find what has to do with a memory", given.associations, _EMBEDDING
    ),
    _Command("analyze", "analyzing:analyze", "tell patterns, quality, relationships, conflicts and insights",
             given.analyze, _EMBEDDING),
    _Command("sessions", "filing:sessions", "list, begin and clean up sessions", given.sessions),
    _Command("import", "transfer:import_file", "take in a graph file of another server, an archive or a project",
             given.import_, _IMPORTING),
    _Command("export", "transfer:export_file", "write the memory as a graph file, or as an archive", given.export),
    _Command("backup", "copies:backup", "copy the whole store to a file, while servers may be running", given.backup),
    _Command("restore", "copies:restore", "put a backup in place of the store, which is kept", given.restore),
    _Command("history", "past:history", "tell everything that happened to a memory", given.history),
    _Command("changes", "past:changes", "list the newest changes", given.changes),
    _Command("undo", "past:undo", "take back a change, whole", given.undo),
    _Command("purge", "past:purge", "remove memories for good, from the history too", given.purge),
    _Command("reindex", "tending:reindex", "bring words and vectors up to date with the texts", given.reindex,
             _EMBEDDING),
    _Command("config", "configuring:config", "show the settings in force, or what a client needs", given.config),
    _Command("health", "tending:health", "tell how the store and its search are", given.json, _EMBEDDING),
)  # fmt: skip


def parser() -> ArgumentParser:
    """The command line, built from the commands and the settings."""
    top = _Parser(prog="polymnia", description=_ABOUT, formatter_class=_Table, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"polymnia {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            allow_abbrev=False,
        )
        if command.arguments is not None:
            command.arguments(sub)
        if command.name != "demo":
            for setting in SETTINGS:
                if setting.name in command.settings or command.takes_all(setting.name):
                    _add(sub, setting)
    return top


def _add(parser: ArgumentParser, setting: Setting) -> None:
    default = "" if setting.default is None else f" Default: {setting.default}."
    metavar = "{" + ",".join(setting.choices) + "}" if setting.choices else setting.name.split("_")[-1].upper()
    optional: dict[str, Any] = {"nargs": "?", "const": ""} if setting.optional else {}
    parser.add_argument(
        setting.flag,
        dest=setting.name,
        metavar=metavar,
        help=SUPPRESS
        if setting.secret
        else f"{setting.help}{default} Environment: {setting.variable}.".replace("%", "%%"),
        **optional,
    )


def run(words: list[str]) -> int:
    """Run one command; answers the exit code."""
    from polymnia import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # where a terminal lacks a letter, the others are still shown
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if words and not words[0].startswith("-") and words[0] not in {command.name for command in COMMANDS}:
        print(f"polymnia: there is no command {words[0]!r}{_did_you_mean(words[0], [c.name for c in COMMANDS])}\n"
              "See: polymnia --help", file=sys.stderr)  # fmt: skip
        return 2
    top = parser()
    if (wrong := _unknown_option(top, words)) is not None:
        print(f"polymnia: {wrong}", file=sys.stderr)
        return 2
    arguments, more = top.parse_known_args(words)
    if more:
        quotes = " A text of several words stands in quotes." if arguments.command in _TEXTS else ""
        print(f"polymnia: {arguments.command} takes no more arguments: {' '.join(more)}.{quotes}\n"
              f"See: polymnia {arguments.command} --help", file=sys.stderr)  # fmt: skip
        return 2
    if arguments.command is None:
        top.print_help()
        return 0
    command = next(one for one in COMMANDS if one.name == arguments.command)
    try:
        values = {s.name: _value(s, arguments) for s in SETTINGS if getattr(arguments, s.name, None) is not None}
        chosen = app.settings(values)
        if command.name == "stdio":
            app.serve_stdio(chosen)
            return 0
        module, _, function = command.runs.partition(":")
        work: Callable[[Namespace, object], int] = getattr(import_module(f"polymnia.cli.{module}"), function)
        return work(arguments, chosen)
    except BadSetting as e:
        print(f"polymnia: {e}", file=sys.stderr)
        return 2
    except Fault as e:
        print(f"polymnia: {e.message}\n{e.hint}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130


def _unknown_option(top: ArgumentParser, words: list[str]) -> str | None:
    """What is wrong with an option that the command does not have; told before argparse misses something else."""
    choices: Any = next(action for action in top._actions if action.dest == "command").choices
    if not words or words[0] not in choices:
        return None
    known = [flag for action in choices[words[0]]._actions for flag in action.option_strings]
    for word in words[1 : words.index("--") if "--" in words else None]:
        flag = word.partition("=")[0]
        if flag.startswith("--") and " " not in word and flag not in known:
            return f"{words[0]} has no option {flag}{_did_you_mean(flag, known)}\nSee: polymnia {words[0]} --help"
    return None


def _did_you_mean(word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    names = {one.lstrip("-"): one for one in known}  # dashes make everything look alike
    near = get_close_matches(word.lstrip("-"), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def _value(setting: Setting, arguments: Namespace) -> object:
    text = getattr(arguments, setting.name)
    return text if text == "" and setting.optional else setting.value(text, setting.flag)
