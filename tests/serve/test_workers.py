"""Threads that explain: together what waits for the same, and in spite of calls that never end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from threading import Event, Semaphore
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterset._base.checkpoints import checkpoint
from counterset.serve import workers as module
from counterset.serve.errors import ServerBusyError, TooSlowError
from counterset.serve.quotas import Quotas
from counterset.serve.workers import MOST_ITEMS, ThreadExitError, Workers


class Doubling:
    """Doubles numbers once it may; refuses batches with a negative one; remembers the batches."""

    def __init__(self) -> None:
        self.go = Event()
        self.batches: list[list[int]] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        assert self.go.wait(60)
        self.batches.append(list(items))
        if min(items) < 0:
            raise SystemExit if min(items) == -1 else ValueError(f"negative: {min(items)}")
        return [2 * each for each in items]


def results_of(asked: list[tuple[str, int]], work: Doubling, quotas: Quotas) -> list[Any]:
    """Ask for all at the same time, while the threads cannot go on."""
    workers = Workers(quotas)

    async def ask() -> list[Any]:
        tasks = [asyncio.create_task(workers.run_together(key, work, item)) for key, item in asked]
        while workers.accepted < len(asked):
            await asyncio.sleep(0)
        work.go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(ask())
    assert workers.accepted == 0
    workers.close()
    return found


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 50)), min_size=1, max_size=60),
    st.integers(1, 3),
)
def test_each_item_has_the_result_that_it_would_have_alone(
    asked: list[tuple[str, int]], threads: int
) -> None:
    found = results_of(asked, Doubling(), Quotas(threads=threads))
    for (_, item), result in zip(asked, found, strict=True):
        if item == -1:
            assert isinstance(result, ThreadExitError)
            assert isinstance(result.__cause__, SystemExit)
        elif item < 0:
            assert isinstance(result, ValueError)
            assert str(result) == f"negative: {item}"
        else:
            assert result == 2 * item


def test_what_waits_for_the_same_is_one_batch_and_the_rest_is_not() -> None:
    work = Doubling()
    results_of([("a", 0), ("b", 1), ("a", 2), ("b", 3), ("a", 4)], work, Quotas(threads=1))
    # The first may be taken before the others come.
    assert sorted(each for batch in work.batches for each in batch) == [0, 1, 2, 3, 4]
    assert len(work.batches) <= 3
    assert all(len({each % 2 for each in batch}) == 1 for batch in work.batches)


def test_a_batch_has_a_limit() -> None:
    work = Doubling()
    results_of([("a", each) for each in range(3 * MOST_ITEMS)], work, Quotas(threads=1))
    assert max(map(len, work.batches)) == MOST_ITEMS


def test_what_is_beyond_the_queue_is_refused_and_room_comes_back() -> None:
    workers, go = Workers(Quotas(threads=1, waiting=2)), Event()

    async def ask() -> None:
        first, second = (asyncio.create_task(workers.run(go.wait, 60)) for _ in range(2))
        await asyncio.sleep(0)
        assert workers.accepted == 2
        assert not workers.is_ready
        with pytest.raises(ServerBusyError, match="2 requests are waiting"):
            await workers.run(int)
        go.set()
        assert await first
        assert await second
        assert await workers.run(int) == 0

    asyncio.run(ask())
    assert workers.accepted == 0
    assert workers.is_ready
    workers.close()


def test_who_waited_too_long_is_not_worked_on() -> None:
    workers, go = Workers(Quotas(threads=1, seconds=1)), Event()
    called: list[int] = []

    async def ask() -> None:
        for function, argument in ((go.wait, 60), (called.append, 1)):
            with pytest.raises(TooSlowError, match=r"more than 1 s"):
                await workers.run(function, argument)
        assert workers.accepted == 1  # the thread is still busy
        go.set()
        await workers.run(called.append, 2)

    asyncio.run(ask())
    assert called == [2]
    workers.close()


def test_what_a_function_raises_reaches_who_asked() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(Workers(Quotas(threads=1)).run(divmod, 1, 0))


def test_workers_that_were_closed_work_again() -> None:
    workers = Workers(Quotas(threads=1))
    workers.close()
    assert asyncio.run(workers.run(int)) == 0
    workers.close()
    assert asyncio.run(workers.run(int)) == 0
    workers.close()


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, StopIteration]
)
def test_what_would_end_a_thread_or_the_loop_is_an_error(error: type[BaseException]) -> None:
    """It used to end the event loop, or to leave the request without any answer."""
    workers = Workers(Quotas(threads=1))

    def end() -> None:
        raise error

    with pytest.raises(ThreadExitError) as caught:
        asyncio.run(workers.run(end))
    assert isinstance(caught.value.__cause__, error)
    assert asyncio.run(workers.run(int)) == 0
    workers.close()


def test_a_wrong_number_of_results_is_an_error() -> None:
    workers = Workers(Quotas(threads=1))
    with pytest.raises(ValueError, match="zip"):
        asyncio.run(workers.run_together("a", lambda items: [], 1))
    workers.close()


@pytest.fixture
def go() -> Iterator[Event]:
    """What calls that hang wait for, so that they end with the test."""
    event = Event()
    yield event
    event.set()


def test_a_thread_that_hangs_is_replaced_and_its_batch_is_answered(go: Event) -> None:
    """A call that never ended used to hold its thread, and all requests of its batch."""
    workers = Workers(Quotas(threads=1, work_seconds=1))

    def hang(items: Sequence[int]) -> Sequence[int]:
        go.wait(60)
        return items

    async def ask() -> None:
        hung = [workers.run_together("a", hang, each) for each in range(3)]
        failed = await asyncio.gather(*hung, return_exceptions=True)
        assert all(isinstance(each, TooSlowError) for each in failed)
        assert await workers.run(int) == 0
        assert workers.hung >= 1
        assert workers.is_ready
        assert workers.accepted == 0

    asyncio.run(ask())
    workers.close()


def test_when_all_threads_hang_nothing_is_accepted_until_one_returns(go: Event) -> None:
    workers = Workers(Quotas(threads=2, hung_threads=1, work_seconds=1))

    async def ask() -> None:
        hung = [workers.run(go.wait, 60) for _ in range(5)]
        failed = await asyncio.gather(*hung, return_exceptions=True)
        kinds = sorted(type(each).__name__ for each in failed)
        # Two threads and a replaced one hang; those that still wait then are not left waiting.
        assert kinds == ["ServerBusyError"] * 2 + ["TooSlowError"] * 3
        assert (workers.hung, workers.is_able, workers.is_ready) == (3, False, False)
        with pytest.raises(ServerBusyError, match="hangs in all threads, and 1 were replaced"):
            await workers.run(int)
        go.set()
        while workers.hung:
            await asyncio.sleep(0.001)
        assert workers.is_ready
        assert await workers.run(int) == 0

    asyncio.run(ask())
    workers.close()


def test_what_a_thread_returns_after_it_was_given_up_is_dropped(go: Event) -> None:
    workers = Workers(Quotas(threads=1, work_seconds=1))

    async def ask() -> None:
        with pytest.raises(TooSlowError, match=r"worked on the request for more than 1 s"):
            await workers.run(go.wait, 60)
        go.set()
        while workers.hung:
            await asyncio.sleep(0.001)
        assert await workers.run(int) == 0

    asyncio.run(ask())
    assert workers._threads == 2  # one of them for edits only
    workers.close()


def test_closing_waits_for_nothing_and_drops_what_waits(go: Event) -> None:
    """It used to wait for a call that hung, and the process never ended."""
    workers = Workers(Quotas(threads=1))

    async def ask() -> None:
        hung, waits = (asyncio.create_task(workers.run(go.wait, 60)) for _ in range(2))
        while not workers._running:
            await asyncio.sleep(0)
        workers.close()
        with pytest.raises(ServerBusyError, match="stopping"):
            await waits
        assert not hung.done()
        go.set()
        assert await hung

    asyncio.run(ask())


class Steps:
    """Work in steps with a checkpoint before each; the test says when the next may be taken."""

    def __init__(self) -> None:
        self.done, self.ended, self._go = 0, Event(), Semaphore(0)

    def __call__(self, items: Sequence[int] = ()) -> Sequence[int]:
        try:
            for _ in range(100):
                checkpoint()
                self.done += 1
                assert self._go.acquire(timeout=60)
        finally:
            self.ended.set()
        return items

    def go_on(self, steps: int = 1) -> None:
        self._go.release(steps)


async def until(holds: Callable[[], bool]) -> None:
    """Let others work until something holds."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.001)


def test_work_that_nobody_waits_for_ends_at_its_next_checkpoint() -> None:
    """It used to go on to its end, while edits waited."""
    workers, steps = Workers(Quotas(threads=1)), Steps()

    async def ask() -> None:
        task = asyncio.create_task(workers.run(steps, urgency="later"))
        await until(lambda: steps.done == 1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        steps.go_on()
        await until(steps.ended.is_set)
        await until(lambda: workers.accepted == 0)
        assert await workers.run(int) == 0

    asyncio.run(ask())
    assert steps.done == 1
    assert workers.hung == 0
    workers.close()


def test_a_batch_goes_on_while_one_of_its_requests_waits() -> None:
    workers, steps, hold = Workers(Quotas(threads=1)), Steps(), Event()

    async def ask() -> None:
        first = asyncio.create_task(workers.run(hold.wait, 60))
        await until(lambda: bool(workers._running))
        together = [asyncio.create_task(workers.run_together("a", steps, i)) for i in (1, 2)]
        await until(lambda: workers.accepted == 3)
        hold.set()
        await until(lambda: steps.done == 1)
        together[0].cancel()
        await asyncio.wait(together[:1])
        steps.go_on(100)
        assert await together[1] == 2
        await first

    asyncio.run(ask())
    assert steps.done == 100
    workers.close()


def test_work_that_took_too_long_ends_at_its_next_checkpoint() -> None:
    workers, steps = Workers(Quotas(threads=1, seconds=1)), Steps()

    async def ask() -> None:
        with pytest.raises(TooSlowError):
            await workers.run(steps)
        steps.go_on()
        await until(steps.ended.is_set)

    asyncio.run(ask())
    assert steps.done == 1
    workers.close()


def test_an_edit_is_worked_on_while_all_other_threads_are_busy(go: Event) -> None:
    workers = Workers(Quotas(threads=2))

    async def ask() -> None:
        busy = [asyncio.create_task(workers.run(go.wait, 60)) for _ in range(5)]
        await until(lambda: len(workers._running) == 2)
        assert await workers.run(int, urgency="now") == 0
        assert len(workers._running) == 2  # the thread for edits takes nothing else
        go.set()
        assert all(await asyncio.gather(*busy))

    asyncio.run(ask())
    workers.close()


def test_edits_overtake_what_waits(go: Event) -> None:
    workers, order = Workers(Quotas(threads=1)), list[str]()

    async def ask() -> None:
        busy = [asyncio.create_task(workers.run(go.wait, 60, urgency="now")) for _ in range(2)]
        await until(lambda: len(workers._running) == 2)
        waiting = [
            asyncio.create_task(workers.run(order.append, "soon")),
            asyncio.create_task(workers.run(order.append, "now", urgency="now")),
        ]
        await until(lambda: workers.accepted == 4)
        go.set()
        await asyncio.gather(*busy, *waiting)

    asyncio.run(ask())
    assert order[0] == "now"
    workers.close()


def test_later_work_waits_at_its_checkpoints_for_edits(
    go: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 60.0)
    workers, steps = Workers(Quotas(threads=1)), Steps()

    async def ask() -> None:
        later = asyncio.create_task(workers.run(steps, urgency="later"))
        await until(lambda: steps.done == 1)
        edit = asyncio.create_task(workers.run(go.wait, 60, urgency="now"))
        await until(lambda: len(workers._running) == 2)
        steps.go_on(100)
        await asyncio.sleep(0.05)
        assert steps.done == 1
        go.set()
        assert await edit
        await later

    asyncio.run(ask())
    assert steps.done == 100
    workers.close()


def test_an_edit_that_never_ends_does_not_stop_later_work(
    go: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.001)
    workers, steps = Workers(Quotas(threads=1)), Steps()
    steps.go_on(100)

    async def ask() -> None:
        edit = asyncio.create_task(workers.run(go.wait, 60, urgency="now"))
        await until(lambda: bool(workers._running))
        await workers.run(steps, urgency="later")
        go.set()
        assert await edit

    asyncio.run(ask())
    assert steps.done == 100
    workers.close()


def test_requests_for_the_same_share_one_call(go: Event) -> None:
    workers, called = Workers(Quotas(threads=2)), list[int]()

    def work() -> int:
        called.append(1)
        go.wait(60)
        return len(called)

    async def ask() -> None:
        tasks = [asyncio.create_task(workers.run(work, join="the same")) for _ in range(3)]
        await until(lambda: bool(called))
        tasks[0].cancel()  # the others still wait for it
        await asyncio.wait(tasks[:1])
        go.set()
        assert await asyncio.gather(*tasks[1:]) == [1, 1]
        assert await workers.run(work, join="the same") == 2  # later, it is called anew

    asyncio.run(ask())
    workers.close()


def test_who_comes_after_the_last_has_left_does_not_join_what_ends() -> None:
    workers, steps = Workers(Quotas(threads=2)), Steps()

    async def ask() -> None:
        first = asyncio.create_task(workers.run(steps, join="the same"))
        await until(lambda: steps.done == 1)
        first.cancel()
        await asyncio.wait([first])
        second = asyncio.create_task(workers.run(int, join="the same"))
        assert await second == 0
        steps.go_on()
        await until(steps.ended.is_set)

    asyncio.run(ask())
    assert steps.done == 1
    workers.close()
