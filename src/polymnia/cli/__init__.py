"""The command ``polymnia``. A server must start fast, so ``stdio`` is recognised before argparse is loaded."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command; answers the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    serves = given[0] == "stdio" if given else not sys.stdin.isatty()
    if serves or (given and given[0].startswith("--") and not sys.stdin.isatty()):
        from polymnia.settings import BadSetting, read

        flags = given[1:] if given[:1] == ["stdio"] else given
        if not {"-h", "--help", "--version"} & set(flags):
            from polymnia import app

            try:
                chosen = app.settings(read(flags))
            except BadSetting as e:
                hint = "Put options after the command." if any(not flag.startswith("-") for flag in flags) else ""
                print(f"polymnia: {e}. {hint}\nSee: polymnia --help", file=sys.stderr)
                return 2
            app.serve_stdio(chosen)
            return 0
    from polymnia.cli.commands import run

    return run(given)
