"""Importing: everything a file holds, in one change, beside what is there already."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from form import by_form, mostly_long
from polymnia import EntityDraft, Memory, connect
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, read

from .graphs import GRAPHS, Link, bring, exported, fill, plain


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(tmp_path / "memory.db", graph="simple") as memory:
        yield memory


def _file(*entities: tuple[str, str, list[str]], relations: list[tuple[str, str, str]] | None = None) -> GraphFile:
    data = {
        "entities": [{"name": name, "entityType": kind, "observations": texts} for name, kind, texts in entities],
        "relations": [{"from": source, "to": target, "relationType": type} for source, target, type in relations or []],
    }
    return read(json.dumps(data).encode(), "memory.json")


def _texts(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {record.name: record.observations for record in memory.read_graph().records}


# ── there and back ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", mostly_long(["lines", "document"]))
@given(GRAPHS)
@settings(max_examples=by_form(15, 60))
def test_what_was_exported_is_the_same_graph_when_imported(
    form: GraphForm, graph: tuple[list[EntityDraft], list[Link]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with connect(path / "from.db", graph="simple") as source, connect(path / "to.db", graph="simple") as target:
            fill(source, *graph)
            data = exported(source, form)
            file = read(data, "memory.json" if form == "document" else "memory.jsonl")
            assert file.report.refused == []
            bring(target, file)
            assert plain(target.read_graph()) == plain(source.read_graph())
            assert exported(target, form) == data


# ── beside what is there ────────────────────────────────────────────────────────────────────────────────────


def test_merging_adds_what_is_missing_and_nothing_twice(memory: Memory) -> None:
    memory.create_entities([EntityDraft("a", "old kind", ("1", "2")), EntityDraft("b", "k", ("x",))])
    memory.create_relations([("a", "b", "knows")])
    file = _file(
        ("a", "new kind", ["2", "3", "3"]),
        ("b", "k", ["x"]),
        ("c", "k", ["y", "y"]),
        relations=[("a", "b", "knows"), ("b", "c", "knows")],
    )
    done = bring(memory, file)
    assert _texts(memory) == {"a": ("1", "2", "3"), "b": ("x",), "c": ("y", "y")}
    assert memory.get("a")[0].kind == "old kind"
    assert [relation.ends for relation in memory.read_graph().relations] == [("a", "b", "knows"), ("b", "c", "knows")]
    assert (done.entities_new, done.entities_extended, done.entities_unchanged, done.entities_replaced) == (1, 1, 1, 0)
    assert (done.observations_new, done.relations_new, done.relations_known) == (3, 1, 1)


def test_importing_again_changes_nothing(memory: Memory) -> None:
    file = _file(("a", "k", ["1", "1"]), ("b", "k", []), relations=[("a", "b", "r"), ("a", "b", "r"), ("x", "y", "z")])
    bring(memory, file)
    before, stamp = memory.read_graph(), memory.stamp()
    done = bring(memory, file)
    assert memory.read_graph() == before
    assert memory.stamp() == stamp
    assert (done.entities_new, done.entities_extended, done.observations_new, done.relations_new) == (0, 0, 0, 0)


def test_replacing_puts_the_files_version_in_place_and_keeps_the_old_one_in_the_history(memory: Memory) -> None:
    memory.create_entities([EntityDraft("a", "old", ("1",)), EntityDraft("b", "k", ("x",))])
    done = bring(memory, _file(("a", "new", ["2"])), existing="replace")
    assert (done.entities_replaced, done.entities_new) == (1, 0)
    assert _texts(memory) == {"a": ("2",), "b": ("x",)}
    assert memory.get("a")[0].kind == "new"
    assert memory.history("a")[-1].removed == ("1",)


def test_keeping_leaves_what_is_there_as_it_is(memory: Memory) -> None:
    memory.create_entities([EntityDraft("a", "old", ("1",))])
    done = bring(memory, _file(("a", "new", ["2"]), ("b", "k", [])), existing="keep")
    assert (done.entities_unchanged, done.entities_new) == (1, 1)
    assert _texts(memory) == {"a": ("1",), "b": ()}
    assert memory.get("a")[0].kind == "old"


@pytest.mark.parametrize("existing", ["merge", "replace", "keep"])
def test_one_undo_takes_the_whole_import_back(memory: Memory, existing: Any) -> None:
    memory.create_entities([EntityDraft("a", "old", ("1",)), EntityDraft("b", "k", ("x",))])
    memory.create_relations([("a", "b", "knows")])
    before = plain(memory.read_graph())
    file = _file(("a", "new", ["2"]), ("c", "k", ["y"]), relations=[("a", "c", "r"), ("a", "b", "knows")])
    bring(memory, file, existing=existing)
    assert memory.changes(1)[0].action == "import"
    memory.undo()
    assert plain(memory.read_graph()) == before


def test_an_import_called_off_leaves_nothing_behind(memory: Memory) -> None:
    memory.create_entities([EntityDraft("a", "old", ("1",))])
    before = memory.read_graph()
    large = _file(*((f"{number}", "k", ["text"]) for number in range(5000)), relations=[("a", "b", "r")] * 10)

    def step(done: int, total: int) -> None:
        assert total == 5010
        if done >= 4000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring(memory, large, step=step)
    assert memory.read_graph() == before
    assert len(memory.changes()) == 1


def test_progress_is_told_from_the_beginning_to_the_end(memory: Memory) -> None:
    told: list[tuple[int, int]] = []
    entities = [(f"{number}", "k", ["text"]) for number in range(4500)]
    bring(memory, _file(*entities, relations=[("0", "1", "r")]), step=lambda *at: told.append(at))
    assert told[0] == (0, 4501)
    assert told[-1] == (4501, 4501)
    assert told == sorted(told)
    assert memory.count() == (4500, 1)


def test_a_repeated_relation_is_kept_as_often_as_the_file_has_it(memory: Memory) -> None:
    """Files of the forgiving servers hold repetitions; what was exported comes back with nothing lost."""
    memory.create_relations([("a", "b", "r")])
    done = bring(memory, _file(relations=[("a", "b", "r"), ("a", "b", "r"), ("a", "b", "r"), ("c", "d", "r")]))
    assert [relation.ends for relation in memory.read_graph().relations] == [("a", "b", "r")] * 3 + [("c", "d", "r")]
    assert (done.relations_new, done.relations_known) == (3, 1)
