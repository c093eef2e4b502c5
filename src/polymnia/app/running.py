"""Which server of this machine serves a store: recorded in a small file while it runs."""

from __future__ import annotations

import os
from hashlib import sha256

import msgspec
from msgspec import Struct

from polymnia.app import default_store, local_folder
from polymnia.settings import Settings, is_database


class RunningServer(Struct, frozen=True):
    """A server: its process, and the address it is reached at."""

    pid: int
    address: str


def record(chosen: Settings, address: str) -> None:
    """Record that this process serves the store. Where that cannot be written, nobody finds it, and it serves."""
    path = _path(chosen)
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(RunningServer(os.getpid(), address)))
        os.replace(draft, path)
    except OSError:
        return


def forget(chosen: Settings) -> None:
    """Remove the record of this process, if it is still the one recorded."""
    found = _read(chosen)
    if found is not None and found.pid == os.getpid():
        try:
            os.unlink(_path(chosen))
        except OSError:
            return


def find(chosen: Settings) -> RunningServer | None:
    """The server of the store, if one is recorded and its process lives; whether it answers is not asked."""
    found = _read(chosen)
    return found if found is not None and _lives(found.pid) else None


def log_path(chosen: Settings) -> str:
    """The file that a server in the background writes its log to."""
    return _path(chosen).removesuffix(".json") + ".log"


def _path(chosen: Settings) -> str:
    place = chosen.file or chosen.store or default_store()
    name = place if is_database(place) else os.path.realpath(place)
    return os.path.join(local_folder(chosen), f".server-{sha256(name.encode()).hexdigest()[:16]}.json")


def _read(chosen: Settings) -> RunningServer | None:
    try:
        with open(_path(chosen), "rb") as file:
            return msgspec.json.decode(file.read(), type=RunningServer)
    except (OSError, msgspec.MsgspecError):
        return None


def _lives(pid: int) -> bool:
    if os.name == "nt":  # there a signal would end it; its address answers or does not
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
