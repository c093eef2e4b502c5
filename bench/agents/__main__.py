"""Measure what the native dialect costs and gives an agent: python -m bench.agents --data DIR [--only PART]."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import machine, peer
from bench.agents import briefs, definitions, evidence

_RESULTS = Path(peer.ROOT) / "bench" / "results" / "agents"
_PARTS = ("definitions", "evidence", "briefs", "tasks", "new tasks")


def main() -> int:
    """Run the parts and write their figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.agents", description=__doc__)
    parser.add_argument("--data", help="the folder of question sets, for the part `evidence`")
    parser.add_argument("--questions", type=int, help="held out questions of each set (default: all)")
    parser.add_argument("--stores", help="where `evidence` keeps its filled stores (default: nowhere)")
    parser.add_argument("--only", action="append", choices=_PARTS, help="one part; may be given several times")
    parser.add_argument("--results", default=str(_RESULTS), help="where the figures go")
    given = parser.parse_args()
    peer.install()
    cache = Path(peer.ROOT) / ".cache"
    cache.mkdir(exist_ok=True)
    for part in given.only or _PARTS:
        if part == "evidence" and not given.data:
            print("evidence: left out, --data names no folder", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            found = _run(part, folder, given)
            facts = machine.facts(folder)
        print(json.dumps({part: found}, indent=2), flush=True)
        os.makedirs(given.results, exist_ok=True)
        (Path(given.results) / f"{part.replace(' ', '_')}.json").write_text(
            json.dumps({"machine": facts, "figures": found}, indent=2, ensure_ascii=False) + "\n"
        )
    return 0


def _run(part: str, folder: str, given: argparse.Namespace) -> dict[str, Any]:
    if part == "definitions":
        return definitions.run()
    if part == "evidence":
        return evidence.run(given.stores or folder, given.data, given.questions)
    if part == "briefs":
        return briefs.run(folder)
    from bench.agents import tasks

    return tasks.run(folder, part)


if __name__ == "__main__":
    sys.exit(main())
