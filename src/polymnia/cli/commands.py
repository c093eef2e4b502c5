"""The commands and their arguments. What a command does is in the module it names."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from importlib import import_module
from typing import Any

from polymnia import __version__
from polymnia.errors import Fault
from polymnia.settings import SETTINGS, BadSetting, Setting

__all__ = ["parser", "run"]

_EVERYWHERE = ("store", "project", "dialect", "file", "busy_timeout")
_EMBEDDING = ("embedder", "embedder_url", "embedder_key", "embedder_timeout")
_SEARCHING = (*_EMBEDDING, "rerank", "lanes")
_ABOUT = """One memory for AI agents, spoken in every dialect they already know.

In an AI client's configuration, the command is `polymnia` and its arguments are, for example:
  stdio --dialect official
Started by a program without arguments, polymnia serves stdio with every tool."""


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


def _name(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of the memory")


def _at(parser: ArgumentParser) -> None:
    parser.add_argument("--at", metavar="TIME", help="as it was then: 2026-05-01, 2026-05-01T12:30, or a change number")


def _json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer in JSON, for scripts")


def _query(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what to look for, in your own words; nothing in it is syntax")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="how many memories at most (default 10)")
    several: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("--kind", metavar="K", help="only memories of this kind; may be repeated", **several)
    parser.add_argument("--tag", metavar="T", help="only memories with this tag; repeated: with any of them", **several)
    parser.add_argument("--scope", metavar="S", help="only memories of this scope")
    parser.add_argument("--below", action="store_true", help="and of every scope below it")
    parser.add_argument("--session", metavar="S", help="only memories of this session or of none")
    parser.add_argument("--since", metavar="TIME", help="only memories made at this time or later")
    parser.add_argument("--until", metavar="TIME", help="only memories made before this time")
    parser.add_argument(
        "--meta", metavar="KEY=VALUE", help="only memories with this metadata; repeated: with all of it", **several
    )


def _search(parser: ArgumentParser) -> None:
    _query(parser)
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the best passages that fit so many tokens")
    parser.add_argument("--facets", action="store_true", help="count kinds, tags, scopes and months of all that match")
    parser.add_argument("--cursor", metavar="C", help="go on after a page; --json tells the cursor as next")
    _json(parser)


def _explain(parser: ArgumentParser) -> None:
    _query(parser)
    _json(parser)


def _reindex(parser: ArgumentParser) -> None:
    parser.add_argument("--anew", action="store_true", help="make everything again from the texts")
    parser.add_argument("--all-projects", action="store_true", help="every project of the store")
    _json(parser)


def _import(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="FILE", help="memory.json, memory.jsonl, knowledge-graph.json; - reads stdin")
    parser.add_argument(
        "--existing",
        choices=("merge", "replace", "keep"),
        default="merge",
        help="what happens to a name that exists: merge adds the observations it lacks (default)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only report what the file holds")
    _json(parser)


def _export(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="FILE", help="ends in .json or .jsonl; - writes to stdout")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    _at(parser)


def _show(parser: ArgumentParser) -> None:
    _name(parser)
    _at(parser)
    _json(parser)


def _history(parser: ArgumentParser) -> None:
    _name(parser)
    _json(parser)


def _changes(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20, help="how many (default 20)")
    _json(parser)


def _undo(parser: ArgumentParser) -> None:
    parser.add_argument("--change", type=int, metavar="N", help="which change (default: the newest one)")
    _json(parser)


def _purge(parser: ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="+", help="the names of the memories")
    parser.add_argument("--yes", action="store_true", help="really: this cannot be undone")


COMMANDS = (
    _Command("stdio", "", "serve one AI client on stdin and stdout"),
    _Command("demo", "demo:demo", "a short visible tour on a temporary store"),
    _Command("search", "finding:search", "find memories by words and by meaning", _search, _SEARCHING),
    _Command("explain", "plan:explain", "show how a query is read and answered", _explain, _SEARCHING),
    _Command("import", "transfer:import_file", "take in a graph file of another server", _import),
    _Command("export", "transfer:export_file", "write the memory as a graph file", _export),
    _Command("show", "past:show", "show one memory, now or as it was", _show),
    _Command("history", "past:history", "tell everything that happened to a memory", _history),
    _Command("changes", "past:changes", "list the newest changes", _changes),
    _Command("undo", "past:undo", "take back a change, whole", _undo),
    _Command("purge", "past:purge", "remove memories for good, from the history too", _purge),
    _Command("reindex", "tending:reindex", "bring words and vectors up to date with the texts", _reindex, _EMBEDDING),
    _Command("health", "tending:health", "tell how the store and its search are", _json, _EMBEDDING),
)


def parser() -> ArgumentParser:
    """The command line, built from the commands and the settings."""
    top = ArgumentParser(prog="polymnia", description=_ABOUT, formatter_class=RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"polymnia {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name, help=command.help, description=f"{command.help[0].upper()}{command.help[1:]}."
        )
        if command.arguments is not None:
            command.arguments(sub)
        if command.name != "demo":
            for setting in SETTINGS:
                if command.name == "stdio" or setting.name in command.settings:
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
        help=f"{setting.help}{default} Environment: {setting.variable}.".replace("%", "%%"),
        **optional,
    )


def run(given: list[str]) -> int:
    """Run one command; answers the exit code."""
    from polymnia import app

    top = parser()
    arguments = top.parse_args(given)
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


def _value(setting: Setting, arguments: Namespace) -> object:
    text = getattr(arguments, setting.name)
    return text if text == "" and setting.optional else setting.value(text, setting.flag)
