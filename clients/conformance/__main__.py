"""Compare the answers of clients: ``python -m clients.conformance python=answers.jsonl go=others.jsonl``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from clients.conformance.comparing import TABLE, compared


def main(arguments: list[str]) -> int:
    """Say where the answers differ."""
    if not arguments or not all("=" in one for one in arguments):
        print("usage: python -m clients.conformance NAME=FILE...", file=sys.stderr)
        return 2
    files = dict(one.split("=", 1) for one in arguments)
    answers = {name: Path(path).read_text(encoding="utf-8").split("\n")[:-1] for name, path in files.items()}
    found = compared(answers, json.loads(TABLE.read_text(encoding="utf-8")))
    print("\n".join(found) or f"{', '.join(answers)}: {len(next(iter(answers.values())))} answers, all alike")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
