"""Learning comes before the first request: what it would be asked to learn is known by then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from support.served_loans import DECLINED, TRAINING, approve, serve_loans

from counterset import DiverseExplainer
from counterset.serve.app import create_app
from counterset.serve.served import Served


class Counting:
    """A model with probabilities that counts the rows it is asked about."""

    classes_ = np.array(["approved", "declined"])

    def __init__(self) -> None:
        self.rows = 0

    def predict(self, rows: pd.DataFrame) -> Any:
        self.rows += len(rows)
        return approve(rows)

    def predict_proba(self, rows: pd.DataFrame) -> Any:
        self.rows += len(rows)
        income = rows["income"] * np.where(rows["home"] == "own", 1.25, 1.0)
        probable = 1 / (1 + np.exp((rows["debt"] - income) / 10))
        return np.column_stack([probable, 1 - probable])


def serve() -> Served:
    loans = serve_loans()
    explainer = DiverseExplainer(**loans.explainer.get_params(deep=False) | {"model": Counting()})
    served = Served("loans", explainer.fit(TRAINING), loans.cases, goal=loans.goal)
    served.warm_up()
    return served


OTHER = {"income": 20, "debt": 70, "home": "own", "town": "Jena"}
SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "fewer options": {"options": 2},
    "more options": {"options": 7},
    "any other class": {"target": None},
    "a least probability": {"target_probability": 0.8},
    "other constraints": {"constraints": {"debt": {"direction": "down", "low": 10}}},
}
ROUTES: dict[str, dict[str, Any]] = {
    "explain": {},
    "map": {},
    "lift": {},
    "reasons": {},
    "report": {},
    "nearby": {"strategy": "nearest"},
    "nearby again": {"strategy": "shared"},
}


def rows_asked(served: Served, requests: list[tuple[str, dict[str, Any]]]) -> int:
    """Return about how many rows the model is asked for the last of some requests."""
    asked = 0
    with TestClient(create_app(served), base_url="http://127.0.0.1") as client:
        for path, body in requests:
            before = served.model.rows
            answer = client.post(path, json=body)
            assert answer.status_code == 200, answer.text
            asked = served.model.rows - before
    return asked


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("route", ROUTES)
def test_the_first_request_asks_the_model_as_much_as_any_later_one(
    route: str, setting: str
) -> None:
    path = f"/explorer/{route.removesuffix(' again')}"
    body = {"target": "approved"} | SETTINGS[setting] | ROUTES[route]
    first, other = body | {"values": DECLINED}, body | {"values": OTHER}
    assert rows_asked(serve(), [(path, first)]) == rows_asked(
        serve(), [(path, other), (path, first)]
    )


@pytest.mark.parametrize("strategy", ["nearest", "shared"])
@pytest.mark.parametrize("options", [2, 3, 8])
def test_that_holds_for_programs(strategy: str, options: int) -> None:
    body = {"options": options, "strategy": strategy, "target_probability": 0.7}
    first, other = body | {"instances": [DECLINED]}, body | {"instances": [OTHER]}
    alone = rows_asked(serve(), [("/explain", first)])
    assert alone == rows_asked(serve(), [("/explain", other), ("/explain", first)])


def test_the_page_opens_without_a_question_to_the_model() -> None:
    served = serve()
    with TestClient(create_app(served), base_url="http://127.0.0.1") as client:
        before = served.model.rows
        assert client.get("/explorer/start").status_code == 200
        assert served.model.rows == before


def test_a_model_whose_probabilities_cannot_be_read_is_served_all_the_same() -> None:
    class Named(Counting):
        classes_ = np.array([0, 1])

    class Wide(Counting):
        def predict_proba(self, rows: pd.DataFrame) -> Any:
            return np.ones((len(rows), 3))

    for model in (Named(), Wide()):
        explainer = DiverseExplainer(model).fit(TRAINING)
        served = Served("loans", explainer, serve_loans().cases, goal={"target": "approved"})
        served.warm_up()
        assert not served.has_probabilities
    assert serve().has_probabilities
