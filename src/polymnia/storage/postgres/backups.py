"""Backups of a database: verified copies in a file of the embedded engine, and restoring one."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from polymnia.engine.ports.maintenance import Copied, Restored, unused
from polymnia.storage.copying import BackupFiles, copy_snapshot
from polymnia.storage.postgres.copying import DatabaseSource, ReplacedContent

if TYPE_CHECKING:
    from polymnia.storage.postgres.store import PostgresStore

_EDITION = "SELECT coalesce(max(edition), 0) FROM project"


def back_up(store: PostgresStore, files: BackupFiles, path: str, *, overwrite: bool) -> Copied:
    """Copy a snapshot of the store to a file without blocking its users."""
    path = os.path.abspath(os.path.expanduser(path))
    with files.writing(path, overwrite=overwrite) as target:
        copied = copy_snapshot(DatabaseSource(store), target, path)
    return copied(os.path.getsize(path))


def restore(store: PostgresStore, files: BackupFiles, path: str) -> Restored:
    """Replace the content of the store with a backup in one transaction, after saving the former content to a file.

    The file is made in the working folder. Running servers see all of it or nothing, and continue with it.
    """
    path = os.path.abspath(os.path.expanduser(path))
    with files.reading(path) as source:
        store.identity()  # makes the tables if there are none
        with ReplacedContent.open(store) as target:
            saved = None
            if not target.is_empty():
                name = f"{store.address.schema}.replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
                saved = unused(os.path.abspath(name))
                back_up(store, files, saved, overwrite=False)
            # A new edition makes every process rebuild its index in memory: row numbers may repeat.
            with source.reading() as here, target.reading() as there:
                highest = max(int(run.text(_EDITION, ()).fetchone()[0]) for run in (here, there))
            copied = copy_snapshot(source, target, path, first_edition=highest + 1)
    return Restored(copied(os.path.getsize(path)), saved)
