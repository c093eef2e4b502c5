"""The arguments of the commands: what each may be told beside the settings."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from polymnia.models import JsonObject

CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode")
STRATEGIES = ("skip_duplicates", "overwrite", "create_versions", "merge_metadata")

_Argument = tuple[str, JsonObject]


def add_arguments(parser: ArgumentParser, command: str) -> None:
    """Give a parser the arguments of a command."""
    for name, options in ARGUMENTS.get(command, ()):
        parser.add_argument(name, **options)


def _number(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) < 10**9:
            raise ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


def _at_most(most: int, what: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most:
            raise ArgumentTypeError(f"{text!r} is no {what} from 0 to {most}")
        return value

    return read


_share, _days = _at_most(1, "number"), _at_most(36_500, "number of days")


def _given(name: str, metavar: str, help: str, **options: Any) -> _Argument:
    """An argument with a value: by its place, or with dashes by its name."""
    return name, {"metavar": metavar, "help": help, **options}


def _repeated(name: str, metavar: str, help: str, **options: Any) -> _Argument:
    return _given(name, metavar, help, action="append", default=[], **options)


def _choice(name: str, help: str, *choices: str, **options: Any) -> _Argument:
    return name, {"choices": choices, "help": help, **options}


def _switch(name: str, help: str) -> _Argument:
    return name, {"action": "store_true", "help": help}


_JSON = _switch("--json", "answer in JSON, for scripts")
_ID = _given("name", "ID|NAME", "the id of the memory (its first eight characters are enough), or its name")
_AT = _given("--at", "TIME", "as it was then: 2026-05-01, 2026-05-01T12:30, or a change number")
_OF_SCOPE = (
    _given("--scope", "S", "only memories of this scope"),
    _switch("--below", "and of every scope below it"),
)
_QUERY = (
    _given("query", "QUERY", "what to look for, in your own words; nothing in it is syntax"),
    _given("--limit", "N", "how many memories at most (default 10)", type=int, default=10),
    _repeated("--kind", "K", "only memories of this kind; may be repeated"),
    _repeated("--category", "C", "only memories of this category; may be repeated"),
    _repeated("--tag", "T", "only memories with this tag; repeated: with any of them"),
    *_OF_SCOPE,
    _given("--session", "S", "only memories of this session or of none"),
    _given("--since", "TIME", "only memories made at this time or later"),
    _given("--until", "TIME", "only memories made before this time"),
    _repeated("--meta", "KEY=VALUE", "only memories with this metadata; repeated: with all of it"),
)

ARGUMENTS: dict[str, tuple[_Argument, ...]] = {
    # ── memories ──
    "add": (
        _given("text", "TEXT", "what to remember; - reads stdin"),
        _given("--scope", "S", "where to file it, such as work/api (default user/default)"),
        _switch("--suggest", "file it where its like are filed; where none are, --scope is taken"),
        _given("--category", "C", "its category"),
        _repeated("--tag", "T", "a tag; may be repeated"),
        _repeated("--meta", "KEY=VALUE", "a piece of metadata; may be repeated"),
        _given(
            "--threshold",
            "X",
            "how similar a text of the scope must be to be the same one, from 0 to 1 (default 0.95)",
            type=_share,
            default=0.95,
        ),
        _switch("--allow-duplicates", "store it even if the scope has it already"),
        _switch("--no-associate", "draw no links to what is near it"),
        _JSON,
    ),
    "show": (_ID, _AT, _JSON),
    "list": (
        *_OF_SCOPE,
        _given("--page", "N", "which page (default 1)", type=_number(1), default=1),
        _given("--per-page", "N", "how many memories on a page (default 20)", type=_number(1), default=20),
        _JSON,
    ),
    "move": (
        _given("ids", "ID", "the ids of the memories, or their names", nargs="*"),
        _given("--scope", "OLD", "instead of ids: rename this scope, with everything below it"),
        _given("--to", "SCOPE", "the scope to file them under", required=True),
        _JSON,
    ),
    "delete": (_given("ids", "ID|NAME", "the ids of the memories, or their names", nargs="+"), _JSON),
    "associations": (
        _ID,
        _given("--limit", "N", "how many at most (default 10)", type=_number(1), default=10),
        _given("--threshold", "X", "how strong at least, from 0 to 1 (default 0.1)", type=_share, default=0.1),
        _JSON,
    ),
    "scopes": (
        _given("parent", "PARENT", "only this scope and what is below it", nargs="?"),
        _given("--suggest", "TEXT", "tell where this text belongs; - reads stdin"),
        _JSON,
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
        _given("session", "SESSION", "only this one; create makes a name without it", nargs="?"),
        _given("--older-than", "DAYS", "cleanup: unused for so many days (default 7)", type=_days),
        _JSON,
    ),
    "analyze": (
        _choice(
            "what",
            "patterns, quality ID, relationships ID, conflicts [ID ...] or insights [ID ...]",
            *("patterns", "quality", "relationships", "conflicts", "insights"),
            metavar="WHAT",
            nargs="?",
        ),
        _given("ids", "ID", "the ids of memories, or their names", nargs="*"),
        _repeated("--type", "T", "only this type or dimension; may be repeated"),
        _given("--session", "S", "also what belongs to this session"),
        _given("--since", "TIME", "patterns: only what was written or read at this time or later"),
        _given("--until", "TIME", "patterns: only what was written or read before this time"),
        _given("--least", "X", "patterns (default 0.5) and relationships: at least so certain", type=_share),
        _given("--depth", "N", "relationships: so far (default 2)", type=_number(1), default=2),
        _choice(
            "--sensitivity",
            "conflicts: high tells what may be one, low what almost surely is (default medium)",
            *("high", "medium", "low"),
            default="medium",
        ),
        _JSON,
    ),
    # ── search ──
    "search": (
        *_QUERY,
        _given("--threshold", "X", "only memories with at least this score, from 0 to 1; 0 hides nothing", type=_share),
        _given("--max-tokens", "N", "the best passages that fit so many tokens", type=int),
        _switch("--facets", "count kinds, tags, scopes and months of all that match"),
        _given("--cursor", "C", "go on after a page; --json tells the cursor as next"),
        _JSON,
    ),
    "explain": (*_QUERY, _JSON),
    # ── files ──
    "import": (
        _given(
            "path",
            "FILE",
            "a graph (memory.json, memory.jsonl), an archive, a project file, or contents of your own (a table with a "
            "column content or text, a JSON list, a .md file); - reads stdin",
        ),
        _choice(
            "--existing",
            "what happens to what exists: merge adds what it lacks (default); not with an archive",
            *("merge", "replace", "keep"),
        ),
        _switch("--archive", "the file is an archive, even if it does not say so"),
        _choice(
            "--strategy",
            "with --archive, what happens to a memory that exists: skip_duplicates keeps it (default)",
            *STRATEGIES,
        ),
        _given("--prefix", "SCOPE", "with --archive: file everything below this scope"),
        _switch("--no-validate", "with --archive: take what can be taken, even if not all can"),
        _switch("--dry-run", "only report what the file holds"),
        _JSON,
    ),
    "export": (
        _given("path", "FILE", "ends in .json or .jsonl (an archive may end otherwise); - writes to stdout"),
        _switch("--force", "replace a file that exists"),
        _AT,
        _switch("--archive", "write an archive: everything that is known of each memory"),
        _given("--scope", "S", "with --archive: only this scope and everything below it"),
        _choice("--format", "with --archive (default: as the file's name says, or json)", "json", "yaml"),
        _switch("--gzip", "with --archive: compressed, as if the name ends in .gz"),
        _switch("--no-associations", "with --archive: without what links memories"),
        _JSON,
    ),
    # ── history, store and server ──
    "backup": (
        _given("path", "FILE", "the file to write: every project, with history and indexes"),
        _switch("--force", "replace the file if it exists"),
        _JSON,
    ),
    "restore": (_given("path", "FILE", "a file that `polymnia backup` made, or another store"), _JSON),
    "history": (_ID, _JSON),
    "changes": (("--limit", {"type": int, "default": 20, "help": "how many (default 20)"}), _JSON),
    "undo": (_given("--change", "N", "which change (default: the newest one)", type=int), _JSON),
    "purge": (
        _given("names", "ID|NAME", "the names of the memories, or their ids", nargs="+"),
        _switch("--yes", "really: this cannot be undone"),
    ),
    "reindex": (
        _switch("--anew", "make everything again from the texts"),
        _switch("--all-projects", "every project of the store"),
        _JSON,
    ),
    "health": (_JSON,),
    "keys": (
        _choice("action", "add, list or revoke", "add", "list", "revoke", metavar="ACTION"),
        _given("which", "NAME|ID", "add: what to call it; revoke: its id", nargs="?"),
        _repeated("--for", "PROJECT", "add: a project it opens; may be repeated (default: all)", dest="projects"),
        _choice(
            "--access",
            "add: read, read and write (the default), or nothing but the figures of the server at /metrics",
            *("read", "write", "metrics"),
            default="write",
        ),
        _JSON,
    ),
    "config": (
        _choice(
            "--client",
            "print what this client's configuration needs instead: claude-desktop, claude-code, cursor or vscode",
            *CLIENTS,
            metavar="CLIENT",
        ),
        _JSON,
    ),
}
