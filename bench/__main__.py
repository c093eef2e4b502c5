"""``python -m bench``: run the benchmarks, print their tables, keep the results, draw the plot."""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import shutil
import sys
import tempfile
import time

from bench import peer, plot, report
from bench.machine import facts
from bench.stage import Stage

__all__ = ["main"]

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results")


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; answers 0 when no target that could be judged was missed."""
    given = _parser().parse_args(arguments)
    if not sys.platform.startswith("linux"):
        print("The benchmark reads CPU and memory from the Linux kernel and runs nowhere else.", file=sys.stderr)
        return 2
    chosen = [name for name in report.ORDER if not given.only or name in given.only]
    form = "quick" if given.quick else "full"
    results = given.results or (os.path.join(CACHE, "bench") if given.quick else RESULTS)
    peer.install()
    # As an installed package is: one installed in place may have no bytecode, and be compiled anew at every start.
    compileall.compile_dir(os.path.join(peer.ROOT, "src", "polymnia"), quiet=1)
    os.makedirs(CACHE, exist_ok=True)
    # Beside the repository and not in /tmp, which is memory on many machines: a write must meet a real disk.
    folder = tempfile.mkdtemp(prefix="run-", dir=CACHE)
    missed = 0
    try:
        stage = Stage(folder, given.quick, given.wordnet)
        machine = facts(folder)
        print("  ".join(f"{name}: {value}" for name, value in machine.items()))
        for name in chosen:
            print(f"\n{name} …", file=sys.stderr, flush=True)
            begun = time.perf_counter()
            result = importlib.import_module(f"bench.{name}").run(stage)
            took = time.perf_counter() - begun
            kept = report.save(result, results, form, took, _command(name, given), machine)
            print(report.show(kept), flush=True)
            missed += sum(verdict.met is False for verdict in result.verdicts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.write_readme(results)
    plot.draw(results)
    print(f"\n{missed} targets missed. Results, README and plot: {os.path.relpath(results)}")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short form; its results go to .cache/bench")
    parser.add_argument("--only", action="append", choices=report.ORDER, metavar="NAME", help=", ".join(report.ORDER))
    parser.add_argument("--wordnet", metavar="DIR", help="folder with nodes.jsonl.gz and edges.jsonl.gz")
    parser.add_argument("--results", metavar="DIR", help="where to keep the results (default: bench/results)")
    return parser


def _command(name: str, given: argparse.Namespace) -> str:
    parts = ["python -m bench", f"--only {name}"]
    parts += ["--quick"] if given.quick else []
    parts += ["--wordnet DIR"] if given.wordnet else []
    return " ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
