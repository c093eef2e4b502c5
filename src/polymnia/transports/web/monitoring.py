"""Monitoring of a network server: what libraries log, its calls, and its metrics for Prometheus.

None of it contains content or keys, at any level.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.json import Decoder, encode

from polymnia.importing import importing
from polymnia.operation import SECONDS, CallFigures
from polymnia.transports.log import Log
from polymnia.transports.rpc import Server, frames

if TYPE_CHECKING:
    from polymnia.transports.web.state import ServerState


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
    calls: dict[str, list[CallFigures]]  # by dialect
    failed: dict[str, int]  # by dialect
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
        if "info" in state.log.levels:
            for server in servers.values():
                server.log_call = state.log.call
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
        calls = {name: server.counters.calls() for name, server in self._servers.items()}
        failed = {name: server.counters.measured().errors for name, server in self._servers.items()}
        requests = [(path, status, count) for (path, status), count in sorted(state.requests.items())]
        gauges = {name: measure() for name, (_, measure) in self._gauges.items()}
        return encode(_Figures(requests, state.durations, state.seconds, calls, failed, gauges))

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
        names = ("dialect", "tool", "operation")
        about = "Calls, by what came of them: ok, or the code of a fault."
        calls = CounterMetricFamily("polymnia_calls", about, labels=(*names, "outcome", *label))
        about = "Time a call took, without waiting for its turn or for the user."
        times = HistogramMetricFamily("polymnia_call_seconds", about, labels=(*names, *label))
        about = "Calls that failed for a fault of the server, by dialect."
        failed = CounterMetricFamily("polymnia_failed_calls", about, labels=("dialect", *label))
        gauges = {name: GaugeMetricFamily(name, about, labels=label) for name, (about, _) in self._gauges.items()}
        for which, one in processes:
            for path, status, count in one.requests:
                requests.add_metric((path, str(status), *which), count)
            seconds.add_metric(which, buckets=_buckets(one.durations), sum_value=one.seconds)
            for dialect, call in ((dialect, call) for dialect, found in one.calls.items() for call in found):
                called = (dialect, call.tool, call.operation)
                times.add_metric((*called, *which), buckets=_buckets(call.durations), sum_value=call.seconds)
                for outcome, count in call.outcomes.items():
                    calls.add_metric((*called, outcome, *which), count)
            for name, errors in one.failed.items():
                failed.add_metric((name, *which), errors)
            for name, value in one.gauges.items():
                gauges[name].add_metric(which, value)
        yield from (requests, seconds, calls, times, failed, *gauges.values())


def _buckets(durations: list[int]) -> list[tuple[str, float]]:
    return list(zip((*map(str, SECONDS), "+Inf"), accumulate(durations), strict=True))
