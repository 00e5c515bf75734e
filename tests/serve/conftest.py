"""A small model to serve, and clients that ask without a network."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient

from counterset import Constraints, DiverseExplainer, Schema
from counterset.serve.app import create_app
from counterset.serve.served import Served


def approve(rows: pd.DataFrame) -> np.ndarray:
    """Approve who earns more than the debt; owners of a home need a fifth less."""
    income = rows["income"] * np.where(rows["home"] == "own", 1.25, 1.0)
    return np.where(income > rows["debt"], "approved", "declined")


@pytest.fixture(scope="session")
def served() -> Served:
    """Loans, of two numbers and two categories."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": random.integers(1, 100, 200),
            "debt": random.integers(1, 100, 200),
            "home": random.choice(["own", "rent"], 200),
            "town": random.choice(["Bonn", "Jena", "Ulm"], 200),
        }
    )
    explainer = DiverseExplainer(
        approve,
        constraints=Constraints(immutable=["town"]),
        schema=Schema(units={"income": "EUR"}),
        max_counterfactuals=3,
    ).fit(X[:150])
    return Served("loans", explainer, cases=X[150:], training=X[:150], goal={"target": "approved"})


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    """Asks a server on this machine."""
    with TestClient(create_app(served), base_url="http://127.0.0.1") as asks:
        yield asks
