"""The files of the repository, its modules and their imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

__all__ = ["ROOT", "SOURCE", "Import", "files", "imports", "load", "modules", "parsed", "targets"]

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src" / "polymnia"

# Left by builds, test runs and environments: never part of the repository.
_IGNORED = {
    ".git", ".venv", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis",
    "__pycache__", "build", "dist", "node_modules", "venv",
}  # fmt: skip


class Import(NamedTuple):
    """A module that another one imports, and the line of the import."""

    target: str
    line: int


def files(*suffixes: str, under: Path = ROOT) -> list[Path]:
    """Every file of the repository with one of the suffixes, or every file."""
    return sorted(path for path in _walk(under) if not suffixes or path.suffix in suffixes)


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in _IGNORED or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


@cache
def load(script: str) -> ModuleType:
    """The module of a script, given by its path in the repository."""
    spec = spec_from_file_location(Path(script).stem, ROOT / script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its full name."""
    found = {}
    for path in files(".py", under=SOURCE):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(module: str) -> list[Import]:
    """Everything a module imports: at the top, in a function, or for types only."""
    path = modules()[module]
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += [Import(target, node.lineno) for target in targets(module, path, node)]
    return found


def targets(module: str, path: Path, node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that an import statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = _absolute(module, path, node)
    # `from package import name` imports the module of that name, if there is one.
    return [whole if (whole := f"{base}.{alias.name}") in modules() else base for alias in node.names]


def _absolute(module: str, path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    here = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    base = here[: len(here) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])
