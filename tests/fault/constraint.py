"""Servers in trouble: started under limits that the test chooses."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

__all__ = ["as_anybody", "constrained", "no_file_over"]


@contextmanager
def constrained(folder: Path, first: str) -> Iterator[None]:
    """Within the block, every process that is started runs a piece of Python first.

    The limits are set in a process that then becomes the server: the test itself stays free of them.
    """
    real = sys.executable
    script = folder / "constrain.py"
    script.write_text(f"import os, sys\n{first}\nos.execv({real!r}, [{real!r}, *sys.argv[1:]])\n")
    python = folder / "constrained-python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(real)} {shlex.quote(str(script))} "$@"\n')
    python.chmod(0o755)
    with patch.object(sys, "executable", str(python)):
        yield


def no_file_over(size: int) -> str:
    """No file may grow past the size: stands for a full disk, needs no rights and hits at the same calls."""
    return f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"


def as_anybody() -> str:
    """Even root is refused what the permissions of a file forbid.

    The two rights to overlook permissions are dropped from all that the process may ever have, and so are
    gone when it becomes the server. Whoever is not root does not have them anyway.
    """
    return """
import ctypes
if os.geteuid() == 0:
    PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
    for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0
"""
