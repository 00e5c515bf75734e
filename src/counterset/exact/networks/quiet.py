"""Keeping a compiled solver from writing to the terminal.

HiGHS has one ``printf`` that no option turns off: it tells that a solution is being repaired. Such
output goes through the C library's own ``stdout``, which is not Python's. So that variable is
pointed elsewhere while the solver runs: neither Python's output nor any file descriptor changes.
Errors are told by the solver's status and on ``stderr``, which stays as it is.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

__all__ = ["quiet_solver"]

_lock = threading.Lock()
_running = 0
_own: int | None = None


@contextmanager
def quiet_solver() -> Iterator[None]:
    """Discard what compiled code writes to the C library's ``stdout``, from any thread.

    Elsewhere than on glibc, where that variable may be constant, nothing is done.

    Examples
    --------
    >>> with quiet_solver():
    ...     print("Python's own output is not touched.")
    Python's own output is not touched.
    """
    global _running, _own  # noqa: PLW0603 - as global as the variable that is set
    nowhere = _nowhere()
    if nowhere is None:
        yield
        return
    stdout = _c_stdout()
    with _lock:  # the first to come sets it, the last to go sets it back
        if _running == 0:
            _own, stdout.value = stdout.value, nowhere
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                stdout.value = _own


def _c_stdout() -> ctypes.c_void_p:
    return ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout")


@lru_cache(maxsize=1)
def _nowhere() -> int | None:
    """Open a C stream that leads nowhere, once; None where there is no glibc."""
    if platform.libc_ver()[0] != "glibc":
        return None
    fopen = ctypes.CDLL(None).fopen
    fopen.restype, fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
    stream: int | None = fopen(os.devnull.encode(), b"w")
    return stream
