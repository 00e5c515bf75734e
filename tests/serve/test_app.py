"""The app: its files, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from counterset.serve.app import page_paths, page_router


@pytest.fixture
def asks(tmp_path: Path) -> TestClient:
    """Asks for files of a folder, beside which there is a secret."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "static"
    (folder / "parts").mkdir(parents=True)
    (folder / "index.html").write_text("the page", encoding="utf-8")
    (folder / "parts" / "card.js").write_text("export {}", encoding="utf-8")
    assert list(page_paths(folder)) == ["/", "/index.html", "/parts/card.js"]
    app = FastAPI()
    app.include_router(page_router(folder))
    return TestClient(app)


def test_files_are_served_with_their_type_and_load_nothing_from_elsewhere(asks: TestClient) -> None:
    assert asks.get("/").text == asks.get("/index.html").text == "the page"
    answer = asks.get("/parts/card.js")
    assert "javascript" in answer.headers["Content-Type"]
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert asks.head("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/parts/../../secret.txt"]
)
def test_no_address_leads_out_of_the_folder(asks: TestClient, path: str) -> None:
    assert asks.get(path).status_code == 404


def test_the_page_itself_is_there(client: TestClient) -> None:
    assert "counterset" in client.get("/").text


def test_nothing_is_loaded_from_another_server(client: TestClient) -> None:
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.get("/openapi.json").json()["info"]["title"] == "counterset"


def test_files_are_compressed_for_browsers_that_take_that(client: TestClient) -> None:
    plain = client.get("/app.js", headers={"Accept-Encoding": "identity"})
    packed = client.get("/app.js", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.text == plain.text  # the client unpacks it
    assert int(packed.headers["Content-Length"]) < len(plain.content)
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
    assert packed.headers["Content-Security-Policy"] == plain.headers["Content-Security-Policy"]
