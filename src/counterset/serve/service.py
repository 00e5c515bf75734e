"""The service: what other programs ask."""

from __future__ import annotations

from fastapi import APIRouter

from counterset.serve.served import Served
from counterset.serve.workers import Workers

__all__ = ["service_router"]


def service_router(served: Served, workers: Workers) -> APIRouter:
    """Return the routes that other programs ask.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain.
    """
    router = APIRouter()

    @router.get("/health/live")
    async def live() -> dict[str, bool]:
        """Tell that the server runs."""
        return {"live": True}

    return router
