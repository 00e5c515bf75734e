"""The app: the service, the page and its files, and the description of them all."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Collection
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib import resources
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.responses import FileResponse, Response

from counterset import __version__
from counterset.serve.errors import Json, Problem, add_error_handlers
from counterset.serve.explorer import explorer_router
from counterset.serve.logs import LOGGER
from counterset.serve.middleware import LOOPBACK_HOSTS, Gate, Measures, Observer
from counterset.serve.quotas import Quotas
from counterset.serve.rows import instance_schema
from counterset.serve.served import Served
from counterset.serve.service import HEALTH_PATHS, REFUSALS, service_router
from counterset.serve.workers import Workers

__all__ = ["STATIC", "add_description", "create_app", "page_paths", "page_router"]

#: The files of the page.
STATIC = Path(__file__).parent / "static"

#: A page of this server loads nothing from elsewhere, and is shown in no other page.
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

#: The same address has another body for a browser that does not take compressed ones.
VARY = {"Vary": "Accept-Encoding"}


def page_paths(folder: Path = STATIC) -> dict[str, Path]:
    """Return the address of each file of a folder, and ``/`` for its ``index.html``.

    They are listed once, when the server starts: no address can lead out of the folder.
    """
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    paths = {f"/{file.relative_to(folder).as_posix()}": file for file in files}
    return {"/": folder / "index.html", **paths}


def page_router(folder: Path = STATIC) -> APIRouter:
    """Return the routes of the files of a folder."""
    router = APIRouter()
    for path, file in page_paths(folder).items():
        _add(router, path, file)
    return router


def _add(router: APIRouter, path: str, file: Path) -> None:
    @router.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
    async def page(request: Request) -> Response:
        """Return the file, compressed if the browser takes that."""
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return FileResponse(file, headers=HEADERS | VARY)
        content = _compressed(file, file.stat().st_mtime_ns)
        headers = HEADERS | VARY | {"Content-Encoding": "gzip"}
        return Response(content, headers=headers, media_type=guess_type(file.name)[0])


@lru_cache(maxsize=64)
def _compressed(file: Path, changed_at: int) -> bytes:
    """Return a file compressed; ``changed_at`` makes it read again when it was changed."""
    return gzip.compress(file.read_bytes(), mtime=0)


#: Where OpenAPI has schemas.
PLACE = "#/components/schemas/"


def add_description(app: FastAPI, served: Served, quotas: Quotas, *, with_token: bool) -> None:
    """Make an app describe itself with the columns that are served.

    Parameters
    ----------
    app
        The app, with all its routes.
    served
        What is served.
    quotas
        How much a request may take.
    with_token
        Whether requests must send a token.
    """
    made: dict[str, Any] = {}

    def describe() -> dict[str, Any]:
        if not made:
            made.update(_describe(app, served, quotas, with_token))
        return made

    app.openapi = describe  # type: ignore[method-assign]  # as FastAPI's manual has it


def _describe(app: FastAPI, served: Served, quotas: Quotas, with_token: bool) -> dict[str, Any]:
    described = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = described["components"]["schemas"]
    schemas |= _explanation_schemas() | _problem_schemas()
    schemas["Instance"] = instance_schema(served.table)
    asked = schemas["ExplainRequest"]["properties"]
    for name in ("ExplainRequest", "PredictRequest"):
        schemas[name]["properties"]["instances"]["maxItems"] = quotas.instances
    for part in asked["options"]["anyOf"]:
        if part.get("type") == "integer":
            part["maximum"] = quotas.options
    if with_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _problem_schemas() -> dict[str, Any]:
    """Return the schema of a refusal, and its parts."""
    schema = Problem.model_json_schema(ref_template=f"{PLACE}{{model}}")
    parts: dict[str, Any] = schema.pop("$defs")
    return {"Problem": schema, **parts}


def _explanation_schemas() -> dict[str, Any]:
    """Return the schema of the JSON form, and its parts, with references that OpenAPI follows."""
    text = (
        resources.files("counterset.explanations").joinpath("explanation.schema.json").read_text()
    )
    schema = json.loads(text.replace('"#/$defs/', f'"{PLACE}Explanation_'))
    parts = schema.pop("$defs")
    for key in ("$schema", "$id"):
        del schema[key]
    return {"Explanation": schema} | {f"Explanation_{name}": part for name, part in parts.items()}


def create_app(
    served: Served,
    quotas: Quotas = Quotas(),
    token: str | None = None,
    hosts: Collection[str] | None = LOOPBACK_HOSTS,
) -> FastAPI:
    """Return the app that serves a model, for any ASGI server such as uvicorn.

    When the app starts, ``served`` learns what requests will need. Until then, ``/health/ready``
    and requests for explanations have the status 503. Call ``served.warm_up()`` first to have it
    ready at once.

    Parameters
    ----------
    served
        What is served.
    quotas
        How much requests may take.
    token
        The secret that requests must send, except those for the files of the page and for
        health; None: requests need no secret.
    hosts
        The hosts that requests may be for, by default this machine; None: any.
    """
    workers = Workers(quotas, lambda: served.is_ready)
    measures = Measures(lambda: workers.accepted, lambda: workers.hung)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        learned = served.start_warm_up()
        learned.add_done_callback(_log_failure)
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
    app.include_router(service_router(served, workers, quotas, measures))
    app.include_router(explorer_router(served, workers), responses=REFUSALS)
    app.include_router(page_router())
    add_description(app, served, quotas, with_token=token is not None)
    open_paths = {*HEALTH_PATHS, *page_paths()}
    app.add_middleware(Gate, quotas=quotas, hosts=hosts, token=token, open_paths=open_paths)
    app.add_middleware(Observer, measures=measures)  # the last added is asked first
    return app


def _log_failure(learned: Future[None]) -> None:
    error = learned.exception()
    if error is not None:
        LOGGER.error("warm-up failed", exc_info=error)
