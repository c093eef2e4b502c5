"""Texts that no file may contain, and docstrings that every module must have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .tree import ROOT, SOURCE, files, parsed

_TEXTS = {
    "", ".cfg", ".ini", ".json", ".jsonl", ".lock", ".md", ".py", ".pyi", ".sh", ".sql", ".svg", ".toml",
    ".txt", ".yaml", ".yml",
}  # fmt: skip

# Written in pieces, so that this file passes its own test.
_FORBIDDEN = {
    "a path of one machine": r"(?<![\w.<~/])/(?:" + "|".join(["home", "root", "Users", "work", "opt"]) + r")/\w",
    "a temporary path of one machine": r"/tmp" + r"/(?:v|peer|brief)\b",
    "the host of a package registry": r"registry\.npm" + r"js|files\.python" + r"hosted|pypi\." + r"org/simple",
    "who wrote it": r"(?i)co-authored" + r"-by|(?:generated|written) (?:by|with) (?:an? )?(?:AI|LLM|assistant)\b",
}


def _texts() -> list[Path]:
    return [path for path in files() if path.suffix in _TEXTS]


@pytest.mark.parametrize("what", _FORBIDDEN)
def test_no_file_names(what: str) -> None:
    forbidden = re.compile(_FORBIDDEN[what])
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in _texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if forbidden.search(line)
    ]
    assert not found, "\n".join(found)


def test_no_source_file_leaves_work_for_later() -> None:
    later = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files(".py", ".sql", under=SOURCE)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if later.search(line)
    ]
    assert not found


def test_every_module_has_a_docstring() -> None:
    undocumented = [
        str(path.relative_to(ROOT))
        for folder in (SOURCE, ROOT / "tests", ROOT / "bench")
        for path in files(".py", under=folder)
        # An empty file in the tests only marks a package.
        if not ast.get_docstring(parsed(path)) and (parsed(path).body or folder == SOURCE)
    ]
    assert not undocumented


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[_Definition]:
    """The public functions and classes of a module."""
    for node in tree.body:
        if isinstance(node, _Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


def _bases(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield classes[base.id]
            yield from _bases(classes[base.id], classes)


@cache
def _ports() -> list[set[str]]:
    """The names of the methods of each port, and of what the engines of a store implement."""
    places = ("engine/ports/__init__.py", "engine/ports/shared.py", "storage/statements.py", "storage/filters.py")
    classes = [node for place in places for node in parsed(SOURCE / place).body if isinstance(node, ast.ClassDef)]
    return [{each.name for each in node.body if isinstance(each, ast.FunctionDef)} for node in classes]


def _documented_elsewhere(tree: ast.Module) -> set[ast.AST]:
    """Methods that need no docstring: type stubs, those documented in a base class, and those of a port in a class that
    implements several of them."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found: set[ast.AST] = set()
    for node in classes.values():
        documented = {
            each.name
            for base in _bases(node, classes)
            for each in base.body
            if isinstance(each, _Definition) and ast.get_docstring(each)
        }
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        documented |= {name for port in _ports() if len(port & methods) > 1 for name in port}
        for method in _public(node):
            if ast.unparse(method.body[0]) == "..." or method.name in documented:
                found.add(method)
    return found


def test_every_public_function_and_class_has_a_docstring() -> None:
    undocumented = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in files(".py", under=SOURCE)
        for node in _public(parsed(path))
        if not ast.get_docstring(node)
        and node not in _documented_elsewhere(parsed(path))
        and not (path.name == "types.py" and node.name.endswith(("Answer", "Parameters")))  # their method explains them
    ]
    assert not undocumented, "\n".join(undocumented)


def test_no_module_has_a_meaningless_name() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    named = [path for path in files(".py") if path.stem.strip("_") in vague or path.stem.endswith("_v2")]
    assert not named
