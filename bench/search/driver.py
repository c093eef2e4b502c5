"""``python -m bench.search.driver``: the library behind two pipes, for what the graph tools do not have.

Speaks lines of JSON as the server does, so that one client reads the clock of both.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from polymnia import app
from polymnia.models import Filters
from polymnia.settings import read

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Answer until the input ends."""
    memory: Any = app.open_memory(app.settings(read(arguments)), "bench")
    methods = {"hello": lambda memory, given: {}, "search": search, "pending": pending, "reindex": reindex}
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = methods[message["method"]](memory, message.get("params", {}))
        except Exception as fault:  # the reader of the benchmark is told, whatever it was
            answer["error"] = {"message": f"{type(fault).__name__}: {fault}"}
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def pending(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """How many passages wait for their vectors."""
    return {"pending": memory.finding().health(memory.project).pending}


def reindex(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Bring everything up to date; answers what is left all the same."""
    return {"pending": memory.finding().reindex(memory.project, lambda *_: None).pending}


def search(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """One search with its filters; answers the names, their scores and how many characters their texts have."""
    filters = msgspec.convert(given["filters"], Filters)
    found = memory.search(given["query"], limit=given["limit"], filters=filters, reasons=False)
    records = [hit.record for hit in found.hits]
    return {
        "names": [record.name for record in records],
        "scores": [hit.score for hit in found.hits],
        "characters": sum(len(text) for record in records for text in (record.name, *record.observations)),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
