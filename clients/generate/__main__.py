"""Write the generated files, or with ``--check`` name the stale ones: ``python -m clients.generate [--check]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clients.generate import operations

__all__ = ["LANGUAGES", "ROOT", "generated", "main", "stale"]

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python -m clients.generate"
LANGUAGES = ("python", "typescript", "go")
"""Each is a module of this package with ``files(document) -> {path from the repository's root: text}``."""


def generated() -> dict[str, str]:
    """Every generated file by its path from the root of the repository."""
    document: dict[str, Any] = operations.document()
    found = {"clients/operations.json": operations.text()}
    for language in LANGUAGES:
        if (Path(__file__).parent / f"{language}.py").exists():
            found |= importlib.import_module(f"clients.generate.{language}").files(document)
    return found


def stale() -> list[str]:
    """The files that do not say what the code says."""
    wanted = generated()
    return [
        path
        for path, text in wanted.items()
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Generate the clients from the server's schemas.")
    parser.add_argument("--check", action="store_true", help="write nothing; name the files that are stale")
    if parser.parse_args(arguments).check:
        if found := stale():
            print(*(f"{path} is stale" for path in found), f"Run: {COMMAND}", sep="\n", file=sys.stderr)
        return 1 if found else 0
    for path, text in generated().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
