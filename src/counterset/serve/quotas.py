"""Quotas: how much one request, and all of them together, may take."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from counterset._base.checks import check_count, check_positive
from counterset._base.threads import core_count

__all__ = ["Quotas"]


@dataclass(frozen=True)
class Quotas:
    """How much one request, and all of them together, may take.

    Parameters
    ----------
    body
        The most bytes in the body of a request.
    instances
        The most rows in one request.
    options
        The most options for one row.
    seconds
        How long a request may take, from its arrival, before it is refused.
    waiting
        The most requests that are worked on or wait; more are refused with the status 503.
    threads
        How many requests are worked on at a time.
    work_seconds
        How long a thread may work on a request, or on a batch of them, before it is given up. By
        default as long as a request may take: then no request waits for that thread any more.
    hung_threads
        The most threads that are given up and replaced. Each may take a core for ever.
    transfer_seconds
        How long the head of a request, its body, and the reading of the answer may take, each.
    connections
        The most open connections. Beyond it, the one that keeps the server waiting longest is
        closed.
    shutdown_seconds
        How long the server finishes requests after a signal to stop; the others are refused.

    Examples
    --------
    >>> Quotas(instances=10).instances
    10
    """

    body: int = 1_000_000
    instances: int = 100
    options: int = 20
    seconds: float = 60.0
    waiting: int = 500
    threads: int = field(default_factory=core_count)
    work_seconds: float = 60.0
    hung_threads: int = 8
    transfer_seconds: float = 30.0
    connections: int = 1000
    shutdown_seconds: float = 60.0

    def __post_init__(self) -> None:
        for each in fields(self):
            check = check_positive if each.name.endswith("seconds") else check_count
            check(getattr(self, each.name), each.name)
