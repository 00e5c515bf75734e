"""Batches: requests that wait for the same are worked on together, which takes less time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from counterset.serve.workers import Workers

__all__ = ["Batches"]

Item = TypeVar("Item")
Result = TypeVar("Result")

#: A batch has at most 32 items: a larger one saves little, and others would wait longer for it.
MOST_ITEMS = 32


@dataclass(eq=False)
class _Entry(Generic[Item, Result]):
    """An item, and what becomes of it."""

    item: Item
    result: Future[Result] = field(default_factory=Future)


class Batches(Generic[Item, Result]):
    """Works together on items that wait under the same key.

    Nobody waits for a batch to fill: a thread that is free takes what waits at that moment.

    Parameters
    ----------
    workers
        The threads.
    work
        From several items to the result of each. What it returns for one item must not depend on
        the others.

    Examples
    --------
    >>> import asyncio
    >>> from counterset.serve.limits import Limits
    >>> batches = Batches(Workers(Limits(threads=1)), lambda items: [2 * each for each in items])
    >>> asyncio.run(batches.run("double", 21))
    42
    """

    def __init__(
        self, workers: Workers, work: Callable[[Sequence[Item]], Sequence[Result]]
    ) -> None:
        self._workers = workers
        self._work = work
        self._lock = Lock()
        self._waiting: dict[Hashable, list[_Entry[Item, Result]]] = {}

    async def run(self, key: Hashable, item: Item) -> Result:
        """Return the result of an item, worked on together with others of the same key."""
        entry: _Entry[Item, Result] = _Entry(item)
        with self._lock:
            self._waiting.setdefault(key, []).append(entry)
        try:
            return await self._workers.run(self._work_on, key, entry)
        finally:  # a request that was refused, or took too long, waits no more
            if self._take(key, entry, most=1):
                entry.result.cancel()  # a thread that just begins with it need not wait

    def _work_on(self, key: Hashable, entry: _Entry[Item, Result]) -> Result:
        """Work on an item and on others that wait for the same, unless it is worked on already."""
        batch = self._take(key, entry)
        if batch:
            self._finish(batch)
        return entry.result.result()

    def _take(
        self, key: Hashable, entry: _Entry[Item, Result], most: int = MOST_ITEMS
    ) -> list[_Entry[Item, Result]]:
        """Take an entry and the first others from those that wait; none if it is gone."""
        with self._lock:
            waiting = self._waiting.get(key, [])
            if entry not in waiting:
                return []
            others = [each for each in waiting if each is not entry]
            if others[most - 1 :]:
                self._waiting[key] = others[most - 1 :]
            else:
                del self._waiting[key]
            return [entry, *others[: most - 1]]

    def _finish(self, batch: list[_Entry[Item, Result]]) -> None:
        """Work on a batch; if that fails, on each item alone, so that each has its own error."""
        try:
            results = self._work([each.item for each in batch])
        except Exception as error:
            if len(batch) == 1:
                batch[0].result.set_exception(error)
                return
            for each in batch:
                self._finish([each])
            return
        for each, result in zip(batch, results, strict=True):
            each.result.set_result(result)
