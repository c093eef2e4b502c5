"""Every code block of the client's README does what it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import forked
from network.served import free_port
from stdio_client import DEADLINE

from .serving import Serving
from .tls import AUTHORITY, tls_before

_PAGE = (Path(__file__).parents[2] / "clients" / "python" / "README.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", _PAGE, re.M | re.S)
_PRINTED = {
    "memory_store": "Important information to remember\n",
    '"stdio"': "Ann\n",
    "asyncio": "10\n",
    "ssl": "",
    "NotFoundError": "404 Content not found",
    "subscribe": "changed: True\n",
}
"""What the blocks print, or end with, each by a part of it."""


def _variables(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POLYMNIA", "SSL_"))}
    return {**kept, "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data")}


def test_every_python_block_runs_alone(serving: Serving, tmp_path: Path) -> None:
    shutil.copy(AUTHORITY, tmp_path / "ca.pem")
    codes = [code for language, code in _BLOCKS if language == "python"]
    assert len(codes) == len(_PRINTED)
    with tls_before(serving.port) as port:
        for code, (part, printed) in zip(codes, _PRINTED.items(), strict=True):
            assert part in code
            here = code.replace("wss://memory.example/ws", f"wss://localhost:{port}/ws")
            here = here.replace("ws://localhost:9080/ws", serving.url("ws"))
            with forked.start(
                [sys.executable, "-c", here], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                encoding="utf-8", cwd=tmp_path, env=_variables(tmp_path),
            ) as running:  # fmt: skip
                told, complaints = running.communicate(timeout=DEADLINE)
            assert (running.returncode, complaints) == (0, ""), here
            assert told.endswith(printed) or told.startswith(printed), told


def test_every_command_starts_a_server(tmp_path: Path) -> None:
    lines = [line for language, code in _BLOCKS if language == "sh" for line in code.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("polymnia ")]
    assert len(commands) == 2
    assert [line for line in lines if not line.startswith("polymnia ")] == ["pip install ."]
    assert {language for language, _ in _BLOCKS} == {"python", "sh"}
    for command in commands:
        port = free_port()
        process = forked.start(
            [sys.executable, "-m", "polymnia", *command, "--port", str(port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path,
            env=_variables(tmp_path),
        )  # fmt: skip
        try:
            end = time.monotonic() + DEADLINE
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert process.poll() is None, command
                    assert time.monotonic() < end, command
                    time.sleep(0.01)
        finally:
            process.kill()
            process.wait(DEADLINE)
