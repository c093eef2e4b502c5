"""``python -m bench.install``: what one line of installation brings: bytes, packages, seconds, and whether it works.

Builds the wheel and the source distribution, and installs the wheel into fresh environments with pip and with uv. The
packages come from the index the machine uses, or from the caches of pip and uv: the seconds say which.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from bench import peer, report
from bench.machine import facts
from bench.result import Result, Table, Verdict

RESULTS = os.path.join(peer.ROOT, "bench", "results", "install")
_LARGEST = 100_000_000  # what PyPI accepts as one file unless asked
_TREE = "import importlib.metadata as m; print('\\n'.join(d.metadata['Name'] for d in m.distributions()))"


def main(arguments: list[str] | None = None) -> int:
    """Build, install, measure; answers 0 when the wheel works and holds nothing it should not."""
    parser = argparse.ArgumentParser(prog="python -m bench.install", description=__doc__)
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(sys.executable, "-m", "venv", folder / "tools")
        tools = folder / "tools" / "bin"
        _run(tools / "python", "-m", "pip", "install", "--quiet", "build", "uv")
        _run(tools / "python", "-m", "build", "--outdir", folder / "dist", peer.ROOT)
        (wheel,), (source,) = folder.glob("dist/*.whl"), folder.glob("dist/*.tar.gz")
        ways = {
            "pip, packages of the index": [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir"],
            "pip, from its cache": [sys.executable, "-m", "pip", "install", "--quiet"],
            "uv, packages of the index": [str(tools / "uv"), "pip", "install", "--quiet", "--no-cache"],
            "uv, from its cache": [str(tools / "uv"), "pip", "install", "--quiet"],
        }
        installed = {
            way: _installed(folder / f"venv{at}", way, command, wheel) for at, (way, command) in enumerate(ways.items())
        }
        result = _result(wheel, source, installed)
        machine = facts(name)
    took = time.perf_counter() - begun
    print(report.show(report.save(result, given.results, "full", took, "python -m bench.install", machine)))
    return int(any(verdict.met is False for verdict in result.verdicts))


def _run(*command: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("POLYMNIA_", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, env=clean, **options
    )


def _installed(venv: Path, way: str, command: list[str], wheel: Path) -> dict[str, Any]:
    """Install the wheel into a fresh environment and use it; from a cache, the second time counts."""
    python = venv / "bin" / "python"
    uses_pip = way.startswith("pip")
    command = [str(python), *command[1:]] if uses_pip else [*command, "--python", str(python)]
    for _ in range(2 if "cache" in way else 1):
        _run(sys.executable, "-m", "venv", "--clear", *([] if uses_pip else ["--without-pip"]), venv)
        before = _size(venv)
        begun = time.perf_counter()
        _run(*command, wheel)
        seconds = time.perf_counter() - begun
    names = sorted(set(_run(python, "-c", _TREE).stdout.split()) - {"pip", "setuptools"}, key=str.lower)
    store = venv / "trial.db"
    begun = time.perf_counter()
    _run(venv / "bin" / "polymnia", "add", "Ann likes green tea", "--store", store)
    first = time.perf_counter() - begun
    found = _run(venv / "bin" / "polymnia", "search", "what does Ann drink?", "--store", store).stdout
    sizes = {name: _package_size(venv, name) for name in names}
    return {
        "seconds": seconds, "bytes": _size(venv) - before, "packages": names, "sizes": sizes, "first": first,
        "works": "green tea" in found, "man": (venv / "share/man/man1/polymnia.1").exists(),
    }  # fmt: skip


def _size(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")


def _package_size(venv: Path, name: str) -> int:
    (place,) = venv.glob("lib/python3*/site-packages")
    (found,) = importlib.metadata.distributions(name=name, path=[str(place)])
    paths = [Path(str(file.locate())) for file in found.files or ()]
    return sum(path.stat().st_size for path in paths if path.suffix != ".pyc" and path.exists())


_WHY = {
    "polymnia": "the server, and its models of meaning, without which search is by words alone",
    "onnxruntime": "runs the models",
    "numpy": "vectors and topics",
    "lxml": "reads the citation styles",
    "citeproc-py": "citations in APA, MLA, Chicago",
    "apsw": "SQLite with what the one of Python lacks",
    "rustworkx": "analyses of graphs",
    "uvloop": "the event loop of `serve`",
    "PyStemmer": "word forms in many languages",
    "msgspec": "JSON, and the shapes of messages",
    "uvicorn": "HTTP",
    "websockets": "WebSocket",
    "httptools": "HTTP, its parser",
    "PyYAML": "files in YAML",
    "prometheus_client": "metrics",
    "platformdirs": "where each platform keeps data",
}


def _result(wheel: Path, source: Path, installed: dict[str, dict[str, Any]]) -> Result:
    with ZipFile(wheel) as file:
        inside = file.namelist()
    with tarfile.open(source) as file:
        in_source = [name.partition("/")[2] for name in file.getnames()]
    strange = [n for n in inside if not n.startswith(("polymnia/", "polymnia-")) or n.endswith((".pyc", ".db"))]
    strange += [n for n in in_source if n.startswith(("bench/", "training/", ".venv", ".cache")) or n.endswith(".pyc")]
    one = installed["pip, packages of the index"]
    files = Table(
        "What is built", ["file", "MB", "files"],
        [["wheel", f"{wheel.stat().st_size / 1e6:.1f}", str(len(inside))],
         ["source distribution", f"{source.stat().st_size / 1e6:.1f}", str(len(in_source))]],
    )  # fmt: skip
    ways = Table(
        "What is installed", ["with", "seconds", "packages", "MB on disk", "first `polymnia add`, seconds"],
        [[way, f"{got['seconds']:.1f}", str(len(got["packages"])), f"{got['bytes'] / 1e6:.0f}", f"{got['first']:.1f}"]
         for way, got in installed.items()],
    )  # fmt: skip
    weights = Table(
        "What each package weighs, and what it is for", ["package", "MB", "for"],
        [[name, f"{size / 1e6:.1f}", _WHY.get(name, "needed by one of the others")]
         for name, size in sorted(one["sizes"].items(), key=lambda pair: -pair[1])],
    )  # fmt: skip
    works = all(got["works"] and got["man"] for got in installed.values())
    verdicts = [
        Verdict("the wheel alone stores and finds, and brings its man page", str(works), works),
        Verdict("nothing in the packages that does not belong there", json.dumps(strange[:5]), not strange),
        Verdict("the wheel is small enough for PyPI (100 MB)", f"{wheel.stat().st_size / 1e6:.1f} MB",
                wheel.stat().st_size <= _LARGEST),
    ]  # fmt: skip
    return Result(
        name="install", title="One line of installation",
        summary="`pip install polymnia` or `uvx polymnia` into a fresh environment, and what it brings.",
        tables=[files, ways, weights], verdicts=verdicts,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
