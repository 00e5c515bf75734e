"""Loans to serve: a fast model of two numbers and two categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset import Constraints, DiverseExplainer, Schema
from counterset.serve.served import Served

__all__ = ["DECLINED", "TRAINING", "approve", "serve_loans"]

#: Who is declined, as a request has it.
DECLINED: dict[str, Any] = {"income": 30, "debt": 60, "home": "rent", "town": "Ulm"}


def approve(rows: pd.DataFrame) -> NDArray[np.str_]:
    """Approve who earns more than the debt; owners of a home need a fifth less."""
    income = rows["income"] * np.where(rows["home"] == "own", 1.25, 1.0)
    return np.where(income > rows["debt"], "approved", "declined")


RANDOM = np.random.default_rng(0)
LOANS = pd.DataFrame(
    {
        "income": RANDOM.integers(1, 100, 200),
        "debt": RANDOM.integers(1, 100, 200),
        "home": RANDOM.choice(["own", "rent"], 200),
        "town": RANDOM.choice(["Bonn", "Jena", "Ulm"], 200),
    }
)
#: The rows that the explainer is fitted on; the others are the cases.
TRAINING = LOANS[:150]


def serve_loans() -> Served:
    """Return loans to serve; the town stays as it is."""
    explainer = DiverseExplainer(
        approve,
        constraints=Constraints(immutable=["town"]),
        schema=Schema(units={"income": "EUR"}),
        max_counterfactuals=3,
    ).fit(TRAINING)
    return Served("loans", explainer, cases=LOANS[150:], goal={"target": "approved"})
