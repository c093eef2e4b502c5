"""Talk to a server as an AI client does: a line for each request, a line for each answer."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any


@contextmanager
def server(*options: str) -> Iterator[Callable[..., Any]]:
    """A server on the store notes.db, as a function that calls one operation and gives what it answers."""
    command = ["polymnia", "stdio", "--dialect", "content", "--store", "notes.db", "--embedder", "none", *options]
    pipe, ids = subprocess.PIPE, count(1)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:

        def call(tool: str, operation: str, **given: Any) -> Any:
            arguments = {"operation": operation, "project_id": "atlas", **given}
            params = {"name": tool, "arguments": arguments}
            request = {"jsonrpc": "2.0", "id": next(ids), "method": "tools/call", "params": params}
            print(json.dumps(request), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            return answer["error"] if "error" in answer else answer["result"]["structuredContent"]

        yield call
        process.stdin.close()
