"""The folder that exports are written to and imports are read from; nothing outside it is accessible.

A name is a path inside the folder. Where the system can open files relative to an open directory, every path component
is opened without following links, which prevents swapping in a link between check and use. Elsewhere the real path is
checked.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from msgspec import Struct

from polymnia.errors import Fault, Forbidden, Invalid, NoSpace, NotFound
from polymnia.models import closest

_ANCHORED = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_DRAFT = ".polymnia-draft-"
_DATABASE = b"SQLite format 3\0"
_BESIDE = re.compile(r"-(?:wal|shm|journal|lock)\Z")  # the end of the name of what lies beside a database
_DRAFT_AGE = 24 * 3600  # seconds; no running export goes a day without writing
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_STEP = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NO_LINK
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Names that open a device in any folder, and characters that are not allowed in names.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_WINDOWS = re.compile(r'[<>:"|?*]|[. ]\Z')


class Listed(Struct, frozen=True):
    """A file in the folder: its relative name and its size."""

    name: str
    bytes: int


class Folder:
    """The export folder; created with its first file."""

    def __init__(self, path: str, shown: str | None = None) -> None:
        self.path = os.path.realpath(path)
        self.shown = shown or self.path  # how errors refer to it

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing; it gets its name when the block exits, complete and synced to disk.

        If the block fails, an existing file of that name is unchanged and nothing is left behind.
        """
        *folders, last = self._parts(name)
        made: list[str] = []
        try:
            with self._place(name, folders, made) as place:
                if self._check_target(name, last, place) and place.is_database(last):
                    raise self._refused(name, "it is a database, perhaps this memory itself; no export replaces one")
                if (owner := _BESIDE.sub("", last)) != last:
                    with suppress(OSError):  # there is none
                        if place.is_database(owner):
                            raise self._refused(name, f"it belongs to the database {owner}, which would be damaged")
                place.clear_old_drafts()
                draft = f"{_DRAFT}{os.urandom(8).hex()}"
                descriptor = place.open(draft, _CREATE)
                try:
                    with open(descriptor, "wb", buffering=256 * 1024) as file:
                        yield file
                        file.flush()
                        os.fsync(descriptor)
                    place.rename(draft, last)
                except BaseException:
                    with suppress(OSError):
                        place.unlink(draft)
                    raise
                place.sync()
        except BaseException as e:
            for folder in reversed(made):
                with suppress(OSError):
                    os.rmdir(folder)
            if isinstance(e, OSError):
                raise self._unwritable(name, e) from e
            raise

    def open(self, name: str) -> BinaryIO:
        """Open the file of that name for reading."""
        *folders, last = self._parts(name)
        try:
            with self._place(name, folders, None) as place:
                if not self._check_target(name, last, place):
                    raise FileNotFoundError
                descriptor = place.open(last, _READ)
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    os.close(descriptor)
                    raise self._refused(name, "it is no ordinary file")
                return open(descriptor, "rb", buffering=256 * 1024)
        except (FileNotFoundError, NotADirectoryError):
            near = closest(name, [one.name for one in self.files()])
            advice = f"did you mean {near!r}?" if near else "check the name."
            raise NotFound([name], "Files", hint=f"Files are read from {self.shown}; {advice}") from None
        except OSError as e:
            raise Forbidden(
                f"Cannot read {name!r} in {self.shown}: {e.strerror}", hint="Check the permissions of the file."
            ) from e

    def files(self) -> list[Listed]:
        """The regular files of the folder and its subfolders, sorted by name; links and special files are skipped."""
        found = []
        for at, folders, names in os.walk(self.path):
            folders.sort()
            for name in names:
                path = os.path.join(at, name)
                with suppress(OSError):  # deleted meanwhile
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode) and not name.startswith(_DRAFT):
                        inside = os.path.relpath(path, self.path).replace(os.sep, "/")
                        found.append(Listed(inside, status.st_size))
        return sorted(found, key=lambda each: each.name)

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────

    def _parts(self, name: str) -> list[str]:
        """Split a name into path components; raises Invalid if it is not a safe relative path."""
        if not name or name.endswith("/"):
            raise self._refused(name, "it names no file")
        if _CONTROL.search(name):
            raise self._refused(name, "it holds a control character")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise self._refused(name, "it holds a lone surrogate") from None
        if "\\" in name:
            raise self._refused(name, "it holds a backslash; folders are parted by /")
        if name.startswith(("/", "~")):
            raise self._refused(name, "it is an absolute path")
        if re.match(r"[A-Za-z]:", name):
            raise self._refused(name, "it begins with a drive")
        parts = [part for part in name.split("/") if part != "."]
        if ".." in parts:
            raise self._refused(name, "it leads out of its folder (..)")
        if not parts or "" in parts:
            raise self._refused(name, "a part of it is empty")
        for part in parts:
            if part.startswith(_DRAFT):
                raise self._refused(name, f"names that begin with {_DRAFT} are for unfinished files")
            if os.name == "nt" and (_DEVICE.fullmatch(part) or _WINDOWS.search(part)):
                raise self._refused(name, f"Windows allows no file called {part!r}")
        return parts

    def _refused(self, name: str, why: str) -> Fault:
        return Invalid(
            f"The file name {name!r:.200} is refused: {why}. Files are kept in {self.shown}",
            hint=f"Give a name inside of {self.shown}, such as 'backup.json' or 'work/backup.json'.",
            name=name,
            folder=self.shown,
        )

    def _unwritable(self, name: str, e: OSError) -> Fault:
        if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return NoSpace(f"The disk is full: {name!r} was not written to {self.shown}", hint="Free some space there.")
        if e.errno == errno.ENAMETOOLONG:
            return self._refused(name, "it is too long")
        return Forbidden(
            f"Cannot write {name!r:.200} to {self.shown}: {e.strerror or e}",
            hint="Check the folder and its permissions, or choose another one.",
        )

    # ── places ────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _place(self, name: str, folders: list[str], made: list[str] | None) -> Iterator[_Place]:
        """Open the folder of a file. Missing folders are created and added to ``made``, unless it is None."""
        if made is not None:
            _make_all(self.path, made)
        at = os.open(self.path, _STEP) if _ANCHORED else None
        path = self.path
        try:
            for folder in folders:
                here, path = path, os.path.join(path, folder)
                if made is not None:
                    with suppress(FileExistsError):
                        os.mkdir(folder if _ANCHORED else path, 0o700, dir_fd=at)
                        made.append(path)
                        _Place(here, at).sync()
                status = os.stat(folder if _ANCHORED else path, dir_fd=at, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode) or (at is None and _leads_elsewhere(path)):
                    raise self._refused(name, f"{folder!r} is a link, and links are not followed")
                if not stat.S_ISDIR(status.st_mode):
                    raise self._refused(name, f"{folder!r} is no folder")
                if at is not None:
                    below = os.open(folder, _STEP, dir_fd=at)
                    os.close(at)
                    at = below
            yield _Place(path, at)
        finally:
            if at is not None:
                os.close(at)

    def _check_target(self, name: str, last: str, place: _Place) -> bool:
        """Whether the name exists; raises Invalid if it is not a regular file."""
        try:
            mode = place.status(last).st_mode
        except FileNotFoundError:
            return False
        if stat.S_ISLNK(mode):
            raise self._refused(name, f"{last!r} is a link, and links are not followed")
        if stat.S_ISDIR(mode):
            raise self._refused(name, f"{last!r} is a folder")
        if not stat.S_ISREG(mode):
            raise self._refused(name, f"{last!r} is no ordinary file")
        return True


class _Place:
    """An open directory, or its path where the system cannot open files relative to one."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self._path = path
        self._at = descriptor

    def _named(self, name: str) -> str:
        return name if self._at is not None else os.path.join(self._path, name)

    def open(self, name: str, flags: int) -> int:
        return os.open(self._named(name), flags, 0o600, dir_fd=self._at)

    def status(self, name: str) -> os.stat_result:
        return os.stat(self._named(name), dir_fd=self._at, follow_symlinks=False)

    def is_database(self, name: str) -> bool:
        with open(self.open(name, _READ), "rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE

    def rename(self, old: str, new: str) -> None:
        os.replace(self._named(old), self._named(new), src_dir_fd=self._at, dst_dir_fd=self._at)

    def unlink(self, name: str) -> None:
        os.unlink(self._named(name), dir_fd=self._at)

    def clear_old_drafts(self) -> None:
        """Remove drafts left by processes that were killed during an export."""
        for name in os.listdir(self._path if self._at is None else self._at):
            if name.startswith(_DRAFT):
                with suppress(OSError):
                    if time.time() - self.status(name).st_mtime > _DRAFT_AGE:
                        self.unlink(name)

    def sync(self) -> None:
        """Flush created, renamed and removed names to disk."""
        if self._at is not None:
            os.fsync(self._at)


def _leads_elsewhere(path: str) -> bool:
    return os.path.normcase(os.path.realpath(path)) != os.path.normcase(path)


def _make_all(path: str, made: list[str]) -> None:
    if not os.path.isdir(path):
        _make_all(os.path.dirname(path), made)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            made.append(path)
