"""What the page asks."""

from fastapi.testclient import TestClient


def test_the_page_is_there(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "counterset" in answer.text
