"""The ``polymnia`` command. A server must start fast, so ``stdio`` is handled before argparse is loaded."""

from __future__ import annotations

import os
import sys

_COMMANDS = (
    *(
        "install",
        "doctor",
        "stdio",
        "serve",
        "open",
        "keys",
        "demo",
        "add",
        "search",
        "explain",
        "show",
        "list",
        "move",
        "delete",
        "scopes",
    ),
    *(
        "associations",
        "analyze",
        "sessions",
        "import",
        "export",
        "backup",
        "restore",
        "migrate",
        "history",
        "changes",
        "undo",
    ),
    *("purge", "reindex", "config", "health", "upgrade", "completion"),
)


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions, which it imports if installed.

    The supported Python versions do not need it, and loading it takes a sixth of the time to the first response.
    """
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    # Our NumPy products are small: with several threads they take ten times as long when the cores are busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if words and words[0].startswith("--") and (command := next((one for one in words if one in _COMMANDS), None)):
        print(f"polymnia: options stand after the command: polymnia {command} {words[0]} …", file=sys.stderr)
        return 2
    serves = words[0] == "stdio" if words else not sys.stdin.isatty()
    if serves or (words and words[0].startswith("--") and "--json" not in words and not sys.stdin.isatty()):
        from polymnia.settings import NETWORK, BadSetting, read

        flags = words[1:] if words[:1] == ["stdio"] else words
        if not {"-h", "--help", "--version"} & set(flags):
            import gc

            gc.disable()  # nothing becomes garbage before the first response; a server enables it
            _import_msgspec()
            from polymnia.errors import Fault

            try:
                from polymnia import app

                app.serve_stdio(app.settings(read(flags, NETWORK)))
            except BadSetting as e:
                print(f"polymnia: {e}\nSee: polymnia stdio --help", file=sys.stderr)
                return 2
            except Fault as e:
                print(f"polymnia: {e.message}\n{e.hint}", file=sys.stderr)
                return 1
            finally:
                gc.enable()
            return 0
    from polymnia.cli.commands import run

    return run(words)
