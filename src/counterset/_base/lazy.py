"""Lazy: a value that is computed when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

__all__ = ["Lazy"]

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
