"""Lazy: a value that is computed when it is first read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cached_property
from typing import Any, Generic, TypeVar

from counterset._base.checkpoints import without_waiting

__all__ = ["Lazy", "Memo"]

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is computed when it is first read.

    Pickling computes it too: the function that computes it may not be picklable.

    Examples
    --------
    >>> Lazy(lambda: 1 + 1).value
    2
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute

    @cached_property
    def value(self) -> T:
        """The value."""
        return self._compute()

    def __getstate__(self) -> dict[str, T]:
        return {"value": self.value}


class Memo(Generic[T]):
    """Values by key, each computed when it is first asked for.

    Threads may share it. A pickle keeps the values.

    Parameters
    ----------
    most
        The most values to keep: the oldest is dropped for a new one.

    Examples
    --------
    >>> memo = Memo(most=2)
    >>> memo.get("a", lambda: 1), memo.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Hashable, T] = {}
        self._lock = threading.RLock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, and compute it if it is not known yet."""
        with suppress(KeyError):
            return self._values[key]  # without the lock: others may be computing
        with self._lock, without_waiting():
            if key not in self._values:
                value = compute()
                if len(self._values) == self._most:
                    del self._values[next(iter(self._values))]
                self._values[key] = value
            return self._values[key]

    def values(self) -> list[T]:
        """Return all values, the oldest first."""
        with self._lock:
            return list(self._values.values())

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"_most": self._most, "_values": dict(self._values)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())
