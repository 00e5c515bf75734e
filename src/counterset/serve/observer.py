"""Measures: what the server counts, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterset.serve.errors import error_answer
from counterset.serve.logs import LOGGER

__all__ = ["Measures", "Observer"]

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


#: The methods that are told by name; another would be a label of its own for every invented word.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass(frozen=True)
class Observer:
    """Logs and counts every request, and answers when something failed.

    Logs name the route, and never an address, a query or a body: they may hold personal values.

    Parameters
    ----------
    app
        What answers the requests.
    measures
        Where they are counted.
    """

    app: ASGIApp
    measures: Measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its status and its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, identity = time.perf_counter(), 0, uuid.uuid4().hex
        scope.setdefault("state", {})

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", []),
                    (b"x-request-id", identity.encode("ascii")),
                ]
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception:
            LOGGER.exception("failed", extra={"counts": {"request": identity}})
            if status:  # the answer has begun, and cannot be another one now
                raise
            answer = error_answer(500, f"The server failed. Its log tells where: {identity}.")
            await answer(scope, receive, observed)
        except asyncio.CancelledError:  # the server stops, and does not wait any longer
            if status:
                raise
            answer = error_answer(
                503, "The server stopped before the request was finished. Send it again."
            )
            await answer(scope, receive, observed)
        finally:
            self._tell(scope, status, time.perf_counter() - start, identity)

    def _tell(self, scope: Scope, status: int, seconds: float, identity: str) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = getattr(scope.get("route"), "path", "other")
        counts = {
            "request": identity,
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
            **scope["state"].get("counts", {}),
        }
        LOGGER.info("request", extra={"counts": counts})
        self.measures.count_request(method, route, status, seconds)
