"""Late imports are guarded by `with importing():` (see polymnia/importing.py)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .tree import modules, parsed, targets

# Imported by every server before its first call, in one thread.
_STARTED = (
    "polymnia.app", "polymnia.storage.sqlite", "polymnia.transports.rpc", "polymnia.transports.stdio",
    "polymnia.dialects.associative", "polymnia.dialects.content", "polymnia.dialects.graph", "polymnia.dialects.native",
)  # fmt: skip
_LIBRARIES_AT_START = {"apsw", "msgspec"}

# The only modules that may import by a dynamic name.
_BY_NAME = {"polymnia.importing", "polymnia.cli.commands"}


class _Import(NamedTuple):
    target: str
    line: int
    late: bool
    guarded: bool


def _is_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and isinstance(item.context_expr.func, ast.Name)
        and item.context_expr.func.id == "importing"
        for item in node.items
    )


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def _imports(module: str, path: Path | None = None) -> list[_Import]:
    """The runtime imports of a module, each late (inside a function) or not, guarded or not."""
    path = path or modules()[module]

    def walk(node: ast.AST, late: bool, guarded: bool) -> Iterator[_Import]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in targets(module, path, node):
                yield _Import(target, node.lineno, late, guarded)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            late = True
        for child in ast.iter_child_nodes(node):
            if not _is_for_types(child):
                yield from walk(child, late, guarded or _is_guard(node))

    return list(walk(parsed(path), False, False))


def _needs(module: str) -> set[str]:
    """The modules imported together with this one: those imported at its top, and its packages."""
    if module not in modules():
        return set()
    packages = {module.rsplit(".", depth)[0] for depth in range(1, module.count(".") + 1)}
    return packages | {one.target for one in _imports(module) if not one.late}


@cache
def _closure(*roots: str) -> frozenset[str]:
    """These modules and everything imported together with them."""
    found: set[str] = set()
    left = list(roots)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += _needs(one)
    return frozenset(found)


def _is_library(name: str) -> bool:
    top = name.partition(".")[0]
    return top != "polymnia" and top not in sys.stdlib_module_names and top not in _LIBRARIES_AT_START


@cache
def _is_cyclic(module: str) -> bool:
    """Whether a module is part of an import cycle, in which two threads could deadlock."""
    return module in modules() and any(module in _closure(one) for one in _needs(module) if one != module)


def _needs_guard(module: str, target: str) -> bool:
    new = _closure(target) - _closure(module) - _closure(*_STARTED)
    return any(_is_library(one) or _is_cyclic(one) for one in new)


def test_the_rules_detect_a_violation(tmp_path: Path) -> None:
    source = "def f():\n    import numpy\n    with importing():\n        import numpy\n    import json\n"
    path = tmp_path / "sample.py"
    path.write_text(source)
    found = _imports("polymnia.sample", path)
    assert [(one.line, one.guarded, _needs_guard("polymnia.sample", one.target)) for one in found] == [
        (2, False, True), (4, True, True), (5, False, False),
    ]  # fmt: skip
    assert _needs_guard("polymnia.app", "polymnia.engine.search.finder")
    assert _is_cyclic("polymnia.engine.analysis.conflicts.detection")


def test_every_late_import_of_something_heavy_is_guarded() -> None:
    violations = [
        f"{modules()[module]}:{one.line}: write `with importing():` around the import of {one.target}"
        for module in modules()
        for one in _imports(module)
        if one.late and not one.guarded and _needs_guard(module, one.target)
    ]
    assert not violations, "\n".join(violations)


def test_the_guard_is_used_in_functions_and_contains_imports_only() -> None:
    wrong = []
    for module, path in modules().items():
        tree = parsed(path)
        wrong += [f"{path}:{node.lineno}: only in functions" for node in tree.body if _is_guard(node)]
        wrong += [
            f"{path}:{inner.lineno}: only import statements"
            for node in ast.walk(tree)
            if isinstance(node, ast.With) and _is_guard(node) and module != "polymnia.importing"
            for inner in node.body
            if not isinstance(inner, ast.Import | ast.ImportFrom)
        ]
    assert not wrong, "\n".join(wrong)


def test_no_other_module_imports_by_a_dynamic_name() -> None:
    violations = [
        f"{path}:{node.lineno}: use polymnia.importing.load"
        for module, path in modules().items()
        if module not in _BY_NAME
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.Name) and node.id in {"import_module", "__import__"})
        or (isinstance(node, ast.Attribute) and node.attr == "import_module")
    ]
    assert not violations, "\n".join(violations)
