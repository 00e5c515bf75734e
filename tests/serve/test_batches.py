"""Requests that wait for the same are worked on together, and each has its own result."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import CancelledError
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterset.serve.batches import MOST_ITEMS, Batches
from counterset.serve.errors import ServerBusyError, TooSlowError
from counterset.serve.limits import Limits
from counterset.serve.workers import Workers


class Doubling:
    """Doubles numbers once it may; refuses batches with a negative one; remembers the batches."""

    def __init__(self) -> None:
        self.go = Event()
        self.batches: list[list[int]] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        assert self.go.wait(60)
        self.batches.append(list(items))
        if min(items) < 0:
            raise ValueError(f"negative: {min(items)}")
        return [2 * each for each in items]


def results_of(asked: list[tuple[str, int]], work: Doubling, limits: Limits) -> list[Any]:
    """Ask for all at the same time, while the threads cannot go on."""
    workers = Workers(limits)
    batches = Batches(workers, work)

    async def ask() -> list[Any]:
        tasks = [asyncio.create_task(batches.run(key, item)) for key, item in asked]
        while workers.accepted < len(asked):
            await asyncio.sleep(0)
        work.go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(ask())
    workers.close()
    assert batches._waiting == {}
    return found


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 50)), min_size=1, max_size=60),
    st.integers(1, 3),
)
def test_each_item_has_the_result_that_it_would_have_alone(
    asked: list[tuple[str, int]], threads: int
) -> None:
    found = results_of(asked, Doubling(), Limits(threads=threads))
    for (_, item), result in zip(asked, found, strict=True):
        if item < 0:
            assert isinstance(result, ValueError)
            assert str(result) == f"negative: {item}"
        else:
            assert result == 2 * item


def test_what_waits_for_the_same_is_one_batch_and_the_rest_is_not() -> None:
    work = Doubling()
    results_of([("a", 0), ("b", 1), ("a", 2), ("b", 3), ("a", 4)], work, Limits(threads=1))
    # The first may be taken before the others come.
    assert sorted(each for batch in work.batches for each in batch) == [0, 1, 2, 3, 4]
    assert len(work.batches) <= 3
    assert all(len({each % 2 for each in batch}) == 1 for batch in work.batches)


def test_a_batch_has_a_limit() -> None:
    work = Doubling()
    results_of([("a", each) for each in range(3 * MOST_ITEMS)], work, Limits(threads=1))
    assert max(map(len, work.batches)) == MOST_ITEMS


def test_who_is_refused_or_gives_up_waits_no_more() -> None:
    work = Doubling()
    workers = Workers(Limits(threads=1, waiting=2, seconds=0.05))
    batches = Batches(workers, work)

    async def ask() -> None:
        tasks = [asyncio.create_task(batches.run("a", each)) for each in range(2)]
        while workers.accepted < 2:
            await asyncio.sleep(0)
        with pytest.raises(ServerBusyError):
            await batches.run("a", 2)
        for each in tasks:
            with pytest.raises(TooSlowError):
                await each

    asyncio.run(ask())
    assert batches._waiting == {}
    work.go.set()
    workers.close()
    assert all(2 not in batch for batch in work.batches)


def test_a_thread_that_begins_with_what_was_given_up_does_not_wait_for_ever() -> None:
    late: list[Any] = []

    class GivesUp(Workers):
        async def run(self, function: Any, *arguments: Any) -> Any:
            late.append((function, arguments))
            raise TooSlowError("too slow")

    batches = Batches(GivesUp(Limits(threads=1)), Doubling())
    with pytest.raises(TooSlowError):
        asyncio.run(batches.run("a", 1))
    function, arguments = late[0]
    with pytest.raises(CancelledError):
        function(*arguments)
