"""Every index damaged by hand: health sees it, searches answer all the same, and a reindex makes it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from form import mostly_long
from polymnia import EntityDraft, connect, inference
from polymnia.models import Filters, Remark
from polymnia.storage import indexes, snapshot
from polymnia.storage.sqlite import grams
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

from ..engine.search.toys import Toy
from .desk import Desk

DATA = {"project", "fact", "memory", "observation", "relation", "change", "change_item", "session", "seen"}
"""Tables whose rows are what people stored, or tell what happened to it."""

NOTHING_TO_DAMAGE = {
    "gram": "the table whose rows are in gram_data, gram_idx, gram_docsize and gram_config",
    "gram_term": "a view of gram",
    "stale": "empty but for moments: texts to be indexed once more",
    "sqlite_sequence": "SQLite's own",
}

SPOILT = {
    "gram_data": ("UPDATE gram_data SET block = randomblob(length(block)) WHERE id > 10", "DELETE FROM gram_data"),
    "gram_idx": ("DELETE FROM gram_idx",),
    "gram_docsize": ("DELETE FROM gram_docsize", "INSERT INTO gram (gram) VALUES ('delete-all')"),
    "gram_config": ("DELETE FROM gram_config",),
    "passage_block": ("UPDATE passage_block SET data = randomblob(length(data))", "DELETE FROM passage_block"),
    "posting": ("UPDATE posting SET data = randomblob(length(data))", "UPDATE posting SET data = x'00ff'",
                "DELETE FROM posting"),
    "gone": ("DELETE FROM gone", "INSERT INTO gone SELECT id FROM observation"),
    "model": ("DELETE FROM model", "UPDATE model SET dimensions = 3"),
    "vector": ("UPDATE vector SET half = randomblob(length(half))", "UPDATE vector SET half = x'00'",
               "DELETE FROM vector"),
    "vector_bits": ("UPDATE vector_bits SET bits = randomblob(length(bits))", "DELETE FROM vector_bits"),
    "tag": ("DELETE FROM tag",),
    "scope": ("DELETE FROM scope", "UPDATE scope SET memories = 7"),
}  # fmt: skip
"""Statements that damage each table that is made of the others. A new table must stand here or above."""


_PEBBLES = 60


@pytest.fixture(scope="module", autouse=True)
def large() -> Iterator[None]:
    """Indexes take everything in, and are asked, from as few texts on as there are here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "_UNINDEXED", _PEBBLES)
        patch.setattr(grams, "_SCAN_BELOW", _PEBBLES)
        patch.setattr(snapshot, "MAX_TEXTS", _PEBBLES)
        yield


@pytest.fixture
def desk(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.setattr(inference, "choose", lambda *a, **k: [Toy()])
    desk = Desk(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "use")
    shutil.copy(whole, tmp_path / "memory.db")
    return desk


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something in every index."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "choose", lambda *a, **k: [Toy()])
        patch.setenv("POLYMNIA_EMBEDDER", "use")
        with connect(path) as memory:
            drafts = [EntityDraft(f"pebble {i}", "stone", (f"lies {i} steps away",)) for i in range(_PEBBLES)]
            drafts[17] = EntityDraft("amber", "stone", ("washed ashore by a storm",), tags=("rare",), scope="finds/sea")
            memory.create_entities(drafts)
            memory.finding().reindex("default", lambda *told: None)
            memory.delete_entities(["pebble 5"])
    return path


def _damage(desk: Desk, *statements: str) -> None:
    connection = apsw.Connection(str(desk.folder / "memory.db"))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def test_every_table_is_data_or_an_index_that_is_damaged_here() -> None:
    schema = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        schema.execute(migration(name)).fetchall()
    tables = {name for (name,) in schema.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == DATA | NOTHING_TO_DAMAGE.keys() | SPOILT.keys()


@pytest.mark.promise("search.command.damaged")
@pytest.mark.parametrize("statement", mostly_long([one for many in SPOILT.values() for one in many], 6))
def test_a_damaged_index_is_seen_passed_over_and_made_again(desk: Desk, statement: str) -> None:
    _damage(desk, statement)
    seen = desk.run("health")
    assert seen.code == 1
    assert "damaged" in seen.out and "reindex --anew" in seen.out
    _searches(desk)
    assert desk.run("reindex", "--anew").code == 0
    healed = desk.run("health")
    assert healed.code == 0, healed.out
    assert not any(note.code == "index_damaged" for note in _searches(desk))


def _searches(desk: Desk) -> list[Remark]:
    """Searches by substring, word and tag find what is there, and scopes are listed; what was noted."""
    with connect(desk.folder / "memory.db") as memory:
        by_substring, by_word = memory.search("ashed asho"), memory.search("storm")
        by_tag = memory.search("stone", filters=Filters(tags=("rare",)))
        deleted = memory.search("lies 5 steps")
        assert [found.hits[0].record.name for found in (by_substring, by_word)] == ["amber", "amber"]
        assert [hit.record.name for hit in by_tag.hits] == ["amber"]
        assert "pebble 5" not in [hit.record.name for hit in deleted.hits]
        assert "finds/sea" in [one.path for one in memory.scopes()]
        return [*by_substring.notes, *by_word.notes, *by_tag.notes]


@pytest.mark.parametrize("table", ["gram_data", "gram_config", "posting", "passage_block"])
def test_a_search_says_that_an_index_is_damaged_and_what_to_do(desk: Desk, table: str) -> None:
    _damage(desk, SPOILT[table][0])
    told = desk.run("search", "washed ashore")
    assert "Damaged" in told.out + told.err and "reindex --anew" in told.out + told.err


def test_what_is_written_while_the_substring_index_is_damaged_is_kept(desk: Desk) -> None:
    _damage(desk, "UPDATE gram_data SET block = randomblob(length(block))")
    assert desk.run("purge", "pebble 9", "--yes").code == 0
    desk.add("Coral grows in warm water")
    assert desk.run("search", "oral gro", "--json").value["hits"]
    assert desk.run("health").code == 0  # the purge had to touch the index, and so began it anew


@pytest.mark.parametrize(
    "damage", [SPOILT["gram_data"][0], "UPDATE gram_data SET block = zeroblob(10000000) WHERE id = 10"]
)
def test_no_damage_to_the_substring_index_fails_a_change(desk: Desk, damage: str) -> None:
    _damage(desk, damage)
    with connect(desk.folder / "memory.db") as memory:
        memory.create_entities([EntityDraft(f"shell {i}", "find", (f"shines {i} times",)) for i in range(2 * _PEBBLES)])
        assert memory.search("hines 101 ti").hits[0].record.name == "shell 101"
    _damage(desk, damage)
    assert desk.run("purge", "pebble 9", "--yes").code == 0
    assert desk.run("health").code == 0


def test_no_damage_to_the_substring_index_fails_its_repair(desk: Desk) -> None:
    _damage(desk, "UPDATE gram_data SET block = zeroblob(10000000) WHERE id = 10")
    with connect(desk.folder / "memory.db") as memory:
        memory.validate(scope="system", fix=True)
        assert [one.kind for one in memory.validate(scope="system").findings if one.severity != "info"] == []


def test_where_the_substring_index_cannot_be_emptied_nothing_changes_and_a_copy_is_whole(desk: Desk) -> None:
    _damage(desk, "DROP TABLE gram_docsize")
    before = desk.run("changes", "--json").out
    refused = desk.run("purge", "pebble 9", "--yes")
    assert refused.code == 1
    assert "the change was not made" in refused.err and "polymnia migrate --from" in refused.err
    assert desk.run("changes", "--json").out == before
    assert desk.run("search", "lies 9 steps", "--json").value["hits"][0]["name"] == "pebble 9"
    copy = desk.folder / "copy.db"
    assert desk.run("migrate", "--from", str(desk.folder / "memory.db"), "--to", str(copy)).code == 0
    copy.replace(desk.folder / "memory.db")
    assert desk.run("purge", "pebble 9", "--yes").code == 0
    assert "pebble 9" not in desk.run("changes", "--json").out


def test_the_other_checks_see_and_mend_it_too(desk: Desk) -> None:
    from polymnia.dialects.content.reports.health import message
    from polymnia.engine.health.checkup import check

    _damage(desk, SPOILT["gram_data"][0], SPOILT["posting"][1], SPOILT["vector"][1])
    with connect(desk.folder / "memory.db") as memory:
        told = check(memory)
        assert told.status == "unhealthy"
        assert "reindex" in message(told.components["database"])
        assert "reindex" in message(told.components["vector_store"])
        kinds = {one.kind for one in memory.validate(scope="system").findings}
        assert {"characters_wrong", "words_wrong", "vector_broken"} <= kinds
        memory.validate(scope="system", fix=True)
        assert [one.kind for one in memory.validate(scope="system").findings if one.severity != "info"] == []
        assert check(memory).status == "healthy"
