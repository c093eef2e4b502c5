"""Monitoring of a network server: its log, one line of JSON per event, and its metrics for Prometheus.

Neither contains content or keys, at any level.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.json import Decoder, encode

from polymnia.importing import importing
from polymnia.transports.rpc import Server, frames
from polymnia.transports.wire import LEVELS

if TYPE_CHECKING:
    from polymnia.transports.web.state import ServerState

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Log:
    """Writes events of a level or above to stderr."""

    def __init__(self, level: str) -> None:
        self.levels = frozenset(LEVELS[LEVELS.index(level) :])  # that are written
        self.process: int | None = None  # which of several writes it

    def __call__(self, level: str, text: str) -> None:
        """Log a message."""
        self.event(level, "message", text=text)

    def event(self, level: str, name: str, **fields: object) -> None:
        """Log an event: time, level, name and fields."""
        if level not in self.levels:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
        if self.process is not None:
            fields["process"] = self.process
        with suppress(OSError):  # nobody reads the log, which is no reason to stop serving
            os.write(2, encode({"time": stamp, "level": level, "event": name, **fields}) + b"\n")


class Relay(logging.Handler):
    """Forwards warnings and errors that libraries log. Lower levels would show frames and headers."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record as an event: its message without the arguments, and where an error came from."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        fields: dict[str, object] = {"library": record.name.partition(".")[0], "text": str(record.msg).strip()}
        if record.exc_info and record.exc_info[1] is not None:
            fields["what"] = frames(record.exc_info[1])
        self._log.event(level, "library", **fields)


class _Figures(Struct):
    """The figures of one process."""

    requests: list[tuple[str, int, int]]  # path, status, how many
    durations: list[int]
    seconds: float
    calls: dict[str, tuple[int, int]]  # by dialect: all, and those that failed
    gauges: dict[str, int]


_figures = Decoder(_Figures)


class Metrics:
    """The metrics of a server. Those of several processes are told apart by a label; it is the same page in each.

    The library is loaded on the first request for them.
    """

    def __init__(
        self,
        state: ServerState,
        servers: Mapping[str, Server],
        gauges: Mapping[str, tuple[str, Callable[[], int]]],
    ) -> None:
        self._state = state
        self._servers = servers
        self._gauges = gauges  # by name: description and current value

    def page(self) -> tuple[int, bytes, bytes]:
        """The page: status, body and content type."""
        with importing():
            from prometheus_client import CollectorRegistry, generate_latest
            from prometheus_client.exposition import CONTENT_TYPE_LATEST

        registry = CollectorRegistry()
        registry.register(self)
        return 200, generate_latest(registry), CONTENT_TYPE_LATEST.encode()

    def figures(self) -> bytes:
        """The figures of this process, for the page of any."""
        state = self._state
        calls = {}
        for name, server in self._servers.items():
            counted = server.counters.measured()
            calls[name] = counted.requests, counted.errors
        requests = [(path, status, count) for (path, status), count in sorted(state.requests.items())]
        gauges = {name: measure() for name, (_, measure) in self._gauges.items()}
        return encode(_Figures(requests, state.durations, state.seconds, calls, gauges))

    def collect(self) -> Iterator[Any]:
        """Every metric, as the library expects them."""
        with importing():
            from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        peers = self._state.peers
        given = [("", self.figures())] if peers is None else [(str(n), data) for n, data in peers.all_figures()]
        processes = [((name,) if name else (), _figures.decode(data)) for name, data in given if data]
        label = ("process",) if peers is not None else ()
        requests = CounterMetricFamily(
            "polymnia_http_requests", "Requests answered.", labels=("path", "status", *label)
        )
        seconds = HistogramMetricFamily(
            "polymnia_http_request_seconds", "Time until a request was answered.", labels=label
        )
        calls = CounterMetricFamily("polymnia_calls", "Calls of tools, by dialect.", labels=("dialect", *label))
        about = "Calls that failed for a fault of the server, by dialect."
        failed = CounterMetricFamily("polymnia_failed_calls", about, labels=("dialect", *label))
        gauges = {name: GaugeMetricFamily(name, about, labels=label) for name, (about, _) in self._gauges.items()}
        for which, one in processes:
            for path, status, count in one.requests:
                requests.add_metric((path, str(status), *which), count)
            buckets = list(zip((*map(str, SECONDS), "+Inf"), accumulate(one.durations), strict=True))
            seconds.add_metric(which, buckets=buckets, sum_value=one.seconds)
            for name, (all, errors) in one.calls.items():
                calls.add_metric((name, *which), all)
                failed.add_metric((name, *which), errors)
            for name, value in one.gauges.items():
                gauges[name].add_metric(which, value)
        yield from (requests, seconds, calls, failed, *gauges.values())
