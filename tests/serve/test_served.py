"""What one server serves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from support.served_loans import DECLINED, TRAINING, approve, serve_loans

from counterset import DiverseExplainer, InvalidInputError, Nearest, NoCounterfactualError, Shared
from counterset.exceptions import ModelError
from counterset.serve.app import create_app
from counterset.serve.served import Served


def test_shared_lists_are_learned_once_however_many_ask_at_a_time() -> None:
    served = serve_loans()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: served.shared, range(8)))
    assert len({id(each) for each in found}) == 1
    assert isinstance(found[0].strategy, Shared)
    assert found[0].constraints == served.explainer.constraints
    assert isinstance(served.explainer.strategy, Nearest)


def test_another_number_of_options_leaves_the_explainer_as_it_is(served: Served) -> None:
    row = served.cases[served.explainer.model(served.cases) == "declined"].iloc[0]
    assert len(served.with_options(1).explain(row)) == 1
    assert len(served.with_options(1, "shared").explain(row)) == 1
    assert served.explainer.max_counterfactuals == served.shared.max_counterfactuals == 3


class Counting:
    """A model that counts its calls, and waits while it may not go on."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_go_on = Event()
        self.may_go_on.set()

    def predict(self, rows: pd.DataFrame) -> Any:
        assert self.may_go_on.wait(60)
        self.calls += 1
        return approve(rows)


def test_requests_are_refused_until_everything_is_learned() -> None:
    """Requests for shared lists used to wait in threads that others needed."""
    model, loans = Counting(), serve_loans()
    explainer = DiverseExplainer(model).fit(TRAINING)
    served = Served("loans", explainer, loans.cases, goal=loans.goal)
    model.may_go_on.clear()
    asked = {"instances": [DECLINED]}
    with TestClient(create_app(served), base_url="http://127.0.0.1") as client:
        for path in ("/health", "/health/ready"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()) == (503, {"live": True, "ready": False})
        assert client.get("/health/live").status_code == 200
        assert client.get("/v1/models/loans").json()["ready"] is False
        refused = client.post("/explain", json=asked)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert "still learning" in refused.json()["error"]
        assert client.get("/explorer/start").status_code == 503
        assert client.get("/schema").status_code == 200
        model.may_go_on.set()
        served.warm_up()
        assert client.get("/health/ready").json() == {"live": True, "ready": True}
        assert client.post("/explain", json=asked).status_code == 200


@pytest.mark.parametrize("strategy", ["nearest", "shared"])
def test_the_first_request_learns_nothing(strategy: str) -> None:
    model, loans = Counting(), serve_loans()
    explainer = DiverseExplainer(model).fit(TRAINING)
    served = Served("loans", explainer, loans.cases, goal=loans.goal)
    served.warm_up()
    asked = {"instances": [DECLINED], "strategy": strategy}
    client = TestClient(create_app(served), base_url="http://127.0.0.1")
    calls = [model.calls]
    for _ in range(2):
        assert client.post("/explain", json=asked).status_code == 200
        calls.append(model.calls)
    assert calls[1] - calls[0] == calls[2] - calls[1]


def test_a_warm_up_that_fails_leaves_the_server_unready() -> None:
    loans, is_broken = serve_loans(), Event()

    def model(rows: pd.DataFrame) -> Any:
        if is_broken.is_set():
            raise ValueError("broken")
        return approve(rows)

    explainer = DiverseExplainer(model).fit(TRAINING)
    served = Served("loans", explainer, loans.cases)
    is_broken.set()
    for _ in range(2):  # it is not tried again
        with pytest.raises(ModelError, match="broken"):
            served.warm_up()
    assert not served.is_ready


def test_the_goal_is_checked_before_anything_is_learned(served: Served) -> None:
    wrong = Served("loans", served.explainer, served.cases, {"target": "maybe"})
    with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
        wrong.check_goal(wrong.goal)
    with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
        wrong.warm_up()


def test_a_class_has_the_name_that_people_give_it(served: Served) -> None:
    called = Served("loans", served.explainer, served.cases, outcomes={"declined": "no"})
    assert called.texts == {"approved": "approved", "declined": "no"}
    assert called.label_text("declined") == "no"


def test_a_predicted_number_is_written_with_four_digits() -> None:
    X = pd.DataFrame({"a": np.linspace(0, 4, 41)})
    explainer = DiverseExplainer(lambda rows: rows["a"].to_numpy() * 1234.5678).fit(X)
    assert Served("toy", explainer, X).label_text(1234.5678) == "1,235"


@pytest.mark.parametrize("name", ["", "a/b", "a:explain", "my loans"])
def test_a_name_must_stand_in_an_address(served: Served, name: str) -> None:
    with pytest.raises(InvalidInputError, match="is a part of addresses"):
        Served(name, served.explainer, served.cases)


def test_the_explainer_has_no_shared_lists_of_its_own(served: Served) -> None:
    shared = DiverseExplainer(served.model, strategy=Shared(regions=2)).fit(TRAINING)
    with pytest.raises(InvalidInputError, match="chooses for each input alone"):
        Served("loans", shared, served.cases)
