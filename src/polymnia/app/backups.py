"""Backups on a schedule: one folder, a verified backup every so often, and only so many kept.

The folder itself says when the last one was made, so a restart makes none too many, and any number of processes may
share it: the one that gets the lock makes the backup.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from polymnia.engine.ports import Store
from polymnia.engine.ports.maintenance import Copied
from polymnia.errors import Fault, Unavailable

KEEP = 14
_NAME = re.compile(r"polymnia-(\d{8}T\d{6}Z)\.db")
_STAMP = "%Y%m%dT%H%M%SZ"
_RETRY = 300.0  # seconds until a backup that failed is tried again, unless it is due earlier
_LOOK = 60.0  # seconds between two looks at a folder in which another process may have made one
_AHEAD = 60.0  # seconds that the clocks of machines that share a folder may differ


class BackupSchedule:
    """A folder of backups, how often there is to be a new one, and how many are kept."""

    def __init__(self, folder: str, every: float, keep: int = KEEP) -> None:
        self.folder = os.path.abspath(os.path.expanduser(folder))
        self.every = every
        self.keep = keep
        self.newest = 0  # when the newest was made, in seconds since 1970, as of the last look; 0 if there is none

    def files(self) -> list[tuple[int, str]]:
        """The backups there are, oldest first: when they were made (seconds since 1970), and their paths.

        One that a wrong clock has dated ahead counts as the oldest: it neither delays nor outlives the others.
        """
        try:
            names = os.listdir(self.folder)
        except OSError:
            return []
        latest = time.time() + _AHEAD
        made = [(at, name) for name in names if (at := _made(name)) is not None]
        return sorted((at if at <= latest else 0, os.path.join(self.folder, name)) for at, name in made)

    def due_in(self) -> float:
        """Seconds until the next is due."""
        made = self.files()
        self.newest = made[-1][0] if made else 0
        return self.newest + self.every - time.time()

    def make(self, store: Store) -> Copied:
        """Make a backup now; once it is verified, those beyond the number to keep are deleted."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError as e:
            raise _unusable(self.folder, e) from e
        path = os.path.join(self.folder, f"polymnia-{time.strftime(_STAMP, time.gmtime(time.time()))}.db")
        copied = store.back_up(path)
        for _, old in self.files()[: -self.keep]:
            try:
                os.unlink(old)
            except OSError as e:
                hint = f"The new backup is whole: {path}. Check the rights of the folder."
                raise Unavailable(f"The old backup {old} cannot be deleted: {e.strerror}", hint=hint) from e
        return copied

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Whether this process is the one to make a backup now."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            handle = os.open(os.path.join(self.folder, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as e:
            raise _unusable(self.folder, e) from e
        try:
            yield _try_lock(handle)
        finally:
            os.close(handle)


def run(
    store: Store,
    schedule: BackupSchedule,
    stop: Event,
    made: Callable[[Copied], None],
    failed: Callable[[Fault], None],
) -> None:
    """Make every backup when it is due, until ``stop`` is set. One that fails is reported, and tried again."""
    wait = 0.0
    while not stop.wait(wait):
        copied = None
        try:
            wait = min(max(schedule.due_in(), 0.0), _LOOK)
            if wait:
                continue
            with schedule.locked() as mine:
                if mine and schedule.due_in() <= 0:
                    copied = schedule.make(store)
                elif not mine:
                    wait = 1.0
        except Exception as e:  # the last line of defence: nobody would notice that no more backups are made
            failed(e if isinstance(e, Fault) else Unavailable(f"The backup failed: {type(e).__name__}: {e}"))
            wait = min(schedule.every, _RETRY)
        if copied is not None:
            made(copied)


@contextmanager
def running(store: Store, schedule: BackupSchedule | None, log: Callable[..., None]) -> Iterator[None]:
    """Make backups on a thread while the block runs; ``log`` takes a level, an event and its fields."""
    if schedule is None:
        yield
        return
    stop = Event()

    def made(copied: Copied) -> None:
        log("notice", "backup", file=copied.path, bytes=copied.bytes, memories=copied.memories, changes=copied.changes)

    def failed(fault: Fault) -> None:
        log("error", "backup failed", text=fault.message, hint=fault.hint)

    thread = Thread(target=run, args=(store, schedule, stop, made, failed), name="backups", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()  # a backup that is being made is finished


def _made(name: str) -> int | None:
    """When the backup of this name was made, in seconds since 1970; None if it is none."""
    from calendar import timegm

    match = _NAME.fullmatch(name)
    try:
        return None if match is None else timegm(time.strptime(match[1], _STAMP))
    except ValueError:  # no such day or hour
        return None


def _unusable(folder: str, e: OSError) -> Unavailable:
    hint = "Check the folder, its permissions and free space, or name another one."
    return Unavailable(f"Backups cannot be kept in {folder}: {e.strerror}", hint=hint)


def _try_lock(handle: int) -> bool:
    try:
        if os.name == "nt":  # pragma: no cover - other platform
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
