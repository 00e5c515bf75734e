"""Threads that explain: what is too much is refused, and counts are kept."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from counterset.serve.errors import ServerBusyError, TooSlowError
from counterset.serve.limits import Limits
from counterset.serve.workers import Workers


def test_what_is_beyond_the_queue_is_refused_and_room_comes_back() -> None:
    workers, go = Workers(Limits(threads=1, waiting=2)), Event()

    async def ask() -> None:
        first, second = (asyncio.create_task(workers.run(go.wait, 60)) for _ in range(2))
        await asyncio.sleep(0)
        assert workers.accepted == 2
        with pytest.raises(ServerBusyError, match="2 requests are waiting"):
            await workers.run(int)
        go.set()
        assert await first
        assert await second
        assert await workers.run(int) == 0

    asyncio.run(ask())
    workers.close()
    assert workers.accepted == 0


def test_what_takes_too_long_fails_and_what_it_returns_is_dropped() -> None:
    workers, go = Workers(Limits(threads=1, seconds=0.01)), Event()

    async def ask() -> None:
        with pytest.raises(TooSlowError, match=r"more than 0\.01 s"):
            await workers.run(go.wait, 60)
        with pytest.raises(TooSlowError):  # it never began, since the thread is still busy
            await workers.run(pytest.fail, "was called")
        assert workers.accepted == 1
        go.set()

    asyncio.run(ask())
    workers.close()
    assert workers.accepted == 0


def test_what_a_function_raises_reaches_who_asked() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(Workers(Limits(threads=1)).run(divmod, 1, 0))


def test_workers_that_were_closed_work_again() -> None:
    workers = Workers(Limits(threads=1))
    workers.close()
    assert asyncio.run(workers.run(int)) == 0
    workers.close()
    assert asyncio.run(workers.run(int)) == 0
