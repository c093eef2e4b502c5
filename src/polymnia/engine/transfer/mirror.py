"""A store that shows itself in a JSON file, and takes over what others do to that file.

The file is the visible truth: it is rewritten before a change is acknowledged, and an edit made by another
program is taken over, as a change of its own, before the next call. The store behind it adds what a JSON file
has no room for: history, undo and indexes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, field
from msgspec.json import Decoder, encode

from polymnia.engine.ports import Lock, Snapshot, Store, Transaction
from polymnia.engine.ports.maintenance import Restored, draft_of, remove_left_drafts
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, UnreadItem, read, recover, write
from polymnia.engine.transfer.formats.records import JsonObject
from polymnia.engine.transfer.graphs import add_missing, links, match
from polymnia.errors import BrokenFile, Busy, Forbidden, Invalid
from polymnia.models import Author, Limits

_KEY = "file"
_TRIES = 20


class _Print(Struct, frozen=True):
    """What a file looks like from outside; any rewrite changes it."""

    time: int
    size: int
    node: int


class _Known(Struct, frozen=True):
    """What is kept about the file beside the memories: how it looked last, and what of it is no memory."""

    path: str
    print: _Print | None
    form: GraphForm
    extra: dict[str, object] = field(default_factory=dict)
    unread: list[UnreadItem] = field(default_factory=list)


_known = Decoder(_Known)


class Mirror:
    """Keeps one project in step with one file; whatever concerns neither is done by the store behind it.

    ``tell`` is called with what its owner should know.
    """

    def __init__(
        self, inner: Store, path: str, turn: Lock, *, limits: Limits, tell: Callable[[str], None] = lambda text: None
    ) -> None:
        self._inner = inner
        self._path = os.path.realpath(path)
        self._turn = turn
        self._limits = limits
        self._tell = tell
        self._tidy = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def read(self, project: str) -> Iterator[Snapshot]:
        """One consistent view, with every edit others have made to the file."""
        self._catch_up(project)
        with self._inner.read(project) as snapshot:
            yield snapshot

    @contextmanager
    def write(self, project: str, who: Author | str, action: str) -> Iterator[Transaction]:
        """One atomic unit: in the file and in the store when the block is left."""
        self._turn.take()
        try:
            for _ in range(_TRIES):
                self._bring_up_to_date(project)
                with self._inner.write(project, who, action) as tx:
                    known = self._noted(tx)
                    if known is not None and self._print() == known.print:
                        yield tx
                        if tx.changed:
                            self._rewrite(tx, known)
                        return
                # Another program was faster than we were. Nothing has been done yet: look again.
            raise self._restless()
        finally:
            self._turn.give()

    def stamp(self, project: str) -> int:
        """A number that changes whenever the project has changed, in the store or in the file."""
        self._catch_up(project)
        return self._inner.stamp(project)

    def about(self) -> JsonObject:
        """The store behind the file, and the file."""
        return {**self._inner.about(), "file": self._path}

    def restore(self, path: str) -> Restored:
        """Refused: the file says what the memory is."""
        raise Invalid(
            f"The memory is what the file {self._path} says, so no store can be put in its place",
            hint="Put a copy of the file there, or restore into a store of its own with --store.",
        )

    def close(self) -> None:
        """Let go of every file."""
        self._inner.close()
        self._turn.close()

    # ── taking over ───────────────────────────────────────────────────────────────────────────────────

    def _catch_up(self, project: str) -> None:
        """Take over what others did to the file since we last looked."""
        if self._is_up_to_date(project):
            return
        self._turn.take()
        try:
            self._bring_up_to_date(project)
        finally:
            self._turn.give()

    def _is_up_to_date(self, project: str) -> bool:
        if not self._tidy:
            self._tidy = True
            remove_left_drafts(self._path)
        with self._inner.read(project) as snapshot:
            known = self._noted(snapshot)
        return known is not None and known.print == self._print()

    def _bring_up_to_date(self, project: str) -> None:
        for _ in range(_TRIES):
            if self._is_up_to_date(project):
                return
            before = self._print()
            data = self._data()
            if self._print() == before:
                self._take_over(project, data, before)
        if not self._is_up_to_date(project):
            raise self._restless()

    def _restless(self) -> Busy:
        return Busy(f"The file {self._path} is rewritten faster than it can be read; nothing was changed")

    def _take_over(self, project: str, data: bytes, print: _Print | None) -> None:
        broken: BrokenFile | None = None
        try:
            graph = read(data, self._path, limits=self._limits)
        except BrokenFile as e:
            graph, broken = recover(data, self._path, limits=self._limits), e
        with self._inner.write(project, f"file {os.path.basename(self._path)}", "take_over_file") as tx:
            before = self._noted(tx)
            form = before.form if before is not None and not data.strip() else graph.form  # emptied, not reformed
            emptied = tx.count()[0] if print is not None and not data else None
            known = _Known(self._path, print, form, graph.extra, graph.unread)
            if broken is not None:
                kept = self._set_aside(data)
                # What the store knows was acknowledged once: damage to the file is no reason to lose it.
                add_missing(tx, graph)
                self._rewrite(tx, known)
            elif before is None and _is_foreign(graph, data):
                raise BrokenFile(
                    f"{self._path} is JSON of another kind, without entities and relations; it was left as it is",
                    hint="Keep the memory in another file, or delete this one first.",
                    path=self._path,
                )
            elif before is None:
                # A store and a file that meet for the first time: neither takes anything from the other.
                was_there = next(tx.records(), None) is not None
                add_missing(tx, graph)
                if was_there:
                    self._rewrite(tx, known)
                else:
                    self._note(tx, known)
            else:
                match(tx, graph)
                self._note(tx, known)
        if emptied is not None and (before is not None or not emptied):
            was = f"; {emptied} memories are gone from it, and `polymnia undo` brings them back" if emptied else ""
            self._tell(f"The file {self._path} is empty (0 bytes), and so is the memory it shows{was}")
        if broken is not None:
            records, relations = graph.report.entities, graph.report.relations
            raise BrokenFile(
                f"{broken.message}. The damaged file is kept as {kept}; {self._path} now holds what could be read "
                f"of it ({records} entities, {relations} relations) and what was known before",
                hint="Look at both files; call again to go on with what was recovered.",
                kept=kept,
                recovered=self._path,
            )

    def _data(self) -> bytes:
        try:
            with open(self._path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as e:
            raise Forbidden(f"Cannot read {self._path}: {e.strerror}") from e

    def _set_aside(self, data: bytes) -> str:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        copy, n = f"{self._path}.broken-{stamp}", 1
        while os.path.exists(copy):
            n += 1
            copy = f"{self._path}.broken-{stamp}-{n}"
        _write_out(copy, iter([data]), self._path)
        return copy

    # ── the file and what is known about it ───────────────────────────────────────────────────────────

    def _print(self) -> _Print | None:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return None
        except OSError as e:
            raise Forbidden(f"Cannot read {self._path}: {e.strerror}") from e
        return _Print(status.st_mtime_ns, status.st_size, status.st_ino)

    def _noted(self, snapshot: Snapshot) -> _Known | None:
        text = snapshot.noted(_KEY)
        known = _known.decode(text) if text else None
        return known if known is not None and known.path == self._path else None

    def _note(self, tx: Transaction, known: _Known) -> None:
        tx.note(_KEY, encode(known).decode())

    def _rewrite(self, tx: Transaction, known: _Known) -> None:
        pieces = write(known.form, tx.records(), links(tx.relations()), extra=known.extra, unread=known.unread)
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            status = _write_out(self._path, pieces, self._path)
        except OSError as e:
            raise Forbidden(
                f"Cannot write {self._path}: {e.strerror}; nothing was changed",
                hint="Check free space and the permissions of the file and its folder.",
            ) from e
        now = _Print(status.st_mtime_ns, status.st_size, status.st_ino)
        self._note(tx, _Known(self._path, now, known.form, known.extra, known.unread))


def _write_out(path: str, pieces: Iterator[bytes], like: str) -> os.stat_result:
    """Write a file so that it is there whole or not at all, with the permissions of another one."""
    folder = os.path.dirname(path)
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
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return status


def _is_foreign(graph: GraphFile, data: bytes) -> bool:
    """Whether a file is somebody's JSON that has nothing to do with a memory, such as a package.json."""
    nothing = not graph.entities and not graph.relations
    return nothing and bool(graph.extra) and b'"entities"' not in data and b'"relations"' not in data
