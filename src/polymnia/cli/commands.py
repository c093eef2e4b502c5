"""The commands and their arguments. What a command does is in the module it names."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NamedTuple, NoReturn

from polymnia import __version__
from polymnia.cli.arguments import add_arguments
from polymnia.errors import Fault
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, SETTINGS, BadSetting, Setting

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


class _Command(NamedTuple):
    """A command: its name, the function that runs it (module:function), its help, its settings."""

    name: str
    runs: str
    help: str
    settings: tuple[str, ...] = ()

    def takes(self, setting: str) -> bool:
        """Whether it has an option for a setting."""
        if self.name in ("serve", "config") or (self.name == "stdio" and setting not in NETWORK):
            return True
        return self.name != "demo" and setting in (*_EVERYWHERE, *self.settings)


COMMANDS = (
    _Command("stdio", "", "serve one AI client on stdin and stdout"),
    _Command("serve", "server:serve", "serve many clients over HTTP, server-sent events and WebSocket"),
    _Command("keys", "server:keys", "make, list and revoke keys for the network", ("keys",)),
    _Command("demo", "demo:demo", "a short visible tour on a temporary store"),
    _Command("add", "memories:add", "remember a text, unless it is known already", _EMBEDDING),
    _Command("search", "search:search", "find memories by words and by meaning", _SEARCHING),
    _Command("explain", "search:explain", "show how a query is read and answered", _SEARCHING),
    _Command("show", "memories:show", "show one memory, now or as it was"),
    _Command("list", "memories:list_", "list memories, newest first"),
    _Command("move", "memories:move", "file memories under another scope, or rename a scope"),
    _Command("delete", "memories:delete", "delete memories; `undo` brings them back"),
    _Command("scopes", "scopes:scopes", "show the tree of scopes, or where a text belongs", _EMBEDDING),
    _Command("associations", "memories:associations", "find what has to do with a memory", _EMBEDDING),
    _Command(
        "analyze", "analysis:analyze", "tell patterns, quality, relationships, conflicts and insights", _EMBEDDING
    ),
    _Command("sessions", "scopes:sessions", "list, begin and clean up sessions"),
    _Command(
        "import", "imports:import_file", "take in a graph file of another server, an archive or a project", _IMPORTING
    ),
    _Command("export", "exports:export_file", "write the memory as a graph file, or as an archive"),
    _Command("backup", "store:backup", "copy the whole store to a file, while servers may be running"),
    _Command("restore", "store:restore", "put a backup in place of the store, which is kept"),
    _Command("history", "history:history", "tell everything that happened to a memory"),
    _Command("changes", "history:changes", "list the newest changes"),
    _Command("undo", "history:undo", "take back a change, whole"),
    _Command("purge", "history:purge", "remove memories for good, from the history too"),
    _Command("reindex", "store:reindex", "bring words and vectors up to date with the texts", _EMBEDDING),
    _Command("config", "server:config", "show the settings in force, or what a client needs"),
    _Command("health", "store:health", "tell how the store and its search are", _EMBEDDING),
)


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
        add_arguments(sub, command.name)
        for setting in SETTINGS:
            if command.takes(setting.name):
                _add(sub, setting)
    return top


def _add(parser: ArgumentParser, setting: Setting) -> None:
    default = "" if setting.default is None else f" Default: {setting.default}."
    metavar = "{" + ",".join(setting.choices) + "}" if setting.choices else setting.name.split("_")[-1].upper()
    optional: JsonObject = {"nargs": "?", "const": ""} if setting.optional else {}
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
        meant = _did_you_mean(words[0], [command.name for command in COMMANDS])
        return _refused(f"there is no command {words[0]!r}{meant}\nSee: polymnia --help")
    top = parser()
    if (wrong := _unknown_option(top, words)) is not None:
        return _refused(wrong)
    arguments, more = top.parse_known_args(words)
    if more:
        quotes = " A text of several words stands in quotes." if arguments.command in _TEXTS else ""
        told = f"{arguments.command} takes no more arguments: {' '.join(more)}.{quotes}"
        return _refused(f"{told}\nSee: polymnia {arguments.command} --help")
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
        return _refused(str(e))
    except Fault as e:
        print(f"polymnia: {e.message}\n{e.hint}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130


def _refused(why: str) -> int:
    print(f"polymnia: {why}", file=sys.stderr)
    return 2


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
