"""What other programs ask."""

from fastapi.testclient import TestClient


def test_the_server_tells_that_it_runs(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"live": True}
