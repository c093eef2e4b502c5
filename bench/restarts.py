"""``python -m bench.restarts``: writers on two server processes, one killed, the PostgreSQL under them restarted."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from typing import Any

import psycopg

from bench import peer, report
from bench.machine import facts
from bench.result import Result, Table, Verdict
from bench.sides import polymnia, surroundings

sys.path.insert(0, os.path.join(peer.ROOT, "tests"))

import postgres

RESULTS = os.path.join(peer.ROOT, "bench", "results", "postgres")
WRITERS, PROCESSES = 8, 2
# What each writer has stored before the kill, and those of the living process after the database is back; seconds
# between the kill and the restart, at most.
BEFORE, AFTER, BETWEEN = 50, 50, 0.5
PLENTY = ["--rate-limit", "999999999", "--rate-limit-session", "999999999", "--rate-limit-heavy", "999999999"]
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds; answers 0 when nothing was lost and nothing was stored twice."""
    parser = argparse.ArgumentParser(prog="python -m bench.restarts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--results", default=RESULTS)
    given = parser.parse_args(arguments)
    begun = time.perf_counter()
    with postgres.Server(fsync="on") as server:
        rounds = [_round(server, number, random.Random(number)) for number in range(given.rounds)]
    result = _result(rounds)
    with tempfile.TemporaryDirectory() as folder:
        machine = facts(folder)
    took = time.perf_counter() - begun
    kept = report.save(
        result, given.results, "full", took, f"python -m bench.restarts --rounds {given.rounds}", machine
    )
    print(report.show(kept))
    return int(any(verdict.met is False for verdict in result.verdicts))


def _round(server: postgres.Server, number: int, draw: random.Random) -> dict[str, int]:
    """One kill and one restart, orderly or not in turn, on a new database; answers what became of the writes."""
    name = f"round_{number}"
    with server.connect() as admin:
        admin.execute(f"CREATE DATABASE {name}")
    acknowledged: list[list[str]] = [[] for _ in range(WRITERS)]
    refused: list[list[str]] = [[] for _ in range(WRITERS)]
    over = threading.Event()
    with ExitStack() as serving:
        ports = [_free_port() for _ in range(PROCESSES)]
        processes = [_serve(port, server.url(name), serving) for port in ports]
        for port in ports:
            _Writer(port).close()
        writers = [
            threading.Thread(target=_write, args=(ports[n % PROCESSES], n, acknowledged[n], refused[n], over))
            for n in range(WRITERS)
        ]
        for one in writers:
            one.start()
        _wait_for(acknowledged, BEFORE)
        processes[0].send_signal(signal.SIGKILL)
        time.sleep(draw.uniform(0, BETWEEN))
        if number % 2:
            server.kill()
        else:
            server.stop()
        server.start()
        living = acknowledged[1::PROCESSES]
        _wait_for(living, max(map(len, living)) + AFTER)
        over.set()
        for one in writers:
            one.join()
    with psycopg.connect(server.url(name)) as connection:
        there = Counter(name for (name,) in connection.execute("SELECT name FROM polymnia.memory"))
        changes = (connection.execute("SELECT count(*) FROM polymnia.change").fetchone() or (0,))[0]
    with server.connect() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    all_acknowledged = [name for names in acknowledged for name in names]
    return {
        "acknowledged": len(all_acknowledged),
        "refused": sum(map(len, refused)),
        "missing": sum(name not in there for name in all_acknowledged),
        "twice": there.total() - len(there) + changes - len(there),
    }


def _wait_for(acknowledged: list[list[str]], count: int) -> None:
    end = time.monotonic() + 2 * postgres.DEADLINE
    while min(map(len, acknowledged)) < count:
        if time.monotonic() > end:
            raise TimeoutError(f"a writer has stored only {min(map(len, acknowledged))} of {count} memories")
        time.sleep(0.01)


def _serve(port: int, store: str, serving: ExitStack) -> subprocess.Popen[bytes]:
    command = [*polymnia(), "serve", "--port", str(port), "--store", store, "--dialect", "official"]
    process = subprocess.Popen(
        [*command, "--embedder", "none", *PLENTY],
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    serving.callback(process.wait)
    serving.callback(process.kill)
    return process


def _write(port: int, writer: int, acknowledged: list[str], refused: list[str], over: threading.Event) -> None:
    """Store one memory after another until the end, or until the server is gone."""
    with suppress(OSError, http.client.HTTPException), closing(_Writer(port)) as client:
        number = 0
        while not over.is_set():
            name = f"{writer}.{number}"
            (acknowledged if client.store(name) else refused).append(name)
            number += 1


class _Writer:
    """A client over HTTP that stores memories."""

    def __init__(self, port: int) -> None:
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        end = time.monotonic() + postgres.DEADLINE
        while True:
            try:
                self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                _, session = self._post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
                break
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        if session is not None:
            self._headers["Mcp-Session-Id"] = session
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def store(self, name: str) -> bool:
        """Store a memory; answers whether the server says that it did."""
        memory = {"name": name, "entityType": "thing", "observations": [f"text of {name}"]}
        params = {"name": "create_entities", "arguments": {"entities": [memory]}}
        body, _ = self._post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        answer = json.loads(body[body.index(b"{") :].splitlines()[0])
        return "result" in answer and not answer["result"].get("isError")

    def close(self) -> None:
        """End the connection."""
        self._http.close()

    def _post(self, message: dict[str, Any]) -> tuple[bytes, str | None]:
        self._http.request("POST", "/mcp", json.dumps(message), self._headers)
        answer = self._http.getresponse()
        return answer.read(), answer.getheader("Mcp-Session-Id")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _result(rounds: list[dict[str, int]]) -> Result:
    total = {key: sum(one[key] for one in rounds) for key in rounds[0]}
    return Result(
        "restarts",
        "PostgreSQL restarted under two server processes, one of them killed",
        f"Each of {len(rounds)} rounds: {WRITERS} writers store one memory after another through {PROCESSES} server "
        f"processes on one database. When each has stored {BEFORE}, one process is killed with -9, and within "
        f"{BETWEEN:g} s after that the database is restarted, in every other round by killing all of its processes. "
        f"The writers of the other process go on until each has stored {AFTER} more. Then the tables are counted.",
        verdicts=[
            Verdict(
                "nothing acknowledged is lost, nothing is stored twice",
                f"{total['missing']} missing of {total['acknowledged']:,}, {total['twice']} twice, "
                f"{total['refused']} refused",
                not (total["missing"] or total["twice"]),
            )
        ],
        tables=[
            Table(
                "What became of the writes",
                ["round", *total],
                [[str(n), *(f"{value:,}" for value in one.values())] for n, one in enumerate(rounds, 1)],
            )
        ],
        numbers=total,
    )


if __name__ == "__main__":
    sys.exit(main())
