"""A store with a bit of everything in it, and faults to plant in its file: at least one of each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from polymnia import EntityDraft, Memory
from polymnia.engine.content import ItemDraft
from polymnia.engine.health.integrity import IntegrityReport, validate
from polymnia.engine.search import Analysis
from polymnia.engine.search import LazySearch as Search
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from ..search.toys import Toy

__all__ = ["PLANTED", "STONES", "TEXTS", "Desk", "Planted", "of"]

SPAN = 1 << 32
STONES = 60
FAR = 4_102_444_800_000_000  # the year 2100

# What the texts say is of no matter; that they are in several scripts is.
TEXTS = ("The ferry leaves at dawn", "나루터에서 새벽 배가 떠난다", "Die Straße führt zum Fluß")


class Desk:
    """A store of one project with a bit of everything in it, and a second project beside it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path / "memory.db")
        self.toy = Toy()
        self.memory = self._open()

    def fill(self) -> None:
        """Store everything, with its vectors."""
        memory = self.memory
        memory.create_entities(
            [
                EntityDraft("Harbour", "place", TEXTS, tags=("water", "배")),
                EntityDraft("Mill", "place", ("Grinds rye",), scope="work/mills", summary="An old mill"),
                EntityDraft("Bridge", "place", ("Crosses the Han",), metadata={"built": 1926}),
            ]
        )
        memory.create_relations([("Harbour", "Bridge", "leads to"), ("Mill", "Harbour", "near")])
        self.item = memory.store_item(ItemDraft(text="Timetable of the ferry", session="spring", tags=["ferry"])).record
        memory.create_entities(
            [EntityDraft(f"stone {i}", "stone", (f"lies {i} steps from the well",)) for i in range(STONES)]
        )
        memory.acting("other", project="elsewhere").create_entities([EntityDraft("Lamp", "thing", ("Burns oil",))])
        memory.finding().reindex("default", lambda *_: None)
        memory.finding().reindex("elsewhere", lambda *_: None)

    def _open(self) -> Memory:
        store = SqliteStore(self.path, analyst=Analysis())
        return Memory(store, finding=Search(lambda: Finder(store, embedders=[self.toy])))

    def id(self, name: str) -> int:
        with self.memory.store.read("default") as snapshot:
            return snapshot.ids([name])[name]

    def plant(self, *statements: str, **values: Any) -> None:
        """Change the closed file behind the store's back."""
        self.memory.close()
        connection = apsw.Connection(self.path)
        for statement in statements:
            connection.execute(statement, values or None).fetchall()
        connection.close()
        self.memory = self._open()

    def validate(self, **asked: Any) -> IntegrityReport:
        return validate(self.memory, **asked)

    def everything(self) -> list[Any]:
        """All memories and relations, as anybody reads them."""
        with self.memory.store.read("default") as snapshot:
            return [*snapshot.records(), *snapshot.relations()]


class Planted(NamedTuple):
    """A fault: the kind of fact it is, how it is planted, and what mending leaves to see."""

    kind: str
    statement: str
    value: Callable[[Desk], dict[str, Any]] = lambda desk: {}
    mends: bool = True
    scope: str = "project"


def of(name: str) -> Callable[[Desk], dict[str, Any]]:
    return lambda desk: {"id": desk.id(name)}


FIRST_TEXT = "SELECT min(o.id) FROM observation o WHERE o.memory = :id"

PLANTED = [
    Planted("relation_end_gone", "UPDATE relation SET target = 'Weir', origin = 'auto' WHERE type = 'near'"),
    Planted("relation_end_waits", "UPDATE relation SET target = 'Weir' WHERE type = 'near'", mends=False),
    Planted(
        "embedding_missing",
        f"DELETE FROM vector_bits WHERE text = ({FIRST_TEXT}) - {SPAN}; DELETE FROM vector WHERE text = ({FIRST_TEXT})",
        of("Harbour"),
    ),
    Planted("scope_count_wrong", "UPDATE scope SET memories = 7 WHERE path = 'work/mills' AND project = 1"),
    Planted("scope_count_wrong", "INSERT INTO scope VALUES (1, 'nowhere', 3)"),
    Planted("tag_rows_wrong", "DELETE FROM tag WHERE tag = '배'"),
    Planted("tag_rows_wrong", "INSERT INTO tag VALUES (1, 'stray', :id)", of("Mill")),
    Planted("text_count_wrong", "UPDATE project SET texts = texts + 5 WHERE id = 1"),
    Planted("row_number_behind", "UPDATE project SET seq = seq - 3 WHERE id = 1"),
    Planted("session_missing", "DELETE FROM session WHERE name = 'spring'"),
    Planted("session_differs", "UPDATE memory SET session = NULL WHERE session = 'spring'"),
    Planted(
        "vector_of_nothing",
        f"""
        INSERT INTO vector (model, text, part, half) SELECT 1, {SPAN} + 900000, 0, half FROM vector LIMIT 1;
        INSERT INTO vector_bits SELECT 1, 1, max(v.id), 900000, 0, (SELECT bits FROM vector_bits LIMIT 1) FROM vector v
    """,
    ),
    Planted("vector_broken", f"UPDATE vector SET half = x'0102' WHERE text = ({FIRST_TEXT})", of("Harbour")),
    Planted("vector_broken", f"DELETE FROM vector WHERE text = ({FIRST_TEXT})", of("Harbour")),
    Planted("characters_wrong", f"DELETE FROM gram WHERE rowid = ({FIRST_TEXT})", of("Harbour")),
    Planted(
        "characters_wrong",
        f"""DELETE FROM gram WHERE rowid = ({FIRST_TEXT});
        INSERT INTO gram (rowid, text) SELECT min(o.id), 'something else' FROM observation o WHERE o.memory = :id""",
        of("Harbour"),
    ),
    Planted("words_wrong", f"INSERT INTO gone SELECT ({FIRST_TEXT})", of("Harbour")),
    Planted("words_wrong", "DELETE FROM passage_block WHERE project = 1 AND first = 1"),
    Planted(
        "words_wrong",
        "DELETE FROM posting WHERE project = 1 AND term IN (SELECT max(term) FROM posting WHERE project = 1)",
    ),
    Planted("journal_overlap", "UPDATE change SET first = first - 2 WHERE id = 2", mends=False),
    Planted("row_unjournalled", "UPDATE change SET last = last - 1, first = first WHERE id = 1", mends=False),
    Planted(
        "mention_missing",
        """UPDATE memory SET metadata = '{"see": "content_0123456789abcdef0123456789abcdef"}' WHERE id = :id""",
        of("Mill"),
        mends=False,
    ),
    Planted(
        "mention_missing",
        "UPDATE relation SET context = 'as in content_0123456789abcdef0123456789abcdef' WHERE type = 'near'",
        mends=False,
    ),
    Planted(
        "reference_kept",
        """UPDATE relation SET target = 'Weir', metadata = '{"deleted": true}' WHERE type = 'near'""",
        mends=False,
    ),
    Planted("observation_orphan", "UPDATE observation SET memory = 4294967296 + 800000 WHERE text = 'Grinds rye'"),
    Planted(
        "journal_item_lost",
        f"INSERT INTO change_item VALUES (1, 0, 'u', 'm', {SPAN} + 700000, {SPAN} + 700000, '{{}}', NULL, NULL)",
        mends=False,
    ),
    Planted(
        "journal_item_lost",
        "INSERT INTO change_item VALUES (1, 0, 'd', 'm', :id, :id, 'no JSON', NULL, NULL)",
        of("Mill"),
        mends=False,
    ),
    Planted("scope_illegal", "UPDATE memory SET scope = 'work//mills' WHERE id = :id", of("Mill")),
    Planted("scope_illegal", "UPDATE memory SET scope = '../..' WHERE id = :id", of("Mill")),
    Planted("json_broken", "UPDATE memory SET metadata = '{\"built\": 19' WHERE id = :id", of("Bridge")),
    Planted("json_broken", "UPDATE memory SET extra = '[1]' WHERE id = :id", of("Bridge")),
    Planted("relation_json_broken", "UPDATE relation SET metadata = '{{' WHERE type = 'near'"),
    Planted("strength_outside", "UPDATE relation SET strength = 7.5 WHERE type = 'near'"),
    Planted("time_ahead", f"UPDATE memory SET created = {FAR}, updated = {FAR} WHERE id = :id", of("Mill")),
    Planted("time_backwards", "UPDATE memory SET updated = created - 5 WHERE id = :id", of("Mill")),
    Planted("version_low", "UPDATE memory SET version = -3 WHERE id = :id", of("Mill")),
    Planted("text_has_nul", "UPDATE observation SET text = 'Grinds' || char(0) || 'rye' WHERE text = 'Grinds rye'"),
    Planted("name_has_nul", "UPDATE memory SET uid = uid || char(0) WHERE id = :id", of("Mill"), mends=False),
    Planted(
        "tag_no_text",
        """UPDATE memory SET tags = '["water", 7, ["배"]]' WHERE id = :id; DELETE FROM tag WHERE tag = '배'""",
        of("Harbour"),
    ),
    Planted("tag_no_text", """UPDATE memory SET tags = '["water", "배", null]' WHERE id = :id""", of("Harbour")),
    Planted(
        "json_broken",
        "UPDATE memory SET tags = '[\"water' WHERE id = :id; DELETE FROM tag WHERE memory = :id",
        of("Harbour"),
    ),
    Planted(
        "id_twice",
        "DROP INDEX memory_uid; UPDATE memory SET uid = (SELECT uid FROM memory WHERE name = 'Mill') WHERE id = :id",
        of("Bridge"),
        mends=False,
    ),
    Planted(
        "text_no_unicode", "UPDATE observation SET text = CAST(x'47ff' AS TEXT) WHERE text = 'Grinds rye'", mends=False
    ),
    Planted("session_differs", "UPDATE memory SET scope = NULL WHERE session = 'spring'"),
    Planted(
        "reference_mark_wrong",
        """
        UPDATE relation SET metadata = '{"deleted": true, "since": 3}', target = 'stone 5' WHERE type = 'near'
    """,
    ),
    Planted("fold_wrong", "UPDATE observation SET fold = 'other', digest = 1 WHERE text = 'Grinds rye'"),
    Planted("fold_wrong", "UPDATE memory SET look = look + 1 WHERE id = :id", of("Mill")),
    Planted("shape_differs", "DROP INDEX memory_kind", scope="system"),
    Planted("shape_differs", "DROP TRIGGER scope_gains", scope="system"),
    Planted("foreign_key_broken", "INSERT INTO fact VALUES (99, 'lost', 'x')", mends=False, scope="system"),
    Planted("words_outdated", "UPDATE fact SET value = 'older' WHERE key = 'words' AND project = 1"),
    Planted(
        "vectors_unused",
        """
        INSERT INTO model (id, name, dimensions) VALUES (9, 'older', 256);
        INSERT INTO vector (model, text, part, half) SELECT 9, text, part, half FROM vector LIMIT 1;
        INSERT INTO vector_bits SELECT 1, 9, id, text & 4294967295, part, (SELECT bits FROM vector_bits LIMIT 1)
          FROM vector WHERE model = 9
    """,
    ),
]
