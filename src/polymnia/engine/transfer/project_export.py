"""Exporting the items of a project: which ones, how much of each, and whether it names people."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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

_DERIVED = frozenset(("decision", "extracted"))  # keys under which the metadata repeat or describe the text
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LONG = 12  # characters: anything shorter is a word that may stand in any text
_RUN = 4  # words in a row that a text and something else have in common make it a quotation
_WORD = re.compile(r"[^\W_]+")
_GONE = object()


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
    """Items without a vector, where vectors were asked for: no model knows their language, or none was chosen."""


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
        written = project.write(held, form, source.items(), source.relationships(), compress=compress)
        held.seek(0)
        done = ProjectExport(
            items=written.items,
            relationships=written.relationships,
            versions=written.versions,
            bytes=written.bytes,
            replaced=source.replaced(),
            unembedded=source.unembedded if including.embeddings else None,
        )
        if written.bytes <= limits.inline_bytes:
            raw = held.read()
            if form == "zip" or compress:
                return replace(done, data=base64.b64encode(raw).decode(), encoding="base64")
            return replace(done, data=raw.decode(), encoding="utf-8")
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
    return replace(done, path=f"{folder.path}/{name}")


def _earlier_versions(snapshot: Snapshot, record: Record) -> list[JsonObject]:
    """The versions of an item before the one it has now, oldest first; what it had elsewhere comes first."""
    brought = record.extra.get(EARLIER)
    earlier = [dict(one) for one in brought] if isinstance(brought, list) else []
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
    """The records of an export, in the order of their making, a part at a time."""

    def __init__(self, snapshot: Snapshot, filters: Filters, including: Including, step: Step | None) -> None:
        self._snapshot = snapshot
        self._filters = filters
        self._including = including
        self._step = step
        self._uids: dict[str, str] = {}
        self.unembedded = 0
        self._veil: Any = None  # what hides people, where that is asked for
        if including.anonymize:
            with importing():
                from polymnia.engine.privacy.anonymizer import PERSON_KINDS, Anonymizer

            self._veil = Anonymizer()
            for session in snapshot.sessions():
                self._veil.know("session", session.name)
            # Whoever is named anywhere is veiled everywhere, so everything is read once before anything is written.
            for record in records_of(snapshot, filters):
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

    def _veiled(self, value: JsonObject) -> JsonObject:
        return value if self._veil is None else self._veil.value(value)

    def items(self) -> Iterator[JsonObject]:
        for record in records_of(self._snapshot, self._filters, self._step):
            self._uids[record.name] = record.uid
            yield self._veiled(self._item(record))

    def _item(self, record: Record) -> JsonObject:
        including = self._including
        versions = _earlier_versions(self._snapshot, record) if including.history or not including.content else []
        texts = [content.content(record), *(one["content"] for one in versions)]
        withheld = None if including.content else _Withheld(texts)
        fields: JsonObject = {  # what is None has no field in the file
            "content_id": record.uid,
            "title": title_of(record) if withheld is None else None,  # how the text begins
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
        if including.embeddings and withheld is None and not including.anonymize:  # a vector tells much of its text
            fields["embeddings"] = self._embeddings(record)
            self.unembedded += not fields["embeddings"]
        return fields

    def _embeddings(self, record: Record) -> dict[str, list[str]]:
        """The vectors as they are kept, half precision, in base64."""
        vectors = self._snapshot.vectors_of(record.id & 0xFFFFFFFF)
        return {
            model: [base64.b64encode(half).decode() for half in halves] for model, halves in vectors.items() if halves
        }

    def relationships(self) -> Iterator[JsonObject]:
        """Those with both ends in the file."""
        for relation in self._relations():
            yield self._veiled(self._relationship(relation))

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
    """The texts of one item, none of which may leave: neither whole nor a sentence of it."""

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
        """Metadata without what repeats the text."""
        rest = {key: value for key, value in metadata.items() if key not in _DERIVED}
        if isinstance(title := rest.get("title"), str) and any(title.strip() in text for text in self._texts):
            del rest["title"]
        shown = self._value(rest)
        return shown if isinstance(shown, dict) else {}

    def version(self, fields: Mapping[str, Any]) -> JsonObject:
        """An earlier version of it."""
        rest = {key: value for key, value in fields.items() if key not in ("content", "summary", "title")}
        return rest | {"metadata": self.metadata(fields.get("metadata") or {})}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return _GONE if self._says(value) else value
        if isinstance(value, Mapping):
            return {key: shown for key, inner in value.items() if (shown := self._value(inner)) is not _GONE}
        if isinstance(value, list | tuple):
            return [shown for inner in value if (shown := self._value(inner)) is not _GONE]
        return value

    def _says(self, value: str) -> bool:
        """Whether a text quotes the withheld ones: some words in a row, or a sentence where words are not parted."""
        if len(value) < _LONG:
            return False
        return any(run in self._runs for run in _runs(value)) or any(one in value for one in self._sentences)


def _runs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1))
