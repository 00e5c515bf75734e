"""The parts of the server, put together."""

from fastapi.testclient import TestClient


def test_nothing_is_loaded_from_another_server(client: TestClient) -> None:
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.get("/openapi.json").json()["info"]["title"] == "counterset"
