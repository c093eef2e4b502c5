"""``python -m bench.analysis.rhythms``: what is found about time, use and users in projects of which all is known.

Projects are drawn by chance: ones in which nothing goes on (what is found there is wrong), and ones with a burst, a
rhythm, a trend, a new level or a silence of known size and date. Nothing is read; the seed makes it the same each time.
``--scale`` draws a project of 100,000 memories with a million changes and a million counts of reads instead.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from polymnia.engine.analysis.activity.series import level_change
from polymnia.engine.analysis.activity.temporal import temporal_patterns
from polymnia.engine.analysis.activity.usage import usage_patterns
from polymnia.engine.analysis.activity.users import user_patterns
from polymnia.models import Record, Seen, Touch

__all__ = ["main"]

SEED = 20_261_116
HOUR = 3_600_000_000
DAY = 24 * HOUR
BASE = 20_000 * DAY
SURE = 0.95
TOLD = 0.8  # what is told when nobody asks for more
TAGS = (("ana", 0.3), ("billing", 0.2), ("회의", 0.2), ("infra", 0.1), ("결제", 0.1), ("rare", 0.05))
WHO = ("ana via desk 1.2", "bo via code 2", "cy")
BINS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.995, 1.0)

Times = Any


class Stand:
    """Material as a store would give it."""

    def __init__(self, records: list[Record], touches: list[Touch], seen: list[Seen], now: int) -> None:
        self.items = self.present = records
        self.by_id = self.known = {record.id: record for record in records}
        self.touches, self.seen, self.now = sorted(touches, key=lambda one: one.at), seen, now
        self.start = self.end = self.focus = None

    def within(self, *_: int) -> bool:
        return True

    def tick(self, *_: int) -> None:
        pass

    def text(self, record: Record) -> str:
        return record.name


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep them with --out; 0 when the targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.rhythms", description=__doc__)
    parser.add_argument("--projects", type=int, default=200, help="projects of each kind")
    parser.add_argument("--scale", action="store_true", help="measure time and memory at full size instead")
    parser.add_argument("--out", help="a JSON file for the results")
    given = parser.parse_args(arguments)
    if given.scale:
        results, met = _scale()
    else:
        results, met = _measured(given.projects)
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return 0 if met else 1


def _measured(projects: int) -> tuple[dict[str, Any], bool]:
    results: dict[str, Any] = {"seed": SEED, "projects": projects, "null": {}, "planted": {}}
    bins: Counter[tuple[float, bool]] = Counter()
    met = True
    print(f"{'nothing goes on':26} {'at >= .95':>10} {'at >= .8':>10}   (projects with a finding)")
    for name, draw in _nulls():
        rng = np.random.default_rng(SEED)
        wrong = told = 0
        kinds: Counter[str] = Counter()
        for _ in range(projects):
            found = draw(rng)
            wrong += any(one.confidence >= SURE for one in found)
            told += any(one.confidence >= TOLD for one in found)
            kinds.update(one.name for one in found if one.confidence >= TOLD)
            if name.startswith("temporal"):
                _binned(bins, [(one.confidence, False) for one in found])
        rate = wrong / projects
        met &= told / projects <= 0.05 + 2 * (0.05 * 0.95 / projects) ** 0.5
        results["null"][name] = {"at_95": rate, "at_80": told / projects, "kinds": dict(kinds)}
        print(f"{name:26} {rate:10.3f} {told / projects:10.3f}   {dict(kinds)}")
    print(f"\n{'planted':24} {'found':>6} {'date right':>11} {'besides':>8}")
    for name, plant in PLANTED.items():
        rng = np.random.default_rng(SEED + 1)
        right = dated = besides = 0
        for _ in range(projects):
            times, days, hit = plant(rng)
            found = _temporal(rng, times, days)
            sure = [one for one in found if one.confidence >= TOLD]
            judged = [(one, hit(one)) for one in sure]
            right += any(of for _, (of, _) in judged)
            dated += any(of and on for _, (of, on) in judged)
            besides += any(not of for _, (of, _) in judged)
            _binned(bins, [(one.confidence, hit(one)[0]) for one in found])
        results["planted"][name] = {
            "found": right / projects, "date_right": dated / projects, "other_findings": besides / projects,
        }  # fmt: skip
        print(f"{name:24} {right / projects:6.3f} {dated / projects:11.3f} {besides / projects:8.3f}")
    print(f"\n{'confidence':>16} {'findings':>9} {'right':>7}   (all kinds of projects above)")
    results["calibration"] = []
    for low, high in pairwise(BINS):
        true, false = bins[(low, True)], bins[(low, False)]
        if true + false:
            share = true / (true + false)
            results["calibration"].append({"from": low, "to": high, "findings": true + false, "right": share})
            print(f"{low:>7} to {high:<6} {true + false:9} {share:7.3f}")
    results["turns"] = _turns(projects)
    return results, met


def _binned(bins: Counter[tuple[float, bool]], found: list[tuple[float, bool]]) -> None:
    for sure, right in found:
        for low, high in pairwise(BINS):
            if low <= sure < high:
                bins[(low, right)] += 1


def _even(rng: np.random.Generator, count: float, days: int, first: int = 0) -> Times:
    return first * DAY + rng.integers(0, days * DAY, int(count))


def _sittings(rng: np.random.Generator, days: int, rate: float, size: float) -> Times:
    begins = rng.integers(0, days * DAY, max(1, rng.poisson(rate * days)))
    times = np.concatenate([at + np.cumsum(rng.integers(1, HOUR // 3, rng.geometric(1 / size))) for at in begins])
    return times[times < days * DAY]


def _temporal(rng: np.random.Generator, times: Times, days: int) -> list[Any]:
    records, touches = [], []
    for number, at in enumerate(np.sort(times).tolist()):
        tags = tuple(tag for tag, share in TAGS if rng.random() < share)
        records.append(_record(number, BASE + at, tags))
        touches.append(Touch(number, BASE + at, "ana", "create", "made"))
    stand: Any = Stand(records, touches, [], BASE + days * DAY)
    return temporal_patterns(stand, least=0.5).patterns


def _record(number: int, at: int, tags: tuple[str, ...]) -> Record:
    return Record(id=number, uid=f"u{number}", name=f"n{number}", kind="note", tags=tags, created=at, updated=at)


def _nulls() -> Iterator[tuple[str, Callable[[np.random.Generator], list[Any]]]]:
    yield "temporal: even, 240/120d", lambda rng: _temporal(rng, _even(rng, 240, 120), 120)
    yield "temporal: few, 40/60d", lambda rng: _temporal(rng, _even(rng, 40, 60), 60)
    yield "temporal: sparse, 80/365d", lambda rng: _temporal(rng, _even(rng, 80, 365), 365)
    yield "temporal: sittings of 5", lambda rng: _temporal(rng, _sittings(rng, 120, 0.6, 5), 120)
    yield "temporal: sittings of 12", lambda rng: _temporal(rng, _sittings(rng, 200, 0.4, 12), 200)
    for name, ask in (("usage", usage_patterns), ("users", user_patterns)):
        for size in ((60, 300, 600), (300, 200, 2500), (20, 40, 100)):
            yield f"{name}: {size[0]} memories", lambda rng, ask=ask, size=size: ask(_used(rng, *size)).patterns  # type: ignore[misc]


def _used(rng: np.random.Generator, memories: int, changes: int, reads: int, days: int = 120) -> Any:
    """A project in which any user changes and reads any memory that is there, at any time."""
    made = np.sort(rng.integers(0, days * DAY // 2, memories))
    records = [
        _record(n, BASE + at, tuple(tag for tag, share in TAGS if rng.random() < share))
        for n, at in enumerate(made.tolist())
    ]
    touches = [Touch(one.id, one.created, WHO[rng.integers(3)], "create", "made") for one in records]
    for at in rng.integers(made[0] + 1, days * DAY, changes).tolist():
        one = int(rng.integers(np.searchsorted(made, at)))
        touches.append(Touch(one, BASE + at, WHO[rng.integers(3)], "update", "changed"))
    seen: dict[tuple[int, int, str], list[int]] = {}
    for hour in rng.integers(made[0] // HOUR + 1, days * 24, reads // 2).tolist():
        who = WHO[rng.integers(3)]
        for one in {int(n) for n in rng.integers(0, np.searchsorted(made, hour * HOUR), rng.integers(1, 4))}:
            counts = seen.setdefault((one, hour, who), [0, 0])
            counts[0] += int(rng.random() < 0.5)
            counts[1] += 1
    rows = [Seen(one, BASE + hour * HOUR, who, *counts) for (one, hour, who), counts in sorted(seen.items())]
    return Stand(records, touches, rows, BASE + days * DAY)


def _day(text: str) -> int:
    return int(np.datetime64(text[:10]).astype(int)) - BASE // DAY


def _own(one: Any, name: str) -> bool:
    return one.name == name and "subject" not in one.evidence


def _burst(rng: np.random.Generator, size: int) -> Any:
    day = int(rng.integers(10, 110))
    times = np.concatenate([_even(rng, 200, 120), _even(rng, size, 2, day)])
    return (
        times,
        120,
        lambda one: (
            _own(one, "burst") and _day(one.evidence["start"]) < day + 2 and _day(one.evidence["end"]) > day,
            one.name == "burst" and abs(_day(one.evidence["start"]) - day) <= 1,
        ),
    )


def _weekly(rng: np.random.Generator, rest: float) -> Any:
    times = _even(rng, 300, 140)
    weekend = (BASE // DAY + times // DAY + 3) % 7 >= 5
    times = times[~weekend | (rng.random(len(times)) < rest)]
    return (
        times,
        140,
        lambda one: (
            _own(one, "rhythm") and one.evidence["period"] == "week",
            one.name == "rhythm" and {"Saturday", "Sunday"} <= set(one.evidence.get("quiet", ())),
        ),
    )


def _daily(rng: np.random.Generator, width: int) -> Any:
    times = _even(rng, 120, 100) // DAY * DAY + 8 * HOUR + rng.integers(0, width * HOUR, 120)
    return (
        times,
        100,
        lambda one: (
            _own(one, "rhythm") and one.evidence["period"] == "day",
            one.name == "rhythm"
            and one.evidence.get("from_hour", 0) >= 7
            and one.evidence.get("to_hour", 24) <= 8 + width,
        ),
    )


def _rise(rng: np.random.Generator, times_more: float) -> Any:
    grid = np.linspace(0, 1, 2001)
    level = np.cumsum(np.exp(grid * np.log(times_more)))
    times = (np.interp(rng.random(250), level / level[-1], grid) * 180 * DAY).astype(np.int64)
    return (
        times,
        180,
        lambda one: (
            (_own(one, "trend") or _own(one, "change")) and one.evidence["direction"] == "rising",
            one.name == "trend",
        ),
    )


def _step(rng: np.random.Generator, times_more: float) -> Any:
    day = int(rng.integers(50, 130))
    times = np.concatenate([_even(rng, day, day), _even(rng, (180 - day) * times_more, 180 - day, day)])
    return (
        times,
        180,
        lambda one: (
            (_own(one, "trend") or _own(one, "change")) and one.evidence["direction"] == "rising",
            one.name == "change" and abs(_day(one.evidence["at"]) - day) <= 7,
        ),
    )


def _silence(rng: np.random.Generator, days: int) -> Any:
    start = int(rng.integers(20, 100))
    times = _even(rng, 180, 120)
    times = times + np.where(times >= start * DAY, days * DAY, 0)
    return (
        times,
        120 + days,
        lambda one: (
            _own(one, "silence") and _day(one.evidence["start"]) <= start + 1 <= _day(one.evidence["end"]),
            one.name == "silence" and "start" in one.evidence and abs(_day(one.evidence["start"]) - start) <= 2,
        ),
    )


PLANTED: dict[str, Callable[[np.random.Generator], Any]] = {
    "burst of 10 in 2 days": lambda rng: _burst(rng, 10),
    "burst of 15 in 2 days": lambda rng: _burst(rng, 15),
    "burst of 30 in 2 days": lambda rng: _burst(rng, 30),
    "weekends half": lambda rng: _weekly(rng, 0.5),
    "weekends a tenth": lambda rng: _weekly(rng, 0.1),
    "hours 8 to 20": lambda rng: _daily(rng, 12),
    "hours 8 to 16": lambda rng: _daily(rng, 8),
    "rise 2 times": lambda rng: _rise(rng, 2),
    "rise 4 times": lambda rng: _rise(rng, 4),
    "step 2 times": lambda rng: _step(rng, 2),
    "step 4 times": lambda rng: _step(rng, 4),
    "silence of 8 days": lambda rng: _silence(rng, 8),
    "silence of 14 days": lambda rng: _silence(rng, 14),
}


def _turns(projects: int) -> dict[str, float]:
    """How often a new level is found where there is none, and how often on the right day."""
    rng = np.random.default_rng(SEED + 2)
    told = {"wrong, even": 0.0, "wrong, lumpy": 0.0, "step of 3 found": 0.0}
    for _ in range(projects):
        flat = rng.poisson(1.0, 180)
        lumpy = rng.poisson(0.3, 180) * rng.geometric(0.2, 180)
        day = int(rng.integers(50, 130))
        step = np.concatenate([rng.poisson(1.0, day), rng.poisson(3.0, 180 - day)])
        told["wrong, even"] += level_change(flat) is not None
        told["wrong, lumpy"] += level_change(lumpy) is not None
        found = level_change(step)
        told["step of 3 found"] += found is not None and abs(found.day - day) <= 7
    shares = {name: count / projects for name, count in told.items()}
    print("\nnew levels   " + ", ".join(f"{name}: {share:.3f}" for name, share in shares.items()))
    return shares


def _scale() -> tuple[dict[str, Any], bool]:
    rng = np.random.default_rng(SEED)
    memories, rows, days = 100_000, 1_000_000, 730
    who = [f"user{i} via client {i % 5}" for i in range(40)]
    made = np.sort(rng.integers(0, days * DAY, memories)).tolist()
    tag = (rng.zipf(1.5, (memories, 2)) % 300).tolist()
    records = [_record(n, BASE + at, tuple(f"tag{t}" for t in set(tag[n]))) for n, at in enumerate(made)]
    touches = [Touch(n, BASE + at, who[n % 40], "create", "made") for n, at in enumerate(made)]
    for memory, at, one in _drawn(rng, rows, memories, days * DAY):
        touches.append(Touch(memory, BASE + at, who[one], "update", "changed"))
    seen = [
        Seen(memory, BASE + at // HOUR * HOUR, who[one], at % 2, 1)
        for memory, at, one in sorted(_drawn(rng, rows, memories, days * DAY), key=lambda row: row[1])
    ]
    stand: Any = Stand(records, touches, seen, BASE + days * DAY)
    results = {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{'with the project':20} {'':>8} {before:8} MB")
    for ask in (temporal_patterns, usage_patterns, user_patterns):
        wall, cpu = time.perf_counter(), time.process_time()
        found = ask(stand)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        results[ask.__name__] = {"seconds": wall, "cpu": cpu, "peak_mb": peak, "patterns": len(found.patterns)}
        print(
            f"{ask.__name__:20} {wall:6.1f} s {cpu:6.1f} s of CPU {peak:8} MB at most, {len(found.patterns)} patterns"
        )
    return results, all(one["seconds"] < 60 and one["peak_mb"] < 1500 for one in results.values())


def _drawn(rng: np.random.Generator, rows: int, memories: int, span: int) -> Iterator[tuple[int, int, int]]:
    """Rows that fall on few memories often and on many seldom, by users of whom some do most."""
    memory = (rng.pareto(1, rows) * 50).astype(np.int64) % memories
    return zip(memory.tolist(), rng.integers(0, span, rows).tolist(), (rng.zipf(1.6, rows) % 40).tolist(), strict=True)


if __name__ == "__main__":
    sys.exit(main())
