"""Checkpoints: where work ends if nobody waits for it any more, or lets other work go first.

Work passes a checkpoint each time before it asks a model. Only a server watches them; elsewhere a
checkpoint does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["WorkCancelled", "checkpoint", "watched_by", "without_waiting"]

#: Called at each checkpoint; is passed whether the work may wait there.
Watch: TypeAlias = Callable[[bool], None]

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_may_wait: ContextVar[bool] = ContextVar("may_wait", default=True)


class WorkCancelled(BaseException):
    """Nobody waits for the work any more.

    It is no ``Exception``, so that nothing takes it for a failure of the model.
    """


def checkpoint() -> None:
    """Pass a checkpoint: raise ``WorkCancelled`` if nobody waits for the work any more."""
    watch = _watch.get()
    if watch is not None:
        watch(_may_wait.get())


@contextmanager
def watched_by(watch: Watch) -> Iterator[None]:
    """Call a function at each checkpoint of the work that is done inside, in this thread.

    Parameters
    ----------
    watch
        Is passed whether the work may wait. It returns when the work may go on, or raises
        ``WorkCancelled``.

    Examples
    --------
    >>> with watched_by(lambda may_wait: print("may wait:", may_wait)):
    ...     checkpoint()
    ...     with without_waiting():
    ...         checkpoint()
    may wait: True
    may wait: False
    >>> checkpoint()
    """
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Keep work from waiting at checkpoints, such as while it holds a lock that others need."""
    before = _may_wait.set(False)
    try:
        yield
    finally:
        _may_wait.reset(before)
