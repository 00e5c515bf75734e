"""Middleware: what happens to every request before and after the routes.

The gate refuses requests before anything else reads them. The observer logs and counts them, as
Prometheus reads it.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterset.serve.errors import RefusedError, error_answer
from counterset.serve.logs import LOGGER
from counterset.serve.quotas import Quotas

__all__ = ["LOOPBACK_HOSTS", "Gate", "Measures", "Observer"]

#: The names of this machine in addresses.
LOOPBACK_HOSTS = ("127.0.0.1", "[::1]", "localhost")
#: The highest port.
LAST_PORT = 65535

# Where the next request begins is not sure after one that has two lengths.
_HEADERS = {400: {"Connection": "close"}, 401: {"WWW-Authenticate": "Bearer"}}
# A name or an IPv4 address, or an IPv6 address in brackets; then a port.
_HOST = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True)
class Gate:
    """Refuses requests for other hosts, without the secret, or with a body that is too large.

    Parameters
    ----------
    app
        What answers the requests that pass.
    quotas
        How large a body may be, and how long it may take to arrive.
    hosts
        The hosts that requests may be for; None: any. A page of another site can have its name
        resolve to this machine, but not change the name that the browser sends.
    token
        The secret that requests must send; None: they need none.
    open_paths
        What may be read without the token.
    """

    app: ASGIApp
    quotas: Quotas
    hosts: Collection[str] | None
    token: str | None
    open_paths: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope)
            body = await self._read(Headers(scope=scope), receive)
        except RefusedError as error:
            answer = error_answer(error.status, str(error), headers=_HEADERS.get(error.status))
            await answer(scope, receive, send)
            return
        if body is None:  # the client is gone
            return
        await self._pass_on(body, scope, receive, send)

    async def _pass_on(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered; if its client goes away before that, cancel it."""
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        gone = asyncio.ensure_future(_wait_until_gone(receive))
        is_answered = False

        async def again() -> Message:
            return first.pop() if first else await asyncio.shield(gone)

        async def noted(message: Message) -> None:
            nonlocal is_answered
            is_answered = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        answered = asyncio.ensure_future(self.app(scope, again, noted))
        try:
            await asyncio.wait((gone, answered), return_when=asyncio.FIRST_COMPLETED)
            if is_answered or answered.done():
                await answered
        finally:
            for each in (gone, answered):
                each.cancel()
        # Not where the server stops: it waits for nothing more than the answer that says so.
        await asyncio.gather(gone, answered, return_exceptions=True)

    def _check(self, scope: Scope) -> None:
        """Check the host of a request, and its secret."""
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy may go by the other of them, and take a part of the body for a request.
            raise _refused(400, "Send Content-Length or Transfer-Encoding, not both.")
        if self.hosts is not None and _host(headers.getlist("host")) not in self.hosts:
            raise _refused(
                421, "This server answers requests for this machine only: http://127.0.0.1."
            )
        if self.token is None or scope["path"] in self.open_paths:
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Compared as bytes, and in a time that does not depend on how much of it is right.
        known = hmac.compare_digest(given.strip().encode("latin-1"), self.token.encode("utf-8"))
        if kind.lower() != "bearer" or not known:
            raise _refused(
                401, "The token is missing or wrong. Send the header Authorization: Bearer TOKEN."
            )

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """Read the body, part by part, so that no more than the quota is ever held.

        None: the client went away before its end.
        """
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and len(declared) < 20 and int(declared) > self.quotas.body:
            raise self._too_large()
        parts = bytearray()
        try:
            async with asyncio.timeout(self.quotas.transfer_seconds):
                while (message := await receive())["type"] == "http.request":
                    parts += message.get("body", b"")
                    if len(parts) > self.quotas.body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return bytes(parts)
        except TimeoutError:
            raise _refused(
                408, f"The body did not arrive within {self.quotas.transfer_seconds:g} s."
            ) from None
        return None

    def _too_large(self) -> RefusedError:
        return _refused(413, f"A body may have at most {self.quotas.body} bytes.")


async def _wait_until_gone(receive: Receive) -> Message:
    """Return the message that says that a client is gone, or that it has its answer."""
    while (message := await receive())["type"] != "http.disconnect":
        pass
    return message


def _host(headers: Sequence[str]) -> str | None:
    """Return the host of the only Host header, without its port; None if it names none.

    Examples
    --------
    >>> _host(["LocalHost.:8000"]), _host(["[::1]:80"])
    ('localhost', '[::1]')
    >>> _host(["[::1].evil.example"]), _host(["localhost:evil"]), _host(["localhost"] * 2)
    (None, None, None)
    """
    match = _HOST.fullmatch(headers[0]) if len(headers) == 1 else None
    if match is None or int(match["port"] or 0) > LAST_PORT:
        return None
    # A name that ends with a dot is the same name, written as a whole one.
    return match["host"].lower().removesuffix(".")


def _refused(status: int, message: str) -> RefusedError:
    error = RefusedError(message)
    error.status = status
    return error


#: From 5 ms, a small answer, to the minute after which a request is refused.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Measures:
    """The counts and times of one server.

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
            "Rows that were explained, by their status.",
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
        """Count rows that were explained: from each status to how many."""
        for status, count in statuses.items():
            self._instances.labels(status).inc(count)

    def text(self) -> bytes:
        """Return all counts, as Prometheus reads them."""
        return generate_latest(self._registry)


#: The status of a request whose client went away before the answer, as other servers log it.
CLIENT_GONE = 499

#: Methods that are counted by name. Each other word that a client invents would be a new label.
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
            answer = error_answer(
                500, f"The server failed. Its log has the details under the id {identity}."
            )
            await answer(scope, receive, observed)
        except asyncio.CancelledError:  # the server stops, and does not wait any longer
            if status:
                raise
            answer = error_answer(
                503, "The server stopped before the request was finished. Send it again."
            )
            await answer(scope, receive, observed)
        finally:
            self._record(scope, status or CLIENT_GONE, time.perf_counter() - start, identity)

    def _record(self, scope: Scope, status: int, seconds: float, identity: str) -> None:
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
