"""Many writers at once: several processes on one store, and many calls in flight in one process."""

from __future__ import annotations

import json
import selectors
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from bench.client import GoneError, Server, request
from bench.probe import spread
from bench.result import Result, Table, Verdict
from bench.sides import OURS, THEIRS, Polymnia, Reference, Side
from bench.stage import Stage

__all__ = ["run"]

PROCESSES = 8
PIPELINED = 32
BOARD = "board"


@dataclass(slots=True)
class Tally:
    """What became of the writes of one run."""

    sent: int = 0
    acknowledged: set[str] = field(default_factory=set)
    errors: int = 0
    lost: int = 0
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)


def run(stage: Stage) -> Result:
    """First processes, then the pipeline; each on a store that does not exist before."""
    each = 100 if stage.quick else 500
    ours, theirs = stage.empty_pair()
    crowds = {side.name: _crowd(side, each) for side in (ours, theirs)}
    rounds = 2 if stage.quick else 5
    pipes: dict[str, list[Tally]] = {OURS: [], THEIRS: []}
    for _ in range(rounds):
        for side in stage.empty_pair():
            pipes[side.name].append(_pipeline(side))
    return _result(each, crowds, pipes)


def _write(key: str, number: int) -> dict[str, Any]:
    """Every other write makes an entity; the others all go to one entity that everybody shares."""
    if number % 2:
        observations = [{"entityName": BOARD, "contents": [key]}]
        return {"name": "add_observations", "arguments": {"observations": observations}}
    entity = {"name": key, "entityType": "note", "observations": [f"written as {key}"]}
    return {"name": "create_entities", "arguments": {"entities": [entity]}}


def _crowd(side: Polymnia | Reference, each: int) -> Tally:
    tally = Tally()
    servers = [side.start() for _ in range(PROCESSES)]
    try:
        for server in servers:
            server.hello()
        board = {"name": BOARD, "entityType": "board", "observations": []}
        servers[0].call("create_entities", {"entities": [board]})
        begun = time.perf_counter()
        _drive(servers, each, tally)
        tally.seconds = time.perf_counter() - begun
    finally:
        for server in servers:
            server.close()
    tally.lost = len(tally.acknowledged - _kept(side))
    return tally


def _drive(servers: list[Server], each: int, tally: Tally) -> None:
    """One call in flight a process, all processes at once."""
    ready = selectors.DefaultSelector()
    left = {server.out: deque(range(each)) for server in servers}
    flying: dict[int, tuple[int, str, float]] = {}

    def send(server: Server) -> None:
        if not left[server.out]:
            ready.unregister(server.out)
            return
        number = left[server.out].popleft()
        key, call = f"p{server.out}w{number}", server.number()
        line = request(call, "tools/call", _write(key, number))
        flying[server.out] = (call, key, time.perf_counter())
        tally.sent += 1
        server.write(line)

    for server in servers:
        ready.register(server.out, selectors.EVENT_READ, server)
        send(server)
    while ready.get_map():
        for event, _ in ready.select():
            server = event.data
            try:
                server.absorb()
                for line in server.taken():
                    call, key, begun = flying[server.out]
                    message = json.loads(line)
                    if message.get("id") != call:
                        continue
                    tally.waits.append(time.perf_counter() - begun)
                    _judge(message, key, tally)
                    send(server)
            except GoneError:
                # Everything this process should still have written counts as an error its user sees.
                tally.errors += 1 + len(left[server.out])
                tally.sent += len(left[server.out])
                ready.unregister(server.out)


def _judge(message: dict[str, Any], key: str, tally: Tally) -> None:
    if "error" in message or message["result"].get("isError"):
        tally.errors += 1
    else:
        tally.acknowledged.add(key)


def _pipeline(side: Polymnia | Reference) -> Tally:
    tally = Tally()
    with side.start() as server:
        server.hello()
        keys = {server.number(): f"c{number}" for number in range(PIPELINED)}
        begun = time.perf_counter()
        server.write(b"".join(request(call, "tools/call", _write(key, 0)) for call, key in keys.items()))
        tally.sent = PIPELINED
        while keys:
            message = json.loads(server.line())
            if message.get("id") in keys:
                tally.waits.append(time.perf_counter() - begun)
                _judge(message, keys.pop(message["id"]), tally)
        tally.seconds = time.perf_counter() - begun
    tally.lost = len(tally.acknowledged - _kept(side))
    return tally


def _kept(side: Side) -> set[str]:
    """What a new process finds."""
    with side.start() as server:
        server.hello()
        answer = server.call("read_graph", {})
        if answer.failed:
            return set()
        entities = answer.structured["entities"]
    kept = {entity["name"] for entity in entities}
    return kept.union(*(entity["observations"] for entity in entities if entity["name"] == BOARD))


def _result(each: int, crowds: dict[str, Tally], pipes: dict[str, list[Tally]]) -> Result:
    ours = crowds[OURS]
    sent = sum(tally.sent for tally in pipes[OURS])
    lost = sum(tally.lost for tally in pipes[OURS])
    errors = sum(tally.errors for tally in pipes[OURS])
    crowd_rows, pipe_rows = [], []
    for side in (OURS, THEIRS):
        tally, waits = crowds[side], spread(crowds[side].waits)
        crowd_rows.append(
            [
                side,
                f"{tally.sent:,}",
                f"{len(tally.acknowledged):,}",
                f"{tally.errors:,}",
                f"{tally.lost:,}",
                f"{tally.sent / tally.seconds:,.0f}",
                f"{waits.p50 * 1e3:.1f} ({waits.p95 * 1e3:.1f})",
                f"{waits.worst * 1e3:.0f}",
            ]
        )
        pipe_rows.append(
            [
                side,
                f"{sum(t.sent for t in pipes[side])}",
                f"{sum(len(t.acknowledged) for t in pipes[side])}",
                f"{sum(t.errors for t in pipes[side])}",
                f"{sum(t.lost for t in pipes[side])}",
                f"{spread([t.seconds for t in pipes[side]]).p50 * 1e3:.0f}",
            ]
        )
    head = ["", "sent", "acknowledged", "errors", "lost"]
    return Result(
        "concurrency",
        "Many writers",
        f"{PROCESSES} server processes of each side on one store that does not exist before, each with "
        f"{each} writes, one in flight a process: half make an entity, half add an observation to one shared "
        f"entity. Then {len(pipes[OURS])} times {PIPELINED} writes sent at once to one new process. Lost is "
        "what was acknowledged and a new process does not find.",
        verdicts=[
            Verdict(
                f"{PROCESSES} processes x {each} writes: nothing lost, no error",
                f"{ours.lost} lost, {ours.errors} errors of {ours.sent:,}",
                ours.lost == 0 and ours.errors == 0 and len(ours.acknowledged) == PROCESSES * each,
            ),
            Verdict(
                f"{PIPELINED} calls in flight: nothing lost, no error",
                f"{lost} lost, {errors} errors of {sent}",
                lost == 0 and errors == 0,
            ),
        ],
        tables=[
            Table(
                f"{PROCESSES} processes on one store",
                [*head, "writes/s", "wait ms: p50 (p95)", "worst"],
                crowd_rows,
                "Polymnia's writes wait for the disk (fsync) and for their turn; the reference's do neither.",
            ),
            Table(f"{PIPELINED} writes at once in one process", [*head, "ms until the last answer"], pipe_rows),
        ],
        numbers={
            side: {
                "sent": crowds[side].sent,
                "acknowledged": len(crowds[side].acknowledged),
                "errors": crowds[side].errors,
                "lost": crowds[side].lost,
                "seconds": crowds[side].seconds,
                "pipelined_lost": [tally.lost for tally in pipes[side]],
                "pipelined_errors": [tally.errors for tally in pipes[side]],
            }
            for side in (OURS, THEIRS)
        },
    )
