"""Keeps the memory in step with a folder of notes: files that are added, changed and removed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from polymnia.engine.project import Step
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.foreign.items import ForeignSource
from polymnia.engine.transfer.foreign.notes import PAGES, Notes, listed, pages_of_folder
from polymnia.errors import Invalid

if TYPE_CHECKING:
    from polymnia.engine.transfer import TransferVerbs
    from polymnia.engine.transfer.foreign_import import ForeignImport
    from polymnia.engine.transfer.graphs import Existing

_SHORTEST = 1.0  # seconds between two looks at the folder
_SHARE = 50  # a look takes at most this part of the time


class FolderWatch:
    """Follows one folder. Each call of :meth:`sync` looks at it once, and imports what is different as one change."""

    def __init__(self, memory: TransferVerbs, path: str, *, prefix: str | None = None) -> None:
        self._memory = memory
        self._folder = Folder(path)
        self._notes = Notes(os.path.basename(self._folder.path), self._folder.path)
        self._prefix = prefix
        self._known: dict[str, tuple[int, int]] | None = None
        self._seen: dict[str, tuple[int, int]] = {}
        self.pause = _SHORTEST
        self.warning: str | None = None
        """Why the folder is not followed at the moment."""

    def sync(
        self, *, existing: Existing = "merge", dry_run: bool = False, step: Step | None = None
    ) -> ForeignImport | None:
        """Import what has changed since the last call; None if nothing has, or a file is still being written.

        The first call compares all files with what was imported before. Where files are gone, their memories are
        deleted; but a folder that is gone, or has lost everything at once, may be a drive that is not there.
        """
        files = self._look()
        if files is None or files == self._known:
            return None
        first = self._known is None
        settled = first or files == self._seen
        self._seen = files
        if not settled:
            return None  # once more: whoever writes a file may not have finished
        known = self._known or {}
        gone = (
            self._memory.gone_files(self._folder.path, files)
            if first
            else [name for name in known if name not in files]
        )
        if not files and gone:
            self.warning = "nothing is left in the folder. It may be a drive that is not there: nothing was deleted"
            return None
        only = None if first else {name for name, state in files.items() if known.get(name) != state}
        pages = pages_of_folder(self._folder, files)
        source = ForeignSource("a folder of Markdown", lambda: self._notes.read(pages, only))
        done = self._memory.import_foreign(
            source,
            existing=existing,
            prefix=self._prefix,
            root=self._folder.path,
            gone=gone,
            dry_run=dry_run,
            step=step,
        )
        self._known = files
        return done

    def _look(self) -> dict[str, tuple[int, int]] | None:
        started = time.monotonic()
        if not os.path.isdir(self._folder.path):
            if self._known is None:
                raise Invalid(f"There is no folder {self._folder.path}", hint="Check the path and try again.")
            self.warning = "the folder is not there"
            return None
        self.warning = None
        closed: list[str] = []
        found = listed(self._folder, closed=closed)
        if closed:
            self.warning = f"{closed[0] or 'the folder'} cannot be read; until it can, the folder is not followed"
            return None
        files = {name: state for name, state in found.items() if name.lower().endswith(PAGES)}
        self.pause = max(_SHORTEST, _SHARE * (time.monotonic() - started))
        return files
