"""Projects: the verbs that carry a whole project out and in, cite from it, and look after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, BinaryIO

from polymnia.engine import content, items
from polymnia.engine.graph import Step
from polymnia.engine.ports import Transaction
from polymnia.engine.text.calendar import moment
from polymnia.engine.verbs.items import ItemVerbs
from polymnia.errors import Forbidden, ImportFailed, NotFound
from polymnia.importing import importing
from polymnia.models import Filters, Record

if TYPE_CHECKING:
    from polymnia.engine.citations import Citation
    from polymnia.engine.health.rules import IntegrityReport
    from polymnia.engine.transfer.project_export import Including, ProjectExport
    from polymnia.engine.transfer.project_import import Merging, ProjectImport

_ENDINGS = {"json": "json", "csv": "csv", "markdown": "md", "zip": "zip"}


class ProjectVerbs(ItemVerbs):
    """Exporting, importing, citing and checking a project."""

    def export_project(
        self,
        form: Any,
        *,
        filters: Filters | None = None,
        including: Including | None = None,
        compress: bool = False,
        step: Step | None = None,
    ) -> ProjectExport:
        """The project as one file: in the answer where it fits, else in the export folder.

        Whoever may only read gets what fits into an answer: nobody who may change nothing fills a disk.
        """
        from polymnia.engine.transfer.project_export import Including, export_project

        stamp = moment(time.time_ns() // 1000).replace(":", "").replace("-", "")[:15]
        ending = _ENDINGS[form] + (".gz" if compress and form != "zip" else "")
        if including is not None and including.embeddings:
            # What was stored a moment ago has no vectors yet.
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
        step: Step | None = None,
    ) -> tuple[ProjectImport, int]:
        """Take a project file in, from the export folder or given as text (base64 where it is compressed).

        With ``embed`` what is new has its vectors when this returns, False means it never gets any; with ``relate`` the
        relationships its texts show are drawn. Answers what was imported, and how many relationships were drawn.
        """
        from polymnia.engine.transfer.project_import import import_project, problems

        open = self._source(name, data)
        if validate and (wrong := problems(open, form, self.limits)):
            some = "1 record" if len(wrong) == 1 else f"{len(wrong):,} records"
            raise ImportFailed(f"{some} cannot be imported: {'; '.join(wrong[:3])}", problems=wrong)
        new: list[Record] = []

        def bring(tx: Transaction) -> ProjectImport:
            def made(records: list[Record]) -> None:
                if relate:
                    new.extend(records)
                for record in records if embed is False else ():
                    number = record.id & 0xFFFFFFFF
                    self._vectors(tx, record, None, False, number, number + 1)

            return import_project(
                tx, open, form, merging=merging, keep_ids=keep_ids, limits=self.limits, step=step, made=made
            )

        done = self._write("import_project", bring, step)
        if embed:
            self.finding().reindex(self.project, lambda lane, done, total: None)
        return done, self.detect(new) if new else 0

    def _source(self, name: str | None, data: str | None) -> Callable[[], BinaryIO]:
        from io import BytesIO

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

    def cite(
        self, id: str, style: str, *, session: str | None = None, permalink: bool = False, access_date: bool = False
    ) -> Citation:
        """An item as a style of citation writes it."""
        from polymnia.engine.citations import citable, cite

        with self.store.read(self.project) as snapshot:
            record = items.find_item(snapshot, id, session)
        item = citable(
            project=self.project, id=record.uid, content=content.content(record), metadata=record.metadata,
            kind=record.kind, content_type=record.content_type,
            title=record.name if record.name != record.uid else None, created=record.created,
            session=record.session,
        )  # fmt: skip
        return cite(item, style, permalink=permalink, access_date=access_date, now=time.time_ns() // 1000)

    def validate(
        self, *, scope: Any = "project", session: str | None = None, checks: Collection[str] | None = None,
        fix: bool = False, spots: int = 100,
    ) -> IntegrityReport:  # fmt: skip
        """Check the integrity of the project, a session or the whole store; with ``fix`` mend what can be."""
        with importing():
            from polymnia.engine.health.integrity import validate

        return validate(self, scope=scope, session=session, checks=checks, fix=fix, spots=spots)


def _unpacked(data: str) -> bytes:
    """Inline data as bytes; gzip and zip travel as base64."""
    if data.lstrip().startswith(("H4sI", "UEsDB", "UEsFB")):
        from base64 import b64decode

        try:
            return b64decode(data)
        except ValueError:
            raise ImportFailed("data looks like a compressed file in base64, but is broken") from None
    return data.encode("utf-8", "surrogatepass")
