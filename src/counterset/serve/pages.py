"""Pages: the files of the explorer, each with an address of its own."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

__all__ = ["STATIC", "page_paths", "page_router"]

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
    async def page() -> Response:
        """Return the file."""
        return FileResponse(file, headers=HEADERS)
