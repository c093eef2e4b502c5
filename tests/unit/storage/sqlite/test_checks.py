"""Checking a store: what its file, its indexes and its size show, whatever state they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from polymnia import EntityDraft, Memory
from polymnia.engine.health.integrity import CHECKS, RULES
from polymnia.engine.ports.maintenance import CheckRequest, CheckResult
from polymnia.engine.search import Analysis
from polymnia.storage import checks as shared_checks
from polymnia.storage.sqlite import SqliteStore, checks


class Desk:
    """A store of some pebbles and its file."""

    def __init__(self, path: Path) -> None:
        self.path = path / "memory.db"
        self.store = SqliteStore(str(self.path), analyst=Analysis())
        self.memory = Memory(self.store)
        self.memory.create_entities(
            [EntityDraft(f"pebble {i}", "stone", (f"lies {i} steps away",)) for i in range(300)]
        )
        self.memory.create_relations([("pebble 1", f"pebble {i}", "near") for i in range(2, 20)])
        with self.store.write("default", "test", "list") as tx:
            tx.index_words(10_000)

    def asked(self, *checks: str, **more: Any) -> CheckRequest:
        return CheckRequest(checks=checks or CHECKS, is_scope=lambda path: True, analyst=Analysis(), **more)

    def check(self, project: str | None = "default", *checks: str, **more: Any) -> CheckResult:
        return self.store.check(project, self.asked(*checks, **more))

    def kinds(self, project: str | None = "default") -> set[str]:
        return {fact.kind for fact in self.check(project).facts}

    def repair(self, *kinds: str, **more: Any) -> dict[str, int]:
        with self.store.write("default", "test", "mend") as tx:
            return self.store.repair(tx, kinds, self.asked(**more))

    def behind(self, work: Callable[[apsw.Connection], None]) -> None:
        """Do something to the closed file."""
        self.memory.close()
        connection = apsw.Connection(str(self.path))
        work(connection)
        connection.close()

    def plant(self, statement: str) -> None:
        self.behind(lambda connection: connection.execute(statement).fetchall())  # type: ignore[arg-type,return-value]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.memory.close()


def test_a_sound_store_shows_nothing(desk: Desk) -> None:
    assert (desk.kinds(), desk.kinds(None)) == (set(), set())


def test_a_project_that_is_not_there_shows_nothing_and_is_not_made(desk: Desk) -> None:
    assert desk.kinds("nowhere") == set()
    assert desk.store.projects() == ["default"]


def test_checking_writes_nothing(desk: Desk) -> None:
    desk.store.close()
    before = desk.path.read_bytes()
    desk.check()
    desk.check(None)
    desk.store.close()
    assert desk.path.read_bytes() == before


def test_every_kind_a_check_tells_has_a_rule_and_every_rule_is_told() -> None:
    folders = [Path(module.__file__).parent for module in (shared_checks, checks) if module.__file__]
    source = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    assert [kind for kind in RULES if f'"{kind}"' not in source] == []


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────


def test_an_index_that_disagrees_with_its_table_is_found_and_made_again(desk: Desk) -> None:
    def skip(connection: apsw.Connection) -> None:
        find = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'relation_source_strength'"
        row = connection.execute(find).fetchone()
        connection.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = :n", {"n": row[1]})
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("UPDATE relation SET strength = 0.5")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)

    desk.behind(skip)
    assert desk.kinds(None) == {"index_damaged"}
    assert desk.store.repair(None, ["index_damaged"], desk.asked()) == {"index_damaged": 1}
    assert desk.kinds(None) == set()


def _spoil(desk: Desk, table: str) -> None:
    def root(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        found = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        place.append((found[0] - 1) * size)
        place.append(size)

    place: list[int] = []
    desk.behind(root)
    with desk.path.open("r+b") as opened:
        opened.seek(place[0])
        opened.write(b"\xff" * place[1])


def test_a_damaged_page_is_told_and_the_other_checks_go_on(desk: Desk) -> None:
    _spoil(desk, "relation")
    assert "file_damaged" in desk.kinds(None)
    checked = desk.check()
    assert {fact.kind for fact in checked.facts} == {"part_unreadable"}
    assert checked.skipped["orphaned_relationships"].startswith("a part of it could not be read")
    assert "texts in the word index" in checked.examined


def test_an_index_that_cannot_be_unique_again_is_left_out(desk: Desk) -> None:
    desk.plant("DROP INDEX memory_name; UPDATE memory SET name = 'pebble 7' WHERE name = 'pebble 8'")
    assert "name_twice" in desk.kinds()
    assert desk.kinds(None) == {"shape_differs"}
    assert desk.store.repair(None, ["shape_differs"], desk.asked()) == {}
    assert desk.kinds(None) == {"shape_differs"}


def test_a_long_log_is_told_and_emptied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_LOG", 1000)
    assert desk.kinds(None) == {"log_long"}
    assert desk.store.repair(None, ["log_long"], desk.asked()) == {"log_long": 1}
    assert desk.kinds(None) == set()


# ── what is slow ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("hub", {"_HUB": 10}),
        ("text_very_long", {"_LONG": 16}),
        ("marks_many", {"_GONE": 10, "_GONE_SHARE": 0.01}),
    ],
)
def test_what_has_grown_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch, kind: str, limits: dict[str, Any]) -> None:
    desk.memory.delete_entities([f"pebble {i}" for i in range(100, 140)])
    assert desk.kinds() == set()
    for name, value in limits.items():
        monkeypatch.setattr(shared_checks.indexes, name, value)
    assert desk.kinds() == {kind}


def test_what_waits_for_the_index_of_characters_is_told_and_taken_in(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.memory.create_entities([EntityDraft(f"twig {i}", "wood", (f"burns {i}",)) for i in range(50)])
    monkeypatch.setattr(shared_checks.indexes, "_UNINDEXED", 90)
    (fact,) = desk.check("default", "performance_issues").facts
    assert (fact.kind, fact.count) == ("characters_behind", 118)
    assert desk.repair("characters_behind") == {"characters_behind": 118}
    assert desk.kinds() == set()
    with desk.store.read("default") as snapshot:
        assert [record.name for record in snapshot.load(snapshot.containing(["burns 17"]))] == ["twig 17"]


def test_what_waits_for_the_word_index_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.memory.create_entities([EntityDraft(f"twig {i}", "wood", (f"burns {i}",)) for i in range(50)])
    monkeypatch.setattr(shared_checks.indexes, "_UNLISTED", 90)
    assert desk.kinds() == {"words_behind"}


def test_a_word_index_of_another_version_is_told_and_not_compared(desk: Desk) -> None:
    desk.plant("UPDATE fact SET value = 'older' WHERE key = 'words'")
    checked = desk.check()
    assert {fact.kind for fact in checked.facts} == {"words_outdated"}
    assert "another version" in checked.skipped["word index"]


# ── how much is looked at ─────────────────────────────────────────────────────────────────────────────────


def test_of_very_many_rows_the_newest_are_looked_at_and_the_answer_says_so(desk: Desk) -> None:
    desk.plant("UPDATE memory SET version = 0 WHERE name IN ('pebble 3', 'pebble 297')")
    checked = desk.check("default", "schema_compliance", rows=50)
    (fact,) = checked.facts
    assert (fact.kind, fact.count) == ("version_low", 1)
    assert checked.examined["memory rows"] == (50, 300)


def test_indexes_are_compared_on_the_rows_that_are_looked_at(desk: Desk) -> None:
    assert desk.check("default", "data_consistency", rows=50).facts == []


def test_mending_what_is_sound_changes_nothing(desk: Desk) -> None:
    before = desk.store.stamp("default")
    assert (
        desk.repair(*(kind for kind, rule in RULES.items() if rule.by == "store" and kind != "characters_behind")) == {}
    )
    assert desk.store.stamp("default") == before


def test_an_undo_after_numbering_was_mended_takes_back_only_its_own_change(desk: Desk) -> None:
    desk.plant("UPDATE project SET seq = seq - 10")
    assert desk.repair("row_number_behind") == {"row_number_behind": 1}
    desk.memory.create_entities([EntityDraft("twig", "wood", ("burns",))])
    desk.memory.undo()
    assert desk.memory.count() == (300, 18)
    assert desk.kinds() == set()
