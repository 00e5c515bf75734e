"""The app: the service and the page, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from counterset import __version__
from counterset.serve.errors import Json, add_error_handlers
from counterset.serve.explorer import explorer_router
from counterset.serve.limits import Limits
from counterset.serve.served import Served
from counterset.serve.service import service_router
from counterset.serve.workers import Workers

__all__ = ["STATIC", "create_app"]

#: The files of the page.
STATIC = Path(__file__).parent / "static"


def create_app(served: Served, limits: Limits = Limits(), token: str | None = None) -> FastAPI:
    """Return the app that serves a model: for any ASGI server, such as uvicorn.

    Parameters
    ----------
    served
        What is served.
    limits
        How much requests may take.
    token
        What requests must know; None: nothing.
    """
    workers = Workers(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()

    app = FastAPI(
        title="counterset",
        version=__version__,
        description="Explain a model's decision by a small set of diverse, close counterfactuals.",
        lifespan=lifespan,
        # The usual pages about the API load scripts from another server.
        docs_url=None,
        redoc_url=None,
        default_response_class=Json,
    )
    add_error_handlers(app)
    app.include_router(service_router(served, workers))
    app.include_router(explorer_router(served, workers, limits))
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return app
