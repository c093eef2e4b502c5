"""A store that shows itself in a file: whoever edits which, both say the same."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from form import by_form
from polymnia import EntityDraft, Memory
from polymnia.dialects.graph.behaviours import SIMPLE
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, read, write
from polymnia.engine.transfer.mirror import Mirror
from polymnia.errors import BrokenFile
from polymnia.models import Limits
from polymnia.storage.sqlite import SqliteStore
from polymnia.storage.sqlite.write_lock import WriteLock

from .graphs import GRAPHS, Link, plain

NAMES = {"document": "memory.json", "lines": "memory.jsonl"}


class Desk:
    """A folder with a file, and memories that keep themselves in it."""

    def __init__(self, folder: Path, form: GraphForm = "document") -> None:
        self.folder = folder
        self.file = folder / NAMES[form]
        self.form = form
        self.opened: list[Memory] = []
        self.told: list[str] = []
        self.memory = self.open()

    def open(self) -> Memory:
        """A memory on the file, as a process of its own would have it."""
        inner = SqliteStore(str(self.folder / "behind.db"))
        turn = WriteLock(str(self.folder / "behind.lock"), 10.0)
        mirror = Mirror(inner, str(self.file), turn, limits=Limits(), tell=self.told.append)
        memory = Memory(mirror, policy=SIMPLE.policy)
        self.opened.append(memory)
        return memory

    def close(self) -> None:
        for memory in self.opened:
            memory.close()

    def graph(self) -> GraphFile:
        """What the file holds."""
        return read(self.file.read_bytes(), str(self.file))

    def value(self) -> Any:
        """The file as any other program reads it."""
        text = self.file.read_text(encoding="utf-8")
        return json.loads(text) if self.form == "document" else [json.loads(line) for line in text.splitlines()]

    def put(self, data: bytes) -> None:
        """Write the file as other programs do: beside it, then in its place."""
        draft = self.folder / "draft"
        draft.write_bytes(data)
        os.replace(draft, self.file)

    def put_value(self, value: Any) -> None:
        text = json.dumps(value) if self.form == "document" else "\n".join(map(json.dumps, value))
        self.put(text.encode())

    def agrees(self) -> None:
        """Store and file say the same, in the same order."""
        records, relations = plain(self.memory.read_graph())
        graph = self.graph()
        assert [(e.name, e.kind, e.observations, e.extra) for e in graph.entities] == records
        assert graph.relations == relations


@pytest.fixture(params=["document", "lines"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, request.param)
    yield desk
    desk.close()


def _entity(desk: Desk, name: str, *texts: str, **more: Any) -> dict[str, Any]:
    item = {"name": name, "entityType": "thing", "observations": list(texts), **more}
    return {"type": "entity", **item} if desk.form == "lines" else item


def _relation(desk: Desk, source: str, type: str, target: str, **more: Any) -> dict[str, Any]:
    item = {"from": source, "to": target, "relationType": type, **more}
    return {"type": "relation", **item} if desk.form == "lines" else item


def _graph(desk: Desk, entities: list[Any], relations: list[Any], **more: Any) -> Any:
    return [*entities, *relations] if desk.form == "lines" else {"entities": entities, "relations": relations, **more}


# ── one hand, then the other ────────────────────────────────────────────────────────────────────────────────


def test_a_change_is_in_the_file_when_it_is_acknowledged(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",))])
    desk.memory.create_relations([("a", "a", "knows")])
    assert desk.value() == _graph(desk, [_entity(desk, "a", "x")], [_relation(desk, "a", "knows", "a")])
    desk.memory.delete_entities(["a"])
    assert desk.value() == _graph(desk, [], [])


def test_an_edit_is_seen_by_the_next_call_and_is_a_change_of_its_own(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",)), EntityDraft("b", "thing", ("y",))])
    edited = _graph(
        desk, [_entity(desk, "a", "x", "by hand"), _entity(desk, "new")], [_relation(desk, "a", "r", "new")]
    )
    desk.put_value(edited)
    stamp = desk.memory.stamp()
    assert [(r.name, r.observations) for r in desk.memory.read_graph().records] == [
        ("a", ("x", "by hand")),
        ("new", ()),
    ]
    (newest,) = desk.memory.changes(1)
    assert newest.who == f"file {desk.file.name}"
    assert stamp == newest.at
    assert [event.deleted for event in desk.memory.history("b")] == [False, True]
    assert [record.name for record in desk.memory.search_nodes("by hand").records] == ["a"]
    desk.agrees()


def test_an_edit_is_taken_over_before_a_write(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",))])
    desk.put_value(_graph(desk, [_entity(desk, "b", "by hand")], []))
    desk.memory.create_entities([EntityDraft("c", "thing")])
    assert [record.name for record in desk.memory.read_graph().records] == ["b", "c"]
    desk.agrees()


def test_an_edit_can_be_undone_and_the_file_follows(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",))])
    before = desk.value()
    desk.put_value(_graph(desk, [], []))
    assert desk.memory.read_graph().records == []
    desk.memory.undo()
    assert desk.value() == before
    desk.agrees()


def test_a_file_that_is_gone_is_an_empty_one_and_can_be_brought_back(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",))])
    before = desk.file.read_bytes()
    desk.file.unlink()
    assert desk.memory.read_graph().records == []
    desk.memory.undo()
    assert desk.file.read_bytes() == before


@pytest.mark.promise("files.emptied")
def test_a_file_of_no_bytes_is_told_of_and_what_it_held_can_be_brought_back(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "b", ("c",)), EntityDraft("d", "b")])
    desk.put(b"")
    assert desk.memory.read_graph().records == []
    assert len(desk.told) == 1
    assert "0 bytes" in desk.told[0] and "2 memories" in desk.told[0] and "undo" in desk.told[0]
    desk.memory.undo()
    assert [record.name for record in desk.memory.read_graph().records] == ["a", "d"]
    desk.agrees()
    assert len(desk.told) == 1


@pytest.mark.promise("files.leftovers")
def test_what_killed_processes_left_beside_the_file_is_removed(desk: Desk) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    left = desk.folder / f".{desk.file.name}.{ended.pid}.tmp"
    others = [desk.folder / f".{desk.file.name}.{os.getppid()}.tmp", desk.folder / ".another.tmp"]
    for path in (left, *others):
        path.write_text("half")
    desk.open().read_graph()
    assert not left.exists()
    assert all(path.exists() for path in others)


def test_a_refused_change_leaves_the_file_untouched(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",))])
    before = desk.file.stat()
    with pytest.raises(ValueError, match="stop"), desk.memory.store.write("default", "test", "test") as tx:
        tx.add_records([EntityDraft("b", "thing")])
        raise ValueError("stop")
    desk.memory.delete_observations([("a", ["not there"])])
    after = desk.file.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_reading_never_writes_the_file(desk: Desk) -> None:
    desk.put_value(_graph(desk, [_entity(desk, "b", "by hand")], []))
    before = desk.file.stat(), desk.file.read_bytes()
    desk.memory.read_graph()
    desk.memory.search_nodes("hand")
    after = desk.file.stat(), desk.file.read_bytes()
    assert (after[0].st_mtime_ns, after[0].st_ino, after[1]) == (before[0].st_mtime_ns, before[0].st_ino, before[1])


def test_an_edit_of_the_same_size_in_place_is_seen(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("green",))])
    before = desk.file.stat()
    desk.file.write_bytes(desk.file.read_bytes().replace(b"green", b"brown"))
    os.utime(desk.file, ns=(before.st_atime_ns, before.st_mtime_ns + 1000))
    assert desk.memory.get("a")[0].observations == ("brown",)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_file_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.json"
    real.parent.mkdir()
    real.write_text('{"entities": [], "relations": []}')
    real.chmod(0o640)
    (tmp_path / "memory.json").symlink_to(real)
    desk = Desk(tmp_path)
    desk.memory.create_entities([EntityDraft("a", "thing")])
    assert (tmp_path / "memory.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text())["entities"][0]["name"] == "a"
    desk.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux lists the open files")
def test_closing_lets_go_of_every_file(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing")])
    desk.close()
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    held = [os.readlink(link) for link in links if os.path.exists(link)]
    assert [path for path in held if path.startswith(str(desk.folder))] == []


def test_nothing_is_left_beside_the_file(desk: Desk) -> None:
    for number in range(3):
        desk.memory.create_entities([EntityDraft(f"{number}", "thing")])
    desk.close()
    assert {path.name for path in desk.folder.iterdir()} == {
        desk.file.name,
        "behind.db",
        "behind.db-lock",
        "behind.lock",
    }


# ── what means nothing to us ────────────────────────────────────────────────────────────────────────────────


def test_unknown_keys_survive_every_rewrite(desk: Desk) -> None:
    more = {"version": 3, "settings": {"theme": ["dark", None]}} if desk.form == "document" else {}
    odd = ["just a text", {"neither": "entity nor relation"}]
    edited = _graph(
        desk,
        [_entity(desk, "a", "x", colour="green", nested={"deep": [1, 2.5, None]}), *odd, _entity(desk, "b", id=7)],
        [_relation(desk, "a", "knows", "b", since=2020)],
        **more,
    )
    desk.put_value(edited)
    desk.memory.add_observations([("a", ["y"])])
    desk.memory.create_relations([("b", "a", "knows")])
    desk.memory.create_entities([EntityDraft("c", "thing")])
    desk.memory.undo()
    text = desk.value()
    entities = text["entities"] if desk.form == "document" else text
    relations = text["relations"] if desk.form == "document" else text
    assert _entity(desk, "a", "x", "y", colour="green", nested={"deep": [1, 2.5, None]}) in entities
    assert _entity(desk, "b", id=7) in entities
    assert _relation(desk, "a", "knows", "b", since=2020) in relations
    assert all(item in entities for item in odd)
    if desk.form == "document":
        assert {key: text[key] for key in more} == more


def test_unknown_keys_follow_the_other_hand(desk: Desk) -> None:
    desk.put_value(_graph(desk, [_entity(desk, "a", colour="green")], []))
    assert desk.memory.get("a")[0].extra == {"colour": "green"}
    desk.put_value(_graph(desk, [_entity(desk, "a", shape="round")], []))
    assert desk.memory.get("a")[0].extra == {"shape": "round"}
    desk.memory.add_observations([("a", ["x"])])
    assert desk.value() == _graph(desk, [_entity(desk, "a", "x", shape="round")], [])


# ── a store and a file that meet ────────────────────────────────────────────────────────────────────────────


def test_a_file_that_was_there_first_is_taken_over_as_it_is(tmp_path: Path) -> None:
    data = b'{"entities": [{"name": "a", "entityType": "t", "observations": ["x"]}], "relations": []}'
    (tmp_path / "memory.json").write_bytes(data)
    desk = Desk(tmp_path)
    assert desk.memory.get("a")[0].observations == ("x",)
    assert desk.file.read_bytes() == data
    desk.close()


def test_a_store_and_a_file_that_meet_keep_what_either_has(desk: Desk) -> None:
    inner = Memory(SqliteStore(str(desk.folder / "behind.db")), policy=SIMPLE.policy)
    inner.create_entities([EntityDraft("both", "thing", ("stored",)), EntityDraft("stored", "thing")])
    inner.create_relations([("both", "stored", "r")])
    inner.close()
    both = _entity(desk, "both", "in the file", colour="green")
    desk.put_value(_graph(desk, [both, _entity(desk, "filed")], [_relation(desk, "both", "q", "filed", since=1)]))
    records = {record.name: record for record in desk.memory.read_graph().records}
    assert set(records) == {"both", "stored", "filed"}
    assert set(records["both"].observations) == {"stored", "in the file"}
    assert records["both"].extra == {"colour": "green"}
    assert {relation.type for relation in desk.memory.read_graph().relations} == {"r", "q"}
    desk.agrees()


def test_several_memories_on_one_file_stay_in_step(desk: Desk) -> None:
    other = desk.open()
    for number in range(4):
        (desk.memory, other)[number % 2].create_entities([EntityDraft(f"{number}", "thing")])
        assert plain(desk.memory.read_graph()) == plain(other.read_graph())
    desk.agrees()


def test_writers_on_threads_lose_nothing(desk: Desk) -> None:
    memories = [desk.memory, desk.open(), desk.open()]

    def work(who: int) -> None:
        for number in range(8):
            memories[who].create_entities([EntityDraft(f"{who} {number}", "thing")])

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.graph().entities) == 24
    desk.agrees()


def test_a_broken_file_is_set_aside_and_nothing_acknowledged_is_lost(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft("a", "thing", ("x",)), EntityDraft("b", "thing")])
    broken = desk.file.read_bytes()[:-20]
    desk.put(broken)
    with pytest.raises(BrokenFile) as told:
        desk.memory.read_graph()
    assert Path(str(told.value.details["kept"])).read_bytes() == broken
    assert [record.name for record in desk.memory.read_graph().records] == ["a", "b"]
    desk.agrees()


# ── at random ───────────────────────────────────────────────────────────────────────────────────────────────


def _edit(random: Random, graph: GraphFile) -> tuple[list[EntityDraft], list[Link]]:
    """What another program makes of the file: anything may come, go, change or move."""
    entities, relations = list(graph.entities), list(graph.relations)
    for _ in range(random.randint(1, 3)):
        what = random.randrange(6)
        if what == 0:
            name = random.choice("abcdefgh")
            entities = [e for e in entities if e.name != name]
            texts = tuple(random.choice("uvwxyz") for _ in range(random.randint(0, 3)))
            extra = {"key": random.randint(0, 9)} if random.random() < 0.5 else {}
            entities.insert(
                random.randint(0, len(entities)), EntityDraft(name, random.choice(("s", "t")), texts, extra)
            )
        elif what == 1 and entities:
            entities.pop(random.randrange(len(entities)))
        elif what == 2 and entities:
            at = random.randrange(len(entities))
            e = entities[at]
            entities[at] = EntityDraft(e.name, e.kind, (*e.observations, random.choice("uvwxyz")), e.extra)
        elif what == 3:
            ends = (random.choice("abcd"), random.choice("abcd"), random.choice("rq"))
            relations.insert(random.randint(0, len(relations)), (*ends, {"n": 1} if random.random() < 0.3 else {}))
        elif what == 4 and relations:
            relations.pop(random.randrange(len(relations)))
        else:
            random.shuffle(entities)
            random.shuffle(relations)
    return entities, relations


def _change(random: Random, memory: Memory) -> None:
    """What a client does."""
    name, other = random.choice("abcdefgh"), random.choice("abcdefgh")
    what = random.randrange(7)
    if what == 0:
        memory.create_entities([EntityDraft(name, "t", tuple(random.sample("uvwxyz", 2)))])
    elif what == 1:
        memory.add_observations([(name, [random.choice("uvwxyz")])])
    elif what == 2:
        memory.delete_observations([(name, ["u", "v"])])
    elif what == 3:
        memory.create_relations([(name, other, random.choice("rq"))])
    elif what == 4:
        memory.delete_relations([(name, other, "r"), (other, name, "q")])
    elif what == 5:
        memory.delete_entities([name])
    elif memory.changes():
        change = memory.changes(1)[0]
        if change.undone_by is None:
            memory.undo(change.id)


def _sorted(entities: list[Any], relations: list[Any]) -> tuple[list[Any], list[Any]]:
    return sorted(entities, key=repr), sorted(relations, key=repr)


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_by_either_hand_stay_in_step(desk: Desk, seed: int) -> None:
    random = Random(f"{desk.form} {seed}")
    other = desk.open()
    desk.memory.create_entities([EntityDraft("a", "t")])
    for _ in range(60):
        if random.random() < 0.5:
            _change(random, random.choice((desk.memory, other)))
            graph = desk.graph()
            entities, relations = graph.entities, graph.relations
        else:
            entities, relations = _edit(random, desk.graph())
            desk.put(b"".join(write(desk.form, entities, relations)))
        # The order is the store's own; what is said is what the last hand has written.
        seen = _sorted(*plain(desk.memory.read_graph()))
        assert seen == _sorted([(e.name, e.kind, e.observations, e.extra) for e in entities], relations)
        assert plain(other.read_graph()) == plain(desk.memory.read_graph())


@pytest.mark.parametrize("form", ["document", "lines"])
@given(GRAPHS, GRAPHS)
@settings(max_examples=by_form(8, 25))
def test_any_graph_put_in_the_place_of_any_other_is_what_the_store_says(
    form: GraphForm, first: tuple[list[EntityDraft], list[Link]], second: tuple[list[EntityDraft], list[Link]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), form)
        for entities, relations in (first, second):
            desk.put(b"".join(write(form, entities, relations)))
            assert _sorted(*plain(desk.memory.read_graph())) == _sorted(
                [(e.name, e.kind, e.observations, e.extra) for e in entities], relations
            )
        desk.memory.create_entities([EntityDraft("one more", "thing")])
        desk.agrees()
        desk.close()
