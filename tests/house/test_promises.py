"""Every promise of docs/contracts has a test, and every contract test has a promise.

An entry is a line that starts with ``| `id` |`` or ``- `id`:``; a test names it by
``@pytest.mark.promise("id")``, with several ids where one test keeps several promises, or by the marks of a
``pytest.param``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from .tree import ROOT, files, parsed

_ENTRY = re.compile(r"^(?:\| `(?P<row>[\w.-]+)` \||- `(?P<item>[\w.-]+)`:)")
_TESTS = ROOT / "tests"
# Promises that only the long form keeps, each with the reason.
_ONLY_LONG: dict[str, str] = {}


@cache
def _entries() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in files(".md", under=ROOT / "docs" / "contracts"):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = _ENTRY.match(line)
            # An id has parts; a single word in that place is a parameter or a setting being explained.
            if entry and "." in (entry["row"] or entry["item"]):
                found[entry["row"] or entry["item"]] += 1
    return found


def _is_promise(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "promise"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "mark"
    )


def _ids(tree: ast.AST, path: Path) -> list[str]:
    """The ids of every promise mark in the tree. Only an id that is written out can be found by reading."""
    found = []
    for node in ast.walk(tree):
        if not _is_promise(node):
            continue
        assert isinstance(node, ast.Call)
        assert node.args, f"{path}:{node.lineno}: a promise without an id"
        for argument in node.args:
            assert isinstance(argument, ast.Constant), f"{path}:{node.lineno}: write the id out"
            assert isinstance(argument.value, str), f"{path}:{node.lineno}: an id is a text"
            found.append(argument.value)
    return found


@cache
def _marks() -> dict[str, list[str]]:
    """Every id that a test carries, with the files it appears in."""
    found: dict[str, list[str]] = {}
    for path in files(".py", under=_TESTS):
        for promise in _ids(parsed(path), path):
            found.setdefault(promise, []).append(str(path.relative_to(ROOT)))
    return found


def test_the_contracts_have_entries() -> None:
    assert _entries(), "no promise found in docs/contracts"


def test_every_promise_has_an_id_of_its_own() -> None:
    assert not [promise for promise, times in _entries().items() if times > 1]


def test_every_promise_is_kept_by_a_test() -> None:
    assert not sorted(_entries().keys() - _marks().keys())


def _is_long(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and ast.unparse(part) == "pytest.mark.long" for part in ast.walk(node))


def _ids_of_short_cases(decorator: ast.AST, path: Path) -> list[str]:
    """The ids in a decorator, but for those of its cases that are long."""
    cases = [node for node in ast.walk(decorator) if _is_param(node) and _is_long(node)]
    long = Counter(promise for case in cases for promise in _ids(case, path))
    return list((Counter(_ids(decorator, path)) - long).elements())


def _is_param(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param"


def _kept_in_the_short_form() -> set[str]:
    """Every promise of a test, or of a case of one, that ``make test`` runs."""
    found: set[str] = set()
    for path in files(".py", under=_TESTS):
        tree = parsed(path)
        of_the_file = [node for node in tree.body if isinstance(node, ast.Assign)]
        tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        short = [test for test in tests if "pytest.mark.long" not in map(ast.unparse, test.decorator_list)]
        marks = [mark for test in short for mark in test.decorator_list]
        for mark in [*marks, *(of_the_file if short else [])]:
            found.update(_ids_of_short_cases(mark, path))
    return found


def test_every_promise_is_kept_by_a_test_of_the_short_form() -> None:
    assert sorted(_entries().keys() - _kept_in_the_short_form()) == sorted(_ONLY_LONG)


def test_every_test_that_names_a_promise_names_one_that_was_made() -> None:
    unknown = {promise: where for promise, where in _marks().items() if promise not in _entries()}
    assert not unknown


def test_every_contract_test_keeps_a_promise() -> None:
    idle = []
    for path in files(".py", under=_TESTS / "contract" / "dialects"):
        tree = parsed(path)
        whole_file = [node for node in tree.body if isinstance(node, ast.Assign) and _ids(node, path)]
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name.startswith("test_")
                and not whole_file
                and not any(_ids(decorator, path) for decorator in node.decorator_list)
            ):
                idle.append(f"{path.relative_to(ROOT)}::{node.name}")
    assert not idle
