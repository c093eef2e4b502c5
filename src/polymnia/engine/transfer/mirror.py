"""A store mirrored to a JSON file, which also picks up edits that other programs make to that file.

The file is the source of truth: it is rewritten before a change is acknowledged, and an edit by another program
is imported as a change of its own before the next call. The underlying store adds what a JSON file cannot hold:
history, undo and indexes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct, field
from msgspec.json import Decoder, encode

from polymnia.engine.ports import Lock, Snapshot, Store, Transaction
from polymnia.engine.ports.maintenance import Restored, draft_of, remove_left_drafts, sync, unused
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, UnreadItem, read, recover, write
from polymnia.engine.transfer.formats.records import JsonObject
from polymnia.engine.transfer.graphs import add_missing, links, match
from polymnia.errors import BrokenFile, Busy, Forbidden, Invalid
from polymnia.models import Author, Limits

_KEY = "file"
_TRIES = 20


class _Fingerprint(Struct, frozen=True):
    """A file's fingerprint from its metadata; any rewrite changes it."""

    time: int
    size: int
    node: int


class _FileState(Struct, frozen=True):
    """The stored state of the file: its last fingerprint, and the content that is not a memory."""

    path: str
    print: _Fingerprint | None
    form: GraphForm
    extra: dict[str, object] = field(default_factory=dict)
    unread: list[UnreadItem] = field(default_factory=list)


_STATE = Decoder(_FileState)


class Mirror:
    """Keeps one project in sync with one file; everything else is delegated to the underlying store.

    ``tell`` is called with messages for the owner.
    """

    def __init__(
        self, inner: Store, path: str, lock: Lock, *, limits: Limits, tell: Callable[[str], None] = lambda text: None
    ) -> None:
        self._inner = inner
        self._path = os.path.realpath(path)
        self._lock = lock
        self._limits = limits
        self._tell = tell
        self._drafts_removed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def read(self, project: str) -> Iterator[Snapshot]:
        """A consistent snapshot that includes every edit made to the file."""
        self._catch_up(project)
        with self._inner.read(project) as snapshot:
            yield snapshot

    @contextmanager
    def write(self, project: str, who: Author | str, action: str) -> Iterator[Transaction]:
        """An atomic transaction, committed to the file and the store when the block exits."""
        with self._lock:
            for _ in range(_TRIES):
                self._bring_up_to_date(project)
                with self._inner.write(project, who, action) as tx:
                    state = self._load_state(tx)
                    if state is not None and self._fingerprint() == state.print:
                        yield tx
                        if tx.changed:
                            self._rewrite(tx, state)
                        return
                # Another program changed the file first. Nothing has been written yet: try again.
            raise self._too_many_rewrites()

    def stamp(self, project: str) -> int:
        """A number that changes with every change to the project, in the store or in the file."""
        self._catch_up(project)
        return self._inner.stamp(project)

    def watch(self, changed: Callable[[str], None]) -> bool:
        """Refuse: nobody tells of edits made to the file."""
        return False

    def about(self) -> JsonObject:
        """Describe the underlying store and the file."""
        return {**self._inner.about(), "file": self._path}

    def restore(self, path: str) -> Restored:
        """Refuse: the file is the source of truth."""
        raise Invalid(
            f"The memory is what the file {self._path} says, so no store can be put in its place",
            hint="Put a copy of the file there, or restore into a store of its own with --store.",
        )

    def close(self) -> None:
        """Close the store and the lock."""
        self._inner.close()
        self._lock.close()

    # ── importing edits of the file ───────────────────────────────────────────────────────────────────

    def _catch_up(self, project: str) -> None:
        """Import edits made to the file since the last check."""
        if not self._is_up_to_date(project):
            with self._lock:
                self._bring_up_to_date(project)

    def _is_up_to_date(self, project: str) -> bool:
        if not self._drafts_removed:
            self._drafts_removed = True
            remove_left_drafts(self._path)
        with self._inner.read(project) as snapshot:
            state = self._load_state(snapshot)
        return state is not None and state.print == self._fingerprint()

    def _bring_up_to_date(self, project: str) -> None:
        for _ in range(_TRIES):
            if self._is_up_to_date(project):
                return
            before = self._fingerprint()
            data = self._read_file()
            if self._fingerprint() == before:
                self._import_file(project, data, before)
        if not self._is_up_to_date(project):
            raise self._too_many_rewrites()

    def _too_many_rewrites(self) -> Busy:
        return Busy(f"The file {self._path} is rewritten faster than it can be read; nothing was changed")

    def _import_file(self, project: str, data: bytes, fingerprint: _Fingerprint | None) -> None:
        broken: BrokenFile | None = None
        try:
            graph = read(data, self._path, limits=self._limits)
        except BrokenFile as e:
            graph, broken = recover(data, self._path, limits=self._limits), e
        with self._inner.write(project, f"file {os.path.basename(self._path)}", "take_over_file") as tx:
            before = self._load_state(tx)
            form = before.form if before is not None and not data.strip() else graph.form  # keep an emptied file's form
            emptied = tx.count()[0] if fingerprint is not None and not data else None
            state = _FileState(self._path, fingerprint, form, graph.extra, graph.unread)
            if broken is not None:
                copy = self._set_aside(data)
                # The store holds acknowledged changes: a damaged file must not lose them.
                add_missing(tx, graph)
                self._rewrite(tx, state)
            elif before is None and _is_foreign(graph, data):
                raise BrokenFile(
                    f"{self._path} is JSON of another kind, without entities and relations; it was left as it is",
                    hint="Keep the memory in another file, or delete this one first.",
                    path=self._path,
                )
            elif before is None:
                # The first sync of this store with this file: merge them, delete nothing.
                had_records = next(tx.records(), None) is not None
                add_missing(tx, graph)
                if had_records:
                    self._rewrite(tx, state)
                else:
                    self._save_state(tx, state)
            else:
                match(tx, graph)
                self._save_state(tx, state)
        if emptied is not None and (before is not None or not emptied):
            was = f"; {emptied} memories are gone from it, and `polymnia undo` brings them back" if emptied else ""
            self._tell(f"The file {self._path} is empty (0 bytes), and so is the memory it shows{was}")
        if broken is not None:
            records, relations = graph.report.entities, graph.report.relations
            raise BrokenFile(
                f"{broken.message}. The damaged file is kept as {copy}; {self._path} now holds what could be read "
                f"of it ({records} entities, {relations} relations) and what was known before",
                hint="Look at both files; call again to go on with what was recovered.",
                kept=copy,
                recovered=self._path,
            )

    def _read_file(self) -> bytes:
        try:
            with open(self._path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as e:
            raise Forbidden(f"Cannot read {self._path}: {e.strerror}") from e

    def _set_aside(self, data: bytes) -> str:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy = unused(f"{self._path}.broken-{stamp}")
        _write_out(copy, iter([data]), self._path)
        return copy

    # ── the file and its stored state ─────────────────────────────────────────────────────────────────

    def _fingerprint(self) -> _Fingerprint | None:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return None
        except OSError as e:
            raise Forbidden(f"Cannot read {self._path}: {e.strerror}") from e
        return _Fingerprint(status.st_mtime_ns, status.st_size, status.st_ino)

    def _load_state(self, snapshot: Snapshot) -> _FileState | None:
        text = snapshot.noted(_KEY)
        state = _STATE.decode(text) if text else None
        return state if state is not None and state.path == self._path else None

    def _save_state(self, tx: Transaction, state: _FileState) -> None:
        tx.note(_KEY, encode(state).decode())

    def _rewrite(self, tx: Transaction, state: _FileState) -> None:
        pieces = write(state.form, tx.records(), links(tx.relations()), extra=state.extra, unread=state.unread)
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            status = _write_out(self._path, pieces, self._path)
        except OSError as e:
            raise Forbidden(
                f"Cannot write {self._path}: {e.strerror}; nothing was changed",
                hint="Check free space and the permissions of the file and its folder.",
            ) from e
        fingerprint = _Fingerprint(status.st_mtime_ns, status.st_size, status.st_ino)
        self._save_state(tx, _FileState(self._path, fingerprint, state.form, state.extra, state.unread))


def _write_out(path: str, pieces: Iterator[bytes], like: str) -> os.stat_result:
    """Write a file atomically, with the permissions of the file ``like``."""
    draft = draft_of(path)
    try:
        mode = os.stat(like).st_mode & 0o777
    except OSError:
        mode = 0o600
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(descriptor, "wb") as file:
            os.chmod(draft, mode)
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    if os.name == "posix":
        sync(os.path.dirname(path))
    return status


def _is_foreign(graph: GraphFile, data: bytes) -> bool:
    """Whether a file is unrelated JSON, such as a package.json."""
    is_empty = not graph.entities and not graph.relations
    return is_empty and bool(graph.extra) and b'"entities"' not in data and b'"relations"' not in data
