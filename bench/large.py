"""A graph of a hundred thousand entities: how long the import takes, and how long a search."""

from __future__ import annotations

import glob
import os
import time
from collections import defaultdict
from typing import Any

from bench.client import Server
from bench.probe import blend, spread
from bench.result import Result, Table, Verdict
from bench.sides import Polymnia, Reference
from bench.stage import Stage

__all__ = ["run"]

DIALECTS = ("simple", "strict", "official")
ENTITIES_KEY = {"simple": "result", "strict": "nodes", "official": "entities"}
FOLD = {"simple": str.casefold, "official": str.lower}
WORDS = ("rare", "medium", "common", "frequent")
LABELS = {
    "rare": "rare words",
    "medium": "medium words",
    "common": "common words",
    "frequent": "frequent words",
    "phrase": "three words in a row",
    "absent": "nothing to find",
    "one": "one character",
    "two": "two characters",
    "korean": "Korean, three to five syllables",
    "korean_two": "Korean, two syllables",
    "korean_one": "Korean, one syllable",
}
IMPORT_BOUND = 60.0
SEARCH_BOUND = 0.020
PAGE = 50
# An answer without a limit carries every hit: a few of the largest are enough to know what they cost.
BUDGET = 6.0

Samples = dict[tuple[str, str, int | None], list[float]]


def run(stage: Stage) -> Result:
    """Import, then search in three dialects on the same store, class by class, the dialects in turn."""
    size = len(stage.graph.entities)
    taken = stage.imported(size)
    queries = stage.graph.queries(8 if stage.quick else 40)
    classes = {name: list(getattr(queries, name)) for name in LABELS}
    budget = BUDGET / 4 if stage.quick else BUDGET
    samples: Samples = defaultdict(list)
    hits: dict[tuple[str, int | None], list[int]] = defaultdict(list)
    wrong: dict[str, int] = defaultdict(int)
    servers = {dialect: Polymnia(taken.place, dialect).start() for dialect in DIALECTS}
    try:
        for server in servers.values():
            server.hello()
            for word in [*queries.phrase[:3], *queries.absent[:2]]:
                server.call("search_nodes", {"query": word})
        texts = {dialect: stage.graph.folded(fold) for dialect, fold in FOLD.items()}
        for name, words in classes.items():
            for limit in (None, PAGE):
                for dialect, server in servers.items():
                    found = _search(server, dialect, words, limit, samples[name, dialect, limit], budget)
                    if dialect == "simple":
                        hits[name, limit] = list(found.values())
                    if dialect in FOLD and limit is None:
                        wrong[dialect] += sum(
                            count != sum(FOLD[dialect](word) in text for text in texts[dialect])
                            for word, count in found.items()
                        )
    finally:
        for server in servers.values():
            server.close()
    theirs = _reference(stage, size, queries.words())
    return _result(stage, size, samples, hits, wrong, theirs)


def _search(
    server: Server, dialect: str, words: list[str], limit: int | None, samples: list[float], budget: float
) -> dict[str, int]:
    found: dict[str, int] = {}
    begun = time.perf_counter()
    for word in words:
        arguments: dict[str, Any] = {"query": word} if limit is None else {"query": word, "limit": limit}
        answer = server.call("search_nodes", arguments)
        found[word] = len(answer.structured[ENTITIES_KEY[dialect]])
        samples.append(answer.seconds)
        if time.perf_counter() - begun > budget:
            break
    return found


def _reference(stage: Stage, size: int, words: list[str]) -> list[float]:
    side = Reference(stage.place("memory.jsonl"))
    side.take(stage.file(size))
    with side.start() as server:
        server.hello()
        return [server.call("search_nodes", {"query": word}).seconds for word in words[:8]]


def _result(
    stage: Stage,
    size: int,
    samples: Samples,
    hits: dict[tuple[str, int | None], list[int]],
    wrong: dict[str, int],
    theirs: list[float],
) -> Result:
    taken = stage.imported(size)
    judged = size >= 100_000
    bytes_kept = sum(os.path.getsize(part) for part in glob.glob(glob.escape(taken.place) + "*"))
    mixed = {d: blend([samples[band, d, None] for band in WORDS]) for d in DIALECTS}
    verdicts = [
        Verdict(
            f"Import of {size:,} entities, {len(stage.graph.relations):,} relations under {IMPORT_BOUND:g} s",
            f"{taken.seconds:.1f} s",
            taken.seconds < IMPORT_BOUND if judged else None,
        )
    ]
    for dialect in DIALECTS:
        verdicts.append(
            Verdict(
                f"search_nodes p50 at {size:,} entities under {SEARCH_BOUND * 1e3:g} ms, dialect {dialect}",
                f"{mixed[dialect].p50 * 1e3:.1f} ms",
                mixed[dialect].p50 < SEARCH_BOUND if judged else None,
            )
        )

    def cell(values: list[float]) -> str:
        measured = spread(values)
        return f"{measured.p50 * 1e3:.1f} ({measured.p95 * 1e3:.1f})"

    def rows(names: tuple[str, ...], limit: int | None) -> list[list[str]]:
        return [
            [
                LABELS[name],
                f"{spread(hits[name, limit]).p50:,.0f}",
                *(cell(samples[name, dialect, limit]) for dialect in DIALECTS),
            ]
            for name in names
            if samples[name, "simple", limit]
        ]

    apart = ("phrase", "absent", "one", "two", "korean", "korean_two", "korean_one")
    columns = ["query", "hits (median)", *DIALECTS]
    together = [
        "the four with equal weight",
        "",
        *(f"{mixed[d].p50 * 1e3:.1f} ({mixed[d].p95 * 1e3:.1f})" for d in DIALECTS),
    ]
    return Result(
        "large",
        "A large graph",
        f"Graph: {stage.graph.origin}. `polymnia import` of its JSON Lines file took {taken.seconds:.1f} s "
        f"({size / taken.seconds:,.0f} entities/s); the store is {bytes_kept / 2**20:.0f} MiB, the file "
        f"{os.path.getsize(stage.file(size)) / 2**20:.0f} MiB. The reference needs "
        f"{spread(theirs).p50 * 1e3:,.0f} ms (p50 of {len(theirs)}) for a search of such words. Hits "
        f"were compared with a plain scan of the texts: {wrong['simple']} answers of simple and "
        f"{wrong['official']} of official had another number.",
        verdicts=verdicts,
        tables=[
            Table("Search, every hit in the answer, ms: p50 (p95)", columns, [*rows(WORDS, None), together]),
            Table(
                "Short, Korean and other queries, every hit in the answer, ms: p50 (p95)",
                columns,
                rows(apart, None),
                "A query of one or two letters matches a large part of an English graph, so these answers are "
                f"large; a row ends early after {BUDGET:g} s. The next table shows the same queries with a limit.",
            ),
            Table(f"The same queries with `limit: {PAGE}`, ms: p50 (p95)", columns, rows((*WORDS, *apart), PAGE)),
        ],
        numbers={
            "size": size,
            "import_seconds": taken.seconds,
            "import_report": taken.report.replace(stage.folder, ""),
            "store_bytes": bytes_kept,
            "reference_search": theirs,
            "wrong": dict(wrong),
            "words_p50": {dialect: mixed[dialect].p50 for dialect in DIALECTS},
            "p50": {
                f"{name}/{dialect}/{limit or 'all'}": spread(values).p50
                for (name, dialect, limit), values in samples.items()
                if values
            },
            "labels": LABELS,
        },
    )
