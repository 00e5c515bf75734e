"""Observer: logs and counts every request, and answers when something failed."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterset.serve.errors import error_answer
from counterset.serve.logs import LOGGER
from counterset.serve.measures import Measures

__all__ = ["Observer"]

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
