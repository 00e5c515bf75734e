"""The gate: what is refused before anything else looks at a request."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterset.serve.errors import RefusedError, error_answer
from counterset.serve.limits import Limits

__all__ = ["LOOPBACK_HOSTS", "Gate"]

#: How this machine is called in addresses.
LOOPBACK_HOSTS = ("127.0.0.1", "[::1]", "localhost")


@dataclass(frozen=True)
class Gate:
    """Refuses requests for other hosts, without the secret, or with a body that is too large.

    Parameters
    ----------
    app
        What answers the requests that pass.
    limits
        How large a body may be, and how long it may take to arrive.
    hosts
        The hosts that requests may be for; None: any. A page of another site can have its name
        resolve to this machine, but not change the name that the browser sends.
    token
        What requests must know; None: nothing.
    open_paths
        What may be read without the token.
    """

    app: ASGIApp
    limits: Limits
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
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
            answer = error_answer(error.status, str(error), headers=headers)
            await answer(scope, receive, send)
            return
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return first.pop() if first else await receive()

        await self.app(scope, again, send)

    def _check(self, scope: Scope) -> None:
        """Check whom a request is for, and that it knows the secret."""
        headers = Headers(scope=scope)
        if self.hosts is not None and _host(headers.get("host", "")) not in self.hosts:
            raise _refused(
                421, "This server answers requests for this machine only: http://127.0.0.1."
            )
        if self.token is None or scope["path"] in self.open_paths:
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        # Compared as bytes, and in a time that does not tell how much of it is right.
        known = hmac.compare_digest(given.strip().encode("latin-1"), self.token.encode("utf-8"))
        if kind.lower() != "bearer" or not known:
            raise _refused(
                401, "A secret is needed: send the header Authorization: Bearer, and the token."
            )

    async def _read(self, headers: Headers, receive: Receive) -> bytes:
        """Read the body, part by part, so that no more than the limit is ever held."""
        told = headers.get("content-length", "0")
        if told.isdecimal() and len(told) < 20 and int(told) > self.limits.body:
            raise self._too_large()
        parts = bytearray()
        try:
            async with asyncio.timeout(self.limits.seconds):
                while (message := await receive())["type"] == "http.request":
                    parts += message.get("body", b"")
                    if len(parts) > self.limits.body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise _refused(
                408, f"The body did not arrive within {self.limits.seconds:g} s."
            ) from None
        return bytes(parts)

    def _too_large(self) -> RefusedError:
        return _refused(413, f"A body may have at most {self.limits.body} bytes.")


def _host(header: str) -> str:
    """Return a host without its port; the colons of an IPv6 address stand in brackets."""
    name, bracket, _ = header.partition("]")
    return (f"{name}]" if bracket else header.partition(":")[0]).lower()


def _refused(status: int, message: str) -> RefusedError:
    error = RefusedError(message)
    error.status = status
    return error
