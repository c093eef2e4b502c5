"""The types of answers are those of the answers: every call of the conformance table is held against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clients.conformance.comparing import TABLE
from clients.generate.__main__ import ROOT
from clients.python.conformance import replayed
from polymnia.client import MCPMemoryClient

from .serving import Serving


def _closed(node: Any) -> Any:
    """A schema that allows nothing but what it names."""
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    told = {key: _closed(value) for key, value in node.items()}
    if isinstance(told.get("properties"), dict) and told.get("type") == "object":
        told["additionalProperties"] = False
    return told


@pytest.mark.promise("clients.answers")
def test_every_answer_has_its_type_and_no_field_that_the_type_does_not_name(tmp_path: Path) -> None:
    document = json.loads((ROOT / "clients" / "operations.json").read_text(encoding="utf-8"))
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    types = _closed(document["types"])
    schemas = {one["name"]: {**_closed(one["answer"]), "types": types} for one in document["operations"]}
    by_call = {(one["tool"], one["operation"]): one["name"] for one in document["operations"]}
    serving = Serving(tmp_path)
    try:
        with MCPMemoryClient(serving.url("ws")) as client:
            lines = list(replayed(client, {**table, "faults": []}))
    finally:
        serving.close()
    seen = set()
    for call, line in zip(table["calls"], lines, strict=True):
        name = by_call.get((call["call"], call["arguments"].get("operation")), call["call"])
        problems = [
            f"{call['id']} ({name}) {one.json_path}: {one.message}"
            for one in Draft202012Validator(schemas[name]).iter_errors(json.loads(line)["answer"])
        ]
        assert not problems
        seen.add(name)
    assert len(seen) > 35, sorted(set(schemas) - seen)


@pytest.mark.promise("clients.budget")
def test_answers_are_whole_unless_a_call_gives_max_tokens(tmp_path: Path) -> None:
    serving = Serving(tmp_path)
    texts = ["Planning of the sprint, and who answers for which part of it until the review."] * 3
    many = [{"name": f"Sprint {at}", "entityType": "sprint", "observations": texts} for at in range(300)]
    try:
        with MCPMemoryClient(serving.url("ws")) as client:
            client.create_entities(many)
            assert len(client.read_graph()["entities"]) == len(many)
            few = client.read_graph(max_tokens=1000)
            assert 0 < len(few["entities"]) < 50
            assert client.read_graph(cursor=few["nextCursor"], limit=1)["entities"]
    finally:
        serving.close()


def test_every_field_of_every_type_is_described() -> None:
    document = json.loads((ROOT / "clients" / "operations.json").read_text(encoding="utf-8"))
    shapes = {f"{one['name']} {part}": one[part] for one in document["operations"] for part in ("parameters", "answer")}
    silent = [
        f"{name}.{field}"
        for name, shape in (shapes | document["types"]).items()
        for field, one in shape.get("properties", {}).items()
        if not one.get("description")
    ]
    assert not silent
