"""Servers and commands in processes of their own, forked from one that has imported the product already.

A fresh interpreter spends most of its first tenth of a second on imports, and the suite starts thousands. The process
that is forked has read no settings and started no thread. What is about starting (imports, first calls, signals during
the start) starts ``python -m polymnia`` itself, and so does everything where the system is not Linux.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
from functools import cache
from typing import Any

__all__ = ["AVAILABLE", "Forked"]

AVAILABLE = sys.platform == "linux"
_PR_SET_CHILD_SUBREAPER = 36
_LONGEST = 1 << 17


@cache
def _template(of: int) -> socket.socket:
    """The connection to the process that is forked, one for each process that asks."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what it forks becomes a child of this process
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        template = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        template.wait()

    atexit.register(end)
    return ours


class Forked(subprocess.Popen[Any]):
    """``python -m polymnia`` with these arguments."""

    def _execute_child(self, args: list[str], *rest: Any) -> None:
        cwd, environment, ends = rest[4], rest[5], rest[9:15]
        read, _, _, write, _, complain = ends
        template = _template(os.getpid())
        order = json.dumps({"arguments": args, "folder": str(cwd), "environment": environment}).encode()
        socket.send_fds(template, [order], [read, write, complain])
        self.pid = int(template.recv(_LONGEST))
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]


def _fork(order: dict[str, Any], files: list[int], control: socket.socket) -> None:
    """Start the process; this returns in the one that forks, once what it forked has another parent."""
    told, tell = os.pipe()
    between = os.fork()
    if between:
        os.close(tell)
        os.waitpid(between, 0)
        control.send(os.read(told, 20))
        os.close(told)
        return
    if pid := os.fork():
        os.write(tell, str(pid).encode())
        os._exit(0)
    for standard, file in enumerate(files):
        os.dup2(file, standard)
    os.closerange(3, max(told, tell, control.fileno(), *files) + 1)
    control.detach()
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["polymnia", *order["arguments"]]

    from polymnia.cli import main

    sys.exit(main())


def _serve() -> None:
    import gc

    import polymnia.app
    import polymnia.cli.commands
    import polymnia.dialects.graph
    import polymnia.engine.memory
    import polymnia.storage.sqlite  # noqa: F401

    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
    gc.freeze()
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        order, files, _, _ = socket.recv_fds(control, _LONGEST, 3)
        if not order:
            return
        _fork(json.loads(order), files, control)
        for file in files:
            os.close(file)


if __name__ == "__main__":
    _serve()
