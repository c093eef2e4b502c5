"""Files in the making: what they are called until they are whole, and removing what killed processes have left."""

from __future__ import annotations

import os
from contextlib import suppress


def draft_of(path: str) -> str:
    """What a file is called while this process makes it: beside its place, and with our number in it."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.tmp")


def remove_left_drafts(path: str) -> None:
    """Remove the drafts of a file whose makers are gone."""
    folder, start = os.path.dirname(path) or ".", f".{os.path.basename(path)}."
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(start) and name.endswith(".tmp"):
                number = name[len(start) : -len(".tmp")]
                if number.isdecimal() and not _is_running(int(number)):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


def _is_running(process: int) -> bool:
    if os.name == "nt":  # pragma: no cover - there is no way to ask there that does no harm
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
