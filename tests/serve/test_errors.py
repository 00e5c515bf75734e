"""Every error has one form."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterset.serve.errors import shortened


def test_an_unknown_address_is_told_in_the_form_of_all_errors(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.json().keys() == {"error", "details"}
    assert "/openapi.json" in answer.json()["error"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("a" * 200, "a" * 100 + "..."),
        (10**400, "a number that is too large"),
        ([[[]]], "a list"),
        ({"a": {}}, "an object"),
        (True, True),
        (1.5, 1.5),
        (None, None),
        (b"bytes", "b'bytes'"),
    ],
)
def test_what_a_request_holds_is_repeated_in_short(value: Any, told: Any) -> None:
    assert shortened(value) == told
