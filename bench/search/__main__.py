"""``python -m bench.search``: measure the search, print its tables, keep the results, draw the plot."""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import shutil
import sys
import tempfile
import time

from bench import peer, report
from bench.machine import facts
from bench.search import page, plot
from bench.search.door import PLAIN, VARIANTS
from bench.search.peers import PEERS
from bench.search.plan import Plan
from bench.search.sets import SETS

__all__ = ["main"]

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "search")


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; answers 0 when no target that could be judged was missed."""
    given = _parser().parse_args(arguments)
    if not sys.platform.startswith("linux"):
        print("The benchmark reads CPU and memory from the Linux kernel and runs nowhere else.", file=sys.stderr)
        return 2
    peer.install()
    compileall.compile_dir(os.path.join(peer.ROOT, "src", "polymnia"), quiet=1)
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="search-", dir=CACHE)
    plan = _plan(given, folder)
    # One thread for the numbers of every side: what is compared is the work, not how many cores it was spread over.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    missed = 0
    try:
        machine = facts(folder)
        print("  ".join(f"{name}: {value}" for name, value in machine.items()))
        for name in given.only or page.ORDER:
            begun = time.perf_counter()
            result = importlib.import_module(f"bench.search.{name}").run(plan)
            took = time.perf_counter() - begun
            kept = report.save(result, plan.results, plan.form, took, _command(name, given), machine)
            print(("\r" if sys.stderr.isatty() else "") + report.show(kept), flush=True)
            missed += sum(verdict.met is False for verdict in result.verdicts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    page.write(plan.results)
    plot.draw(plan.results)
    print(f"\n{missed} targets missed. Results, README and plot: {os.path.relpath(plan.results)}")
    return 1 if missed else 0


def _plan(given: argparse.Namespace, folder: str) -> Plan:
    # A part of a set must never take the place of the whole one.
    partial = given.quick or given.sample is not None or given.texts is not None or given.dated
    sizes = [2_000] if given.quick else [10_000, 100_000]
    return Plan(
        data=given.data,
        folder=folder,
        results=given.results or (os.path.join(CACHE, "bench-search") if partial else RESULTS),
        quick=given.quick,
        sets=given.set or (["locomo", "korquad"] if given.quick else list(SETS)),
        sample=given.sample,
        most=given.texts,
        dated=given.dated,
        embedders=given.embedder or [PLAIN],
        variants=given.variant or ["all", "words", "meaning"],
        peers=given.peer if given.peer is not None else ["reference"] if given.quick else list(PEERS),
        sizes=given.size or ([*sizes, 1_000_000] if given.large else sizes),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    add = parser.add_argument
    add("--data", metavar="DIR", help="the folder of the question sets")
    add("--quick", action="store_true", help="a short form on parts of two sets; its results go to .cache/bench-search")
    add("--only", action="append", choices=page.ORDER, metavar="PART", help=", ".join(page.ORDER))
    add("--set", action="append", choices=SETS, metavar="SET", help=", ".join(SETS))
    add("--sample", type=int, metavar="N", help="at most so many questions of a set")
    add("--texts", type=int, metavar="N", help="at most so many texts of a set")
    add("--dated", action="store_true", help="write the date of a message or session before its text")
    add("--embedder", action="append", metavar="NAME", help=f"as the setting of that name (default: {PLAIN})")
    add("--variant", action="append", choices=VARIANTS, metavar="NAME", help=", ".join(VARIANTS))
    add("--peer", action="append", choices=PEERS, metavar="NAME", help=", ".join(PEERS))
    add("--size", action="append", type=int, metavar="N", help="measure the speed at so many memories")
    add("--large", action="store_true", help="measure the speed at a million too")
    add("--results", metavar="DIR", help="where to keep the results (default: bench/results/search)")
    return parser


def _command(name: str, given: argparse.Namespace) -> str:
    parts = ["python -m bench.search", f"--only {name}"]
    parts += ["--quick"] if given.quick else []
    parts += ["--data DIR"] if name != "speed" else []
    for option in ("set", "embedder", "variant", "peer"):
        if name != "speed":
            parts += [f"--{option} {value}" for value in getattr(given, option) or []]
    parts += [f"--{option} {value}" for option in ("sample", "texts") if (value := getattr(given, option))]
    parts += ["--dated"] if given.dated else []
    parts += [f"--size {size}" for size in given.size or []] + (["--large"] if given.large else [])
    return " ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
