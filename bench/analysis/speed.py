"""``python -m bench.analysis.speed``: what each analysis costs on a large project.

The project is made up: sentences that read like notes, written over a year by five people, with tags, relations and
reads, vectors of the default model. Each analysis runs in a process of its own that has done nothing before, so the
times include loading libraries, model and index, and the memory is the peak of everything.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from bench import peer, report
from bench.machine import facts
from bench.result import Result, Table, Verdict
from bench.search.memories import Maker

__all__ = ["main"]

CACHE = os.path.join(peer.ROOT, ".cache")
RESULTS = os.path.join(peer.ROOT, "bench", "results", "analysis")
SIZE = 100_000
SEED = 20_261_115
LONGEST, MOST_MB, ONE_MS = 60.0, 1536.0, 200.0
PATTERNS = (
    "topic_clusters", "usage_patterns", "quality_issues", "relationship_patterns", "temporal_patterns", "user_patterns",
)  # fmt: skip
BATCH = 100  # memories written at a time
DAY, HOUR = 86_400_000_000, 3_600_000_000
BEGUN = 1_760_000_000_000_000
PEOPLE = ("ann via claude", "bob via cursor", "cho via claude", "dia via vscode", "library")


def main(arguments: list[str] | None = None) -> int:
    """Measure; answers 0 when no target was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.speed", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="how many memories")
    parser.add_argument("--results", default=RESULTS, help="where the results are kept")
    parser.add_argument("--store", help="a store that was filled before (it is filled when it is not there)")
    parser.add_argument("--only", action="append", help="one analysis; may be given several times")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        print(json.dumps(_worker(*given.worker)))
        return 0
    os.makedirs(CACHE, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="analysis-", dir=CACHE)
    try:
        begun, machine = time.perf_counter(), facts(folder)
        store = given.store or os.path.join(folder, "memory.db")
        if not os.path.exists(store):
            _apart(store, "fill", str(given.size))
        result = _measured(store, given.size, given.only)
        took = time.perf_counter() - begun
        kept = report.save(result, given.results, "full", took, "python -m bench.analysis.speed", machine)
        print(report.show(kept), flush=True)
        return int(any(verdict.met is False for verdict in result.verdicts))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(store: str, size: int, only: list[str] | None) -> Result:
    rows, verdicts, numbers = [], [], {}
    for name in only or (*PATTERNS, "detect_conflicts", "generate_insights"):
        one = numbers[name] = _apart(store, "whole", name)
        rows.append([name, f"{one['seconds']:.1f}", f"{one['peak_mb']:.0f}", f"{one['found']:,}"])
        if name in PATTERNS:
            verdicts.append(
                Verdict(f"{name} of {size:,}: under {LONGEST:g} s", f"{one['seconds']:.1f} s", one["seconds"] < LONGEST)
            )
            text = f"{name} of {size:,}: under {MOST_MB / 1024:g} GB"
            verdicts.append(Verdict(text, f"{one['peak_mb']:.0f} MB", one["peak_mb"] < MOST_MB))
    single = []
    if not only:
        for name, one in _apart(store, "single").items():
            numbers[name] = one
            single.append([name, f"{one['p50']:.1f}", f"{one['p95']:.1f}"])
        one = numbers["detect_conflicts of one item"]
        verdicts.append(
            Verdict(f"conflicts of one item among {size:,}: under {ONE_MS:g} ms", f"{one['p50']:.1f} ms (p50), "
                    f"{one['p95']:.1f} ms (p95)", one["p95"] < ONE_MS)
        )  # fmt: skip
    tables = [
        Table("Of the whole project", ["analysis", "s", "peak MB", "found"], rows),
        Table("Of one item, in a process that is warm", ["analysis", "p50 ms", "p95 ms"], single),
    ]
    summary = (
        f"{size:,} made-up notes of a sentence or two, written over a year by {len(PEOPLE)} people, two relations for "
        "each, reads counted for a third. One process for each analysis, started for it alone."
    )
    return Result("speed", "What analyses cost", summary, verdicts, tables, numbers)


def _apart(store: str, *worker: str) -> Any:
    command = [sys.executable, "-m", "bench.analysis.speed", "--worker", store, *worker]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


# ── processes of their own ───────────────────────────────────────────────────────────────────────────────


def _worker(store: str, what: str, *more: str) -> Any:
    return {"fill": _fill, "whole": _whole, "single": _single}[what](store, *more)


def _memory(store: str) -> Any:
    from polymnia import app

    return app.open_memory(app.settings({"store": store}), "bench")


def _fill(store: str, size: str) -> None:
    """Write the project as five people would in a year, by a clock of its own."""
    from polymnia.engine.search import Analysis
    from polymnia.models import EntityDraft, RelationDraft, Seen, new_id
    from polymnia.storage.sqlite import SqliteStore

    draw = random.Random(SEED)
    now = BEGUN
    kept = SqliteStore(store, clock=lambda: now, analyst=Analysis())
    memories = list(Maker().memories(int(size)))
    names: list[str] = []
    for start in range(0, len(memories), BATCH):
        now = BEGUN + int(365 * DAY * start / len(memories)) + draw.randrange(9, 18) * HOUR
        with kept.write("default", draw.choice(PEOPLE), "create_entities") as tx:
            drafts = []
            for _, kind, texts in memories[start : start + BATCH]:
                uid = f"content_{new_id().replace('-', '')}"
                tags = tuple(dict.fromkeys(draw.choices(("red", "green", "blue", "late", "draft", "api"), k=2)))
                drafts.append(EntityDraft(uid, kind, (texts[0],), uid=uid, tags=tags))
            made = tx.add_records(drafts)
            names += [record.name for record in made]
            near = names[-5 * BATCH :]
            tx.relate(
                RelationDraft(record.name, draw.choice(near), draw.choice(("related_to", "references")), None)
                for record in made
                for _ in range(2)
            )
            tx.count_reads(
                Seen(record.id, now // HOUR * HOUR + draw.randrange(2000) * HOUR, draw.choice(PEOPLE), 1, 2)
                for record in made[::3]
            )
    kept.close()
    with _memory(store) as memory:
        memory.finding().reindex("default", lambda lane, done, total: None)


def _whole(store: str, name: str) -> dict[str, Any]:
    with _memory(store) as memory:
        begun = time.perf_counter()
        if name == "detect_conflicts":
            found = len(memory.conflicts(types=_conflict_types())[0].clashes)
        elif name == "generate_insights":
            from typing import get_args

            from polymnia.dialects.content.analyze_answers import InsightType

            found = len(memory.insights(types=get_args(InsightType))[0].insights)
        else:
            found = len(memory.patterns([name])[0][name].patterns)
        seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak_mb": peak, "found": found}


def _conflict_types() -> tuple[str, ...]:
    from typing import get_args

    from polymnia.dialects.content.analyze_answers import ConflictType

    return get_args(ConflictType)


def _single(store: str) -> dict[str, Any]:
    from typing import get_args

    from polymnia.dialects.content.analyze_answers import QualityDimension

    with _memory(store) as memory:
        with memory.store.read("default") as snapshot:
            ids = [record.uid for record in snapshot.records()]
        random.Random(SEED).shuffle(ids)
        types, sides = _conflict_types(), get_args(QualityDimension)
        calls: dict[str, Callable[[str], Any]] = {
            "detect_conflicts of one item": lambda id: memory.conflicts(types=types, ids=[id]),
            "find_content_relationships, depth 3": lambda id: memory.connections(id, max_depth=3),
            "analyze_quality": lambda id: memory.quality(id, dimensions=sides),
        }
        told = {}
        for name, call in calls.items():
            for id in ids[:5]:
                call(id)
            seconds = []
            for id in ids[5:105]:
                begun = time.perf_counter()
                call(id)
                seconds.append(time.perf_counter() - begun)
            told[name] = {
                "p50": statistics.median(seconds) * 1000,
                "p95": statistics.quantiles(seconds, n=20)[-1] * 1000,
            }
        return told


if __name__ == "__main__":
    sys.exit(main())
