"""How many connections there may be, and that none of them takes all the time."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from counterset import InvalidInputError
from counterset.serve.connections import PART, Connection, quotas_within
from counterset.serve.quotas import Quotas


class Impatient(Connection):
    quotas = Quotas()


async def no_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer nothing."""


class Silent(asyncio.Transport):
    """A transport to nobody, which remembers whether it reads."""

    is_read = True

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


def test_others_have_their_turn_while_much_data_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that sent chunks of a single byte used to delay all others by seconds."""
    order: list[Any] = []
    monkeypatch.setattr(H11Protocol, "data_received", lambda _, data: order.append(len(data)))

    async def receive() -> None:
        loop, transport = asyncio.get_running_loop(), Silent()
        config = uvicorn.Config(no_app, ws="none", log_config=None)
        connection = Impatient(config, ServerState(), {}, loop)
        connection.connection_made(transport)
        connection.data_received(b"x" * (2 * PART + 5))
        assert not transport.is_read
        connection.data_received(b"y")  # more came before it was stopped
        for _ in range(3):
            order.append("others")
            await asyncio.sleep(0)
        assert transport.is_read
        connection.connection_lost(None)

    asyncio.run(receive())
    assert order == [PART, "others", PART, "others", 6, "others"]


@pytest.mark.parametrize(
    ("most", "connections", "waiting"),
    [
        (resource.RLIM_INFINITY, 1000, 500),
        (20_000, 1000, 500),
        (1024, 960, 480),
        (72, 8, 4),
    ],
)
def test_there_are_as_many_connections_as_files_may_be_opened(
    most: int, connections: int, waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    quotas = quotas_within(Quotas())
    assert (quotas.connections, quotas.waiting) == (connections, waiting)


def test_too_few_files_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (71, 71))
    with pytest.raises(InvalidInputError, match="needs at least 72 open files"):
        quotas_within(Quotas())
