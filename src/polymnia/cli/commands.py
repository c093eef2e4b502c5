"""Tables of the commands and their arguments. Each command names the module and function that run it."""

from __future__ import annotations

import errno
import sys
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
    _ArgumentGroup,
)
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from polymnia import __version__
from polymnia.errors import Fault
from polymnia.importing import importing
from polymnia.models import JsonObject
from polymnia.settings import NETWORK, SETTINGS, BadSetting, Setting, did_you_mean, read

if TYPE_CHECKING:
    from polymnia.cli.console import CommandResult

_EVERYWHERE = ("config", "store", "project", "dialect", "file", "busy_timeout")
_EMBEDDING = ("embedder", "embedder_url", "embedder_key", "embedder_key_file", "embedder_timeout")
_SEARCHING = (*_EMBEDDING, "effort", "lanes")
_TEXTS = ("add", "search", "explain")  # commands with a text argument
_WITHOUT_JSON = ("stdio", "serve")
_WITHOUT_SETTINGS = ("demo", "completion", "upgrade")
_TALKING = ("serve", "demo", "install", "reindex")  # commands that print, ask or draw bars while they work
_IMPORTING = ("max_text_bytes", "max_import_bytes")
CLIENTS = (
    *("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "zed"),
    *("codex", "gemini", "cline", "continue", "goose", "lm-studio"),
)
_ABOUT = """One memory for AI agents, spoken in every dialect they already know.

`polymnia install CLIENT` gives an AI client this memory; `polymnia` alone shows what is in it.
Started by a program without arguments, polymnia serves stdio with every tool."""

_Argument = tuple[str, JsonObject]


def _number(minimum: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not minimum <= int(text) < 10**9:
            raise ArgumentTypeError(f"{text!r} is no whole number from {minimum} on")
        return int(text)

    return read


def _at_most(maximum: int, what: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= maximum:
            raise ArgumentTypeError(f"{text!r} is no {what} from 0 to {maximum}")
        return value

    return read


_share, _days = _at_most(1, "number"), _at_most(36_500, "number of days")


def _value(name: str, metavar: str, help: str, **options: Any) -> _Argument:
    """An argument with a value: positional, or an option if its name has dashes."""
    return name, {"metavar": metavar, "help": help, **options}


def _values(name: str, metavar: str, help: str, **options: Any) -> _Argument:
    return _value(name, metavar, help, action="append", default=[], **options)


def _choice(name: str, help: str, *choices: str, **options: Any) -> _Argument:
    return name, {"choices": choices, "help": help, **options}


def _flag(name: str, help: str) -> _Argument:
    return name, {"action": "store_true", "help": help}


_ID = _value("name", "ID|NAME", "the id of the memory (its first eight characters are enough), or its name")
_AT = _value("--at", "TIME", "as it was then: 2026-05-01, 2026-05-01T12:30, or a change number")
_OF_SCOPE = (
    _value("--scope", "S", "only memories of this scope"),
    _flag("--below", "and of every scope below it"),
)
_QUERY = (
    _value("query", "QUERY", "what to look for, in your own words; nothing in it is syntax"),
    _value("--limit", "N", "how many memories at most (default 10)", type=_number(1), default=10),
    _values("--kind", "K", "only memories of this kind; may be repeated"),
    _values("--category", "C", "only memories of this category; may be repeated"),
    _values("--tag", "T", "only memories with this tag; repeated: with any of them"),
    *_OF_SCOPE,
    _value("--session", "S", "only memories of this session or of none"),
    _value("--since", "TIME", "only memories made at this time or later"),
    _value("--until", "TIME", "only memories made before this time"),
    _values("--meta", "KEY=VALUE", "only memories with this metadata; repeated: with all of it"),
)

_ARGUMENTS: dict[str, tuple[_Argument, ...]] = {
    # ── memories ──
    "add": (
        _value("text", "TEXT", "what to remember; - reads stdin"),
        _value("--scope", "S", "where to file it, such as work/api (default user/default)"),
        _flag("--suggest", "file it where its like are filed; where none are, --scope is taken"),
        _value("--category", "C", "its category"),
        _values("--tag", "T", "a tag; may be repeated"),
        _values("--meta", "KEY=VALUE", "a piece of metadata; may be repeated"),
        _value(
            "--threshold",
            "X",
            "how similar a text of the scope must be to be the same one, from 0 to 1 (default 0.95)",
            type=_share,
            default=0.95,
        ),
        _flag("--allow-duplicates", "store it even if the scope has it already"),
        _flag("--no-associate", "draw no links to what is near it"),
    ),
    "show": (_ID, _AT),
    "list": (
        *_OF_SCOPE,
        _value("--page", "N", "which page (default 1)", type=_number(1), default=1),
        _value("--per-page", "N", "how many memories on a page (default 20)", type=_number(1), default=20),
    ),
    "move": (
        _value("ids", "ID", "the ids of the memories, or their names", nargs="*"),
        _value("--scope", "OLD", "instead of ids: rename this scope, with everything below it"),
        _value("--to", "SCOPE", "the scope to file them under", required=True),
    ),
    "delete": (_value("ids", "ID|NAME", "the ids of the memories, or their names", nargs="+"),),
    "associations": (
        _ID,
        _value("--limit", "N", "how many at most (default 10)", type=_number(1), default=10),
        _value("--threshold", "X", "how strong at least, from 0 to 1 (default 0.1)", type=_share, default=0.1),
    ),
    "scopes": (
        _value("parent", "PARENT", "only this scope and what is below it", nargs="?"),
        _value("--suggest", "TEXT", "tell where this text belongs; - reads stdin"),
    ),
    "sessions": (
        _choice(
            "action",
            "list (default), create, or cleanup: remove those that nobody uses any more",
            *("list", "create", "cleanup"),
            metavar="ACTION",
            nargs="?",
            default="list",
        ),
        _value("session", "SESSION", "only this one; create makes a name without it", nargs="?"),
        _value("--older-than", "DAYS", "cleanup: unused for so many days (default 7)", type=_days),
    ),
    "analyze": (
        _choice(
            "what",
            "patterns, quality ID, relationships ID, conflicts [ID ...] or insights [ID ...]",
            *("patterns", "quality", "relationships", "conflicts", "insights"),
            metavar="WHAT",
            nargs="?",
        ),
        _value("ids", "ID", "the ids of memories, or their names", nargs="*"),
        _values("--type", "T", "only this type or dimension; may be repeated"),
        _value("--session", "S", "also what belongs to this session"),
        _value("--since", "TIME", "patterns: only what was written or read at this time or later"),
        _value("--until", "TIME", "patterns: only what was written or read before this time"),
        _value("--least", "X", "patterns (default 0.5) and relationships: at least so certain", type=_share),
        _value("--depth", "N", "relationships: so far (default 2)", type=_number(1), default=2),
        _choice(
            "--sensitivity",
            "conflicts: high tells what may be one, low what almost surely is (default medium)",
            *("high", "medium", "low"),
            default="medium",
        ),
    ),
    # ── search ──
    "search": (
        *_QUERY,
        _value("--threshold", "X", "only memories with at least this score, from 0 to 1; 0 hides nothing", type=_share),
        _value("--max-tokens", "N", "the best passages that fit so many tokens", type=_number(1)),
        _flag("--facets", "count kinds, tags, scopes and months of all that match"),
        _value("--cursor", "C", "go on after a page; --json tells the cursor as next"),
    ),
    "explain": _QUERY,
    # ── files ──
    "import": (
        _value(
            "path",
            "PATH",
            "a file or folder, told by its content: a graph (memory.json, memory.jsonl), an archive, a project file, "
            "an export of ChatGPT, Claude, mem0, mcp-memory-service or Letta, a folder of Markdown (Obsidian, "
            "basic-memory), or contents of your own (a table with a column content or text, a JSON list, JSON lines, a "
            ".md file); - reads stdin",
        ),
        _choice(
            "--existing",
            "what happens to what exists: merge adds what it lacks (default); not with an archive",
            *("merge", "replace", "keep"),
        ),
        _flag("--archive", "the file is an archive, even if it does not say so"),
        _choice(
            "--strategy",
            "with --archive, what happens to a memory that exists: skip_duplicates keeps it (default)",
            *("skip_duplicates", "overwrite", "create_versions", "merge_metadata"),
        ),
        _value("--prefix", "SCOPE", "file everything below this scope; not with a graph or a project file"),
        _flag("--no-validate", "with --archive: take what can be taken, even if not all can"),
        _flag("--dry-run", "only report what the import would do"),
        _flag("--watch", "follow a folder of Markdown: files added, changed and removed, until Ctrl-C"),
    ),
    "export": (
        _value(
            "path",
            "PATH",
            "ends in .json or .jsonl, or in / for a folder of Markdown (an archive may end otherwise); "
            "- writes to stdout",
        ),
        _flag("--force", "replace a file, or an earlier export of Markdown, that exists"),
        _AT,
        _flag("--markdown", "write a folder with a page of Markdown for each memory, which you can edit and import"),
        _flag("--archive", "write an archive: everything that is known of each memory"),
        _value("--scope", "S", "with --archive: only this scope and everything below it"),
        _choice("--format", "with --archive (default: as the file's name says, or json)", "json", "yaml"),
        _flag("--gzip", "with --archive: compressed, as if the name ends in .gz"),
        _flag("--no-associations", "with --archive: without what links memories"),
    ),
    # ── history, store and server ──
    "backup": (
        _value(
            "path",
            "FILE",
            "the file to write: every project, with history and indexes; with --every or --keep a folder",
        ),
        _flag("--force", "replace the file if it exists"),
        _value("--every", "TIME", "go on: a backup into the folder every 6h, for example, until it is stopped"),
        _value("--keep", "N", "how many backups the folder keeps (with --every: 14)", type=_number(1)),
    ),
    "restore": (_value("path", "FILE", "a file that `polymnia backup` made, or another store"),),
    "migrate": (
        _value(
            "--from", "STORE", "the store to copy: a file, or a postgresql:// address", dest="source", required=True
        ),
        _value("--to", "STORE", "where to: a new file, or a database without a store", dest="target", required=True),
    ),
    "history": (_ID,),
    "changes": (_value("--limit", "N", "how many (default 20)", type=_number(1), default=20),),
    "undo": (_value("--change", "N", "which change (default: the newest one)", type=_number(1)),),
    "purge": (
        _value("names", "ID|NAME", "the names of the memories, or their ids", nargs="+"),
        _flag("--yes", "really: this cannot be undone"),
    ),
    "reindex": (
        _flag("--anew", "make everything again from the texts"),
        _flag("--all-projects", "every project of the store"),
    ),
    "open": (_flag("--no-browser", "print the address and open nothing"),),
    "keys": (
        _choice(
            "action",
            "add, list, show, set (change what it may do), rotate (give it another text) or revoke",
            *("add", "list", "show", "set", "rotate", "revoke"),
            metavar="ACTION",
        ),
        _value("which", "NAME|ID", "add: what to call it; show, set, rotate, revoke: its id", nargs="?"),
        _values("--for", "PROJECT", "a project it opens; may be repeated (add: default all)", dest="projects"),
        _flag("--all-projects", "set: it opens all projects from now on"),
        _choice(
            "--access",
            "read, read and write (the default), make and revoke keys too (manage), or nothing but the figures "
            "of the server at /metrics",
            *("read", "write", "manage", "metrics"),
        ),
        _value("--user", "NAME", "whose key it is, as the history names them (default: the name of the key)"),
        _value("--expires", "WHEN", "when it expires: 90d, 12h, 2027-01-31, or never"),
        _value("--max-calls", "N", "its calls a minute; 0: as many as anybody's", type=_number(0)),
        _value("--max-memories", "N", "to how many memories it may fill a project; 0: no limit", type=_number(0)),
        _value("--max-texts", "N", "the same for memories and observations together", type=_number(0)),
    ),
    "config": (
        _choice(
            "--client",
            f"print what this client's configuration needs instead: {', '.join(CLIENTS)}",
            *CLIENTS,
            metavar="CLIENT",
        ),
    ),
    "upgrade": (
        _flag("--check", "ask the package index for the newest version; nothing else is sent or fetched"),
        _value("--index", "URL", "the index to ask (default: PyPI)"),
    ),
    "completion": (_choice("shell", "the shell: bash, zsh or fish", "bash", "zsh", "fish", metavar="SHELL"),),
    "install": (
        _value("clients", "CLIENT", f"which clients: {', '.join(CLIENTS)}", nargs="*"),
        _flag("--all", "every client that is found on this machine"),
        _flag("--here", "for the project in this folder alone, where the client reads a file there"),
        _flag("--list", "only show which clients are here, and which have this memory"),
        _flag("--remove", "take the memory from the clients again; what it keeps stays"),
        _flag("--dry-run", "only show what would be written"),
        _flag("--yes", "write without asking"),
        _value("--name", "NAME", "what to call the entry (default: that of the entry there is, or polymnia)"),
    ),
    "doctor": (
        _flag("--no-start", "do not start the servers that clients would start"),
        _value("--wait", "SECONDS", "how long a server may take to answer (default 15)", type=_number(1), default=15),
    ),
}


class _Table(RawDescriptionHelpFormatter):
    """A help formatter that puts each command and its help on one line, however long the name."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        # argparse does not count the indent of subcommands, and would wrap the line of the longest one.
        self._action_max_length = 2 * self._indent_increment + max(len(command.name) for command in COMMANDS)


class _Parser(ArgumentParser):
    """A parser whose errors point to the help instead of printing all options."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed."""
        raise BadSetting(f"{message}\nSee: {self.prog} --help")

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(one) for one in action.choices]
            near = did_you_mean(str(value), known)
            raise ArgumentError(action, f"{value!r} must be one of: {', '.join(known)}{near}")


class _Command(NamedTuple):
    """A command: its name, the function that runs it (``module:function``), its help and its settings."""

    name: str
    runs: str
    help: str
    settings: tuple[str, ...] = ()

    def takes(self, setting: str) -> bool:
        """Whether the command has an option for a setting."""
        if self.name in ("serve", "open", "config") or (self.name == "stdio" and setting not in NETWORK):
            return True
        if self.name == "migrate":
            return setting in ("config", "busy_timeout")
        return self.name not in _WITHOUT_SETTINGS and setting in (*_EVERYWHERE, *self.settings)


COMMANDS = (
    _Command("install", "install:install", "give AI clients this memory, or take it from them again"),
    _Command("doctor", "doctor:doctor", "check the installation, the store, and the clients that start it", _EMBEDDING),
    _Command("stdio", "", "serve one AI client on stdin and stdout"),
    _Command("serve", "server:serve", "serve many clients over HTTP, server-sent events and WebSocket"),
    _Command("open", "explorer:open_page", "see, search and mend the memory in a browser"),
    _Command("keys", "server:keys", "make, list, change and revoke keys for the network", ("keys",)),
    _Command("demo", "server:demo", "a short visible tour on a temporary store"),
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
        "import", "transfer:import_file", "take in what another program remembers, an archive or a project", _IMPORTING
    ),
    _Command(
        "export", "transfer:export_file", "write the memory as a graph file, as pages of Markdown, or as an archive"
    ),
    _Command("backup", "store:backup", "copy the whole store to a file, while servers may be running"),
    _Command("restore", "store:restore", "put a backup in place of the store, which is kept"),
    _Command("migrate", "store:migrate", "copy the whole store to another place, SQLite or PostgreSQL"),
    _Command("history", "history:history", "tell everything that happened to a memory"),
    _Command("changes", "history:changes", "list the newest changes"),
    _Command("undo", "history:undo", "take back a change, whole"),
    _Command("purge", "history:purge", "remove memories for good, from the history too"),
    _Command("reindex", "store:reindex", "bring words and vectors up to date with the texts", _EMBEDDING),
    _Command("config", "server:config", "show the settings in force, or what a client needs"),
    _Command("health", "store:health", "tell how the store and its search are", _EMBEDDING),
    _Command("upgrade", "upgrade:upgrade", "tell how to upgrade and, if asked, whether there is a newer version"),
    _Command("completion", "completion:completion", "print the script that completes commands in a shell"),
)


def parser() -> ArgumentParser:
    """Build the argument parser from the commands and the settings."""
    top = _Parser(prog="polymnia", description=_ABOUT, formatter_class=_Table, allow_abbrev=False)
    top.add_argument("--json", action="store_true", help="without a command: what is in the memory, in JSON")
    top.add_argument("--version", action="version", version=f"polymnia {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        about = f"{command.help[0].upper()}{command.help[1:]}."
        sub = commands.add_parser(command.name, help=command.help, description=about, allow_abbrev=False)
        for name, options in _ARGUMENTS.get(command.name, ()):
            sub.add_argument(name, **options)
        if command.name not in _WITHOUT_JSON:
            sub.add_argument("--json", action="store_true", help="answer in JSON, for scripts")
        needed = [one for one in sub._actions if one.required or not one.option_strings]
        sub.usage = " ".join([sub.prog, *map(_shown, needed), "[options]"])
        settings = sub.add_argument_group("settings")
        for setting in SETTINGS:
            if command.takes(setting.name):
                _add(settings, setting)
    return top


def _shown(argument: Action) -> str:
    """An argument as the usage shows it."""
    forms = {"?": "[{0}]", "*": "[{0} ...]", "+": "{0} [{0} ...]"}
    return " ".join([*argument.option_strings, forms.get(str(argument.nargs), "{0}").format(argument.metavar)])


def _add(group: _ArgumentGroup, setting: Setting[Any, Any]) -> None:
    default = "" if setting.default is None else f" Default: {setting.default}."
    metavar = "{" + ",".join(setting.choices) + "}" if setting.choices else setting.name.split("_")[-1].upper()
    optional: JsonObject = {"nargs": "?", "const": ""} if setting.optional else {}
    help = f"{setting.help}{default} Environment: {setting.variable}.".replace("%", "%%")
    help = SUPPRESS if setting.secret else help
    group.add_argument(setting.flag, dest=setting.name, metavar=metavar, help=help, **optional)


def run(words: list[str]) -> int:
    """Run one command and return its exit code."""

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for characters the terminal cannot encode
    options = words[: words.index("--") if "--" in words else None]
    as_json = "--json" in options
    try:
        return _run(words, as_json)
    except BadSetting as e:
        return _failed(2, "usage", *str(e).split("\n", 1), as_json=as_json)
    except Fault as e:
        return _failed(1, e.code, e.message, e.hint, as_json=as_json)
    except BrokenPipeError:
        return 1
    except OSError as e:
        if e.filename is not None:
            return _failed(1, "forbidden", f"Cannot use {e.filename}: {e.strerror}", as_json=as_json)
        if e.errno == errno.ENOENT:  # without a name: nothing but the working folder
            why = "The folder that this command was started in is gone"
            return _failed(1, "forbidden", why, "Change to another one and try again.", as_json=as_json)
        if e.errno not in (errno.ENOSPC, errno.EIO):
            raise
        print(f"polymnia: The output cannot be written: {e.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _failed(130, "cancelled", "stopped; nothing was left half done.", as_json=as_json)


def _failed(exit_code: int, code: str, message: str, hint: str = "", *, as_json: bool) -> int:
    """Say why a command failed: on stderr, and with ``--json`` on stdout too, where a script expects its document."""
    from polymnia.cli.console import as_json_text, harmless

    if as_json:
        with suppress(OSError):
            print(as_json_text({"error": {"code": code, "message": message, "hint": hint}}), flush=True)
    print(harmless(f"polymnia: {message}\n{hint}".rstrip("\n")), file=sys.stderr)
    return exit_code


def _run(words: list[str], as_json: bool) -> int:
    from polymnia import app

    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if words and not words[0].startswith("-") and words[0] not in {command.name for command in COMMANDS}:
        suggestion = did_you_mean(words[0], [command.name for command in COMMANDS])
        raise BadSetting(f"there is no command {words[0]!r}{suggestion}\nSee: polymnia --help")
    if not words or (words[0].startswith("-") and not {"-h", "--help", "--version"} & {*words}):
        with importing():
            from polymnia.cli.overview import overview

        flags = [word for word in words if word != "--json"]
        return overview(app.settings(read(flags, NETWORK))).print(as_json=as_json)
    top = parser()
    if (error := _unknown_option(top, words)) is not None:
        raise BadSetting(error)
    arguments, extra = top.parse_known_args(words)
    if extra:
        quotes = " A text of several words stands in quotes." if arguments.command in _TEXTS else ""
        error = f"{arguments.command} takes no more arguments: {' '.join(extra)}.{quotes}"
        raise BadSetting(f"{error}\nSee: polymnia {arguments.command} --help")
    command = next(one for one in COMMANDS if one.name == arguments.command)
    texts = {s: text for s in SETTINGS if (text := getattr(arguments, s.name, None)) is not None}
    values = {s.name: s.value(text, s.flag) for s, text in texts.items()}
    try:
        chosen = app.settings(values)
    except BadSetting as e:
        if command.name != "doctor":
            raise
        # It says so among the rest, and looks at the rest without the file of settings.
        arguments.broken_settings = str(e)
        chosen = app.settings({**values, "config": None}, {**app.environment(), "POLYMNIA_CONFIG": ""})
    if command.name == "stdio":
        app.serve_stdio(chosen)
        return 0
    module, _, function = command.runs.partition(":")
    work: Callable[[Namespace, object], CommandResult] = getattr(import_module(f"polymnia.cli.{module}"), function)
    from polymnia.cli.console import waiting

    with waiting(f"polymnia {command.name}", quiet=_is_talking(arguments)):
        result = work(arguments, chosen)
    return result.print(as_json=as_json)


def _is_talking(arguments: Namespace) -> bool:
    """Whether a command prints while it works, runs until it is stopped, or reads what somebody may be typing."""
    given = vars(arguments)
    endless = given.get("every") is not None or given.get("watch")
    reads_stdin = "-" in (given.get("path"), given.get("text"), given.get("suggest"))
    return arguments.command in _TALKING or bool(endless) or reads_stdin


def _unknown_option(top: ArgumentParser, words: list[str]) -> str | None:
    """The error for an option the command does not have, before argparse complains about something else."""
    choices: Any = next(action for action in top._actions if action.dest == "command").choices
    if not words or words[0] not in choices:
        return None
    known = [flag for action in choices[words[0]]._actions for flag in action.option_strings]
    for word in words[1 : words.index("--") if "--" in words else None]:
        flag = word.partition("=")[0]
        if flag.startswith("--") and " " not in word and flag not in known:
            return f"{words[0]} has no option {flag}{did_you_mean(flag, known)}\nSee: polymnia {words[0]} --help"
    return None
