"""Every error has one form."""

from fastapi.testclient import TestClient


def test_an_unknown_address_is_told_in_the_form_of_all_errors(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.json() == {"error": "Not Found", "details": []}
