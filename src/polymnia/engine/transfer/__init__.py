"""Transfer: export and import of memories and projects, and citations. Each file format has its own module."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar

from polymnia.engine.content import find_item, read_as
from polymnia.engine.knowledge import KnowledgeVerbs
from polymnia.engine.project import Step
from polymnia.engine.scopes import legal_scope
from polymnia.engine.text.calendar import moment
from polymnia.errors import Forbidden, ImportFailed, Invalid, NotFound
from polymnia.importing import importing
from polymnia.models import Filters, Record

if TYPE_CHECKING:
    from polymnia.engine.citations import Citation
    from polymnia.engine.ports import Transaction
    from polymnia.engine.transfer.archives import Exported, ImportedMemories, Strategy
    from polymnia.engine.transfer.folder import Folder
    from polymnia.engine.transfer.foreign.items import ForeignSource
    from polymnia.engine.transfer.foreign_import import ForeignImport
    from polymnia.engine.transfer.formats.graph import GraphFile
    from polymnia.engine.transfer.graphs import Existing, ImportedGraph
    from polymnia.engine.transfer.pages import ExportedPages
    from polymnia.engine.transfer.project_export import Including, ProjectExport
    from polymnia.engine.transfer.project_import import Merging, ProjectImport
    from polymnia.engine.transfer.uploads import Upload

T = TypeVar("T")

_ENDINGS = {"json": "json", "csv": "csv", "markdown": "md", "zip": "zip"}
_COMPRESSED = ("H4sI", "UEsDB", "UEsFB")  # how gzip and zip files start in base64


class _Tried(Exception):
    """Takes back what was only tried."""


class TransferVerbs(KnowledgeVerbs):
    """Exporting memories and projects, importing them, and citing."""

    def folder(self) -> Folder:
        """The export folder: exports are written to it, imports are read from it."""
        from polymnia.engine.transfer.folder import Folder

        shown = None if self.grant.projects is None else "the export folder of this project"
        return Folder(self.grant.folder(self.exports, self.project), shown)

    def export_memories(
        self,
        *,
        scope: str | None = None,
        name: str | None = None,
        form: Literal["json", "yaml"] = "json",
        gzip: bool = False,
        associations: bool = True,
        step: Step | None = None,
    ) -> Exported:
        """Write the memories of a scope and its subscopes, or all memories, to a file in the export folder.

        Without a ``name`` the archive is part of the result. Importing an export restores it unchanged.
        """
        from polymnia.engine.transfer.archives import export_memories

        below = None if scope is None else legal_scope(scope, "scope")
        if name is not None:
            self.grant.check_write("no file was written")
        folder = self.folder()
        with self.store.read(self.project) as snapshot:
            return export_memories(
                snapshot,
                scope=below,
                form=form,
                gzip=gzip,
                associations=associations,
                folder=folder,
                name=None if name is None else _name_inside(folder.path, name),
                limits=self.limits,
                step=step,
            )

    def import_memories(
        self,
        *,
        name: str | None = None,
        data: str | bytes | None = None,
        strategy: Strategy = "skip_duplicates",
        prefix: str | None = None,
        validate: bool = True,
        dry_run: bool = False,
        step: Step | None = None,
    ) -> ImportedMemories:
        """Import an archive from a file in the export folder or from ``data``; a single undo reverts it.

        With ``validate`` nothing is imported unless everything can be; the fault lists every problem. Without it,
        invalid records are skipped and listed in the result. A dry run tells what would happen.
        """
        from polymnia.engine.transfer.archives import ImportedMemories, import_memories, problems

        if (name is None) == (data is None):
            why = "Give file_path or import_data, not both" if name is not None else "Give file_path or import_data"
            raise Invalid(why, field="file_path")
        below = None if prefix is None or not prefix.strip("/ ") else legal_scope(prefix, "target_scope_prefix")
        if name is not None:
            name = _name_inside(self.folder().path, name)
        open = self._opener(name, data)
        total = 0
        if validate:
            with self.store.read(self.project) as snapshot:
                found, total = problems(open, snapshot, self.limits, below)
            _check(found)
        return self._import(
            lambda tx: import_memories(
                tx, open, strategy=strategy, prefix=below, limits=self.limits, step=step, total=total
            ),
            step,
            dry_run=dry_run,
            gives=ImportedMemories,
        )

    def import_graph(
        self, graph: GraphFile, *, existing: Existing = "merge", dry_run: bool = False, step: Step | None = None
    ) -> ImportedGraph:
        """Import a graph that was read from a file; a single undo reverts it. A dry run tells what would happen."""
        with importing():
            from polymnia.engine.transfer.graphs import import_graph

        return self._import(lambda tx: import_graph(tx, graph, existing=existing, step=step), step, dry_run=dry_run)

    def import_foreign(
        self,
        source: ForeignSource,
        *,
        existing: Existing = "merge",
        prefix: str | None = None,
        changed: int | None = None,
        root: str | None = None,
        gone: Sequence[str] = (),
        delete_gone: bool = True,
        dry_run: bool = False,
        step: Step | None = None,
    ) -> ForeignImport:
        """Import what another program remembered; a single undo reverts it. A dry run tells what would happen.

        ``changed`` is when the source was last changed, in microseconds, by default now. With ``root``, the folder it
        comes from, later imports know which files are ``gone``: those that were moved, and those whose memories are
        deleted if so chosen.
        """
        with importing():
            from polymnia.engine.transfer.foreign_import import ForeignImport, import_foreign

        below = None if prefix is None or not prefix.strip("/ ") else legal_scope(prefix, "prefix")
        at = time.time_ns() // 1000 if changed is None else changed

        def import_into(tx: Transaction) -> ForeignImport:
            return import_foreign(
                tx, source, existing=existing, prefix=below, limits=self.limits, changed=at, root=root, gone=gone,
                delete_gone=delete_gone, step=step,
            )  # fmt: skip

        return self._import(import_into, step, dry_run=dry_run, gives=ForeignImport)

    def gone_files(self, root: str, present: Iterable[str]) -> list[str]:
        """The files of a folder that an earlier import took and that are no longer there."""
        with importing():
            from polymnia.engine.transfer.foreign_import import missing_files

        with self.store.read(self.project) as snapshot:
            return missing_files(snapshot, root, present)

    def export_pages(self, path: str, *, replace: bool = False, step: Step | None = None) -> ExportedPages:
        """Write every memory as a page of Markdown that can be edited and imported again, into a folder of its own."""
        with importing():
            from polymnia.engine.transfer.pages import export_pages

        self.grant.check_write("no file was written")
        with self.store.read(self.project) as snapshot:
            return export_pages(snapshot, path, replace=replace, step=step)

    def export_project(
        self,
        form: Any,
        *,
        filters: Filters | None = None,
        including: Including | None = None,
        compress: bool = False,
        step: Step | None = None,
    ) -> ProjectExport:
        """Export the project as one file: inline if it fits into the response, otherwise in the export folder.

        A read-only caller gets inline exports only, so it cannot fill the disk.
        """
        from polymnia.engine.transfer.project_export import Including, export_project

        stamp = moment(time.time_ns() // 1000).replace(":", "").replace("-", "")[:15]
        ending = _ENDINGS[form] + (".gz" if compress and form != "zip" else "")
        if including is not None and including.embeddings:
            # Items stored a moment ago have no vectors yet.
            self.finding().catch_up(self.project, lambda _, done, total: step(done, total) if step else None)
        with self.store.read(self.project) as snapshot:
            return export_project(
                snapshot,
                form,
                filters=filters or Filters(),
                including=including or Including(),
                compress=compress,
                folder=self.folder() if self.grant.write else None,
                name=f"project-{stamp}-{time.time_ns() % 1_000_000:06d}.{ending}",
                limits=self.limits,
                step=step,
            )

    def import_project(
        self,
        form: Any,
        *,
        name: str | None = None,
        data: str | None = None,
        merging: Merging = "merge",
        validate: bool = True,
        keep_ids: bool = False,
        embed: bool | None = None,
        relate: bool = False,
        dry_run: bool = False,
        step: Step | None = None,
    ) -> tuple[ProjectImport, int]:
        """Import a project file from the export folder or from text (base64 if it is compressed).

        With ``embed`` new items have their vectors when this returns; False means they never get any. ``relate`` adds
        relationships detected in their texts. Returns the import's result and how many relationships were detected. A
        dry run tells what the import would do.
        """
        from polymnia.engine.transfer.project_import import import_project, problems

        open = self._opener(name, data)
        if validate:
            _check(problems(open, form, self.limits))
        new_records: list[Record] = []

        def import_into(tx: Transaction) -> ProjectImport:
            new_records.clear()

            def on_new(records: list[Record]) -> None:
                if relate:
                    new_records.extend(records)
                for record in records if embed is False else ():
                    number = record.id & 0xFFFFFFFF
                    self._put_vectors(tx, self.finding().unread(*read_as(record)), number, number + 1)

            return import_project(
                tx, open, form, merging=merging, keep_ids=keep_ids, limits=self.limits, step=step, made=on_new
            )

        done = self._import(import_into, step, dry_run=dry_run, action="import_project")
        if dry_run:
            return done, 0
        if embed:
            self.finding().reindex(self.project, lambda lane, done, total: None)
        return done, self.detect(new_records) if new_records else 0

    def download(self, out: BinaryIO, format: str, *, scope: str | None = None) -> None:
        """Write the project, or a scope and what is below it, to a stream in one of ``downloads.FORMATS``."""
        from polymnia.engine.transfer.downloads import download

        below = None if scope is None else legal_scope(scope, "scope")
        with self.store.read(self.project) as snapshot:
            download(snapshot, out, format, below)

    def upload(
        self,
        data: bytes,
        name: str,
        *,
        existing: Existing = "merge",
        prefix: str | None = None,
        preview: bool = False,
        step: Step | None = None,
    ) -> Upload:
        """Import a file of any form as one change; with ``preview`` it is taken back at once, and nothing has changed.

        ``existing`` says what becomes of memories that are there, as for graphs; ``prefix`` files those of an archive
        below a scope.
        """
        with importing():
            from polymnia.engine.transfer.uploads import upload

        below = None if prefix is None or not prefix.strip("/ ") else legal_scope(prefix, "prefix")
        return self._import(
            lambda tx: upload(tx, data, name, existing=existing, prefix=below, limits=self.limits, step=step),
            step,
            dry_run=preview,
        )

    def _import(
        self,
        work: Callable[[Transaction], T],
        step: Step | None,
        *,
        dry_run: bool,
        action: str = "import",
        gives: Any = Any,
    ) -> T:
        """Make one change; a dry run makes it and takes it back, so that what it tells is what would happen."""
        tried: list[T] = []

        def tried_or_made(tx: Transaction) -> T:
            done = work(tx)
            if dry_run:
                tried[:] = [done]
                raise _Tried
            return done

        try:
            return self._write(action, tried_or_made, step, gives=gives)
        except _Tried:
            return tried[0]

    def cite(
        self, id: str, style: str, *, session: str | None = None, permalink: bool = False, access_date: bool = False
    ) -> Citation:
        """Cite an item in a citation style."""
        with importing():
            from polymnia.engine.citations import citable, cite

        with self.store.read(self.project) as snapshot:
            item = citable(self.project, find_item(snapshot, id, session))
        return cite(item, style, permalink=permalink, access_date=access_date, now=time.time_ns() // 1000)

    def _opener(self, name: str | None, data: str | bytes | None) -> Callable[[], BinaryIO]:
        """A function that opens the import source anew: ``data``, or the named file in the export folder."""
        if data is not None:
            raw = _unpacked(data)
            return lambda: BytesIO(raw)
        folder = self.folder()

        def open_file() -> BinaryIO:
            try:
                return folder.open(name or "")
            except (NotFound, Forbidden) as e:
                raise ImportFailed(e.message, hint=e.hint) from e

        return open_file


def _name_inside(folder: str, name: str) -> str:
    """The name relative to the folder; the full path that an export reports is accepted too."""
    prefix = os.path.realpath(folder) + os.sep
    return name[len(prefix) :].replace(os.sep, "/") if name.startswith(prefix) else name


def _unpacked(data: str | bytes) -> bytes:
    """Inline data as bytes; gzip and zip data is base64-encoded."""
    if isinstance(data, bytes):
        return data
    if data.lstrip().startswith(_COMPRESSED):
        from base64 import b64decode

        try:
            return b64decode(data)
        except ValueError:
            raise ImportFailed("The data looks like a compressed file in base64, but is broken") from None
    return data.encode("utf-8", "surrogatepass")


def _check(problems: list[str]) -> None:
    if problems:
        some = "1 record" if len(problems) == 1 else f"{len(problems):,} records"
        raise ImportFailed(f"{some} cannot be imported: {'; '.join(problems[:3])}", problems=problems)
