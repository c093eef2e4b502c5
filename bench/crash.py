"""Kill -9 at random moments under write load: is every acknowledged write there, does the store open."""

from __future__ import annotations

import json
import random
import select
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import apsw

from bench.client import PROTOCOL, GoneError, Server, request
from bench.result import Result, Table, Verdict
from bench.sides import OURS, THEIRS, Polymnia, Reference
from bench.stage import Stage

__all__ = ["run"]

BATCH = 3
# A new store after so many kills keeps the reading back short; a store lives through all of them.
LIFE = 25
LOAD = 0.25


@dataclass(slots=True)
class Toll:
    """What the kills did to one side."""

    kills: int = 0
    before_first_answer: int = 0
    acknowledged: int = 0
    missing: int = 0
    torn: int = 0
    unfound: int = 0
    unopened: int = 0
    unsound: int = 0
    stores: int = 0


@dataclass(slots=True)
class _Life:
    """One store and the batches that were acknowledged or in flight during its life."""

    side: Polymnia | Reference
    acknowledged: list[str] = field(default_factory=list)
    flying: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)


def run(stage: Stage) -> Result:
    """The same kills for both sides, in turn; the reference takes fewer, for time."""
    kills = {OURS: 20, THEIRS: 5} if stage.quick else {OURS: 200, THEIRS: 50}
    draws = {side: random.Random(stage.seed) for side in kills}
    tolls = {side: Toll() for side in kills}
    starts: dict[str, float] = {}
    lives: dict[str, _Life] = {}
    for number in range(max(kills.values())):
        for side in (OURS, THEIRS):
            if tolls[side].kills >= kills[side] or (
                side == THEIRS and number % (kills[OURS] // kills[THEIRS])
            ):
                continue
            toll = tolls[side]
            if toll.kills % LIFE == 0:
                _end(lives.pop(side, None), toll)
                lives[side] = _Life(stage.empty_pair()[side == THEIRS])
                toll.stores += 1
            if side not in starts:
                starts[side] = _cold(lives[side].side)
            _round(lives[side], toll, f"k{number}", draws[side].uniform(0, starts[side] + LOAD))
    for side in kills:
        _end(lives.pop(side, None), tolls[side])
    return _result(tolls, kills)


def _cold(side: Polymnia | Reference) -> float:
    with side.start() as server:
        server.hello()
        return time.perf_counter() - server.spawned


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


def _round(life: _Life, toll: Toll, prefix: str, moment: float) -> None:
    """Start, write one batch after another, kill at the moment (counted from the spawn), read back."""
    acknowledged: list[str] = []
    flying: list[str] = []
    server = life.side.start()
    try:
        _load(server, prefix, server.spawned + moment, acknowledged, flying)
    except GoneError:
        # It ended by itself before the kill: it could not live with the store it found.
        server.kill()
        toll.unopened += 1
    toll.kills += 1
    toll.acknowledged += len(acknowledged)
    toll.before_first_answer += not acknowledged
    life.acknowledged += acknowledged
    life.flying += flying
    _check(life, toll, acknowledged, flying)


def _load(server: Server, prefix: str, deadline: float, acknowledged: list[str], flying: list[str]) -> None:
    """One batch in flight at a time, at the deadline the kill; the lists say what became of the batches."""
    count = 0

    def take(lines: list[bytes]) -> bool:
        answers = [message for message in map(json.loads, lines) if "id" in message]
        for message in answers:
            if "error" in message or message["result"].get("isError"):
                raise RuntimeError(f"refused before the kill: {message}")
            if flying:
                acknowledged.append(flying.pop())
        return bool(answers)

    hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

    server.write(request(server.number(), "initialize", hello))
    while (left := deadline - time.perf_counter()) > 0:
        if not select.select([server.out], [], [], left)[0]:
            break
        server.absorb()
        if take(server.taken()):
            if count == 0:
                server.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            flying.append(f"{prefix}b{count}")
            count += 1
            server.write(request(server.number(), "tools/call", _batch(flying[0])))
    take(server.kill())


def _names(keys: list[str]) -> list[str]:
    return [f"{key}.{part}" for key in keys for part in range(BATCH)]


def _check(life: _Life, toll: Toll, acknowledged: list[str], flying: list[str]) -> None:
    """Read back what this round wrote, through a new process."""
    server = life.side.start()
    try:
        server.hello()
        present = _present(server, acknowledged + flying)
        life.missing.update(key for key in acknowledged if present[key] < BATCH)
        life.torn.update(key for key in flying if 0 < present[key] < BATCH)
        if acknowledged:
            found = server.expect("search_nodes", {"query": f"mark {acknowledged[-1]}!"})["entities"]
            toll.unfound += len(found) != BATCH
    except (GoneError, RuntimeError):
        toll.unopened += 1
    finally:
        server.kill()
    if isinstance(life.side, Polymnia):
        toll.unsound += not _sound(life.side.place)


def _present(server: Server, keys: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(keys, 0)
    if keys:
        for entity in server.expect("open_nodes", {"names": _names(keys)})["entities"]:
            if len(entity["observations"]) == 2:
                counts[entity["name"].rpartition(".")[0]] += 1
    return counts


def _sound(place: str) -> bool:
    """What SQLite itself says about the file, its search indexes included."""
    connection = apsw.Connection(place)
    try:
        return list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    except apsw.Error:
        return False
    finally:
        connection.close()


def _end(life: _Life | None, toll: Toll) -> None:
    """At the end of a store's life, everything it ever acknowledged is read back once more."""
    if life is None:
        return
    kept: set[str] = set()
    with life.side.start() as server:
        try:
            server.hello()
            graph = server.expect("read_graph", {})
            kept = {entity["name"] for entity in graph["entities"] if len(entity["observations"]) == 2}
        except (GoneError, RuntimeError):
            toll.unopened += 1
    life.missing.update(key for key in life.acknowledged if not kept.issuperset(_names([key])))
    life.torn.update(key for key in life.flying if 0 < len(kept.intersection(_names([key]))) < BATCH)
    toll.missing += len(life.missing)
    toll.torn += len(life.torn)


def _result(tolls: dict[str, Toll], kills: dict[str, int]) -> Result:
    ours = tolls[OURS]
    rows = [
        [
            side,
            f"{toll.kills}",
            f"{toll.before_first_answer}",
            f"{toll.acknowledged:,}",
            f"{toll.missing}",
            f"{toll.torn}",
            f"{toll.unfound}",
            f"{toll.unopened}",
            f"{toll.unsound}" if side == OURS else "–",
        ]
        for side, toll in tolls.items()
    ]
    clean = not (ours.missing or ours.torn or ours.unfound or ours.unopened or ours.unsound)
    return Result(
        "crash",
        "Kill -9 under write load",
        f"Each kill falls at a seeded random moment between the spawn and {LOAD:g} s of load; the load is one "
        f"batch of {BATCH} entities after another. After every kill a new process reads back, searches, and is "
        f"killed too; SQLite's integrity check follows. A store lives through {LIFE} kills, then everything is "
        "read once more. "
        "A kill shows what survives the death of the process, not of the machine.",
        verdicts=[
            Verdict(
                f"kill -9 at {kills[OURS]} moments: every acknowledged write is there, every store opens",
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
                    "before the first answer",
                    "acknowledged batches",
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
