"""Every promise of docs/contracts is kept by a test, and every contract test keeps a promise.

An entry is a line that starts with ``| `id` |`` or ``- `id`:``; a test names it by
``@pytest.mark.promise("id")``, with several ids where one test keeps several promises, or by the marks of a
``pytest.param``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from .tree import ROOT, files, parsed

_ENTRY = re.compile(r"^(?:\| `(?P<row>[\w.-]+)` \||- `(?P<item>[\w.-]+)`:)")
_TESTS = ROOT / "tests"


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
