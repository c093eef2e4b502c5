"""The facts about the machine that a reader needs to judge the figures; no names, no paths."""

from __future__ import annotations

import os
import platform
import statistics
import time

import apsw

from bench import peer

__all__ = ["facts"]


def facts(folder: str) -> dict[str, str]:
    """What the run stood on. The folder is where the stores of the run lie."""
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "architecture": platform.machine(),
        "Linux": ".".join(platform.release().split("-")[0].split(".")[:2]),
        "file system": _file_system(folder),
        "fdatasync of 4 KiB (median)": f"{_sync_seconds(folder) * 1e3:.2f} ms",
        "load before the run": f"{os.getloadavg()[0]:.2f}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "Node": peer.node_version().removeprefix("v"),
        "reference": f"{peer.PACKAGE} {peer.VERSION} (sdk {peer.sdk_version()})",
    }


def _file_system(folder: str) -> str:
    place = os.path.realpath(folder) + "/"
    with open("/proc/mounts") as mounts:
        rows = [row.split()[1:3] for row in mounts]
    return max((mount.rstrip("/") + "/", kind) for mount, kind in rows if place.startswith(mount.rstrip("/") + "/"))[1]


def _sync_seconds(folder: str) -> float:
    path = os.path.join(folder, "sync")
    samples = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            samples.append(time.perf_counter() - begun)
    os.remove(path)
    return statistics.median(samples)
