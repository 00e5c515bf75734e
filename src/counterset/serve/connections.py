"""Connections: how many there may be, and how long one may keep the server waiting.

Other servers for ASGI apps have settings of their own; these are for the one that
``counterset serve`` runs.
"""

from __future__ import annotations

import asyncio
import math
import socket
import sys
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from counterset.exceptions import InvalidInputError
from counterset.serve.quotas import Quotas

__all__ = ["BACKLOG", "Connection", "quotas_within", "serve_app"]

#: 500 clients may come at the same moment, as many as requests may wait.
BACKLOG = 500
#: Of those that came, 8 are accepted in each round of the event loop.
ACCEPTED_AT_ONCE = 8
#: File descriptors beside the connections: 32 for those just accepted, since it takes up to four
#: rounds until one of them is counted and another is closed; and 32 for logs, the event loop, the
#: files of the page, and the model.
SPARE_DESCRIPTORS = 4 * ACCEPTED_AT_ONCE + 32
#: asyncio reads up to 256 kB at once. In chunks of a single byte, they take more than a second to
#: parse; 4 kB take some 20 ms. h11 allows for a head of 16 kB, and what comes with its end.
PART = 4096
#: With fewer than 8 connections, health checks would compete with requests.
FEWEST_CONNECTIONS = 8


class Connection(H11Protocol):
    """One connection, closed when it keeps the server waiting for too long.

    The head of a request must arrive in time. From then on, the app bounds how long its body and
    the work may take; together with the time to read the answer, this bounds the whole request.
    """

    #: Set by a subclass, since uvicorn makes the objects.
    quotas: ClassVar[Quotas]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._stage: tuple[Any, bool] | None = None
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._unparsed = bytearray()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > self.quotas.connections:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        is_parsed = not self._unparsed
        self._unparsed += data
        if is_parsed:
            self._parse()

    def _parse(self) -> None:
        """Parse a part of what arrived, and let others have their turn before the next."""
        if self.transport.is_closing():
            return
        part = bytes(self._unparsed[:PART])
        del self._unparsed[:PART]
        super().data_received(part)
        self._follow()
        if self._unparsed:
            self.transport.pause_reading()
            self.loop.call_soon(self._parse)
        elif not self.flow.read_paused:
            self.transport.resume_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    @property
    def _is_idle(self) -> bool:
        """Whether the client is to do something: send a head or a body, or read an answer."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def _follow(self) -> None:
        """Set the time quota of what comes next, if that is something else than before."""
        is_head = self.cycle is None or self.cycle.response_complete
        stage = (self.cycle, is_head)
        if stage == self._stage:
            return
        self._stage, self._since = stage, self.loop.time()
        if self._timer is not None:
            self._timer.cancel()
        transfer = self.quotas.transfer_seconds
        seconds = transfer if is_head else transfer + self.quotas.seconds + transfer
        # Not close(): that would wait until the client has read everything.
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _make_room(self) -> None:
        """Close the connection that keeps the server waiting longest; it may be this one."""
        idle = [each for each in self.connections if isinstance(each, Connection) and each._is_idle]
        self.logger.warning("all %d connections are taken", self.quotas.connections)
        longest = min(idle, key=lambda each: each._since)
        longest.transport.abort()
        self.connections.discard(longest)  # now: more may be accepted before it is gone


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            # asyncio has one number for how many may queue up, and how many are accepted at once.
            each.listen(BACKLOG)


def quotas_within(quotas: Quotas) -> Quotas:
    """Return quotas with at most as many connections as this process may open files.

    Raises
    ------
    InvalidInputError
        If it may open too few.
    """
    if sys.platform == "win32":
        return quotas
    import resource  # noqa: PLC0415 - not on Windows

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return quotas
    connections = min(quotas.connections, most - SPARE_DESCRIPTORS)
    if connections < FEWEST_CONNECTIONS:
        raise InvalidInputError(
            f"The server needs at least {FEWEST_CONNECTIONS + SPARE_DESCRIPTORS} open files, and "
            f"this process may have {most}. Raise the limit: ulimit -n 1024."
        )
    # Half of the connections are left for who is refused, and for health checks.
    return replace(quotas, connections=connections, waiting=min(quotas.waiting, connections // 2))


def serve_app(
    app: ASGIApp, listening: socket.socket, quotas: Quotas, learned: Future[None]
) -> None:
    """Answer requests until a signal comes, and for a while what was accepted by then.

    Parameters
    ----------
    app
        What answers the requests.
    listening
        Where they come from.
    quotas
        How many connections there may be, and how long they and the end may take.
    learned
        Done when what requests need is learned; if that fails, the server ends with its error.
    """
    config = uvicorn.Config(
        app,
        http=type("_Connection", (Connection,), {"quotas": quotas}),
        loop="asyncio",  # whose behaviour without free descriptors is known
        ws="none",
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(quotas.shutdown_seconds),
    )
    server = _Server(config)

    def end_on_failure(future: Future[None]) -> None:
        server.should_exit = server.should_exit or future.exception() is not None

    learned.add_done_callback(end_on_failure)
    server.run(sockets=[listening])
    if learned.done():
        learned.result()  # raises the error, if there is one
