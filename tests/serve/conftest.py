"""A small model to serve, and clients that ask without a network."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from support.served_loans import serve_loans

from counterset.serve.app import create_app
from counterset.serve.served import Served


@pytest.fixture(scope="session")
def served() -> Served:
    """Loans, of two numbers and two categories; everything is learned."""
    loans = serve_loans()
    loans.warm_up()
    return loans


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    """Asks a server on this machine."""
    with TestClient(create_app(served), base_url="http://127.0.0.1") as asks:
        yield asks
