"""The explorer's own requests: what the page in ``static/`` asks."""

from __future__ import annotations

from fastapi import APIRouter

from counterset.serve.limits import Limits
from counterset.serve.served import Served
from counterset.serve.workers import Workers

__all__ = ["explorer_router"]


def explorer_router(served: Served, workers: Workers, limits: Limits) -> APIRouter:
    """Return the routes that the page asks, all below ``/explorer``.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain: ``await workers.run(function, ...)``.
    limits
        How much a request may take.
    """
    return APIRouter(prefix="/explorer")
