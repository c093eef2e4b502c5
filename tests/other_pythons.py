"""Runs the tests that depend on the version of Python with every other one this machine has.

    python tests/other_pythons.py [PYTHON ...]

Without arguments: the system's own Python, those on the path, and those of pyenv. Each gets an environment in .cache;
one that cannot have it is named with the reason, and fails nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    "tests/house/test_patterns.py",
    "tests/unit/dialects",
    "tests/unit/engine/transfer",
    "tests/unit/engine/privacy",
    "tests/unit/engine/text",
    "tests/property/test_archive_round_trip.py",
]
_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


def _version(python: str) -> tuple[int, ...] | None:
    try:
        said = subprocess.run([python, "-I", "-c", _VERSION], capture_output=True, text=True, timeout=30)
        return tuple(map(int, said.stdout.strip().split(".")))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _found() -> dict[tuple[int, ...], str]:
    """The Pythons of this machine by their versions, without our own and those that are too old."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    named = (shutil.which(f"python3.{minor}") for minor in range(11, 20))
    places = ["/usr/bin/python3", *filter(None, named), *sorted(glob(f"{pyenv}/versions/3.*/bin/python"))]
    found: dict[tuple[int, ...], str] = {}
    for place in sys.argv[1:] or places:
        version = _version(place)
        if version is not None and version >= (3, 11) and version != sys.version_info[:3]:
            found.setdefault(version, place)
    return found


def _run(*command: str) -> str:
    """Run a command; answers the end of what it said if it failed."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else done.stdout[-4000:] or f"it ended with {done.returncode}"


def main() -> int:
    """0 when every Python that could be tried passes."""
    found = _found()
    if not found:
        print(f"No other Python than {sys.version.split()[0]} from 3.11 on was found: nothing to compare with.")
    failed = 0
    for version, python in sorted(found.items()):
        name = ".".join(map(str, version))
        folder = ROOT / ".cache" / "pythons" / name
        inside = str(folder / "bin" / "python")
        pip = (inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        why = "" if os.path.exists(inside) else _run(python, "-m", "venv", str(folder))
        why = why or _run(*pip, "--upgrade", "pip>=25.1") or _run(*pip, "--editable", ".", "--group", "portable")
        if why:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"Python {name} ({python}) was left out, it can have no environment: {why.strip().splitlines()[-1]}")
            continue
        why = _run(inside, "-m", "pytest", "-n", "auto", "-k", "not node_itself", *TESTS)  # Node is no matter of Python
        print(f"Python {name}: {'failed' if why else 'passed'}", why, sep="\n" if why else "", flush=True)
        failed += bool(why)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
