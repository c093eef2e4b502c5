"""Servers, commands and scripts in processes of their own, forked from one that has imported the product already.

A fresh interpreter spends most of its first tenths of a second on imports and on loading the model, and the suite
starts thousands. The process that is forked has read no settings and started no thread. What is about starting
(imports, first calls, signals during the start) starts ``python -m polymnia`` itself, and so does everything where the
system is not Linux.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import one_model

__all__ = ["polymnia", "start"]

_INTERPRETER = sys.executable
_PR_SET_CHILD_SUBREAPER = 36
_LONGEST = 1 << 17
_turn = threading.Lock()


def _of_interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LD_"))}


_OWN = _of_interpreter(os.environ)


def start(command: Sequence[str], *, env: Mapping[str, str], **options: Any) -> subprocess.Popen[Any]:
    """Start a command as ``Popen`` does, forked where it can be.

    That is ``python -m polymnia``, ``python -c code`` or ``python script``, as long as the environment has nothing for
    the interpreter itself, and no test has put something else in its place.
    """
    same = command[0] == sys.executable == _INTERPRETER and _of_interpreter(env).items() <= _OWN.items()
    known = command[1] == "-c" or list(command[1:3]) == ["-m", "polymnia"] or not command[1].startswith("-")
    kind = _Forked if same and known and sys.platform == "linux" else subprocess.Popen
    return kind(list(command), env=dict(env), **options)


def polymnia() -> str:
    """A line of shell that does what ``polymnia "$@"`` does."""
    if sys.platform != "linux":
        return f'exec "{sys.executable}" -m polymnia "$@"'
    client = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forked_client.py")
    return f'exec "{sys.executable}" -I -S "{client}" "{_door(os.getpid())}" "$@"'


@cache
def _door(of: int) -> str:
    """The name of a socket at which this process starts commands for those who cannot fork the template themselves."""
    name = f"polymnia-tests-{of}"
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.bind("\0" + name)
    door.listen()

    def answer(asking: socket.socket) -> None:
        with asking:
            message, files, _, _ = socket.recv_fds(asking, _LONGEST, 3)
            folder, count, *words = map(os.fsdecode, message.split(b"\0"))
            arguments, variables = words[: int(count)], words[int(count) :]
            running = start(
                [sys.executable, "-m", "polymnia", *arguments], cwd=folder, stdin=files[0], stdout=files[1],
                stderr=files[2], env=dict(variable.split("=", 1) for variable in variables),
            )  # fmt: skip
            for file in files:
                os.close(file)
            asking.send(str(running.pid).encode())
            asking.send(str(running.wait()).encode())

    def serve() -> None:
        while True:
            threading.Thread(target=answer, args=door.accept()[:1], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return name


@cache
def _template(of: int) -> socket.socket:
    """The connection to the process that is forked, one for each process that asks."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what it forks becomes a child of this process
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # what is forked has to be the only thread
    with theirs:
        command = [sys.executable, __file__, str(theirs.fileno())]
        template = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=one_thread)

    def end() -> None:
        ours.close()
        template.wait()

    atexit.register(end)
    return ours


class _Forked(subprocess.Popen[Any]):
    """A command whose first word is the interpreter."""

    def _execute_child(self, args: list[str], *rest: Any) -> None:
        cwd, environment, ends = rest[4], rest[5], rest[9:15]
        read, _, _, write, _, complain = ends
        files = [standard if file == -1 else file for standard, file in enumerate((read, write, complain))]
        order = {"arguments": args[1:], "folder": str(cwd or os.getcwd()), "environment": environment}
        with _turn:
            template = _template(os.getpid())
            socket.send_fds(template, [json.dumps(order).encode()], files)
            self.pid = int(template.recv(_LONGEST))
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]


# ── the process that is forked ───────────────────────────────────────────────────────────────────────────


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
    _run(*order["arguments"])


def _run(first: str, *rest: str) -> None:
    """Do what the interpreter does with these arguments, and end."""
    code: object = None
    try:
        if first == "-m":
            assert rest[0] == "polymnia"
            sys.argv = list(rest)

            from polymnia.cli import main

            code = main()
        elif first == "-c":
            sys.argv = ["-c", *rest[1:]]
            sys.modules["__main__"] = module = ModuleType("__main__")
            exec(rest[0], module.__dict__)
        else:
            script = os.path.abspath(first)
            sys.argv = [first, *rest]
            sys.path.insert(0, os.path.dirname(script))
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = end.code
    if code is not None and not isinstance(code, int):
        sys.exit(code)  # a sentence
    # To take the interpreter apart, as its end does, would write to every page that is shared with what was forked.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


@cache
def _load_model() -> None:
    """Load the default model once for every process that will ask for it."""
    from polymnia.inference.built_in import MultilingualEmbedder

    one_model.share()
    MultilingualEmbedder().load()


def _serve() -> None:
    import gc

    import polymnia

    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
    for module in pkgutil.walk_packages(polymnia.__path__, "polymnia."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    gc.freeze()
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        message, files, _, _ = socket.recv_fds(control, _LONGEST, 3)
        if not message:
            return
        order = json.loads(message)
        chosen = {order["environment"].get("POLYMNIA_EMBEDDER", "use"), *order["arguments"]}
        if "use" in chosen and "none" not in chosen:
            _load_model()
            gc.freeze()
        _fork(order, files, control)
        for file in files:
            os.close(file)


if __name__ == "__main__":
    _serve()
