"""The arguments of the commands: what each may be told beside the settings."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

__all__ = [
    "add", "analyze", "associations", "changes", "config", "delete", "explain", "export", "history", "import_", "json",
    "keys", "list_",
    "move", "purge", "reindex", "scopes", "search", "sessions", "show", "undo",
]  # fmt: skip

_SEVERAL: dict[str, Any] = {"action": "append", "default": []}
CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode")
STRATEGIES = ("skip_duplicates", "overwrite", "create_versions", "merge_metadata")


def _number(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) < 10**9:
            raise ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


def _share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def _days(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 36_500:
        raise ArgumentTypeError(f"{text!r} is no number of days from 0 to 36500")
    return value


def _id(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="ID|NAME", help="the id of the memory (its first eight characters are enough), or its name"
    )


def _at(parser: ArgumentParser) -> None:
    parser.add_argument("--at", metavar="TIME", help="as it was then: 2026-05-01, 2026-05-01T12:30, or a change number")


def json(parser: ArgumentParser) -> None:
    """An answer for programs."""
    parser.add_argument("--json", action="store_true", help="answer in JSON, for scripts")


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────


def add(parser: ArgumentParser) -> None:
    """What is to be remembered, and how."""
    parser.add_argument("text", metavar="TEXT", help="what to remember; - reads stdin")
    parser.add_argument("--scope", metavar="S", help="where to file it, such as work/api (default user/default)")
    parser.add_argument(
        "--suggest", action="store_true", help="file it where its like are filed; where none are, --scope is taken"
    )
    parser.add_argument("--category", metavar="C", help="its category")
    parser.add_argument("--tag", metavar="T", help="a tag; may be repeated", **_SEVERAL)
    parser.add_argument("--meta", metavar="KEY=VALUE", help="a piece of metadata; may be repeated", **_SEVERAL)
    parser.add_argument(
        "--threshold", type=_share, default=0.95, metavar="X",
        help="how similar a text of the scope must be to be the same one, from 0 to 1 (default 0.95)",
    )  # fmt: skip
    parser.add_argument("--allow-duplicates", action="store_true", help="store it even if the scope has it already")
    parser.add_argument("--no-associate", action="store_true", help="draw no links to what is near it")
    json(parser)


def show(parser: ArgumentParser) -> None:
    """One memory, and when."""
    _id(parser)
    _at(parser)
    json(parser)


def list_(parser: ArgumentParser) -> None:
    """Which memories, and which page of them."""
    parser.add_argument("--scope", metavar="S", help="only memories of this scope")
    parser.add_argument("--below", action="store_true", help="and of every scope below it")
    parser.add_argument("--page", type=_number(1), default=1, metavar="N", help="which page (default 1)")
    parser.add_argument(
        "--per-page", type=_number(1), default=20, metavar="N", help="how many memories on a page (default 20)"
    )
    json(parser)


def move(parser: ArgumentParser) -> None:
    """Which memories go where."""
    parser.add_argument("ids", metavar="ID", nargs="*", help="the ids of the memories, or their names")
    parser.add_argument("--scope", metavar="OLD", help="instead of ids: rename this scope, with everything below it")
    parser.add_argument("--to", metavar="SCOPE", required=True, help="the scope to file them under")
    json(parser)


def delete(parser: ArgumentParser) -> None:
    """Which memories go."""
    parser.add_argument("ids", metavar="ID|NAME", nargs="+", help="the ids of the memories, or their names")
    json(parser)


def associations(parser: ArgumentParser) -> None:
    """Around which memory to look, and how far."""
    _id(parser)
    parser.add_argument("--limit", type=_number(1), default=10, metavar="N", help="how many at most (default 10)")
    parser.add_argument(
        "--threshold", type=_share, default=0.1, metavar="X", help="how strong at least, from 0 to 1 (default 0.1)"
    )
    json(parser)


def scopes(parser: ArgumentParser) -> None:
    """Which part of the tree, or which text is to be filed."""
    parser.add_argument("parent", metavar="PARENT", nargs="?", help="only this scope and what is below it")
    parser.add_argument("--suggest", metavar="TEXT", help="tell where this text belongs; - reads stdin")
    json(parser)


def sessions(parser: ArgumentParser) -> None:
    """What to do with sessions."""
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=("list", "create", "cleanup"), default="list",
        help="list (default), create, or cleanup: remove those that nobody uses any more",
    )  # fmt: skip
    parser.add_argument("session", metavar="SESSION", nargs="?", help="only this one; create makes a name without it")
    parser.add_argument("--older-than", type=_days, metavar="DAYS", help="cleanup: unused for so many days (default 7)")
    json(parser)


def keys(parser: ArgumentParser) -> None:
    """What to do with keys."""
    parser.add_argument("action", metavar="ACTION", choices=("add", "list", "revoke"), help="add, list or revoke")
    parser.add_argument("which", metavar="NAME|ID", nargs="?", help="add: what to call it; revoke: its id")
    parser.add_argument(
        "--for", dest="projects", metavar="PROJECT", help="add: a project it opens; may be repeated (default: all)",
        **_SEVERAL,
    )  # fmt: skip
    parser.add_argument(
        "--access", choices=("read", "write", "metrics"), default="write",
        help="add: read, read and write (the default), or nothing but the figures of the server at /metrics",
    )  # fmt: skip
    json(parser)


def analyze(parser: ArgumentParser) -> None:
    """What is to be analyzed, and how."""
    parser.add_argument(
        "what", metavar="WHAT", nargs="?", choices=("patterns", "quality", "relationships", "conflicts", "insights"),
        help="patterns, quality ID, relationships ID, conflicts [ID ...] or insights [ID ...]",
    )  # fmt: skip
    parser.add_argument("ids", metavar="ID", nargs="*", help="the ids of memories, or their names")
    parser.add_argument("--type", metavar="T", help="only this type or dimension; may be repeated", **_SEVERAL)
    parser.add_argument("--session", metavar="S", help="also what belongs to this session")
    parser.add_argument("--since", metavar="TIME", help="patterns: only what was written or read at this time or later")
    parser.add_argument("--until", metavar="TIME", help="patterns: only what was written or read before this time")
    parser.add_argument(
        "--least", type=_share, metavar="X", help="patterns (default 0.5) and relationships: at least so certain"
    )
    parser.add_argument("--depth", type=_number(1), default=2, metavar="N", help="relationships: so far (default 2)")
    parser.add_argument(
        "--sensitivity", choices=("high", "medium", "low"), default="medium",
        help="conflicts: high tells what may be one, low what almost surely is (default medium)",
    )  # fmt: skip
    json(parser)


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────


def _query(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what to look for, in your own words; nothing in it is syntax")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="how many memories at most (default 10)")
    parser.add_argument("--kind", metavar="K", help="only memories of this kind; may be repeated", **_SEVERAL)
    parser.add_argument("--category", metavar="C", help="only memories of this category; may be repeated", **_SEVERAL)
    parser.add_argument(
        "--tag", metavar="T", help="only memories with this tag; repeated: with any of them", **_SEVERAL
    )
    parser.add_argument("--scope", metavar="S", help="only memories of this scope")
    parser.add_argument("--below", action="store_true", help="and of every scope below it")
    parser.add_argument("--session", metavar="S", help="only memories of this session or of none")
    parser.add_argument("--since", metavar="TIME", help="only memories made at this time or later")
    parser.add_argument("--until", metavar="TIME", help="only memories made before this time")
    parser.add_argument(
        "--meta", metavar="KEY=VALUE", help="only memories with this metadata; repeated: with all of it", **_SEVERAL
    )


def search(parser: ArgumentParser) -> None:
    """What to look for, where, and how much of it."""
    _query(parser)
    parser.add_argument(
        "--threshold",
        type=_share,
        metavar="X",
        help="only memories with at least this score, from 0 to 1; 0 hides nothing",
    )
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the best passages that fit so many tokens")
    parser.add_argument("--facets", action="store_true", help="count kinds, tags, scopes and months of all that match")
    parser.add_argument("--cursor", metavar="C", help="go on after a page; --json tells the cursor as next")
    json(parser)


def explain(parser: ArgumentParser) -> None:
    """The query to explain."""
    _query(parser)
    json(parser)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────


def import_(parser: ArgumentParser) -> None:
    """The file to take in, and how."""
    parser.add_argument(
        "path",
        metavar="FILE",
        help="a graph (memory.json, memory.jsonl), an archive, a project file, or contents of your own (a table with a "
        "column content or text, a JSON list, a .md file); - reads stdin",
    )
    parser.add_argument(
        "--existing",
        choices=("merge", "replace", "keep"),
        help="what happens to what exists: merge adds what it lacks (default); not with an archive",
    )
    parser.add_argument("--archive", action="store_true", help="the file is an archive, even if it does not say so")
    parser.add_argument(
        "--strategy",
        choices=STRATEGIES,
        help="with --archive, what happens to a memory that exists: skip_duplicates keeps it (default)",
    )
    parser.add_argument("--prefix", metavar="SCOPE", help="with --archive: file everything below this scope")
    parser.add_argument(
        "--no-validate", action="store_true", help="with --archive: take what can be taken, even if not all can"
    )
    parser.add_argument("--dry-run", action="store_true", help="only report what the file holds")
    json(parser)


def export(parser: ArgumentParser) -> None:
    """Where to write, and what."""
    parser.add_argument(
        "path", metavar="FILE", help="ends in .json or .jsonl (an archive may end otherwise); - writes to stdout"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    _at(parser)
    parser.add_argument(
        "--archive", action="store_true", help="write an archive: everything that is known of each memory"
    )
    parser.add_argument("--scope", metavar="S", help="with --archive: only this scope and everything below it")
    parser.add_argument(
        "--format", choices=("json", "yaml"), help="with --archive (default: as the file's name says, or json)"
    )
    parser.add_argument("--gzip", action="store_true", help="with --archive: compressed, as if the name ends in .gz")
    parser.add_argument("--no-associations", action="store_true", help="with --archive: without what links memories")
    json(parser)


# ── the past, and the store ──────────────────────────────────────────────────────────────────────────────


def backup(parser: ArgumentParser) -> None:
    """What to write."""
    parser.add_argument("path", metavar="FILE", help="the file to write: every project, with history and indexes")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    json(parser)


def restore(parser: ArgumentParser) -> None:
    """What to bring back."""
    parser.add_argument("path", metavar="FILE", help="a file that `polymnia backup` made, or another store")
    json(parser)


def history(parser: ArgumentParser) -> None:
    """Whose history."""
    _id(parser)
    json(parser)


def changes(parser: ArgumentParser) -> None:
    """How many changes."""
    parser.add_argument("--limit", type=int, default=20, help="how many (default 20)")
    json(parser)


def undo(parser: ArgumentParser) -> None:
    """Which change."""
    parser.add_argument("--change", type=int, metavar="N", help="which change (default: the newest one)")
    json(parser)


def purge(parser: ArgumentParser) -> None:
    """What is to be forgotten."""
    parser.add_argument("names", metavar="ID|NAME", nargs="+", help="the names of the memories, or their ids")
    parser.add_argument("--yes", action="store_true", help="really: this cannot be undone")


def reindex(parser: ArgumentParser) -> None:
    """How much to make again."""
    parser.add_argument("--anew", action="store_true", help="make everything again from the texts")
    parser.add_argument("--all-projects", action="store_true", help="every project of the store")
    json(parser)


def config(parser: ArgumentParser) -> None:
    """All settings, or what one client needs to be told."""
    parser.add_argument(
        "--client", metavar="CLIENT", choices=CLIENTS,
        help="print what this client's configuration needs instead: claude-desktop, claude-code, cursor or vscode",
    )  # fmt: skip
    json(parser)
