"""What tools/list publishes is what is in force: every limit and every choice is tried through the door."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polymnia import app
from polymnia.dialects.content import TOOLS
from polymnia.operation import schema
from stdio_client import Place, Server

_STANDARD = {"operation", "project_id", "session_id", "user_id", "request_id", "max_tokens", "cursor"}
Tried = tuple[dict[str, Any], bool, str]


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of `all`, whose list has what a model must read; the lists of the dialects have every limit."""
    place = Place(tmp_path_factory.mktemp("offered"))
    yield place.serve("all", "--embedder", "none")
    place.close()


def _listed(dialect: str) -> dict[str, Any]:
    registry = app.registry(app.settings({"dialect": dialect}, {}))
    assert registry.listing is not None
    return {tool["name"]: tool for tool in json.loads(Path(registry.listing).read_bytes())}


def _tries(shape: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Tried]:
    """Values at and beyond every limit of a schema: (arguments, whether they are legal, the field)."""
    for name, one in shape.get("properties", {}).items():
        here = (*path, name)
        values: list[tuple[Any, bool]] = []
        for limit, beyond in (("minimum", -1), ("maximum", 1)):
            if limit in one:
                values += [(one[limit], True), (one[limit] + beyond, False)]
        if "maxLength" in one:
            values += [("x" * one["maxLength"], True), ("x" * (one["maxLength"] + 1), False)]
        if "minLength" in one and one["minLength"] == 1:
            values.append(("", False))
        if "enum" in one:
            values += [("no such choice", False)]
        for value, legal in values:
            arguments: Any = value
            for key in reversed(here):
                arguments = {key: arguments}
            yield arguments, legal, ".".join(here)
        if one.get("type") == "object":
            yield from _tries(one, here)


def _misfit(answer: dict[str, Any], field: str) -> bool:
    """Whether a call was refused because of the value of this field."""
    if "error" in answer:
        details = answer["error"]["data"]["details"]
        return field in (details.get("field"), *(one["field"] for one in details.get("violations", ())))
    result = answer["result"]
    said = json.loads(result["content"][0]["text"]) if result.get("isError") else {}
    return field in json.dumps(said.get("data", {}).get("fields", []))


@pytest.mark.promise("associative.parameters.limits", "associative.parameters.required")
def test_the_limits_of_the_associative_tools_are_those_in_force(offered: Server) -> None:
    server, tools = offered, _listed("associative")
    tried = 0
    for name in ("memory_search", "memory_discover_associations", "memory_list_all", "session_manage", "memory_export"):
        shape = tools[name]["inputSchema"]
        least = {"query": "x", "memory_id": "x", "action": "list"}
        given = {key: least[key] for key in shape.get("required", ())}
        for arguments, legal, field in _tries(shape):
            answer = server.answer(server.begin_call(name, {**given, **arguments}))
            assert _misfit(answer, field) is not legal, (name, arguments, answer)
            tried += 1
    assert tried > 15
    needed = {
        name: tools[name]["inputSchema"].get("required") for name in ("memory_search", "memory_get", "memory_move")
    }
    assert needed == {"memory_search": ["query"], "memory_get": ["memory_id"], "memory_move": ["target_scope"]}


@pytest.mark.promise("content.parameters.published")
def test_the_limits_of_the_content_tools_are_those_in_force(offered: Server) -> None:
    server, tools = offered, _listed("content")
    tried = 0
    for tool, table in TOOLS.items():
        published = tools[tool]["inputSchema"]["properties"]
        takes = dict(re.findall(r"(\w+)\((.*?)\)(?=; |\.$)", published["operation"]["description"]))
        for operation, verb in table.operations().items():
            shape = schema(verb.params)
            named = dict(re.findall(r"(\w+)(\??)", re.sub(r"\{.*?\}", "", takes[operation])))
            own = set(shape["properties"]) - _STANDARD
            assert set(named) - {"project_id"} == own, operation
            assert {name for name in own if not named[name]} == set(shape["required"]) - {"operation"}, operation
            inner = set(re.findall(r"\w+", "".join(re.findall(r"\{(.*?)\}", takes[operation]))))
            assert inner == set(shape["properties"].get("options", {}).get("properties", ())), operation
            for name in shape["properties"]:
                assert name in published, (tool, name)
                limit = shape["properties"][name].get("maximum")
                if limit is not None:
                    whole = published[name]
                    assert whole["maximum"] >= limit
                    assert whole["maximum"] == limit or f"{limit} " in whole["description"], (operation, name)
            for arguments, legal, field in _tries(shape):
                if field == "operation" or (legal and verb.heavy):
                    continue  # what fits is done: analyses and exports have tests of their own
                call = {"operation": operation, "project_id": "p", **arguments}
                answer = server.answer(server.begin_call(tool, call))
                assert _misfit(answer, field) is not legal, (operation, arguments, answer)
                tried += 1
    assert tried > 100


@pytest.mark.promise("associative.parameters.defaults")
def test_the_defaults_of_the_associative_tools_are_those_in_force(offered: Server) -> None:
    server = offered
    ids = []
    for at in range(12):
        stored = server.call("memory_store", content=f"Kettle number {at} is red and stands in the kitchen.")
        ids.append(stored.structured["memory_id"])
    given: dict[str, dict[str, Any]] = {
        "memory_search": {"query": "red kettle"}, "memory_get": {"memory_id": ids[0]},
        "memory_discover_associations": {"memory_id": ids[0]}, "scope_list": {}, "memory_list_all": {},
        "memory_export": {}, "session_manage": {"action": "list"},
    }  # fmt: skip
    tools, tried = _listed("associative"), 0
    for name, least in given.items():
        plain = _timeless(server.call(name, least).structured)
        for parameter, about in tools[name]["inputSchema"]["properties"].items():
            if "default" in about and (name, parameter) != ("session_manage", "max_age_days"):
                answer = server.call(name, {**least, parameter: about["default"]}).structured
                assert _timeless(answer) == plain, (name, parameter)
                tried += 1
    assert tried >= 12


def _timeless(answer: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps({key: value for key, value in answer.items() if "time" not in key and key != "exported_at"})
    return dict(json.loads(text)) | {"export_data": None, "data": None}


@pytest.mark.promise("associative.arguments.other_tool")
def test_a_parameter_of_the_other_tool_says_how_that_one_is_called(offered: Server) -> None:
    answer = offered.refused("memory_store", content="x", project_id="p")
    assert "`project_id`" in answer.text
    assert "only with `operation`: store_content" in answer.text
    wrong = offered.refused("memory_store", content="x", tagz=["a"])
    assert "did you mean `tags`?" in wrong.text


@pytest.mark.promise("associative.arguments.unquoted")
def test_the_associative_tools_read_texts_as_what_they_say(offered: Server) -> None:
    stored = offered.call("memory_store", content="5", tags='["a"]', allow_duplicates="true", metadata='{"n": "1"}')
    assert "`tags` (array)" in stored.notes[-1]["text"]
    read = offered.call("memory_get", memory_id=stored.structured["memory_id"], include_associations="false").structured
    assert (read["content"], read["tags"], read["metadata"]) == ("5", ["a"], {"n": "1"})
    assert len(offered.call("memory_search", query="5", limit="1").structured["memories"]) == 1
