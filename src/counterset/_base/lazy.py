"""Values that are computed when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

__all__ = ["Lazy"]

T = TypeVar("T")


class Lazy(Generic[T]):
    """What is computed when it is first looked at; it is computed to be pickled."""

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute

    @cached_property
    def value(self) -> T:
        return self._compute()

    def __getstate__(self) -> dict[str, T]:
        return {"value": self.value}
