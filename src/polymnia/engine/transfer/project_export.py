"""Exporting the items of a project: which ones, how much of each, and whether people can be told from it."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from polymnia.engine import content, scopes
from polymnia.engine.graph import Step
from polymnia.engine.items import EARLIER, PLAIN, title_of
from polymnia.engine.ports import Snapshot
from polymnia.engine.text.calendar import moment
from polymnia.engine.transfer import project_files
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.project_item import ProjectForm
from polymnia.engine.transfer.withholding import Withheld
from polymnia.errors import ExportFailed, Forbidden, NoSpace, NotAllowed
from polymnia.importing import importing
from polymnia.models import Filters, Limits, Record, Relation

__all__ = ["Including", "ProjectExport", "earlier", "export_project"]

_PART = 500


class Including(Struct, frozen=True, kw_only=True):
    """What of a project goes into a file."""

    content: bool = True
    relationships: bool = True
    metadata: bool = True
    history: bool = False
    embeddings: bool = False
    anonymize: bool = False


class ProjectExport(Struct, frozen=True, kw_only=True):
    """What an export came to: a file of the export folder, or where it is small enough the data itself.

    ``replaced`` counts what was made anonymous, by kind; None where that was not asked for.
    """

    items: int
    relationships: int
    versions: int
    bytes: int
    replaced: dict[str, int] | None = None
    data: str | None = None
    encoding: str | None = None
    path: str | None = None
    unembedded: int | None = None
    """Items without a vector, where vectors were asked for: no model knows their language, or none was wanted."""


def export_project(
    snapshot: Snapshot,
    form: ProjectForm,
    *,
    filters: Filters,
    including: Including,
    compress: bool,
    folder: Folder | None,
    name: str,
    limits: Limits,
    step: Step | None = None,
) -> ProjectExport:
    """Write a project file; what fits into an answer comes with it, anything larger lies in the export folder.

    Without a folder anything larger is refused.
    The file does not say what project it is of: what is imported elsewhere exports again as it was.
    """
    source = _Source(snapshot, filters, including, step)
    with tempfile.TemporaryFile() as held:
        out: BinaryIO = held
        links = source.relationships() if including.relationships else iter(())
        written = project_files.write(out, form, {}, source.items(), links, compress=compress, bom=False)
        held.seek(0)
        counts: dict[str, Any] = {
            "items": written.items, "relationships": written.relationships, "versions": written.versions,
            "bytes": written.bytes, "replaced": source.replaced(),
            "unembedded": source.unembedded if including.embeddings else None,
        }  # fmt: skip
        if written.bytes <= limits.inline_bytes:
            raw = held.read()
            if form == "zip" or compress:
                return ProjectExport(**counts, data=base64.b64encode(raw).decode(), encoding="base64")
            return ProjectExport(**counts, data=raw.decode(), encoding="utf-8")
        if folder is None:
            raise NotAllowed(
                f"The file has {written.bytes:,} bytes, an answer takes {limits.inline_bytes:,}, and this key may read "
                "but not write; no file was written",
                hint="Export less at once (filters), or compressed (options.compress), or use a key that was made with "
                "--access write.",
            )
        try:
            with folder.create(name) as file:
                while chunk := held.read(1 << 20):
                    file.write(chunk)
        except (Forbidden, NoSpace) as e:
            raise ExportFailed(e.message, hint=e.hint) from e
    return ProjectExport(**counts, path=f"{folder.path}/{name}")


def earlier(snapshot: Snapshot, record: Record) -> list[dict[str, Any]]:
    """The versions of an item before the one it has now, oldest first; what it had elsewhere comes first."""
    brought = record.extra.get(EARLIER)
    told = [dict(one) for one in brought] if isinstance(brought, list) else []
    known = {one.get("version") for one in told}
    here = []
    for _, one in snapshot.versions(record.id):
        if one.version < record.version and one.version not in known:
            known.add(one.version)
            here.append(_version(one))
    return told + here[::-1]


def _version(record: Record) -> dict[str, Any]:
    told: dict[str, Any] = {"version": record.version, "content": content.content(record)}
    if record.summary is not None:
        told["summary"] = record.summary
    return told | {"tags": list(record.tags), "metadata": record.metadata, "updated_at": moment(record.updated)}


class _Source:
    """The records of an export, in the order of their making, a part at a time."""

    def __init__(self, snapshot: Snapshot, filters: Filters, including: Including, step: Step | None) -> None:
        self._snapshot = snapshot
        self._filters = filters
        self._including = including
        self._step = step
        self._uids: dict[str, str] = {}
        self.unembedded = 0
        self._veil: Any = None  # what hides people, where that is wanted
        if including.anonymize:
            with importing():
                from polymnia.engine.privacy.anonymizer import PERSON_KINDS, Anonymizer

            self._veil = Anonymizer(sessions=[one.name for one in snapshot.sessions()])
            # Whoever is named anywhere is veiled everywhere, so everything is read once before anything is written.
            for record in self._records():
                self._veil.learn_value(self._item(record))
                if record.kind.casefold() in PERSON_KINDS:
                    self._veil.meet(record.name)
                self._uids[record.name] = record.uid
            for relation in self._relations():
                self._veil.learn_value(self._relationship(relation))
            self.unembedded = 0

    def replaced(self) -> dict[str, int] | None:
        """How much was made anonymous, by kind."""
        return None if self._veil is None else dict(sorted(self._veil.counts.items()))

    def told(self, value: Any) -> Any:
        """A value as the file tells it."""
        return value if self._veil is None else self._veil.value(value, learned=True)

    def _ids(self) -> list[int]:
        base = self._snapshot.numbers[0] << 32
        return [base + number for number in self._snapshot.matching(self._filters)]

    def _records(self) -> Iterator[Record]:
        ids = self._ids()
        for start in range(0, len(ids), _PART):
            yield from self._snapshot.load(ids[start : start + _PART])

    def items(self) -> Iterator[dict[str, Any]]:
        total = len(self._ids())
        for done, record in enumerate(self._records()):
            if self._step is not None and done % _PART == 0:
                self._step(done, total)
            self._uids[record.name] = record.uid
            yield self.told(self._item(record))

    def _item(self, record: Record) -> dict[str, Any]:
        wanted = self._including
        told: dict[str, Any] = {
            "content_id": record.uid, "title": title_of(record), "content_type": record.content_type or PLAIN,
            "kind": record.kind, "scope": scopes.shown(record.scope),
        }  # fmt: skip
        if not wanted.content:
            del told["title"]  # how the text begins
        if record.name != record.uid:
            told["name"] = record.name
        if record.session is not None:
            told["session_id"] = record.session
        if record.category is not None:
            told["category"] = record.category
        told["tags"] = list(record.tags)
        versions = earlier(self._snapshot, record) if wanted.history or not wanted.content else []
        withheld = (
            None if wanted.content else Withheld([content.content(record), *(one["content"] for one in versions)])
        )
        if wanted.metadata:
            told["metadata"] = record.metadata if withheld is None else withheld.metadata(record.metadata)
        told |= {"created_at": moment(record.created), "updated_at": moment(record.updated), "version": record.version}
        if withheld is None:
            if record.summary is not None:
                told["summary"] = record.summary
            if len(record.observations) == 1:
                told["content"] = record.observations[0]
            else:
                told["observations"] = list(record.observations)
        if wanted.history and versions:
            told["history"] = versions if withheld is None else [withheld.version(one) for one in versions]
        if wanted.embeddings and withheld is None and not wanted.anonymize:  # a vector tells much of its text
            told["embeddings"] = self._embeddings(record)
            self.unembedded += not told["embeddings"]
        return told

    def _embeddings(self, record: Record) -> dict[str, list[str]]:
        """The vectors as they are kept, half precision, in base64."""
        kept = self._snapshot.vectors_of(record.id & 0xFFFFFFFF)
        return {model: [base64.b64encode(half).decode() for half in halves] for model, halves in kept.items() if halves}

    def relationships(self) -> Iterator[dict[str, Any]]:
        """Those with both ends in the file."""
        for relation in self._relations():
            yield self.told(self._relationship(relation))

    def _relations(self) -> Iterator[Relation]:
        for relation in self._snapshot.relations() if self._including.relationships else ():
            if relation.source in self._uids and relation.target in self._uids:
                yield relation

    def _relationship(self, relation: Relation) -> dict[str, Any]:
        told: dict[str, Any] = {
            "source_id": self._uids[relation.source], "target_id": self._uids[relation.target], "type": relation.type,
        }  # fmt: skip
        if relation.strength is not None:
            told["strength"] = relation.strength
        if relation.context is not None and self._including.content:
            told["context"] = relation.context
        if relation.metadata and self._including.metadata:
            told["metadata"] = relation.metadata
        return told | {"origin": relation.origin, "created_at": moment(relation.created)}
