"""How long a brief takes in a large project, and how long a batch of a thousand memories."""

from __future__ import annotations

import os
import random
import sys
from statistics import median
from typing import Any

from bench.client import Server

__all__ = ["run"]

_MEMORIES = 100_000
_BATCH = 10_000
_TIMES = 30
_KINDS = (
    ["fact"] * 60 + ["memory"] * 20 + ["preference", "decision"] * 6 + ["plan"] * 4 + ["instruction", "question"] * 2
)


def run(folder: str) -> dict[str, Any]:
    """The median of briefs at 100,000 memories, and of batches of 1,000 on top of them."""
    store = os.path.join(folder, "briefs.db")
    environment = {**os.environ, "POLYMNIA_STORE": store, "POLYMNIA_EMBEDDER": "none"}
    draw = random.Random(7)
    with Server([sys.executable, "-m", "polymnia", "stdio", "--dialect", "native"], environment) as server:
        server.hello()
        for start in range(0, _MEMORIES, _BATCH):
            _store(server, [_memory(draw, start + i) for i in range(_BATCH)])
        briefs = [_timed(server, "brief", {}) for _ in range(_TIMES)]
        batches = [_store(server, [_memory(draw, _MEMORIES + n * 1000 + i) for i in range(1000)]) for n in range(5)]
    return {
        "memories": _MEMORIES,
        "brief p50 ms": round(median(briefs) * 1e3, 1),
        "brief max ms": round(max(briefs) * 1e3, 1),
        "1,000 memories in one call, p50 s": round(median(batches), 3),
    }


def _memory(draw: random.Random, number: int) -> dict[str, Any]:
    words = " ".join(f"word{draw.randrange(4000)}" for _ in range(16))
    scope = f"team{draw.randrange(40)}/part{draw.randrange(5)}"
    return {"text": f"{number}: {words}", "kind": draw.choice(_KINDS), "scope": scope}


def _store(server: Server, memories: list[dict[str, Any]]) -> float:
    return _timed(server, "remember", {"memories": memories})


def _timed(server: Server, tool: str, arguments: dict[str, Any]) -> float:
    answer = server.call(tool, arguments)
    if answer.failed:
        raise RuntimeError(answer.line[:400])
    return answer.seconds
