"""The gate: what is refused before anything else looks at a request."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from counterset.serve.errors import error_answer
from counterset.serve.limits import Limits
from counterset.serve.refusals import RefusedError

__all__ = ["LOOPBACK_HOSTS", "Gate"]

#: How this machine is called in addresses.
LOOPBACK_HOSTS = ("127.0.0.1", "[::1]", "localhost")
#: The last port that there is.
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
            answer = error_answer(error.status, str(error), headers=_HEADERS.get(error.status))
            await answer(scope, receive, send)
            return
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return first.pop() if first else await receive()

        await self.app(scope, again, send)

    def _check(self, scope: Scope) -> None:
        """Check whom a request is for, and that it knows the secret."""
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
        # Compared as bytes, and in a time that does not tell how much of it is right.
        known = hmac.compare_digest(given.strip().encode("latin-1"), self.token.encode("utf-8"))
        if kind.lower() != "bearer" or not known:
            raise _refused(
                401, "The token is missing or wrong. Send the header Authorization: Bearer TOKEN."
            )

    async def _read(self, headers: Headers, receive: Receive) -> bytes:
        """Read the body, part by part, so that no more than the limit is ever held."""
        told = headers.get("content-length", "0")
        if told.isdecimal() and len(told) < 20 and int(told) > self.limits.body:
            raise self._too_large()
        parts = bytearray()
        try:
            async with asyncio.timeout(self.limits.transfer_seconds):
                while (message := await receive())["type"] == "http.request":
                    parts += message.get("body", b"")
                    if len(parts) > self.limits.body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise _refused(
                408, f"The body did not arrive within {self.limits.transfer_seconds:g} s."
            ) from None
        return bytes(parts)

    def _too_large(self) -> RefusedError:
        return _refused(413, f"A body may have at most {self.limits.body} bytes.")


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
