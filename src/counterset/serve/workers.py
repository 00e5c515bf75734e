"""Workers: a few threads that explain, so that the server can answer while they work."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Thread
from typing import Any, Literal, TypeAlias, TypeVar

from counterset._base.checkpoints import WorkCancelled, watched_by
from counterset.serve.errors import ServerBusyError, TooSlowError
from counterset.serve.logs import LOGGER
from counterset.serve.quotas import Quotas

__all__ = ["ThreadExitError", "Urgency", "Workers"]

T = TypeVar("T")
Item = TypeVar("Item")
Result = TypeVar("Result")

#: A batch has at most 32 items: a larger one saves little, and others would wait longer for it.
MOST_ITEMS = 32
#: Work that waits at a checkpoint for edits goes on after a second at the latest: where edits never
#: end, it still gets on.
LONGEST_WAIT = 1.0

#: An edit, at every keystroke, is done now: it has a thread of its own, and comes first. What
#: programs ask is done soon. What a page fills in, such as the options of people almost alike, is
#: done later: it waits at its checkpoints while an edit is worked on.
Urgency: TypeAlias = Literal["now", "soon", "later"]


class ThreadExitError(RuntimeError):
    """The model raised ``SystemExit`` or the like, which would have ended the thread."""


@dataclass(eq=False)
class _Task:
    """An item, what is done with it, and its result, for which requests wait."""

    key: Hashable
    work: Callable[[Sequence[Any]], Sequence[Any]]
    item: Any
    urgency: Urgency = "soon"
    result: Future[Any] = field(default_factory=Future)
    requests: int = 1

    def __post_init__(self) -> None:
        self.result.set_running_or_notify_cancel()  # so that only a thread can finish it

    @property
    def is_awaited(self) -> bool:
        """Whether any request still waits for the result."""
        return self.requests > 0


@dataclass(eq=False)
class _Batch:
    """Tasks of one key that a thread works on, and since when."""

    tasks: list[_Task]
    began: float = field(default_factory=time.monotonic)
    is_given_up: bool = False

    @property
    def urgency(self) -> Urgency:
        """How soon it is to be done."""
        return self.tasks[0].urgency

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for any of its results."""
        return self.is_given_up or not any(each.is_awaited for each in self.tasks)


class Workers:
    """A few threads that work on requests in the order of arrival, and refuse too many.

    Items that wait under the same key are worked on together, as one batch. No request waits for
    a batch to fill: a free thread takes what waits at that moment. If a batch fails, each of
    its items is worked on alone, so that it has its own result or its own error.

    One thread more than the quota works on edits only, and other work waits for them at its
    checkpoints. Work for which no request waits any more ends at its next checkpoint: see
    :mod:`counterset._base.checkpoints`.

    A thread cannot be stopped from outside. One that works on a batch for too long is given up:
    the requests fail, another thread takes its place, and what it returns later is dropped. The
    number of replaced threads is limited: beyond it, fewer threads work, until one returns.

    Parameters
    ----------
    quotas
        How many threads there are, how many requests may wait, how long one may take, and how
        many threads are replaced.
    is_prepared
        Returns whether what requests need is learned; until then, they are refused.

    Examples
    --------
    >>> workers = Workers(Quotas(threads=1))
    >>> asyncio.run(workers.run(sum, [1, 2]))
    3
    >>> asyncio.run(workers.run_together("double", lambda items: [2 * i for i in items], 21))
    42
    >>> workers.close()
    """

    def __init__(self, quotas: Quotas, is_prepared: Callable[[], bool] = lambda: True) -> None:
        self._quotas = quotas
        self._is_prepared = is_prepared
        self._changed = Condition()  # to be held by who reads or writes what follows
        self._waiting: deque[_Task] = deque()
        self._running: set[_Batch] = set()
        self._joined: dict[Hashable, _Task] = {}  # tasks that other requests may join
        self._threads = 0  # without those that were given up
        self._hung = 0
        self._is_watched = False
        self._is_closed = False

    @property
    def accepted(self) -> int:
        """How many requests are worked on or wait."""
        with self._changed:
            return len(self._waiting) + sum(len(each.tasks) for each in self._running)

    @property
    def hung(self) -> int:
        """How many threads were given up and have not returned."""
        return self._hung

    @property
    def is_able(self) -> bool:
        """Whether there is a thread that can work: not all of them hang."""
        return self._most_threads() > 0

    @property
    def is_ready(self) -> bool:
        """Whether the next request would be accepted."""
        return self._is_prepared() and self.is_able and self.accepted < self._quotas.waiting

    async def run(
        self,
        function: Callable[..., T],
        *arguments: Any,
        urgency: Urgency = "soon",
        join: Hashable = None,
    ) -> T:
        """Call a function in one of the threads, and return what it returns.

        It must not change anything that another request can see. If it takes too long, the request
        fails.

        Parameters
        ----------
        function, arguments
            What to call.
        urgency
            How soon it is to be done.
        join
            Equal for requests that ask for the same: while one is worked on, the others wait for
            its result. None: of no other request.
        """
        key = object()  # of no other request
        task = _Task(key, lambda items: [function(*each) for each in items], arguments, urgency)
        result: T = await self._result_of(self._accept(task, join), join)
        return result

    async def run_together(
        self, key: Hashable, work: Callable[[Sequence[Item]], Sequence[Result]], item: Item
    ) -> Result:
        """Return the result of an item, worked on together with others of the same key.

        Parameters
        ----------
        key
            Equal for items that can be worked on together.
        work
            From several items to the result of each, the same function for equal keys. What it
            returns for one item must not depend on the others.
        item
            What to work on.
        """
        result: Result = await self._result_of(self._accept(_Task(key, work, item)))
        return result

    async def _result_of(self, task: _Task, join: Hashable = None) -> Any:
        """Wait for the result of a task; if it is left before, and by all, its work ends."""
        result: asyncio.Future[Any] = asyncio.wrap_future(task.result)
        try:
            await asyncio.wait([result], timeout=self._quotas.seconds)
            if not result.done():
                raise TooSlowError(
                    f"The request took more than {self._quotas.seconds:g} s. Send it again later, "
                    f"or send fewer rows at once."
                )
            return result.result()
        finally:
            result.cancel()
            self._leave(task, join)

    def close(self) -> None:
        """End the threads when they are free, and drop what waits. Nothing is waited for."""
        with self._changed:
            self._is_closed = True
            self._fail(self._waiting, ServerBusyError("The server is stopping."))
            self._waiting.clear()
            self._changed.notify_all()

    def _accept(self, task: _Task, join: Hashable = None) -> _Task:
        """Let a task wait for a thread, or return the one that asks for the same."""
        with self._changed:
            if join in self._joined:
                self._joined[join].requests += 1
                return self._joined[join]
            if not self.is_able:
                raise self._unable()
            if not self._is_prepared():
                raise ServerBusyError(
                    "The server is still learning from the training rows. Send the request again "
                    "in a few seconds."
                )
            if not self.is_ready:
                raise ServerBusyError(
                    f"{self._quotas.waiting} requests are waiting already. Send the request again "
                    f"in a second."
                )
            self._is_closed = False  # an app may be started again
            self._start_threads()
            self._waiting.append(task)
            if join is not None:
                self._joined[join] = task
            self._changed.notify_all()
            return task

    def _leave(self, task: _Task, join: Hashable) -> None:
        """Drop a task if all its requests have their answers, or do not wait any more."""
        with self._changed:
            task.requests -= 1
            if task.is_awaited:
                return
            if task in self._waiting:
                self._waiting.remove(task)
            if self._joined.get(join) is task:
                del self._joined[join]
            self._changed.notify_all()  # a batch that waits at a checkpoint may end

    def _start_threads(self) -> None:
        """Start the threads that are missing. They must not keep a process from ending."""
        # One more is for edits.
        while self._threads < self._most_threads() + 1:
            Thread(target=self._work, name="counterset", daemon=True).start()
            self._threads += 1
        if not self._is_watched:
            Thread(target=self._watch, name="counterset-watch", daemon=True).start()
            self._is_watched = True

    def _most_threads(self) -> int:
        """Return how many threads there should be beside the one for edits.

        Those that are given up are replaced up to a number.
        """
        return self._quotas.threads - max(0, self._hung - self._quotas.hung_threads)

    def _work(self) -> None:
        """Work on what waits, until the end or until this thread was given up."""
        while self._work_once():
            pass

    def _work_once(self) -> bool:
        """Work on a batch; return whether to go on."""
        batch = self._take()
        if batch is None:
            return False
        try:
            with watched_by(partial(self._pass_checkpoint, batch)):
                results = _results(batch.tasks)
        except WorkCancelled:
            self._release(batch)
        except Exception as error:
            for task in self._release(batch, has_failed=True):
                task.result.set_exception(error)
        else:
            for task in self._release(batch):
                task.result.set_result(results[task])
        return not batch.is_given_up

    def _release(self, batch: _Batch, *, has_failed: bool = False) -> list[_Task]:
        """End the work on a batch, and return the tasks whose outcome is known now."""
        with self._changed:
            if batch.is_given_up:  # its tasks have failed already
                self._hung -= 1
                self._start_threads()  # it may be replaced now
                return []
            self._running.remove(batch)
            self._changed.notify_all()
            if has_failed and len(batch.tasks) > 1:
                self._work_alone(batch.tasks)
                return []
            return batch.tasks

    def _take(self) -> _Batch | None:
        """Wait for a task, and take it with the others of its key; None: the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._next() is not None)
            first = self._next()
            if self._is_closed or first is None:
                self._threads -= 1
                return None
            tasks = [each for each in self._waiting if each.key == first.key][:MOST_ITEMS]
            for each in tasks:
                self._waiting.remove(each)
            batch = _Batch(tasks)
            self._running.add(batch)
            return batch

    def _next(self) -> _Task | None:
        """Return the task to take next: an edit; or the first, if a thread stays free for edits."""
        for each in self._waiting:
            if each.urgency == "now":
                return each
        others = sum(each.urgency != "now" for each in self._running)
        return self._waiting[0] if self._waiting and others < self._most_threads() else None

    def _pass_checkpoint(self, batch: _Batch, may_wait: bool) -> None:
        """Let edits go first; raise if nobody waits for any result of a batch."""
        with self._changed:
            if may_wait and batch.urgency == "later":
                began = time.monotonic()
                self._changed.wait_for(
                    lambda: batch.is_cancelled or not self._has_edits, timeout=LONGEST_WAIT
                )
                batch.began += time.monotonic() - began  # the model did not work meanwhile
            if batch.is_cancelled:
                raise WorkCancelled

    @property
    def _has_edits(self) -> bool:
        """Whether an edit is worked on, or waits."""
        urgencies = [each.urgency for each in self._running]
        urgencies += [each.urgency for each in self._waiting]
        return "now" in urgencies

    def _work_alone(self, tasks: Sequence[_Task]) -> None:
        """Let the tasks of a batch that failed be the next ones, each alone."""
        for each in reversed(tasks):
            each.key = object()
            if each.is_awaited:
                self._waiting.appendleft(each)
        self._changed.notify_all()

    def _watch(self) -> None:
        """Replace threads that work for too long, while there is work."""
        with self._changed:
            while self._running or self._waiting:
                latest = time.monotonic() - self._quotas.work_seconds
                for batch in [each for each in self._running if each.began <= latest]:
                    self._give_up(batch)
                self._changed.wait(self._quotas.work_seconds / 10)
            self._is_watched = False

    def _give_up(self, batch: _Batch) -> None:
        batch.is_given_up = True
        self._running.remove(batch)
        self._threads -= 1
        self._hung += 1
        LOGGER.error("thread given up", extra={"counts": {"hung_threads": self._hung}})
        together = " together with others" if len(batch.tasks) > 1 else ""
        self._fail(
            batch.tasks,
            TooSlowError(
                f"The model worked on the request{together} for more than "
                f"{self._quotas.work_seconds:g} s. Send it again, or send fewer rows at once."
            ),
        )
        if self.is_able:
            self._start_threads()
        else:
            self._fail(self._waiting, self._unable())
            self._waiting.clear()

    def _unable(self) -> ServerBusyError:
        return ServerBusyError(
            f"The model hangs in all threads, and {self._quotas.hung_threads} were replaced "
            f"already. The server must be restarted."
        )

    @staticmethod
    def _fail(tasks: Sequence[_Task] | deque[_Task], error: Exception) -> None:
        for each in tasks:
            each.result.set_exception(error)


def _results(tasks: Sequence[_Task]) -> dict[_Task, Any]:
    """Return the result of each task of a batch.

    What is raised is always an ``Exception``: others would end the thread, and the event loop, too.
    """
    try:
        results = tasks[0].work([each.item for each in tasks])
        return dict(zip(tasks, results, strict=True))
    except WorkCancelled:
        raise
    except BaseException as error:
        # A future cannot hold StopIteration.
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        raise ThreadExitError(
            "The model raised SystemExit or the like, which would have ended the thread."
        ) from error
