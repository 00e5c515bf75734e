"""What people see while the library works: a progress bar, and warnings at their own line."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

__all__ = ["Progress", "format_rate", "warn_caller"]

#: The bar is 24 characters wide, so that the line fits on a terminal of 80.
WIDTH = 24
#: Files below this folder are the library's own.
PACKAGE = str(Path(__file__).parents[1]) + os.sep


class Progress:
    r"""Show how much of the work is done and how long the rest will take.

    Parameters
    ----------
    total
        The number of steps.
    label
        What is being done.
    unit
        What the steps are, to show how many of them are done in a second; None: that is not shown.
    done
        How many steps were done before.
    shown
        If False, nothing is written.
    after
        The number of seconds before the bar appears.
    stream
        Where to write; the error stream by default, so that piped output stays clean.
    clock
        Returns the time in seconds.

    Examples
    --------
    >>> from io import StringIO
    >>> stream = StringIO()
    >>> with Progress(2, "evaluate", stream=stream, clock=lambda: 0.0) as bar:
    ...     bar.advance()
    >>> stream.getvalue().split("\r")[-1]
    'evaluate [############............] 1/2, 0:00 left\n'
    """

    def __init__(
        self,
        total: int,
        label: str,
        *,
        unit: str | None = None,
        done: int = 0,
        shown: bool = True,
        after: float = 0.0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.done = done
        self._before = done
        self._unit = unit
        self._label = label
        self._shown = shown
        self._after = after
        self._is_written = False
        self._stream = stream if stream is not None else sys.stderr
        self._clock = clock
        self._start = clock()
        self._width = 0

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_written:
            self._stream.write("\n")
            self._stream.flush()

    def advance(self, steps: int = 1, label: str | None = None) -> None:
        """Record that some steps are done, and change the label if one is passed."""
        self.done += steps
        self._label = label if label is not None else self._label
        self._write()

    def _write(self) -> None:
        if not self._shown or self._clock() - self._start < self._after:
            return
        self._is_written = True
        share = self.done / self.total if self.total else 1.0
        bar = "#" * int(WIDTH * share)
        line = f"{self._label} [{bar:.<{WIDTH}}] {self.done}/{self.total}{self._times()}"
        # Pad a shorter line, so that nothing of the one before it remains.
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()
        self._width = len(line)

    def _times(self) -> str:
        """Return how fast the work goes, and how long the rest will take."""
        now = self.done - self._before
        if not now or (self.done >= self.total and self._unit is None):
            return ""
        spent = self._clock() - self._start
        rate = ""
        if self._unit is not None and spent > 0:
            rate = f", {format_rate(now / spent)} {self._unit}/s"
        if self.done >= self.total:
            return rate
        minutes, seconds = divmod(round(spent / now * (self.total - self.done)), 60)
        return f"{rate}, {minutes}:{seconds:02d} left"


def format_rate(rate: float) -> str:
    """Return a rate with two digits at least: 1,234, 56 or 0.78.

    Examples
    --------
    >>> format_rate(1234.5), format_rate(9.87), format_rate(0.012)
    ('1,234', '9.9', '0.012')
    """
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of the library that is nearest, however deep the call is.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("look here", UserWarning)
    >>> str(caught[0].message)
    'look here'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
