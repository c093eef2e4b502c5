"""Talk to a server as an AI client does; `call` names an operation of the content dialect and what it takes."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

ELSEWHERE = {
    "create_relationship": "memory_store",
    "delete_content": "memory_store",
    "store_content": "memory_store",
    "update_content": "memory_store",
    "import_project_data": "memory_system",
}


@contextmanager
def server(*options: str) -> Iterator[Callable[..., Any]]:
    """A server on the store notes.db."""
    command = ["polymnia", "stdio", "--dialect", "content", "--store", "notes.db", "--embedder", "none", *options]
    pipe, ids = subprocess.PIPE, count(1)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:

        def call(operation: str, **given: Any) -> Any:
            arguments = {"operation": operation, "project_id": "atlas", **given}
            params = {"name": ELSEWHERE.get(operation, "memory_analyze"), "arguments": arguments}
            request = {"jsonrpc": "2.0", "id": next(ids), "method": "tools/call", "params": params}
            print(json.dumps(request), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            return answer["error"] if "error" in answer else answer["result"]["structuredContent"]

        yield call
        process.stdin.close()
