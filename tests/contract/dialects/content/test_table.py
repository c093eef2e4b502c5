"""The table of operations, options and tests: it leaves nothing out, and names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from polymnia.dialects.content.operations import TOOLS
from polymnia.operation import schema
from stdio_client import Server

from .speaking import refused, stored

ROOT = Path(__file__).parents[4]
ROW = re.compile(
    r"^\| (?P<operation>[\w ]+) \| `(?P<option>[\w.]+)` \| (?P<file>test_\w+\.py) \| (?P<test>test_\w+) \|$"
)
STANDARD = {"operation", "project_id", "session_id", "user_id", "request_id"}


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
    _, _, verbs = TOOLS[tool]
    listed = {(row["operation"], row["option"]) for row in rows()}
    for operation, verb in verbs.items():
        taken = paths(schema(verb.params)["properties"]) - STANDARD
        assert taken == {option for name, option in listed if name == operation}, operation
    assert {option for name, option in listed if name == "every operation"} == STANDARD - {"operation"}


@pytest.mark.promise("content.parameters.tested")
def test_the_tests_of_the_table_are_there() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    isolation = ROOT / "tests" / "property" / "test_project_isolation.py"
    files[isolation.name] = isolation.read_text(encoding="utf-8")
    for row in rows():
        assert f"def {row['test']}(" in files[row["file"]], row[0]


@pytest.mark.promise("content.errors.documented")
def test_an_error_leads_to_a_heading_of_this_page(shared: Server, project: str) -> None:
    stored(shared, project, "one", request_id="r")
    for code, more in ((422, {}), (409, {"content": "two", "request_id": "r"})):
        url = refused(shared, "store_content", code, project, **more)["data"]["documentation_url"]
        page, _, heading = url.partition("#")
        # An address may stand before the path, but the page is this one.
        text = (ROOT / page[page.index("docs/") :]).read_text(encoding="utf-8")
        assert heading in {line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")}
