"""Metrics: what the server counts, as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from polymnia.importing import importing
from polymnia.transports.rpc import Server
from polymnia.transports.web.house import House

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Metrics:
    """The counters of one server. The library is loaded when somebody first asks."""

    def __init__(self, house: House, servers: Mapping[str, Server], connections: Callable[[], int]) -> None:
        self._house = house
        self._servers = servers
        self._connections = connections
        self.requests: dict[tuple[str, int], int] = {}
        self.buckets = [0] * (len(_SECONDS) + 1)
        self.seconds = 0.0

    def count(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        key = (path, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        self.seconds += seconds
        self.buckets[bisect_left(_SECONDS, seconds)] += 1

    def page(self) -> tuple[int, bytes, bytes]:
        """The page: its status, what it says, and the type of that."""
        with importing():
            from prometheus_client import CollectorRegistry, generate_latest
            from prometheus_client.exposition import CONTENT_TYPE_LATEST

        registry = CollectorRegistry()
        registry.register(self)
        return 200, generate_latest(registry), CONTENT_TYPE_LATEST.encode()

    def collect(self) -> Iterator[Any]:
        """What there is to tell, as the library asks for it."""
        with importing():
            from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily("polymnia_http_requests", "Requests answered.", labels=("path", "status"))
        for (path, status), count in sorted(self.requests.items()):
            requests.add_metric((path, str(status)), count)
        yield requests
        told, total = [], 0
        for border, count in zip((*map(str, _SECONDS), "+Inf"), self.buckets, strict=True):
            total += count
            told.append((border, total))
        yield HistogramMetricFamily(
            "polymnia_http_request_seconds", "Time until a request was answered.", buckets=told, sum_value=self.seconds
        )
        calls = CounterMetricFamily("polymnia_calls", "Calls of tools, by dialect.", labels=("dialect",))
        failed = CounterMetricFamily(
            "polymnia_failed_calls", "Calls that failed for a fault of the server, by dialect.", labels=("dialect",)
        )
        for name, server in self._servers.items():
            counted = server.counters.measured()
            calls.add_metric((name,), counted.requests)
            failed.add_metric((name,), counted.errors)
        yield calls
        yield failed
        running = self._house.workers.running
        yield GaugeMetricFamily("polymnia_calls_running", "Calls that are under way.", value=running)
        yield GaugeMetricFamily("polymnia_sessions", "Sessions that are open.", value=len(self._house.sessions))
        yield GaugeMetricFamily(
            "polymnia_connections", "Requests and sockets that are open.", value=self._connections()
        )
