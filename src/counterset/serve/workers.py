"""Workers: a few threads that explain, so that the server can answer while they work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from counterset.serve.errors import ServerBusyError, TooSlowError
from counterset.serve.limits import Limits

__all__ = ["Workers"]

T = TypeVar("T")


class Workers:
    """A few threads that work on requests, one after the other, and refuse what is too much.

    Parameters
    ----------
    limits
        How many threads there are, how many requests may wait, and how long one may take.

    Examples
    --------
    >>> asyncio.run(Workers(Limits(threads=1)).run(sum, [1, 2]))
    3
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads: ThreadPoolExecutor | None = None  # an app may be started again
        self._lock = Lock()
        self._accepted = 0

    @property
    def accepted(self) -> int:
        """How many requests are worked on or wait."""
        return self._accepted

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in one of the threads, and return what it returns.

        It must not change anything that another request can see. If it takes too long, the request
        fails; a thread cannot be stopped, so what it returns later is dropped.
        """
        with self._lock:
            if self._accepted >= self._limits.waiting:
                raise ServerBusyError(
                    f"{self._limits.waiting} requests are waiting already. Come back in a second."
                )
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._limits.threads, "counterset")
            self._accepted += 1
            work = self._threads.submit(function, *arguments)
        work.add_done_callback(self._finish)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(work), self._limits.seconds)
        except TimeoutError:
            raise TooSlowError(
                f"The request took more than {self._limits.seconds:g} s. Send fewer rows at once."
            ) from None

    def close(self) -> None:
        """Finish what is worked on, drop what still waits, and end the threads."""
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=True, cancel_futures=True)

    def _finish(self, _: Future[Any]) -> None:
        with self._lock:
            self._accepted -= 1
