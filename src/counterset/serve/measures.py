"""Measures: what the server counts, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

__all__ = ["Measures"]

#: From 5 ms, a small answer, to the minute after which a request is refused.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Measures:
    """What one server counts.

    Parameters
    ----------
    waiting
        Returns how many requests are worked on or wait.
    hung
        Returns how many threads were given up.

    Examples
    --------
    >>> measures = Measures(lambda: 0, lambda: 0)
    >>> measures.count_request("GET", "/schema", 200, 0.002)
    >>> b'counterset_requests_total{method="GET"' in measures.text()
    True
    """

    #: The media type of the text.
    media_type = CONTENT_TYPE_LATEST

    def __init__(self, waiting: Callable[[], int], hung: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()  # of this server: a process may have several
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "counterset_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "counterset_request_seconds",
            "How long requests took.",
            ["route"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._instances = Counter(
            "counterset_instances",
            "Rows that were explained, by what became of them.",
            ["status"],
            registry=self._registry,
        )
        Gauge(
            "counterset_requests_waiting",
            "Requests that are worked on, or wait.",
            registry=self._registry,
        ).set_function(waiting)
        Gauge(
            "counterset_threads_hung",
            "Threads that were given up because the model hangs in them.",
            registry=self._registry,
        ).set_function(hung)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_instances(self, statuses: Mapping[str, int]) -> None:
        """Count rows that were explained: from what became of them to how many."""
        for status, count in statuses.items():
            self._instances.labels(status).inc(count)

    def text(self) -> bytes:
        """Return all counts, as Prometheus reads them."""
        return generate_latest(self._registry)
