"""Workload: how the rows of one call are divided between blocks and workers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral
from typing import Any

import joblib
import numpy as np

from counterset.exceptions import InvalidInputError

__all__ = ["Workload"]

#: What the letters after a number of bytes stand for.
_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Workload:
    """How the rows of one call are divided.

    Attributes
    ----------
    n_jobs
        How many blocks are worked on at the same time, as joblib takes it.
    memory
        About how much memory they may take together: bytes, or a text such as ``"512MB"``.
    progress
        Whether to show a bar.

    Examples
    --------
    >>> Workload(memory="2GB").bytes
    2000000000
    """

    n_jobs: int | None = None
    memory: str | int = "512MB"
    progress: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.n_jobs, Integral) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and (not whole or self.n_jobs == 0):
            raise InvalidInputError(
                f"n_jobs must be None, a number of workers, or -1 for all cores, got "
                f"{self.n_jobs!r}."
            )
        if not isinstance(self.progress, bool | np.bool_):
            raise InvalidInputError(f"progress must be True or False, got {self.progress!r}.")
        if self.bytes < 1:
            raise InvalidInputError(f"memory must be at least 1 byte, got {self.memory!r}.")

    @cached_property
    def jobs(self) -> int:
        """How many blocks are worked on at the same time."""
        return 1 if self.n_jobs == 1 else int(joblib.effective_n_jobs(self.n_jobs))

    @cached_property
    def bytes(self) -> int:
        """The memory in bytes."""
        memory: Any = self.memory
        if isinstance(memory, Integral) and not isinstance(memory, bool):
            return int(memory)
        try:
            return _read_bytes(str(memory))
        except (KeyError, ValueError):
            raise InvalidInputError(
                f"memory must be a number of bytes or a text such as '512MB' or '2GB', got "
                f"{memory!r}."
            ) from None


@cache
def _read_bytes(text: str) -> int:
    read = re.fullmatch(r"\s*([0-9.]+)\s*([KMG]?B?)\s*", text.upper())
    if read is None:
        raise ValueError(text)
    return int(float(read[1]) * _BYTES[read[2]])
