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
_PARTS = ("definitions", "evidence", "briefs", "tasks")


def main() -> int:
    """Run the parts and write their figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.agents", description=__doc__)
    parser.add_argument("--data", help="the folder of question sets, for the part `evidence`")
    parser.add_argument("--questions", type=int, default=200, help="questions of each set (default: 200)")
    parser.add_argument("--texts", type=int, help="texts of each set; fewer make it easier (default: all)")
    parser.add_argument("--only", action="append", choices=_PARTS, help="one part; may be given several times")
    parser.add_argument("--results", default=str(_RESULTS), help="where the figures go")
    given = parser.parse_args()
    peer.install()
    cache = Path(peer.ROOT) / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        for part in given.only or _PARTS:
            if part == "evidence" and not given.data:
                print("evidence: left out, --data names no folder", file=sys.stderr)
                continue
            found = _run(part, folder, given)
            print(json.dumps({part: found}, indent=2), flush=True)
            os.makedirs(given.results, exist_ok=True)
            facts = machine.facts(folder)
            (Path(given.results) / f"{part}.json").write_text(
                json.dumps({"machine": facts, "figures": found}, indent=2, ensure_ascii=False) + "\n"
            )
    return 0


def _run(part: str, folder: str, given: argparse.Namespace) -> dict[str, Any]:
    if part == "definitions":
        return definitions.run()
    if part == "evidence":
        return evidence.run(folder, given.data, given.questions, given.texts)
    if part == "briefs":
        return briefs.run(folder)
    from bench.agents import tasks

    return tasks.run(folder)


if __name__ == "__main__":
    sys.exit(main())
