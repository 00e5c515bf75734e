"""The app: the service and the page, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from fastapi import FastAPI

from counterset import __version__
from counterset.serve.errors import Json, add_error_handlers
from counterset.serve.explorer import explorer_router
from counterset.serve.gate import LOOPBACK_HOSTS, Gate
from counterset.serve.limits import Limits
from counterset.serve.measures import Measures
from counterset.serve.observer import Observer
from counterset.serve.openapi import add_description
from counterset.serve.pages import page_paths, page_router
from counterset.serve.served import Served
from counterset.serve.service import HEALTH_PATHS, REFUSALS, service_router
from counterset.serve.workers import Workers

__all__ = ["create_app"]


def create_app(
    served: Served,
    limits: Limits = Limits(),
    token: str | None = None,
    hosts: Collection[str] | None = LOOPBACK_HOSTS,
) -> FastAPI:
    """Return the app that serves a model: for any ASGI server, such as uvicorn.

    Parameters
    ----------
    served
        What is served.
    limits
        How much requests may take.
    token
        What requests must know, except those for the files of the page and for health; None:
        nothing.
    hosts
        The hosts that requests may be for, by default this machine; None: any.
    """
    workers = Workers(limits)
    measures = Measures(lambda: workers.accepted, lambda: workers.hung)

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
        redirect_slashes=False,
    )
    add_error_handlers(app)
    app.include_router(service_router(served, workers, limits, measures))
    app.include_router(explorer_router(served, workers, limits), responses=REFUSALS)
    app.include_router(page_router())
    add_description(app, served, limits, with_token=token is not None)
    open_paths = {*HEALTH_PATHS, *page_paths()}
    app.add_middleware(Gate, limits=limits, hosts=hosts, token=token, open_paths=open_paths)
    app.add_middleware(Observer, measures=measures)  # the last added is asked first
    return app
