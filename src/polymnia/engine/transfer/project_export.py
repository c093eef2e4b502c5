"""Exports the items of a project: filtered, with the requested fields, and anonymized on request."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content
from polymnia.engine.content import EARLIER, PLAIN, title_of
from polymnia.engine.ports import Snapshot
from polymnia.engine.project import Step
from polymnia.engine.text.calendar import moment
from polymnia.engine.transfer.fields import records_of
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.formats import project
from polymnia.engine.transfer.formats.project import ProjectForm
from polymnia.engine.transfer.formats.records import JsonObject
from polymnia.errors import ExportFailed, Forbidden, NoSpace, NotAllowed
from polymnia.importing import importing
from polymnia.models import Filters, Limits, Record, Relation

_DERIVED = frozenset(("decision", "extracted"))  # metadata keys that repeat or describe the text
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LONG = 12  # characters; anything shorter could occur in any text
_RUN = 4  # consecutive words shared with a text that make a quotation
_WORD = re.compile(r"[^\W_]+")
_REMOVED = object()


class Including(Struct, frozen=True, kw_only=True):
    """Which parts of a project to export."""

    content: bool = True
    relationships: bool = True
    metadata: bool = True
    history: bool = False
    embeddings: bool = False
    anonymize: bool = False


class ProjectExport(Struct, frozen=True, kw_only=True):
    """The result of an export: a file in the export folder, or the data itself if it is small enough.

    ``replaced`` counts anonymized values by kind; None if anonymization was not requested.
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
    """Items without a vector, if vectors were requested: no model supports their language, or none was chosen."""


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
    """Write a project file: returned inline if it fits into the response, otherwise written to the export folder.

    Without a folder anything larger is refused. The file does not name its project, so that an export of an imported
    project equals the original.
    """
    source = _Source(snapshot, filters, including, step)
    with tempfile.TemporaryFile() as buffer:
        written = project.write(buffer, form, source.items(), source.relationships(), compress=compress)
        buffer.seek(0)
        result = ProjectExport(
            items=written.items,
            relationships=written.relationships,
            versions=written.versions,
            bytes=written.bytes,
            replaced=source.replaced(),
            unembedded=source.unembedded if including.embeddings else None,
        )
        if written.bytes <= limits.inline_bytes:
            raw = buffer.read()
            if form == "zip" or compress:
                return replace(result, data=base64.b64encode(raw).decode(), encoding="base64")
            return replace(result, data=raw.decode(), encoding="utf-8")
        if folder is None:
            raise NotAllowed(
                f"The file has {written.bytes:,} bytes, an answer takes {limits.inline_bytes:,}, and this key may read "
                "but not write; no file was written",
                hint="Export less at once (filters), or compressed (options.compress), or use a key that was made with "
                "--access write.",
            )
        try:
            with folder.create(name) as file:
                while chunk := buffer.read(1 << 20):
                    file.write(chunk)
        except (Forbidden, NoSpace) as e:
            raise ExportFailed(e.message, hint=e.hint) from e
    return replace(result, path=f"{folder.path}/{name}")


def write_project(snapshot: Snapshot, out: BinaryIO, form: ProjectForm, filters: Filters, including: Including) -> None:
    """Write a project file."""
    source = _Source(snapshot, filters, including, None)
    project.write(out, form, source.items(), source.relationships(), compress=False)


def _earlier_versions(snapshot: Snapshot, record: Record) -> list[JsonObject]:
    """The earlier versions of an item, oldest first; versions imported with it come before those made here."""
    imported = record.extra.get(EARLIER)
    earlier = [dict(one) for one in imported] if isinstance(imported, list) else []
    known = {one.get("version") for one in earlier}
    here = []
    for _, one in snapshot.versions(record.id):
        if one.version < record.version and one.version not in known:
            known.add(one.version)
            here.append(_version(one))
    return earlier + here[::-1]


def _version(record: Record) -> JsonObject:
    fields: JsonObject = {"version": record.version, "content": content.content(record)}
    if record.summary is not None:
        fields["summary"] = record.summary
    return fields | {"tags": list(record.tags), "metadata": record.metadata, "updated_at": moment(record.updated)}


class _Source:
    """The records of an export in the order of creation, loaded in batches."""

    def __init__(self, snapshot: Snapshot, filters: Filters, including: Including, step: Step | None) -> None:
        self._snapshot = snapshot
        self._filters = filters
        self._including = including
        self._step = step
        self._uids: dict[str, str] = {}
        self.unembedded = 0
        self._anonymizer: Any = None
        if including.anonymize:
            with importing():
                from polymnia.engine.privacy.anonymizer import PERSON_KINDS, Anonymizer

            self._anonymizer = Anonymizer()
            for session in snapshot.sessions():
                self._anonymizer.know("session", session.name)
            # A person named in one record is anonymized in all, so everything is read once before anything is written.
            for record in records_of(snapshot, filters):
                self._anonymizer.learn_value(self._item(record))
                if record.kind.casefold() in PERSON_KINDS:
                    self._anonymizer.meet(record.name)
                self._uids[record.name] = record.uid
            for relation in self._relations():
                self._anonymizer.learn_value(self._relationship(relation))
            self.unembedded = 0

    def replaced(self) -> dict[str, int] | None:
        """The number of anonymized values by kind."""
        return None if self._anonymizer is None else dict(sorted(self._anonymizer.counts.items()))

    def _anonymized(self, value: JsonObject) -> JsonObject:
        return value if self._anonymizer is None else self._anonymizer.value(value)

    def items(self) -> Iterator[JsonObject]:
        for record in records_of(self._snapshot, self._filters, self._step):
            self._uids[record.name] = record.uid
            yield self._anonymized(self._item(record))

    def _item(self, record: Record) -> JsonObject:
        including = self._including
        versions = _earlier_versions(self._snapshot, record) if including.history or not including.content else []
        texts = [content.content(record), *(one["content"] for one in versions)]
        withheld = None if including.content else _Withheld(texts)
        fields: JsonObject = {  # None values are not written
            "content_id": record.uid,
            "title": title_of(record) if withheld is None else None,  # it repeats the start of the text
            "content_type": record.content_type or PLAIN,
            "kind": record.kind,
            "scope": record.path,
            "name": record.name if record.name != record.uid else None,
            "session_id": record.session,
            "category": record.category,
            "tags": list(record.tags),
            "created_at": moment(record.created),
            "updated_at": moment(record.updated),
            "version": record.version,
        }
        if including.metadata:
            fields["metadata"] = record.metadata if withheld is None else withheld.metadata(record.metadata)
        if withheld is None:
            fields["summary"] = record.summary
            if len(record.observations) == 1:
                fields["content"] = record.observations[0]
            else:
                fields["observations"] = list(record.observations)
        if including.history and versions:
            fields["history"] = versions if withheld is None else [withheld.version(one) for one in versions]
        if including.embeddings and withheld is None and not including.anonymize:  # a vector reveals much of its text
            fields["embeddings"] = self._embeddings(record)
            self.unembedded += not fields["embeddings"]
        return fields

    def _embeddings(self, record: Record) -> dict[str, list[str]]:
        """The vectors as stored, in half precision, base64-encoded."""
        vectors = self._snapshot.vectors_of(record.id & 0xFFFFFFFF)
        return {
            model: [base64.b64encode(half).decode() for half in halves] for model, halves in vectors.items() if halves
        }

    def relationships(self) -> Iterator[JsonObject]:
        """The relationships with both ends in the file."""
        for relation in self._relations():
            yield self._anonymized(self._relationship(relation))

    def _relations(self) -> Iterator[Relation]:
        for relation in self._snapshot.relations() if self._including.relationships else ():
            if relation.source in self._uids and relation.target in self._uids:
                yield relation

    def _relationship(self, relation: Relation) -> JsonObject:
        return {
            "source_id": self._uids[relation.source],
            "target_id": self._uids[relation.target],
            "type": relation.type,
            "strength": relation.strength,
            "context": relation.context if self._including.content else None,
            "metadata": relation.metadata if self._including.metadata and relation.metadata else None,
            "origin": relation.origin,
            "created_at": moment(relation.created),
        }


# ── without the texts ─────────────────────────────────────────────────────────────────────────────────────


class _Withheld:
    """The texts of one item that must not be exported, neither whole nor in part."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(dict.fromkeys(texts))
        self._sentences = {
            part
            for text in self._texts
            for one in _SENTENCE.split(text)
            if len(part := one.strip().lstrip("#>*- ").strip()) >= _LONG
        }
        self._runs = {run for text in self._texts for run in _runs(text)}

    def metadata(self, metadata: Mapping[str, Any]) -> JsonObject:
        """Metadata without values that repeat the texts."""
        rest = {key: value for key, value in metadata.items() if key not in _DERIVED}
        if isinstance(title := rest.get("title"), str) and any(title.strip() in text for text in self._texts):
            del rest["title"]
        shown = self._value(rest)
        return shown if isinstance(shown, dict) else {}

    def version(self, fields: Mapping[str, Any]) -> JsonObject:
        """An earlier version without its texts."""
        rest = {key: value for key, value in fields.items() if key not in ("content", "summary", "title")}
        return rest | {"metadata": self.metadata(fields.get("metadata") or {})}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return _REMOVED if self._quotes(value) else value
        if isinstance(value, Mapping):
            return {key: shown for key, inner in value.items() if (shown := self._value(inner)) is not _REMOVED}
        if isinstance(value, list | tuple):
            return [shown for inner in value if (shown := self._value(inner)) is not _REMOVED]
        return value

    def _quotes(self, value: str) -> bool:
        """Whether a value quotes the withheld texts: several words in a row, or a sentence (scripts without spaces)."""
        if len(value) < _LONG:
            return False
        return any(run in self._runs for run in _runs(value)) or any(one in value for one in self._sentences)


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1))
