"""The table of operations, options and tests: it leaves nothing out, and names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from polymnia.dialects.content import TOOLS
from polymnia.operation import schema

ROOT = Path(__file__).parents[4]
ROW = re.compile(
    r"^\| (?P<operation>[\w ]+) \| `(?P<option>[\w.]+)` \| (?P<file>test_\w+\.py) \| (?P<test>test_\w+) \|$"
)
STANDARD = {"operation", "project_id", "session_id", "user_id", "request_id"}
READING = {"max_tokens", "cursor"}


def rows() -> list[re.Match[str]]:
    text = (ROOT / "docs" / "contracts" / "content.md").read_text(encoding="utf-8")
    return [row for line in text.splitlines() if (row := ROW.match(line))]


def paths(shape: dict[str, Any], before: str = "") -> set[str]:
    """Every parameter of an operation; an object with parts is its parts."""
    found: set[str] = set()
    for name, value in shape.items():
        inner = value.get("properties")
        found |= paths(inner, f"{before}{name}.") if inner else {f"{before}{name}"}
    return found


@pytest.mark.promise("content.parameters.tested")
@pytest.mark.parametrize("tool", ["memory_store", "memory_retrieve", "memory_analyze", "memory_system"])
def test_the_table_has_every_parameter_and_option(tool: str) -> None:
    listed = {(row["operation"], row["option"]) for row in rows()}
    for operation, one in TOOLS[tool].operations().items():
        taken = paths(schema(one.params)["properties"]) - STANDARD - READING
        assert taken == {option for name, option in listed if name == operation}, operation
    assert {option for name, option in listed if name == "every operation"} == STANDARD - {"operation"}
    assert {option for name, option in listed if name == "every one that reads"} == READING


@pytest.mark.promise("content.parameters.tested")
def test_the_tests_of_the_table_are_there() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    isolation = ROOT / "tests" / "property" / "test_project_isolation.py"
    files[isolation.name] = isolation.read_text(encoding="utf-8")
    for row in rows():
        assert f"def {row['test']}(" in files[row["file"]], row[0]
