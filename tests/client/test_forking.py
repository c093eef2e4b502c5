"""A process that was forked uses the client of its parent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stdio_client import DEADLINE

from .serving import Serving

_SCRIPT = """
import os, queue, sys, threading
from polymnia.client import MCPMemoryClient

endpoint, name = sys.argv[1:]
entity = {"name": name, "entityType": "t", "observations": ["x"]}
heard = queue.Queue()
client = MCPMemoryClient(endpoint)
client.subscribe(name, heard.put)
client.ping()
child = os.fork()
stored = client.store_content("forked", f"by {'the child' if child == 0 else 'the parent'}")
assert stored["success"]
if child == 0:
    sys.exit(7)  # as a program ends, without closing anything
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
client.create_entities([entity])
heard.get(timeout=30)
link = client._client._link
client.ping()
assert client._client._link is link
client.close()
if os.fork() == 0:
    try:
        client.ping()
    except ConnectionError as error:
        print(error)
        sys.stdout.flush()
        os._exit(0)
os.wait()
print("done")
"""


@pytest.mark.promise("clients.python.forking")
@pytest.mark.parametrize("kind", ["ws", "http", "stdio"])
def test_a_forked_process_makes_a_connection_of_its_own_and_its_parents_goes_on(shared: Serving, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT, shared.url(kind), f"forked {kind}"],
        capture_output=True, text=True, timeout=2 * DEADLINE, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("The client was closed\ndone\n", 0), done.stderr
    assert "Traceback" not in done.stderr
    assert "pending" not in done.stderr
