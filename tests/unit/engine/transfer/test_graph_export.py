"""Exporting: the whole project as a file, now or as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia import EntityDraft, Memory, connect
from polymnia.engine.transfer.formats.graph import GraphForm, read
from polymnia.engine.transfer.graphs import export_graph

from .graphs import exported

FORMS: list[GraphForm] = ["document", "lines"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(tmp_path / "memory.db", graph="simple") as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("likes tea", "likes tea")), EntityDraft("서울", "city")])
        memory.create_relations([("Ann", "서울", "lives in"), ("Ann", "nobody", "seeks")])
        yield memory


def test_a_document_is_what_people_have_in_their_files(memory: Memory) -> None:
    assert exported(memory, "document").decode() == json.dumps(
        {
            "entities": [
                {"name": "Ann", "entityType": "person", "observations": ["likes tea", "likes tea"]},
                {"name": "서울", "entityType": "city", "observations": []},
            ],
            "relations": [
                {"from": "Ann", "to": "서울", "relationType": "lives in"},
                {"from": "Ann", "to": "nobody", "relationType": "seeks"},
            ],
        },
        indent=2,
        ensure_ascii=False,
    )


def test_lines_are_what_the_npm_server_writes(memory: Memory) -> None:
    lines = exported(memory, "lines").decode().split("\n")
    assert [json.loads(line)["type"] for line in lines] == ["entity", "entity", "relation", "relation"]
    assert lines[1] == '{"type":"entity","name":"서울","entityType":"city","observations":[]}'
    assert lines[2] == '{"type":"relation","from":"Ann","to":"서울","relationType":"lives in"}'


@pytest.mark.parametrize("form", FORMS)
def test_the_past_is_exported_as_it_was(memory: Memory, form: GraphForm) -> None:
    at, then = memory.changes(1)[0].at, exported(memory, form)
    memory.delete_entities(["Ann"])
    memory.create_entities([EntityDraft("later", "thing")])
    assert exported(memory, form) != then
    assert exported(memory, form, at) == then
    assert read(exported(memory, form, 1), "memory.json").entities == []


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_project_is_an_empty_graph(tmp_path: Path, form: GraphForm) -> None:
    with connect(tmp_path / "empty.db") as memory:
        graph = read(exported(memory, form), "memory.json")
    assert (graph.entities, graph.relations, graph.report.refused) == ([], [], [])


@pytest.mark.long
def test_an_export_under_way_goes_on_as_it_began(memory: Memory) -> None:
    memory.create_entities([EntityDraft(f"{number}", "thing", ("text " * 50,)) for number in range(3000)])
    whole = exported(memory, "lines")
    with memory.store.read(memory.project) as snapshot:
        pieces = export_graph(snapshot, "lines")
        first = next(pieces)
        memory.delete_entities([f"{number}" for number in range(3000)])
        assert first + b"".join(pieces) == whole
