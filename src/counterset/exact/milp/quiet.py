"""Keeping one message of the solver out of the user's output.

HiGHS 1.12, which comes with scipy 1.17, has a leftover ``printf`` that no option turns off: it
writes that a solution is being repaired. Compiled code writes to file descriptor 1, past Python's
``sys.stdout``. So that descriptor leads to a temporary file while the solver runs, and all but that
message is written on afterwards: nothing of the user's is lost.

What other threads write to descriptor 1 meanwhile is delayed until the solver returns. A process
that another thread starts meanwhile keeps writing to the temporary file, which nobody reads
afterwards. On Windows nothing is redirected.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
from contextlib import AbstractContextManager
from typing import IO

__all__ = ["quiet_solver"]

MESSAGE = b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n"
_STDOUT = 1


def quiet_solver() -> AbstractContextManager[None]:
    """Return a context in which the solver's message does not reach the user, from any thread.

    Examples
    --------
    >>> with quiet_solver():
    ...     print("All other output arrives.")
    All other output arrives.
    """
    return _redirection


class _Redirection(AbstractContextManager[None]):
    """Redirects descriptor 1 while at least one thread is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stdout: int | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._redirect()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _redirect(self) -> None:
        if os.name != "posix":
            return
        try:
            stdout = os.dup(_STDOUT)
        except OSError:  # a process without output
            return
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - stays open until the exit
        except OSError:  # a message too many is better than no result
            os.close(stdout)
            return
        self._stdout, self._file = stdout, file
        os.dup2(file.fileno(), _STDOUT)

    def _restore(self) -> None:
        if self._stdout is None or self._file is None:
            return
        ctypes.CDLL(None).fflush(None)  # what compiled code has written may still be in a buffer
        os.dup2(self._stdout, _STDOUT)
        os.close(self._stdout)
        with self._file as file:
            file.seek(0)
            written = file.read().replace(MESSAGE, b"")
        self._stdout = self._file = None
        if written:
            with open(_STDOUT, "wb", closefd=False) as stdout:
                stdout.write(written)


_redirection = _Redirection()
