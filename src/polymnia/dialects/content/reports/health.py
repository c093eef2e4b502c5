"""Health in words: what a check of integrity found, what is done about it, and how each part of the server is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import to_builtins

from polymnia.engine.health.integrity import MAX_EMBEDDED, REINDEXED
from polymnia.models import JsonObject

if TYPE_CHECKING:
    from polymnia.engine.health.checkup import Component, HealthNote
    from polymnia.engine.health.integrity import BrokenIndex, Examined, IntegrityFinding

_RESTORE = "Restore a backup, or export what can be read and import it into a new store."
_WORDS = {
    "relation_end_gone": (
        "{n} relationship(s) lead from or to a memory that is gone",
        "They are removed; an undo brings them back.",
    ),
    "relation_end_waits": (
        "{n} relationship(s) name an entity that has not been made yet",
        "Nothing is broken: make the entity, or delete the relationship.",
    ),
    "embedding_missing": (
        "{n} passage(s) have no vector of a model in use: meaning does not find them",
        "Their vectors are made.",
    ),
    "embedding_none": (
        "{n} passage(s) have no vector and will get none: meaning does not find them",
        "Nothing is broken: it was stored so, or no model in use knows the language. changing the item with its "
        "embeddings regenerated makes them.",
    ),
    "scope_count_wrong": (
        "{n} scope(s) have another number of memories than is counted for them",
        "The memories are counted again.",
    ),
    "tag_rows_wrong": (
        "{n} memory(s) are listed under other tags than they have",
        "The list of tags is made again from the memories.",
    ),
    "text_count_wrong": ("The number of texts that is kept for the project is wrong", "The texts are counted again."),
    "row_number_behind": (
        "Rows have numbers that the project is yet to give: new ones would collide",
        "Numbering goes on behind the last row.",
    ),
    "session_missing": ("{n} session(s) have memories, but do not exist", "The sessions are begun; an undo ends them."),
    "session_differs": (
        "{n} memory(s) are filed under one session and belong to another or none",
        "A memory in a session's scope belongs to that session; one without a scope is filed under its session. Those"
        " filed elsewhere are left: move them, or store them anew.",
    ),
    "vector_of_nothing": ("{n} text(s) have vectors, but are gone for good", "The vectors are removed."),
    "vector_broken": (
        "{n} text(s) have vectors of the wrong length, or half of what is kept of them",
        "They are removed and made again.",
    ),
    "characters_wrong": (
        "{n} text(s) are not in the index of characters as they are",
        "They are indexed again; all of them where a sample showed it.",
    ),
    "words_wrong": ("{n} text(s) are not in the word index as they are", "The word index is made anew."),
    "journal_overlap": (
        "{n} change(s) of the journal claim rows that another change made",
        f"Nothing is mended: an undo of these changes may take too much. {_RESTORE}",
    ),
    "row_unjournalled": (
        "{n} row(s) were made by no change of the journal",
        "Nothing is mended: they are read as usual, but have no beginning in their history and cannot be undone.",
    ),
    "mention_missing": (
        "{n} memory(s) or relationship(s) mention ids that are not in this project",
        "Nothing is mended, because the text is its author's: update the metadata or context, or undo the deletion.",
    ),
    "reference_kept": (
        "{n} relationship(s) were kept when their target was deleted, and are marked so",
        "Nothing is broken: delete them when nobody needs them any more.",
    ),
    "reference_mark_wrong": (
        "{n} relationship(s) are marked as leading nowhere, but their end is there",
        "The mark is removed; an undo brings it back.",
    ),
    "observation_orphan": (
        "{n} text(s) belong to a memory that is not there",
        "Each lost memory gets a new one of the kind `recovered` that holds its texts.",
    ),
    "journal_item_lost": (
        "{n} item(s) of the journal point to nothing or cannot be read",
        f"Nothing is mended: these changes cannot be undone. {_RESTORE}",
    ),
    "foreign_key_broken": (
        "{n} row(s) belong to a project, model or change that is not there",
        f"Nothing is mended. {_RESTORE}",
    ),
    "scope_illegal": (
        "{n} memory(s) are filed under a path that is none",
        "They are filed under the nearest legal path; an undo takes that back.",
    ),
    "json_broken": (
        "{n} memory(s) have tags, metadata or extra keys that cannot be read",
        "What cannot be read is moved as text into the metadata, under `unreadable`.",
    ),
    "tag_no_text": ("{n} memory(s) have tags that are no texts", "They become texts."),
    "relation_json_broken": (
        "{n} relationship(s) have metadata or extra keys that cannot be read",
        "What cannot be read is moved as text into the metadata, under `unreadable`.",
    ),
    "strength_outside": (
        "{n} relationship(s) have a strength that is not from 0 to 1",
        "The strength becomes the nearest of 0 and 1; an undo takes that back.",
    ),
    "time_ahead": (
        "{n} memory(s) were made or changed in the future",
        "Their times become the present; an undo brings the time of making back.",
    ),
    "time_backwards": (
        "{n} memory(s) were changed before they were made",
        "The time of their last change becomes that of this one.",
    ),
    "version_low": ("{n} memory(s) have a version below 1", "Counting starts at 1."),
    "name_twice": (
        "{n} name(s) are borne by several memories of the project",
        "Nothing is mended, because either may be the true one: delete one of them by its id.",
    ),
    "id_twice": (
        "{n} id(s) are borne by several memories of the project",
        f"Nothing is mended, because either may be the true one. {_RESTORE}",
    ),
    "text_has_nul": (
        "{n} text(s) hold a NUL character (U+0000)",
        "It becomes the replacement character (U+FFFD); an undo brings it back.",
    ),
    "name_has_nul": (
        "{n} memory(s) have a NUL character in their name, kind or id",
        "Nothing is mended, because relationships name them so. Store them under another name and delete them.",
    ),
    "text_no_unicode": ("{n} text(s) are no Unicode, so whatever reads them fails", f"Nothing is mended. {_RESTORE}"),
    "fold_wrong": ("{n} text(s) have another searchable form than their letters give", "It is made again."),
    "shape_differs": (
        "{n} table(s), index(es) or trigger(s) are missing, or not as they should be",
        f"Indexes and triggers are made again; a table is not. {_RESTORE}",
    ),
    "index_damaged": ("{n} index(es) of the file disagree with their tables", "All indexes are made again."),
    "file_damaged": ("The file is damaged in {n} place(s)", f"Nothing is mended. {_RESTORE}"),
    "part_unreadable": (
        "{n} check(s) met something that cannot be read, and could not go on",
        f"Nothing is mended; a check of the whole system says more. {_RESTORE}",
    ),
    "log_long": (
        "The write-ahead log has grown to more than 256 MB",
        "It is written back and emptied, unless somebody reads an old state at the moment.",
    ),
    "characters_behind": (
        "{n} row(s) are not in the index of characters yet: every search scans them",
        "They are indexed.",
    ),
    "words_behind": ("{n} row(s) are not in the word index yet: every process reads them itself", "They are indexed."),
    "words_outdated": (
        "The word index is of another version: every process reads all texts itself",
        "It is made anew.",
    ),
    "marks_many": (
        "{n} deleted text(s) are still in the word index, marked",
        "The word index is made anew without them.",
    ),
    "text_very_long": (
        "{n} text(s) are longer than a million characters",
        "Nothing is mended: store them in parts, each about one thing.",
    ),
    "hub": (
        "{n} memory(s) have more than two thousand relationships",
        "Nothing is mended: whoever reads them with their relationships reads all; split them, or ask for fewer.",
    ),
    "vectors_unused": (
        "{n} vector(s) are of a model that is not in use",
        "They are removed; going back to that model makes them again.",
    ),
}
"""For each kind of fact what is wrong, and how it is repaired, or what is left to do by hand."""

_FAILED = {
    "unreadable_text": "a text of the project cannot be read",
    "too_many": f"{MAX_EMBEDDED} are made at a time; check again, or run `polymnia reindex`",
}
_NOT_EXAMINED = {"restricted_key": "this key opens some projects only, and the file belongs to all of them"}


def issue(found: IntegrityFinding) -> JsonObject:
    """A finding of a check as fields, with its words."""
    what, how = _WORDS[found.kind]
    return {
        "check": found.check,
        "kind": found.kind,
        "severity": found.severity,
        "what": what.format(n=found.count),
        "count": found.count,
        "where": list(found.where),
        "project": found.project,
        "fixable": found.fixable,
        "how": how,
        "left": found.left,
        "failed": _FAILED.get(found.failed or "", found.failed),
    }


def examined(one: Examined) -> JsonObject:
    """How much was examined as fields, with the reason why not."""
    fields: JsonObject = to_builtins(one)
    return fields | {"why_not": _NOT_EXAMINED.get(one.why_not or "", one.why_not)}


def broken_index(one: BrokenIndex) -> JsonObject:
    """A damaged index as fields, with its words."""
    what, how = _WORDS[one.kind]
    if one.kind in REINDEXED:
        how = "`polymnia reindex --anew` makes it again from the texts."
    return {
        "kind": one.kind,
        "project": one.project,
        "what": what.format(n=one.count),
        "where": list(one.where),
        "how": how,
        "vectors": one.vectors,
    }


def message(component: Component) -> str:
    """How a part of the server is."""
    return _joined(component.notes)


def _joined(notes: Iterable[HealthNote]) -> str:
    sentences = ((_NOTES[note.code], note.values) for note in notes)
    return "; ".join(one.format(**values) if isinstance(one, str) else one(**values) for one, values in sentences)


def _damaged(index: BrokenIndex) -> str:
    words = broken_index(index)
    return f"{words['what']}. {words['how']}"


def _model(model: str, notes: Iterable[HealthNote]) -> str:
    return f"{model}: {_joined(notes)}"


_NOTES: dict[str, str | Callable[..., str]] = {
    "failed": "{why}",
    "step_failed": "{step}: {why}",
    "no_answer": "{step}: no answer within {seconds:g} s",
    "slow": "{step} took {seconds:.1f} s",
    "read": "Reads are answered",
    "written": "Reads and writes are answered",
    "may_not_write": "writes were not tried, for this key may only read",
    "may_not_read_file": "the file was not looked at, for this key opens some projects only",
    "long_log": "the write-ahead log has {megabytes} MB",
    "file_damaged": "the file is not sound: {where}",
    "index_damaged": _damaged,
    "no_semantic_search": "Search by meaning is switched off: no model was chosen",
    "vectors_pending": "{count} passage(s) have no vector yet; words find them, meaning does not",
    "nothing_found": "a search by meaning found nothing, though there are vectors",
    "searched": "A search by meaning was answered",
    "some_projects": "vectors were counted in the newest {counted} of {projects} projects",
    "no_model": "No model was chosen: search is by words alone",
    "model": _model,
    "embedded": "{models} embedded a word",
    "no_vector": "it gave no vector",
    "wrong_shape": "it gave vectors of the shape {shape}, not of {dimensions} numbers",
    "wrong_length": "it gave a vector of the length {length:.3g}, not of 1",
    "cache_current": "What is held in memory follows the store",
}
