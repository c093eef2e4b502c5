"""Copies the rows of a store into another one, whatever their engines: migrations, and backups of a database.

What people stored, the journal, the word index and the vectors are copied as they are. The substring index, the tags
and the counts of scopes, which differ from engine to engine, are made again. Until the last step the target is marked
as unfinished and refuses to be opened; a copy that was interrupted goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

import msgspec

from polymnia.engine.ports.maintenance import Copied, Migrated
from polymnia.errors import Busy, Damaged
from polymnia.storage import rows as cells
from polymnia.storage.statements import StatementRunner

Row = tuple[Any, ...]
Progress = Callable[[int, int], None]
"""Told how many rows are done, of how many. Each row counts twice: when it is copied and when it is compared."""

PROJECT_COLUMNS = ("id", "name", "seq", "indexed", "texts", "touched", "listed", "passages", "edition")
MODEL_COLUMNS = ("id", "name", "dimensions")


class Table(NamedTuple):
    """A table of projects: its columns but for the project, and the columns that order its rows.

    ``spans`` says that the upper half of the first of these is the number of the project.
    """

    name: str
    key: tuple[str, ...]
    spans: bool
    integers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order of a copied row."""
        return (*self.integers, *self.texts, *self.blobs, *self.floats)

    def key_of(self, row: Row) -> Row:
        """The key of a row."""
        return tuple(row[self.columns.index(column)] for column in self.key)


def _table(name: str, key: str, integers: str = "", texts: str = "", blobs: str = "", floats: str = "") -> Table:
    spans = key.startswith("*")
    parts = (tuple(part.split()) for part in (integers, texts, blobs, floats))
    return Table(name, tuple(key.lstrip("*").split()), spans, *parts)


TABLES = (
    _table(
        "memory", "*id", "id created updated version look",
        "uid name kind scope session category content_type summary tags metadata extra",
    ),
    _table("observation", "*id", "id memory digest", "text"),
    _table("relation", "*id", "id created", "source target type context metadata extra origin", floats="strength"),
    _table("session", "*id", "id created", "name"),
    _table("change", "first id", "id at first last undoes", "who action account client dialect tool"),
    _table("change_item", "*owner change n", "change n ref owner", "op kind before name other"),
    _table("seen", "*memory hour who", "memory hour opened found", "who"),
    _table("fact", "key", "", "key value"),
    _table("passage_block", "first", "first count low high", "", "data"),
    _table("posting", "term first", "first", "term", "data"),
    _table("gone", "*id", "id"),
    _table("stale", "*id", "id"),
    _table("vector", "*text part model", "id model text part", "", "half"),
    _table("vector_bits", "model id", "model id text part", "", "bits"),
)  # fmt: skip
"""What is copied row by row, project by project."""

MADE_AGAIN = ("gram", "tag", "scope")
"""What is made of the copied rows on the other side."""

FOLDS = {"memory": (("name_fold", "name"), ("kind_fold", "kind")), "observation": (("fold", "text"),)}
"""Columns that hold the folded form of another one, by table; each engine keeps it in a form of its own."""


def folded(table: Table, row: Row) -> list[str]:
    """The folded forms of a row, in the order of ``FOLDS``."""
    return [cells.fold(row[table.columns.index(column)]) for _, column in FOLDS[table.name]]


class CopySource(Protocol):
    """A store that is copied."""

    place: str

    def reading(self) -> AbstractContextManager[StatementRunner]:
        """One moment of the store."""

    def where(self, table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
        """The condition for the rows of a project after a key, with ``?`` for each value."""

    def last_numbers(self, run: StatementRunner) -> tuple[int, int]:
        """The highest numbers that were given to a change and to a vector."""


class CopyTarget(CopySource, Protocol):
    """A store that is filled. Nobody can open it before it is finished."""

    def claim(self, source: str) -> dict[int, str]:
        """Make the store, or continue with one that an interrupted copy left.

        Returns what was noted about each project. Refuses a store with other content.
        """

    def writing(self) -> AbstractContextManager[StatementRunner]:
        """A transaction; refused once another process has claimed the target."""

    def insert(self, run: StatementRunner, table: Table, project: int, rows: Sequence[Row]) -> None:
        """Add rows, with their folded forms and their entries in the substring index."""

    def clear(self, run: StatementRunner, table: Table, project: int) -> None:
        """Remove the rows of a project."""

    def note(self, run: StatementRunner, project: int, value: str) -> None:
        """Note something about a project, for whoever continues."""

    def finish(
        self, run: StatementRunner, models: Sequence[Row], projects: Sequence[Row], numbers: tuple[int, int]
    ) -> None:
        """Add the models and the projects, continue the numbers after the last ones, and remove the mark."""


class BackupFiles(Protocol):
    """Writes and reads the files of backups, which are stores of the embedded engine."""

    def writing(self, path: str, *, overwrite: bool) -> AbstractContextManager[CopyTarget]:
        """A new backup, which gets its name when the block ends."""

    def reading(self, path: str) -> AbstractContextManager[CopySource]:
        """A backup, verified and of the current format."""


_BYTES = 8 << 20  # of rows that are copied together
_FIRST_ROWS = 500  # the size of a row is not known yet
_MOST_ROWS = 5000
_PASSES = 20  # over a source that changes meanwhile
_encode = msgspec.msgpack.Encoder().encode


class _Tally(msgspec.Struct):
    """The number of some rows and the sum of their digests, which does not depend on the engine."""

    count: int = 0
    digest: int = 0

    def add(self, encoded: Sequence[bytes]) -> None:
        self.count += len(encoded)
        added = sum(int.from_bytes(blake2b(one, digest_size=16).digest(), "big") for one in encoded)
        self.digest = (self.digest + added) % (1 << 128)


class _Done(msgspec.Struct):
    """A project that is copied: its row, and the number of rows by table."""

    row: Row
    counts: dict[str, int]


def migrate(source: CopySource, target: CopyTarget, progress: Progress) -> Migrated:
    """Copy a store that may be in use; each project as it is at one moment."""
    copy = _Copy(source, target, progress, None)
    counts = copy.run()
    return Migrated(source.place, target.place, len(copy.done), sum(counts.values()), counts)


def copy_snapshot(
    source: CopySource, target: CopyTarget, path: str, *, first_edition: int = 0
) -> Callable[[int], Copied]:
    """Copy a store as it is at one moment; returns what was copied, given the size in bytes.

    ``first_edition`` is the least edition that the copied projects get.
    """
    with source.reading() as run:
        copy = _Copy(source, target, lambda done, total: None, run, first_edition)
        counts = copy.run()
    numbers = [counts[name] for name in ("memory", "observation", "relation", "change")]
    return lambda size: Copied(path, size, *numbers)


class _Copy:
    """One copy of a store."""

    def __init__(
        self,
        source: CopySource,
        target: CopyTarget,
        progress: Progress,
        snapshot: StatementRunner | None,
        first_edition: int = 0,
    ) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._snapshot = snapshot
        self._first_edition = first_edition
        self._rows = self._total = 0
        self._pending: list[tuple[Table, int, list[Row]]] = []
        self._pending_bytes = 0
        self.done: dict[int, _Done] = {}

    def run(self) -> dict[str, int]:
        """Copy everything; returns the number of rows by table."""
        with self._reading() as run:  # before anything is made: there may be nothing to copy
            self._total = 2 * sum(run.text(f"SELECT count(*) FROM {one.name}", ()).fetchone()[0] for one in TABLES)
        noted = self._target.claim(self._source.place)
        begun = set(noted)
        self.done = {project: msgspec.json.decode(note, type=_Done) for project, note in noted.items() if note}
        self._step(2 * sum(sum(one.counts.values()) for one in self.done.values()))
        for _ in range(_PASSES):
            with self._reading() as run:
                projects = {row[0]: tuple(row) for row in self._project_rows(run)}
                models = self._rows_of(run, "model", MODEL_COLUMNS)
                numbers = self._source.last_numbers(run)
            for project in begun - set(projects):
                self._remove(project)
                begun.discard(project)
            changed = [id for id, row in projects.items() if id not in self.done or self.done[id].row != row]
            if not changed:
                break
            for project in changed:
                self._copy_project(project, is_new=project not in begun)
                begun.add(project)
        else:
            raise Busy(
                f"{self._source.place} changes faster than it can be copied",
                hint="Stop the servers that write to it, and run the command again: it goes on from here.",
            )
        finished = [self._finished(row) for row in projects.values()]
        with self._target.writing() as run:
            self._target.finish(run, models, finished, numbers)
        return {one.name: sum(done.counts.get(one.name, 0) for done in self.done.values()) for one in TABLES}

    def _reading(self) -> AbstractContextManager[StatementRunner]:
        return self._source.reading() if self._snapshot is None else nullcontext(self._snapshot)

    @staticmethod
    def _rows_of(run: StatementRunner, table: str, columns: Sequence[str]) -> list[Row]:
        return run.text(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id", ()).fetchall()

    def _project_rows(self, run: StatementRunner) -> list[Row]:
        return self._rows_of(run, "project", PROJECT_COLUMNS)

    def _finished(self, row: Row) -> Row:
        """The row of a project on the other side, where every text is in the substring index."""
        one = dict(zip(PROJECT_COLUMNS, row, strict=True))
        one["indexed"] = one["seq"]
        one["edition"] = max(one["edition"], self._first_edition)
        return tuple(one.values())

    def _step(self, count: int) -> None:
        self._rows += count
        self._progress(min(self._rows, self._total), self._total)

    def _remove(self, project: int) -> None:
        """Remove a project that the source does not have any more."""
        self.done.pop(project, None)
        with self._target.writing() as run:
            for table in TABLES:
                self._target.clear(run, table, project)

    def _copy_project(self, project: int, *, is_new: bool) -> None:
        with self._reading() as source:
            statement = f"SELECT {', '.join(PROJECT_COLUMNS)} FROM project WHERE id = ?"
            row = tuple(source.text(statement, (project,)).fetchone())
            tallies = {table: self._copy_table(source, table, project, is_new=is_new) for table in TABLES}
            self._flush()
        for table, tally in tallies.items():
            self._compare(table, row, tally)
        done = _Done(row, {table.name: tally.count for table, tally in tallies.items()})
        with self._target.writing() as run:
            for name in ("drop_tags", "list_tags"):
                run(name, (project,))
            self._target.note(run, project, msgspec.json.encode(done).decode())
        self.done[project] = done

    def _copy_table(self, source: StatementRunner, table: Table, project: int, *, is_new: bool) -> _Tally:
        """Copy a table, and return the tally of what the source has."""
        last, tally = (None, _Tally()) if is_new else self._kept(source, table, project)
        for rows, encoded in _portions(self._source, source, table, project, last):
            tally.add(encoded)
            self._pending.append((table, project, rows))
            self._pending_bytes += sum(map(len, encoded))
            if self._pending_bytes > _BYTES or len(rows) == _MOST_ROWS:
                self._flush()
            self._step(len(rows))
        return tally

    def _flush(self) -> None:
        """Write what was read: small tables together, in one transaction."""
        if self._pending:
            with self._target.writing() as run:
                for table, project, rows in self._pending:
                    self._target.insert(run, table, project, rows)
                self._target.note(run, project, "")
        self._pending, self._pending_bytes = [], 0

    def _kept(self, source: StatementRunner, table: Table, project: int) -> tuple[Row | None, _Tally]:
        """The last key and the tally of what the target has already; what differs from the source is removed."""
        self._flush()
        there, here = _Tally(), _Tally()
        last: Row | None = None
        with self._target.reading() as run:
            for rows, encoded in _portions(self._target, run, table, project):
                there.add(encoded)
                last = table.key_of(rows[-1])
        if last is None:
            return None, here
        for rows, encoded in _portions(self._source, source, table, project):
            count = sum(table.key_of(row) <= last for row in rows)
            here.add(encoded[:count])
            if count < len(rows):
                break
        if here == there:
            self._step(here.count)
            return last, here
        with self._target.writing() as run:
            self._target.clear(run, table, project)
        return None, _Tally()

    def _compare(self, table: Table, row: Row, expected: _Tally) -> None:
        found = _Tally()
        with self._target.reading() as run:
            for _, encoded in _portions(self._target, run, table, row[0]):
                found.add(encoded)
                self._step(len(encoded))
        if found == expected:
            return
        how = f"{found.count} rows instead of {expected.count}" if found.count != expected.count else "other rows"
        raise Damaged(
            f"The copy in {self._target.place} is not what {self._source.place} holds: {how} in the table {table.name} "
            f"of the project {row[1]}",
            hint="Nothing uses the copy, and the source still holds all of it. Run the command again: what differs is "
            "copied once more. If that fails too, check the disk and the memory of the machine.",
        )


def _portions(
    end: CopySource, run: StatementRunner, table: Table, project: int, after: Row | None = None
) -> Iterator[tuple[list[Row], list[bytes]]]:
    """The rows of a project in the order of their keys, some at a time, each also encoded."""
    columns, key = ", ".join(table.columns), ", ".join(table.key)
    limit = _FIRST_ROWS
    while True:
        condition, values = end.where(table, project, after)
        statement = f"SELECT {columns} FROM {table.name} WHERE {condition} ORDER BY {key} LIMIT ?"
        found = run.text(statement, (*values, limit)).fetchall()
        if not found:
            return
        encoded = [_encode(row) for row in found]
        yield found, encoded
        if len(found) < limit:
            return
        after = table.key_of(found[-1])
        limit = max(10, min(_MOST_ROWS, _BYTES * len(found) // sum(map(len, encoded))))


def later(table: Table, after: Row | None) -> str:
    """The condition for rows after a key, to be added to another one."""
    if not after:
        return ""
    return f" AND ({', '.join(table.key)}) > ({', '.join('?' * len(after))})"


def held_content(projects: Sequence[Row]) -> str:
    """What a store holds, in words, given the names of its projects and their numbers of texts."""
    texts = sum(count for _, count in projects)
    names = ", ".join(name for name, _ in projects[:3]) + (", …" if len(projects) > 3 else "")
    return f"{texts:,} texts in the project{'s' * (len(projects) > 1)} {names}"
