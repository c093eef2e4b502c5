"""Imports a project file as a single change that one undo reverts; the file can be validated before that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.content import CONTENT, EARLIER, PLAIN, check_value, new_item_id
from polymnia.engine.ports import Transaction
from polymnia.engine.project import Step
from polymnia.engine.transfer.fields import draft
from polymnia.engine.transfer.formats import project
from polymnia.engine.transfer.formats.project import DEPTH, ProjectForm
from polymnia.engine.transfer.formats.records import FileLimits, Item, JsonObject
from polymnia.engine.transfer.imports import Importer, Open
from polymnia.errors import Invalid
from polymnia.models import EntityDraft, Limits, Record, legal_text, new_id

Merging = Literal["replace", "merge", "skip_existing"]

_RECORD = 256 * 1024**2  # bytes; an item includes its earlier versions, so its record can be long
_HANDLED_SEPARATELY = ("title", "embeddings", "history", "other")
_IDS = ("content_id", "memory_id", "id")
_RENAMED = {"content_id": "memory_id", "session_id": "session"}


class ProjectImport(Struct, frozen=True, kw_only=True):
    """The result of an import. ``ids`` maps ids in the file to the ids assigned here, where they differ.

    ``dropped`` counts by reason everything in the file that was not imported.
    """

    imported: int = 0
    updated: int = 0
    skipped: int = 0
    relationships: int = 0
    ids: dict[str, str] = {}
    problems: list[str] = []
    dropped: dict[str, int] = {}


def problems(open: Open, form: ProjectForm, limits: Limits) -> list[str]:
    """List everything in a file that cannot be imported, with its position and the reason."""
    file = _ProjectFile(open, limits, form)
    for item, ends in file.loose_links(named=True):
        for end in ends:
            file.refuse(item, f"there is no item {end!r:.80} in the file")
    return file.problems()


def import_project(
    tx: Transaction,
    open: Open,
    form: ProjectForm,
    *,
    merging: Merging,
    keep_ids: bool,
    limits: Limits,
    step: Step | None = None,
    made: Callable[[list[Record]], None] | None = None,
) -> ProjectImport:
    """Import a project file, skipping and reporting invalid records. ``made`` is called with batches of new items."""
    file = _ProjectFile(open, limits, form, merging, keep_ids, made)
    relations = []
    for _, ((source, _), (target, _), link) in file.add_memories(tx, step):
        if source in file.ids and target in file.ids:
            relations.append(replace(link, source=file.name_of(source), target=file.name_of(target)))
        else:
            file.drop("relationships: an end is not in the file")
    return ProjectImport(
        **file.counts,
        relationships=file.relate(tx, relations),
        ids={old: new for old, new in file.ids.items() if old != new},
        problems=file.problems(),
        dropped=file.dropped,
    )


def item_draft(record: JsonObject, limits: Limits) -> EntityDraft:
    """Convert a record of a project file to an item."""
    fields = {_RENAMED.get(key, key): value for key, value in record.items() if key not in _HANDLED_SEPARATELY}
    if fields.get("content") is None and fields.get("observations") is None:
        raise Invalid("content is missing", field="content")
    fields.setdefault("kind", CONTENT)
    made = draft(fields, limits, None)
    metadata, extra = made.metadata, made.extra
    title = record.get("title")
    if isinstance(title, str) and "title" not in metadata and made.name == made.uid:
        start = made.observations[0][:400] if made.observations else ""
        words = title.strip().rstrip("…").rstrip()
        if words and words not in start:  # a title that the text starts with is derived, not stored
            metadata = {**metadata, "title": legal_text(title.strip(), "title", limits.text_bytes)}
    if isinstance(history := record.get("history"), list) and history:
        for at, version in enumerate(history):
            if not isinstance(version, dict):
                raise Invalid(f"history[{at}] is no object", field="history")
            for key, value in version.items():
                check_value(value, f"history[{at}].{key}")
        extra = {**extra, EARLIER: history}
    return replace(made, content_type=made.content_type or PLAIN, metadata=metadata, extra=extra)


class _ProjectFile(Importer):
    sections = ("items", "relationships")
    id_field = "content_id"
    file = "a project file"

    def __init__(
        self,
        open: Open,
        limits: Limits,
        form: ProjectForm,
        merging: Merging = "merge",
        keep_ids: bool = False,
        made: Callable[[list[Record]], None] | None = None,
    ) -> None:
        super().__init__(open, limits)
        self._form: ProjectForm = form
        self._merging = merging
        self._keep_ids = keep_ids
        self._on_new = made
        self._kept_ids: set[str] = set()  # ids of the file that are preserved; items without one are matched by text
        self.ids: dict[str, str] = {}

    def read(self, source: BinaryIO) -> Iterator[Item]:
        return project.read(
            source, self._form, FileLimits(total=self._limits.import_bytes, depth=DEPTH, record=_RECORD)
        )

    def draft(self, value: JsonObject) -> EntityDraft:
        made = item_draft(value, self._limits)
        if value.get("embeddings"):
            self.drop("embeddings: vectors are made anew from the texts")
        if self._keep_ids and any(value.get(key) for key in _IDS):
            self._kept_ids.add(made.uid or "")
        return made

    def keeps_id(self, one: EntityDraft) -> bool:
        return one.uid in self._kept_ids

    def is_known_by_text(self, one: EntityDraft) -> bool:
        return one.uid not in self._kept_ids and len(one.observations) == 1

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        return record.observations == one.observations and record.session == one.session

    def name_of(self, id: str) -> str:
        """The stored name of an item of the file."""
        return self._names[id]

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        new = [one if self.keeps_id(one) else _renumbered(one) for one in drafts]
        for one, made in zip(drafts, new, strict=True):
            self.ids[one.uid or ""], self._names[one.uid or ""] = made.uid or "", made.name
        records = tx.add_records(new)
        if self._on_new is not None:
            self._on_new(records)

    def merge(self, tx: Transaction, existing: Record, one: EntityDraft) -> None:
        self.ids[one.uid or ""] = existing.uid
        changed = self._merging != "skip_existing"
        if self._merging == "replace":
            tx.replace_record(existing.id, replace(one, name=existing.name, updated=one.updated or existing.updated))
        elif self._merging == "merge":
            # The newer text wins; tags and metadata are merged, and newer metadata values win.
            newer = (one.updated or 0) > existing.updated
            tags = tuple(dict.fromkeys((*existing.tags, *one.tags)))
            metadata = {**existing.metadata, **one.metadata} if newer else {**one.metadata, **existing.metadata}
            if newer and one.observations != existing.observations:
                tx.replace_record(
                    existing.id, replace(one, name=existing.name, tags=tags, metadata=metadata, updated=None)
                )
            else:
                changed = tx.revise(existing.id, {"tags": tags, "metadata": metadata})
        self.counts["updated" if changed else "skipped"] += 1


def _renumbered(one: EntityDraft) -> EntityDraft:
    uid = new_item_id(new_id())
    return replace(one, uid=uid, name=uid if one.name == one.uid else one.name)
