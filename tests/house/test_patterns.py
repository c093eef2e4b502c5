"""Every regular expression runs in linear time, and is supported by every Python version."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import polymnia
from long_texts import LONG, UNITS, grows

_METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
_ANCHORED = {"match", "fullmatch"}
_PARTS = 8


@cache
def _modules() -> dict[str, Any]:
    for found in pkgutil.walk_packages(polymnia.__path__, "polymnia."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "polymnia"}


def _held(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """The patterns in a value: itself, or in its members."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset) and depth < 5:
        for one in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _held(one, depth + 1)
    elif type(value).__module__.startswith("polymnia") and depth < 5:
        for name in getattr(type(value), "__struct_fields__", ()):
            yield from _held(getattr(value, name), depth + 1)


@cache
def _patterns() -> dict[tuple[Any, int], tuple[str, frozenset[str]]]:
    """Every pattern with its flags: where it is, and which of its methods are called.

    A pattern that is passed on, or stored in a table, may be called by any.
    """
    where: dict[tuple[Any, int], str] = {}
    used: dict[tuple[Any, int], set[str]] = defaultdict(set)
    for name, module in sorted(_modules().items()):
        names = {key: value for key, value in vars(module).items() if isinstance(value, re.Pattern)}
        for key, value in vars(module).items():
            for one in _held(value):
                where.setdefault((one.pattern, one.flags), f"{name}.{key}")
                if key not in names:
                    used[one.pattern, one.flags].add("any")
        if not (path := getattr(module, "__file__", None)):
            continue
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        called: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                called.add(id(node.value))
                one = names[node.value.id]
                used[one.pattern, one.flags] |= {node.attr} & _METHODS
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                inline = node.func.attr in _METHODS and ast.unparse(node.func.value) == "re"
                if inline and isinstance(first, ast.Constant):
                    one = re.compile(first.value)
                    where.setdefault((one.pattern, one.flags), f"{name}, line {node.lineno}")
                    used[one.pattern, one.flags].add(node.func.attr)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                one = names[node.id]
                if id(node) not in called:
                    used[one.pattern, one.flags].add("any")
    return {key: (place, frozenset(used[key])) for key, place in where.items()}


def _through(pattern: re.Pattern[Any], method: str) -> Callable[[str], object]:
    if method in _ANCHORED:
        run = getattr(pattern, method)
    else:

        def run(text: Any) -> None:
            for _ in pattern.finditer(text):
                pass

    return (lambda text: run(text.encode())) if isinstance(pattern.pattern, bytes) else run


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_pattern_runs_in_linear_time(part: int) -> None:
    small, large, least = (131_072, 1_048_576, 0.5) if LONG else (300, 1_500, 0.0005)
    found = []
    for at, ((text, flags), (place, methods)) in enumerate(sorted(_patterns().items(), key=str)):
        if at % _PARTS != part:
            continue
        pattern = re.compile(text, flags)
        for method in sorted({one if one in _ANCHORED else "finditer" for one in methods or {"any"}}):
            call = _through(pattern, method)
            results = (grows(call, unit, small, large, least=least, most=2 + large * 5e-6) for unit in UNITS)
            if first := next(filter(None, results), None):
                found.append(f"{place} ({method}): {first}")
    assert not found, "\n".join(found)


def test_no_pattern_is_possessive_or_atomic() -> None:
    """CPython before 3.11.5, and so Debian 12's, matches too little with some of them."""
    parser = importlib.import_module("re._parser")

    def names(tree: Any) -> Iterator[str]:
        if isinstance(tree, parser.SubPattern | list | tuple):
            for one in tree:
                yield from names(one)
        elif type(tree).__name__ == "_NamedIntConstant":
            yield tree.name

    used = {
        place
        for (text, flags), (place, _) in _patterns().items()
        if {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"} & set(names(parser.parse(text, flags)))
    }
    assert not used
    assert {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"} <= {*names(parser.parse("a++(?>b)"))}


def test_the_measurement_detects_a_quadratic_pattern() -> None:
    slow = re.compile(r"\w+@")
    assert grows(lambda text: list(slow.finditer(text)), "a", 1_000, 8_000, least=0.0005, most=5) is not None
