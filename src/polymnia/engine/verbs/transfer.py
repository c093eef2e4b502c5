"""Archives: the verbs that carry memories out and in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Literal

from polymnia.engine import scopes
from polymnia.engine.graph import Step
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Forbidden, ImportFailed, Invalid, NotFound

if TYPE_CHECKING:
    from polymnia.engine.transfer.archives import Exported, ImportedMemories, Strategy

_GZIP_BASE64 = "H4sI"


class TransferVerbs(Verbs):
    """Exporting memories to an archive and importing them from one."""

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
        """Write the memories of a scope and everything below it, or all, to a file of the export folder.

        Without a ``name`` the archive comes in the answer. What is exported imports again as it was.
        """
        from polymnia.engine.transfer.archives import export_memories

        wanted = None if scope is None else scopes.legal_scope(scope, "scope")
        if name is not None:
            self.grant.check_write("no file was written")
        folder = self.folder()
        with self.store.read(self.project) as snapshot:
            return export_memories(
                snapshot,
                scope=wanted,
                form=form,
                gzip=gzip,
                associations=associations,
                folder=folder,
                name=None if name is None else _inside(folder.path, name),
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
        step: Step | None = None,
    ) -> ImportedMemories:
        """Take in an archive from a file of the export folder, or given as ``data``; one undo takes all of it back.

        With ``validate`` nothing is imported unless everything can be; the fault lists every problem. Without it what
        can be imported is, and the answer lists the rest.
        """
        from polymnia.engine.transfer.archives import ImportedMemories, import_memories, problems

        if (name is None) == (data is None):
            both = "Give file_path or import_data, not both" if name is not None else "Give file_path or import_data"
            raise Invalid(both, field="file_path")
        below = None if prefix is None or not prefix.strip("/ ") else scopes.legal_scope(prefix, "target_scope_prefix")
        open = self._opener(name, data)
        total = 0
        if validate:
            with self.store.read(self.project) as snapshot:
                wrong, total = problems(open, snapshot, self.limits, below)
            if wrong:
                one = "1 record" if len(wrong) == 1 else f"{len(wrong):,} records"
                raise ImportFailed(f"{one} cannot be imported: {'; '.join(wrong[:3])}", problems=wrong)
        return self._write(
            "import",
            lambda tx: import_memories(
                tx, open, strategy=strategy, prefix=below, limits=self.limits, step=step, total=total
            ),
            step,
            gives=ImportedMemories,
        )

    def _opener(self, name: str | None, data: str | bytes | None) -> Callable[[], BinaryIO]:
        if name is not None:
            folder = self.folder()
            name = _inside(folder.path, name)

            def open_file() -> BinaryIO:
                try:
                    return folder.open(name)
                except (NotFound, Forbidden) as e:
                    raise ImportFailed(e.message, hint=e.hint) from e

            return open_file
        raw = _unpacked(data or b"")

        def open_data() -> BinaryIO:
            from io import BytesIO

            return BytesIO(raw)

        return open_data


def _inside(folder: str, name: str) -> str:
    """A name inside the folder; the whole path of such a file, as an export tells it, stands for its name."""
    import os

    whole = os.path.realpath(folder) + os.sep
    return name[len(whole) :].replace(os.sep, "/") if name.startswith(whole) else name


def _unpacked(data: str | bytes) -> bytes:
    """Inline data as bytes; what was compressed travels as base64."""
    if isinstance(data, bytes):
        return data
    if data.lstrip().startswith(_GZIP_BASE64):
        from base64 import b64decode

        try:
            return b64decode(data, validate=False)
        except ValueError:
            raise ImportFailed("import_data looks like compressed data in base64, but is broken") from None
    return data.encode("utf-8", "surrogatepass")
