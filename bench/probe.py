"""What the kernel says about a process, and what a list of samples says about a side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Spread", "blend", "cpu_seconds", "memory", "settle", "spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle, the tail and the worst of some samples, in the unit they came in."""

    n: int
    p50: float
    p95: float
    worst: float


def spread(samples: Sequence[float]) -> Spread:
    """Median, 95th percentile and maximum."""
    ordered = sorted(samples)
    tail = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return Spread(len(ordered), statistics.median(ordered), tail, ordered[-1])


def blend(groups: Sequence[Sequence[float]]) -> Spread:
    """The spread of several groups taken together, each with the same weight however many samples it has."""
    weighed = sorted((sample, 1 / len(group)) for group in groups if group for sample in group)
    whole = sum(weight for _, weight in weighed)

    def at(share: float) -> float:
        reached = 0.0
        for sample, weight in weighed:
            reached += weight
            if reached >= share * whole:
                return sample
        return weighed[-1][0]

    return Spread(len(weighed), at(0.5), at(0.95), weighed[-1][0])


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, all its threads, user and system, in nanosecond steps.

    The numbers below /proc/PID/task forget a thread when it ends, which would flatter a server that works on
    short-lived threads. The CPU clock of the process does not forget; its id is made as
    clock_getcpuclockid(3) makes it.
    """
    return time.clock_gettime((~pid << 3) | 2)


def settle(pid: int, quiet: float = 0.02) -> None:
    """Return once the process has computed nothing for a moment: work after the answer counts too."""
    before = cpu_seconds(pid)
    while True:
        time.sleep(quiet)
        now = cpu_seconds(pid)
        if now - before < 0.0002:
            return
        before = now


def memory(pid: int) -> tuple[int, int]:
    """Resident and proportional set size in KiB (the second divides common pages among their users)."""
    rss = pss = 0
    with open(f"/proc/{pid}/status") as status:
        for row in status:
            if row.startswith("VmRSS:"):
                rss = int(row.split()[1])
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for row in rollup:
            if row.startswith("Pss:"):
                pss = int(row.split()[1])
    return rss, pss
