"""The rules of integrity as data: what each kind of fact means, how bad it is, and what can be done about it."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

__all__ = ["CHECKS", "RULES", "Check", "Rule", "Severity"]

Check = Literal[
    "orphaned_relationships", "missing_embeddings", "data_consistency", "reference_integrity", "schema_compliance",
    "performance_issues",
]  # fmt: skip
CHECKS: tuple[Check, ...] = get_args(Check)

Severity = Literal["error", "warning", "info"]


class Rule(Struct, frozen=True):
    """What a kind of fact means. ``how`` is what mending does, or what is left to people where nothing mends it.

    ``by`` says who mends: the store (data made of other data, columns that cannot be read), a change that an undo takes
    back, the indexes made anew, the models, or nobody.
    """

    check: Check
    severity: Severity
    what: str
    how: str
    by: Literal["store", "change", "words", "models", "file", "nobody"] = "nobody"


_FILE = "Restore a backup, or export what can be read and import it into a new store."

RULES: dict[str, Rule] = {
    # ── orphaned_relationships ──
    "relation_end_gone": Rule(
        "orphaned_relationships", "error", "{n} relationship(s) lead from or to a memory that is gone",
        "They are removed; an undo brings them back.", "change",
    ),
    "relation_end_waits": Rule(
        "orphaned_relationships", "info", "{n} relationship(s) name an entity that has not been made yet",
        "Nothing is broken: make the entity, or delete the relationship.",
    ),
    # ── missing_embeddings ──
    "embedding_missing": Rule(
        "missing_embeddings", "warning", "{n} passage(s) have no vector of a model in use: meaning does not find them",
        "Their vectors are made.", "models",
    ),
    "embedding_none": Rule(
        "missing_embeddings", "info", "{n} passage(s) have no vector and will get none: meaning does not find them",
        "Nothing is broken: it was stored so, or no model in use knows the language. regenerate_embeddings of "
        "update_content makes the vectors of an item.",
    ),
    # ── data_consistency ──
    "scope_count_wrong": Rule(
        "data_consistency", "error", "{n} scope(s) have another number of memories than is counted for them",
        "The memories are counted again.", "store",
    ),
    "tag_rows_wrong": Rule(
        "data_consistency", "error", "{n} memory(s) are listed under other tags than they have",
        "The list of tags is made again from the memories.", "store",
    ),
    "text_count_wrong": Rule(
        "data_consistency", "warning", "The number of texts that is kept for the project is wrong",
        "The texts are counted again.", "store",
    ),
    "row_number_behind": Rule(
        "data_consistency", "error", "Rows have numbers that the project is yet to give: new ones would collide",
        "Numbering goes on behind the last row.", "store",
    ),
    "session_missing": Rule(
        "data_consistency", "warning", "{n} session(s) have memories, but do not exist",
        "The sessions are begun; an undo ends them.", "change",
    ),
    "session_differs": Rule(
        "data_consistency", "warning", "{n} memory(s) are filed under one session and belong to another or none",
        "A memory in a session's scope belongs to that session; one without a scope is filed under its session. Those "
        "filed elsewhere are left: move them, or store them anew.", "change",
    ),
    "vector_of_nothing": Rule(
        "data_consistency", "warning", "{n} text(s) have vectors, but are gone for good",
        "The vectors are removed.", "store",
    ),
    "vector_broken": Rule(
        "data_consistency", "error", "{n} text(s) have vectors of the wrong length, or half of what is kept of them",
        "They are removed and made again.", "store",
    ),
    "characters_wrong": Rule(
        "data_consistency", "error", "{n} text(s) are not in the index of characters as they are",
        "They are indexed again; all of them where a sample showed it.", "store",
    ),
    "words_wrong": Rule(
        "data_consistency", "error", "{n} text(s) are not in the word index as they are",
        "The word index is made anew.", "words",
    ),
    "journal_overlap": Rule(
        "data_consistency", "error", "{n} change(s) of the journal claim rows that another change made",
        "Nothing is mended: an undo of these changes may take too much. " + _FILE,
    ),
    "row_unjournalled": Rule(
        "data_consistency", "warning", "{n} row(s) were made by no change of the journal",
        "Nothing is mended: they are read as usual, but have no beginning in their history and cannot be undone.",
    ),
    # ── reference_integrity ──
    "mention_missing": Rule(
        "reference_integrity", "warning", "{n} memory(s) or relationship(s) mention ids that are not in this project",
        "Nothing is mended, because the text is its author's: update the metadata or context, or undo the deletion.",
    ),
    "reference_kept": Rule(
        "reference_integrity", "info", "{n} relationship(s) were kept when their target was deleted, and are marked so",
        "Nothing is broken: delete them when nobody needs them any more.",
    ),
    "reference_mark_wrong": Rule(
        "reference_integrity", "warning", "{n} relationship(s) are marked as leading nowhere, but their end is there",
        "The mark is removed; an undo brings it back.", "change",
    ),
    "observation_orphan": Rule(
        "reference_integrity", "error", "{n} text(s) belong to a memory that is not there",
        "Each lost memory gets a new one of the kind `recovered` that holds its texts.", "store",
    ),
    "journal_item_lost": Rule(
        "reference_integrity", "warning", "{n} item(s) of the journal point to nothing or cannot be read",
        "Nothing is mended: these changes cannot be undone. " + _FILE,
    ),
    "foreign_key_broken": Rule(
        "reference_integrity", "error", "{n} row(s) belong to a project, model or change that is not there",
        "Nothing is mended. " + _FILE,
    ),
    # ── schema_compliance ──
    "scope_illegal": Rule(
        "schema_compliance", "error", "{n} memory(s) are filed under a path that is none",
        "They are filed under the nearest legal path; an undo takes that back.", "change",
    ),
    "json_broken": Rule(
        "schema_compliance", "error", "{n} memory(s) have tags, metadata or extra keys that cannot be read",
        "What cannot be read is moved as text into the metadata, under `unreadable`.", "store",
    ),
    "tag_no_text": Rule(
        "schema_compliance", "error", "{n} memory(s) have tags that are no texts",
        "They become texts.", "store",
    ),
    "relation_json_broken": Rule(
        "schema_compliance", "error", "{n} relationship(s) have metadata or extra keys that cannot be read",
        "What cannot be read is moved as text into the metadata, under `unreadable`.", "store",
    ),
    "strength_outside": Rule(
        "schema_compliance", "warning", "{n} relationship(s) have a strength that is not from 0 to 1",
        "The strength becomes the nearest of 0 and 1; an undo takes that back.", "change",
    ),
    "time_ahead": Rule(
        "schema_compliance", "warning", "{n} memory(s) were made or changed in the future",
        "Their times become the present; an undo brings the time of making back.", "change",
    ),
    "time_backwards": Rule(
        "schema_compliance", "warning", "{n} memory(s) were changed before they were made",
        "The time of their last change becomes that of this one.", "change",
    ),
    "version_low": Rule(
        "schema_compliance", "warning", "{n} memory(s) have a version below 1",
        "Counting starts at 1.", "change",
    ),
    "name_twice": Rule(
        "schema_compliance", "error", "{n} name(s) are borne by several memories of the project",
        "Nothing is mended, because either may be the true one: delete one of them by its id.",
    ),
    "id_twice": Rule(
        "schema_compliance", "error", "{n} id(s) are borne by several memories of the project",
        "Nothing is mended, because either may be the true one. " + _FILE,
    ),
    "text_has_nul": Rule(
        "schema_compliance", "error", "{n} text(s) hold a NUL character (U+0000)",
        "It becomes the replacement character (U+FFFD); an undo brings it back.", "change",
    ),
    "name_has_nul": Rule(
        "schema_compliance", "error", "{n} memory(s) have a NUL character in their name, kind or id",
        "Nothing is mended, because relationships name them so. Store them under another name and delete them.",
    ),
    "text_no_unicode": Rule(
        "schema_compliance", "error", "{n} text(s) are no Unicode, so whatever reads them fails",
        "Nothing is mended. " + _FILE,
    ),
    "fold_wrong": Rule(
        "schema_compliance", "error", "{n} text(s) have another searchable form than their letters give",
        "It is made again.", "store",
    ),
    "shape_differs": Rule(
        "schema_compliance", "error", "{n} table(s), index(es) or trigger(s) are missing, or not as they should be",
        "Indexes and triggers are made again; a table is not. " + _FILE, "file",
    ),
    "index_damaged": Rule(
        "schema_compliance", "error", "{n} index(es) of the file disagree with their tables",
        "All indexes are made again.", "file",
    ),
    "file_damaged": Rule(
        "schema_compliance", "error", "The file is damaged in {n} place(s)",
        "Nothing is mended. " + _FILE,
    ),
    "part_unreadable": Rule(
        "schema_compliance", "error", "{n} check(s) met something that cannot be read, and could not go on",
        "Nothing is mended; a check of the whole system says more. " + _FILE,
    ),
    # ── performance_issues ──
    "log_long": Rule(
        "performance_issues", "warning", "The write-ahead log has grown to more than 256 MB",
        "It is written back and emptied, unless somebody reads an old state at the moment.", "file",
    ),
    "characters_behind": Rule(
        "performance_issues", "warning", "{n} row(s) are not in the index of characters yet: every search scans them",
        "They are indexed.", "store",
    ),
    "words_behind": Rule(
        "performance_issues", "warning", "{n} row(s) are not in the word index yet: every process reads them itself",
        "They are indexed.", "words",
    ),
    "words_outdated": Rule(
        "performance_issues", "warning", "The word index is of another version: every process reads all texts itself",
        "It is made anew.", "words",
    ),
    "marks_many": Rule(
        "performance_issues", "info", "{n} deleted text(s) are still in the word index, marked",
        "The word index is made anew without them.", "words",
    ),
    "text_very_long": Rule(
        "performance_issues", "info", "{n} text(s) are longer than a million characters",
        "Nothing is mended: store them in parts, each about one thing.",
    ),
    "hub": Rule(
        "performance_issues", "info", "{n} memory(s) have more than two thousand relationships",
        "Nothing is mended: whoever reads them with their relationships reads all; split them, or ask for fewer.",
    ),
    "vectors_unused": Rule(
        "performance_issues", "info", "{n} vector(s) are of a model that is not in use",
        "They are removed; going back to that model makes them again.", "words",
    ),
}  # fmt: skip
"""Every kind of fact there is."""
