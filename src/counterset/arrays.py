"""Names for the kinds of arrays that move through the library, and one that is computed later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Labels", "Later", "Mask", "Matrix"]

#: Rows, points or distances, of any number of axes.
Matrix: TypeAlias = NDArray[np.float64]
#: Positions, counts or class codes.
Codes: TypeAlias = NDArray[np.intp]
#: Yes or no.
Mask: TypeAlias = NDArray[np.bool_]
#: What a model answers.
Labels: TypeAlias = NDArray[Any]

T = TypeVar("T")


class Later(Generic[T]):
    """What is computed when it is first looked at; it is computed to be pickled."""

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute

    @cached_property
    def value(self) -> T:
        return self._compute()

    def __getstate__(self) -> dict[str, T]:
        return {"value": self.value}
