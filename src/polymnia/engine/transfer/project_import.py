"""Importing a project file: checked whole before anything is written, and one change that one undo takes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import check_value
from polymnia.engine.graph import Step
from polymnia.engine.items import CONTENT, EARLIER, PLAIN, new_item_id
from polymnia.engine.ports import Transaction
from polymnia.engine.transfer.fields import draft
from polymnia.engine.transfer.formats import project
from polymnia.engine.transfer.formats.project import DEPTH, ProjectForm
from polymnia.engine.transfer.formats.records import FileLimits, Item, JsonObject
from polymnia.engine.transfer.imports import Open, Records, known_records, reading
from polymnia.errors import Invalid
from polymnia.models import EntityDraft, Limits, Record, RelationDraft, legal_text, new_id

Merging = Literal["replace", "merge", "skip_existing"]

_PART = 500
_RECORD = 256 * 1024**2  # an item carries its earlier versions, so a record may be many texts long
_APART = ("title", "embeddings", "history", "other")
_IDS = ("content_id", "memory_id", "id")
_RENAMED = {"content_id": "memory_id", "session_id": "session"}


class ProjectImport(Struct, frozen=True, kw_only=True):
    """What an import came to. ``ids`` are those of the file that have other ones here.

    ``dropped`` counts by reason everything in the file that was not taken.
    """

    imported: int = 0
    updated: int = 0
    skipped: int = 0
    relationships: int = 0
    ids: dict[str, str] = {}
    problems: list[str] = []
    dropped: dict[str, int] = {}


def problems(open: Open, form: ProjectForm, limits: Limits) -> list[str]:
    """Everything in a file that cannot be imported, by its place and with the reason."""
    records = _records(limits)
    loose: list[tuple[Item, str]] = []
    for item, made in records.read(_items(open, form, limits)):
        if not isinstance(made, EntityDraft):
            loose += [(item, end) for end, _ in made[:2] if end not in records.uids]
    for item, end in loose:
        if end not in records.uids:
            records.refuse(item, f"there is no item {end!r:.80} in the file")
    return records.problems()


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
    """Take a project file in. What cannot be taken is left out and told. ``made`` is told of every new item."""
    records = _records(limits)
    importer = _Importer(tx, merging, made)
    part: list[EntityDraft] = []
    links: list[tuple[str, str, RelationDraft]] = []
    for item, one in records.read(_items(open, form, limits)):
        if not isinstance(one, EntityDraft):
            links.append((one[0][0], one[1][0], one[2]))
            continue
        fields: Any = item.value
        if fields.get("embeddings"):
            records.drop("embeddings: vectors are made anew from the texts")
        if keep_ids and any(fields.get(key) for key in _IDS):
            importer.kept.add(one.uid or "")
        part.append(one)
        if len(part) >= _PART:
            importer.add(part)
            part = []
            if step is not None:
                step(len(records.uids), 0)
    importer.add(part)
    related = importer.relate(links)
    for source, target, _ in links:
        if source not in importer.ids or target not in importer.ids:
            records.drop("relationships: an end is not in the file")
    return ProjectImport(
        **importer.counts,
        relationships=related,
        ids={old: new for old, new in importer.ids.items() if old != new},
        problems=records.problems(),
        dropped=records.dropped,
    )


def _items(open: Open, form: ProjectForm, limits: Limits) -> Iterator[Item]:
    bounds = FileLimits(total=limits.import_bytes, depth=DEPTH, record=_RECORD)
    return reading(open, lambda source: project.read(source, form, bounds))


def _records(limits: Limits) -> Records:
    return Records(
        limits,
        lambda value: _draft(value, limits),
        sections=("items", "relationships"),
        id_field="content_id",
        file="a project file",
    )


def _draft(told: JsonObject, limits: Limits) -> EntityDraft:
    fields = {_RENAMED.get(key, key): value for key, value in told.items() if key not in _APART}
    if fields.get("content") is None and fields.get("observations") is None:
        raise Invalid("content is missing", field="content")
    fields.setdefault("kind", CONTENT)
    made = draft(fields, limits, None)
    metadata, extra = made.metadata, made.extra
    title = told.get("title")
    if isinstance(title, str) and "title" not in metadata and made.name == made.uid:
        start = made.observations[0][:400] if made.observations else ""
        words = title.strip().rstrip("…").rstrip()
        if words and words not in start:  # one that stands there needs not be kept apart
            metadata = {**metadata, "title": legal_text(title.strip(), "title", limits.text_bytes)}
    if isinstance(history := told.get("history"), list) and history:
        for at, version in enumerate(history):
            if not isinstance(version, dict):
                raise Invalid(f"history[{at}] is no object", field="history")
            for key, value in version.items():
                check_value(value, f"history[{at}].{key}")
        extra = {**extra, EARLIER: history}
    return replace(made, content_type=made.content_type or PLAIN, metadata=metadata, extra=extra)


class _Importer:
    """Adds items and relationships to a project that may have some of them."""

    def __init__(self, tx: Transaction, merging: Merging, made: Callable[[list[Record]], None] | None) -> None:
        self._tx = tx
        self._made = made
        self._merging = merging
        self._before = tx.numbers[1]
        self._names: dict[str, str] = {}
        self.kept: set[str] = set()  # the ids of the file that stay; an item without one is known by its text
        self.ids: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def add(self, drafts: list[EntityDraft]) -> None:
        """Add some items."""
        if not drafts:
            return
        tx = self._tx
        new: list[EntityDraft] = []
        for one, there in known_records(
            tx, drafts, before=self._before, by_id=self._is_kept, by_text=self._is_known_by_text, same=_is_same
        ):
            scopes.begin(tx, one.session)
            if there is not None:
                self.ids[one.uid or ""], self._names[one.uid or ""] = there.uid, there.name
                self.counts[self._merge(there, one)] += 1
                continue
            made = one if self._is_kept(one) else _renumbered(one)
            self.ids[one.uid or ""], self._names[one.uid or ""] = made.uid or "", made.name
            new.append(made)
        records = tx.add_records(new)
        if self._made is not None:
            self._made(records)
        self.counts["imported"] += len(new)

    def _is_kept(self, one: EntityDraft) -> bool:
        return one.uid in self.kept

    def _is_known_by_text(self, one: EntityDraft) -> bool:
        return one.uid not in self.kept and len(one.observations) == 1

    def _merge(self, there: Record, one: EntityDraft) -> Literal["updated", "skipped"]:
        tx = self._tx
        if self._merging == "skip_existing":
            return "skipped"
        if self._merging == "replace":
            tx.replace_record(there.id, replace(one, name=there.name, updated=one.updated or there.updated))
            return "updated"
        # Merged: the newer text stays, tags and metadata come together, and the newer value wins.
        newer = (one.updated or 0) > there.updated
        tags = tuple(dict.fromkeys((*there.tags, *one.tags)))
        metadata = {**there.metadata, **one.metadata} if newer else {**one.metadata, **there.metadata}
        if newer and one.observations != there.observations:
            tx.replace_record(there.id, replace(one, name=there.name, tags=tags, metadata=metadata, updated=None))
            return "updated"
        return "updated" if tx.revise(there.id, {"tags": tags, "metadata": metadata}) else "skipped"

    def relate(self, links: list[tuple[str, str, RelationDraft]]) -> int:
        """Draw the relationships whose ends are known and that are not there yet."""
        drawn = [
            replace(made, source=self._names[source], target=self._names[target])
            for source, target, made in links
            if source in self._names and target in self._names
        ]
        ends = list(dict.fromkeys((one.source, one.target, one.type) for one in drawn))
        there = {relation.ends for relation in self._tx.find_relations(ends)}
        new = [one for one in drawn if (one.source, one.target, one.type) not in there]
        self._tx.relate(new)
        return len(new)


def _renumbered(one: EntityDraft) -> EntityDraft:
    uid = new_item_id(new_id())
    return replace(one, uid=uid, name=uid if one.name == one.uid else one.name)


def _is_same(one: EntityDraft, record: Record) -> bool:
    return record.observations == one.observations and record.session == one.session
