"""Kill -9 at random moments under write load: is every acknowledged write there, does the store open."""

from __future__ import annotations

import itertools
import json
import random
import select
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import apsw

from bench.client import GoneError, request
from bench.result import Result, Table, Verdict
from bench.sides import OURS, THEIRS, Polymnia, Reference
from bench.stage import Stage

__all__ = ["run"]

BATCH = 3
# A new store after so many rounds keeps the reading back short.
LIFE = 25
LOAD = 0.25
# Besides the kills under load, every so many rounds one falls into the start of the server.
EARLY = 8
START = 0.15


@dataclass(slots=True)
class Toll:
    """What the kills did to one side."""

    kills: int = 0
    early: int = 0
    acknowledged: int = 0
    refused: int = 0
    missing: int = 0
    torn: int = 0
    unfound: int = 0
    unopened: int = 0
    unsound: int = 0
    stores: int = 0


@dataclass(slots=True)
class _Siege:
    """One side under fire: its stores one after another, and what was written to the present one."""

    make: Callable[[], Polymnia | Reference]
    draw: random.Random
    toll: Toll = field(default_factory=Toll)
    side: Polymnia | Reference = field(init=False)
    acknowledged: list[str] = field(default_factory=list)
    flying: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)

    def round(self) -> None:
        """One kill under load, on a new store when the present one has lived long enough."""
        if self.toll.kills % LIFE == 0:
            self.side = self.make()
        if self.toll.kills % EARLY == EARLY - 1:
            self._kill_early()
        acknowledged, flying = self._kill_under_load(f"k{self.toll.kills}")
        self.toll.kills += 1
        self.toll.acknowledged += len(acknowledged)
        self.acknowledged += acknowledged
        self.flying += flying
        self._read_back(acknowledged, flying)
        if self.toll.kills % LIFE == 0:
            self.end()

    def _kill_early(self) -> None:
        """Kill a server before it has answered anything: a half-made store or a half-done recovery stays."""
        server = self.side.start()
        time.sleep(self.draw.uniform(0, START))
        server.kill()
        self.toll.early += 1

    def _kill_under_load(self, prefix: str) -> tuple[list[str], list[str]]:
        """One batch in flight at a time, then the kill; answers which were acknowledged and which was not."""
        acknowledged: list[str] = []
        flying: list[str] = []
        numbers = itertools.count()
        server = self.side.start()
        try:
            server.hello()
            deadline = time.perf_counter() + self.draw.uniform(0, LOAD)
            while (left := deadline - time.perf_counter()) > 0:
                if not flying:
                    flying.append(f"{prefix}b{next(numbers)}")
                    server.write(request(server.number(), "tools/call", _batch(flying[0])))
                elif select.select([server.out], [], [], left)[0]:
                    server.absorb()
                    self._acknowledge(server.taken(), acknowledged, flying)
        except GoneError:
            # It ended by itself: it could not live with the store it found.
            self.toll.unopened += 1
        self._acknowledge(server.kill(), acknowledged, flying)
        return acknowledged, flying

    def _acknowledge(self, lines: list[bytes], acknowledged: list[str], flying: list[str]) -> None:
        for message in map(json.loads, lines):
            if "id" in message and flying:
                key = flying.pop()
                if "error" in message or message["result"].get("isError"):
                    self.toll.refused += 1
                else:
                    acknowledged.append(key)

    def _read_back(self, acknowledged: list[str], flying: list[str]) -> None:
        """What this round wrote, through a new process, which is killed as well."""
        server = self.side.start()
        try:
            server.hello()
            present = dict.fromkeys(acknowledged + flying, 0)
            for entity in server.expect("open_nodes", {"names": _names(present)})["entities"]:
                present[entity["name"].rpartition(".")[0]] += len(entity["observations"]) == 2
            self.missing.update(key for key in acknowledged if present[key] < BATCH)
            self.torn.update(key for key in flying if 0 < present[key] < BATCH)
            if acknowledged:
                found = server.expect("search_nodes", {"query": f"mark {acknowledged[-1]}!"})["entities"]
                self.toll.unfound += len(found) != BATCH
        except (GoneError, RuntimeError):
            self.toll.unopened += 1
        finally:
            server.kill()
        if isinstance(self.side, Polymnia):
            self.toll.unsound += not _sound(self.side.place)

    def end(self) -> None:
        """Read everything the present store ever acknowledged once more, and settle its account."""
        kept: set[str] = set()
        with self.side.start() as server:
            try:
                server.hello()
                graph = server.expect("read_graph", {})
                kept = {entity["name"] for entity in graph["entities"] if len(entity["observations"]) == 2}
            except (GoneError, RuntimeError):
                self.toll.unopened += 1
        self.missing.update(key for key in self.acknowledged if not kept.issuperset(_names([key])))
        self.torn.update(key for key in self.flying if 0 < len(kept.intersection(_names([key]))) < BATCH)
        self.toll.missing += len(self.missing)
        self.toll.torn += len(self.torn)
        self.toll.stores += 1
        for account in (self.acknowledged, self.flying, self.missing, self.torn):
            account.clear()


def run(stage: Stage) -> Result:
    """The sides in turn; the reference takes fewer kills, for time."""
    kills, every = (20, 4) if stage.quick else (200, 4)
    sieges = {
        OURS: _Siege(lambda: stage.empty_pair()[0], random.Random(stage.seed)),
        THEIRS: _Siege(lambda: stage.empty_pair()[1], random.Random(stage.seed)),
    }
    for number in range(kills):
        sieges[OURS].round()
        if number % every == 0:
            sieges[THEIRS].round()
    for siege in sieges.values():
        if siege.acknowledged:
            siege.end()
    return _result({side: siege.toll for side, siege in sieges.items()})


def _batch(key: str) -> dict[str, Any]:
    entities = [
        {
            "name": f"{key}.{part}",
            "entityType": "batch",
            "observations": [f"part {part} of {key}", f"mark {key}!"],
        }
        for part in range(BATCH)
    ]
    return {"name": "create_entities", "arguments": {"entities": entities}}


def _names(keys: Iterable[str]) -> list[str]:
    return [f"{key}.{part}" for key in keys for part in range(BATCH)]


def _sound(place: str) -> bool:
    """What SQLite itself says about the file, its search indexes included."""
    connection = apsw.Connection(place)
    try:
        return list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    except apsw.Error:
        return False
    finally:
        connection.close()


def _result(tolls: dict[str, Toll]) -> Result:
    ours = tolls[OURS]
    rows = [
        [
            side,
            f"{toll.kills}",
            f"{toll.early}",
            f"{toll.acknowledged:,}",
            f"{toll.refused}",
            f"{toll.missing}",
            f"{toll.torn}",
            f"{toll.unfound}",
            f"{toll.unopened}",
            f"{toll.unsound}" if side == OURS else "–",
        ]
        for side, toll in tolls.items()
    ]
    clean = not (ours.refused or ours.missing or ours.torn or ours.unfound or ours.unopened or ours.unsound)
    return Result(
        "crash",
        "Kill -9 under write load",
        f"Each kill falls at a seeded random moment of up to {LOAD:g} s of load, which is one batch of "
        f"{BATCH} entities after another; besides, every {EARLY}th round begins with a kill at the start. "
        "After every kill under load a new process reads back, searches, and is killed too; SQLite's "
        f"integrity check follows. A store lives through {LIFE} rounds, then all of it is read once more. A "
        "kill shows what survives the death of the process, not of the machine.",
        verdicts=[
            Verdict(
                f"kill -9 at {ours.kills} moments: every acknowledged write is there, every store opens",
                f"{ours.missing} missing of {ours.acknowledged:,}, {ours.torn} torn, "
                f"{ours.unopened} not opened, {ours.unsound} unsound",
                clean,
            )
        ],
        tables=[
            Table(
                "After the kills",
                [
                    "",
                    "kills",
                    "and during the start",
                    "acknowledged batches",
                    "refused",
                    "missing",
                    "torn",
                    "not found by search",
                    "not opened",
                    "unsound",
                ],
                rows,
            )
        ],
        numbers={side: asdict(toll) for side, toll in tolls.items()},
    )
