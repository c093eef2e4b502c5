"""Importing a project file: checked whole before anything is written, and one change that one undo takes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.graph import Step
from polymnia.engine.items import CONTENT, EARLIER, PLAIN, new_item_id
from polymnia.engine.ports import Transaction
from polymnia.engine.transfer import project_files
from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken
from polymnia.engine.transfer.memories import draft, link
from polymnia.engine.transfer.project_item import DEPTH, ProjectForm, ProjectItem
from polymnia.errors import ImportFailed, Invalid
from polymnia.models import EntityDraft, Limits, Record, RelationDraft, new_id

__all__ = ["Merging", "ProjectImport", "import_project", "problems"]

Merging = Literal["replace", "merge", "skip_existing"]
Open = Callable[[], BinaryIO]

_PART = 500
_RECORD = 256 * 1024**2
_TOLD = 1000
_REASONS = 50
_KNOWN = ("title", "embeddings", "history", "other")
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


def _items(open: Open, form: ProjectForm, limits: Limits) -> Iterator[ProjectItem]:
    # An item carries its earlier versions, so a record may be many texts long.
    bounds = ArchiveLimits(total=limits.import_bytes, text=limits.text_bytes, depth=DEPTH, record=_RECORD)
    try:
        with open() as source:
            yield from project_files.read(source, form, bounds)
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e


def _draft(told: dict[str, Any], limits: Limits) -> EntityDraft:
    fields = {_RENAMED.get(key, key): value for key, value in told.items() if key not in _KNOWN}
    if fields.get("content") is None and fields.get("observations") is None:
        raise Invalid("content is missing", field="content")
    fields.setdefault("kind", CONTENT)
    made = draft(fields, limits, None)
    metadata = made.metadata
    title = told.get("title")
    if isinstance(title, str) and "title" not in metadata and made.name == made.uid:
        said = title.strip().rstrip("…").rstrip()
        if said and said not in _start(made):  # one that stands there needs not be kept apart
            metadata = {**metadata, "title": title.strip()}
    history = told.get("history")
    extra = {**made.extra, EARLIER: history} if isinstance(history, list) and history else made.extra
    return replace(made, content_type=made.content_type or PLAIN, metadata=metadata, extra=extra)


def _start(made: EntityDraft) -> str:
    return made.observations[0][:400] if made.observations else ""


def problems(open: Open, form: ProjectForm, limits: Limits) -> list[str]:
    """Everything in a file that cannot be imported, by its place and with the reason."""
    wrong: list[str] = []
    ids: set[str] = set()
    loose: list[tuple[int, str]] = []
    for item in _items(open, form, limits):
        if len(wrong) >= _TOLD:
            return [*wrong, "… and more"]
        if isinstance(item.value, Broken):
            wrong.append(f"{item.section}[{item.position}]: {item.value.reason} (line {item.value.line})")
        elif isinstance(item.value, dict) and item.section == "items":
            try:
                made = _draft(item.value, limits)
            except Invalid as e:
                wrong.append(f"items[{item.position}]: {e.message}")
                continue
            if made.uid in ids:
                wrong.append(f"items[{item.position}]: content_id {made.uid!r:.80} stands there twice")
            ids.add(made.uid or "")
        elif isinstance(item.value, dict) and item.section == "relationships":
            try:
                source, target, _ = link(item.value, limits)
            except Invalid as e:
                wrong.append(f"relationships[{item.position}]: {e.message}")
                continue
            loose += [(item.position, end) for end, _ in (source, target) if end not in ids]
    wrong += [f"relationships[{at}]: there is no item {end!r:.80} in the file" for at, end in loose if end not in ids]
    return wrong


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
    work = _Importing(tx, merging, made)
    wrong: list[str] = []
    part: list[EntityDraft] = []
    links: list[tuple[str, str, RelationDraft]] = []
    dropped: Counter[str] = Counter()
    for item in _items(open, form, limits):
        if item.section == "unknown":
            dropped[f"{item.value!r:.80} is no part of a project file"] += 1
        if isinstance(item.value, dict) and item.value.get("embeddings"):
            dropped["embeddings: vectors are made anew from the texts"] += 1
        try:
            if isinstance(item.value, Broken):
                raise Invalid(f"{item.value.reason} (line {item.value.line})")
            if item.section == "items" and isinstance(item.value, dict):
                part.append(_draft(item.value, limits))
                if keep_ids and any(item.value.get(key) for key in _IDS):
                    work.kept.add(part[-1].uid or "")
            elif item.section == "relationships" and isinstance(item.value, dict):
                source, target, drawn = link(item.value, limits)
                links.append((source[0], target[0], drawn))
        except Invalid as e:
            wrong.append(f"{item.section}[{item.position}]: {e.message}")
            dropped[f"{item.section}: {e.message}"] += 1
        if len(part) >= _PART:
            work.take(part)
            part = []
            if step is not None:
                step(work.seen, 0)
    work.take(part)
    count = work.relate(links)
    if loose := sum(one not in work.ids or other not in work.ids for one, other, _ in links):
        dropped["relationships: an end is not in the file"] += loose
    return ProjectImport(
        imported=work.imported, updated=work.updated, skipped=work.skipped, relationships=count,
        ids={old: new for old, new in work.ids.items() if old != new}, problems=wrong[:_TOLD],
        dropped=dict(dropped.most_common(_REASONS)),
    )  # fmt: skip


class _Importing:
    """One import at work."""

    def __init__(self, tx: Transaction, merging: Merging, made: Callable[[list[Record]], None] | None) -> None:
        self._tx = tx
        self._made = made
        self._merging = merging
        self.kept: set[str] = set()  # the ids of the file that stay; an item without one is known by its text
        self._before = tx.numbers[1]
        self._names: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.imported = self.updated = self.skipped = self.seen = 0

    def take(self, drafts: list[EntityDraft]) -> None:
        """Take some items in."""
        if not drafts:
            return
        tx = self._tx
        self.seen += len(drafts)
        known = tx.ids_of(kept) if (kept := [one.uid for one in drafts if one.uid in self.kept]) else {}
        named = tx.ids([one.name for one in drafts if one.name != one.uid])
        texts = [one.observations[0] for one in drafts if one.uid not in self.kept and len(one.observations) == 1]
        said = tx.saying(texts, self._before) if self._before and texts else {}
        ids = {*known.values(), *named.values(), *(id for many in said.values() for id in many)}
        here = {record.id: record for record in tx.load(list(ids))} if ids else {}
        new: list[EntityDraft] = []
        for one in drafts:
            scopes.begin(tx, one.session)
            there = here.get(known.get(one.uid or "", 0)) or here.get(named.get(one.name, 0)) or _same(one, said, here)
            if there is not None:
                self._map(one, there.uid, there.name)
                self._meet(there, one)
                continue
            made = one if one.uid in self.kept else _renumbered(one)
            self._map(one, made.uid or "", made.name)
            new.append(made)
        records = tx.add_records(new)
        if self._made is not None:
            self._made(records)
        self.imported += len(new)

    def _map(self, one: EntityDraft, uid: str, name: str) -> None:
        self.ids[one.uid or ""] = uid
        self._names[one.uid or ""] = name

    def _meet(self, there: Record, one: EntityDraft) -> None:
        tx = self._tx
        if self._merging == "skip_existing":
            self.skipped += 1
            return
        if self._merging == "replace":
            self.updated += 1
            tx.replace_record(there.id, replace(one, name=there.name, updated=one.updated or there.updated))
            return
        # Merged: the newer text stays, tags and metadata come together, and the newer value wins.
        newer = (one.updated or 0) > there.updated
        tags = tuple(dict.fromkeys((*there.tags, *one.tags)))
        metadata = {**there.metadata, **one.metadata} if newer else {**one.metadata, **there.metadata}
        if newer and one.observations != there.observations:
            tx.replace_record(there.id, replace(one, name=there.name, tags=tags, metadata=metadata, updated=None))
            self.updated += 1
        elif tx.revise(there.id, {"tags": tags, "metadata": metadata}):
            self.updated += 1
        else:
            self.skipped += 1

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


def _same(one: EntityDraft, said: dict[str, list[int]], here: dict[int, Record]) -> Record | None:
    for id in said.get(one.observations[0], ()) if len(one.observations) == 1 else ():
        record = here.get(id)
        if record is not None and record.observations == one.observations and record.session == one.session:
            return record
    return None
