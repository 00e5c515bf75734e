"""How probable what is wanted is, now and with each option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sklearn.linear_model import LogisticRegression

from counterset import DiverseExplainer, Schema
from counterset.serve.app import create_app
from counterset.serve.chances import chances_of
from counterset.serve.served import Served

RANDOM = np.random.default_rng(0)
X = pd.DataFrame({"a": RANDOM.random(300).round(2), "b": RANDOM.random(300).round(2)})
TWO = np.where(X["a"] + X["b"] > 1, "yes", "no")
THREE = np.where(X["a"] + X["b"] > 1.3, "high", np.where(X["a"] > 0.4, "some", "none"))
ROW = {"a": 0.3, "b": 0.2}


def serve(y: Any, target: Any) -> Served:
    explainer = DiverseExplainer(LogisticRegression().fit(X, y), max_counterfactuals=1).fit(X)
    return Served("toy", explainer, cases=X, goal={"target": target})


@pytest.mark.parametrize(("y", "target"), [(TWO, "yes"), (THREE, "high")])
def test_the_probabilities_are_those_of_the_model(y: Any, target: str) -> None:
    served = serve(y, target)
    explanation = served.explainer.explain(ROW, target=target)
    chances = chances_of(explanation, served)
    assert chances is not None
    column = served.model.classes_.tolist().index(target)
    known = served.model.predict_proba(
        pd.DataFrame([ROW, *explanation.counterfactuals.to_dict("records")])
    )[:, column]
    np.testing.assert_allclose([chances["now"], *chances["then"]], known, rtol=1e-9)
    # Among three classes, no single probability is where the decision changes.
    assert chances["least"] == (0.5 if target == "yes" else None)


def test_what_was_asked_for_is_the_threshold() -> None:
    served = serve(TWO, "yes")
    explanation = served.explainer.explain(ROW, target="yes", target_probability=0.7)
    chances = chances_of(explanation, served)
    assert chances is not None
    assert chances["least"] == 0.7
    assert min(chances["then"]) >= 0.7 > chances["now"]


def test_a_model_that_decides_elsewhere_has_no_threshold_at_one_half() -> None:
    class Strict(LogisticRegression):
        def predict(self, rows: Any) -> Any:
            return np.where(self.predict_proba(rows)[:, 1] > 0.8, "yes", "no")

    explainer = DiverseExplainer(Strict().fit(X, TWO), max_counterfactuals=1).fit(X)
    served = Served("toy", explainer, cases=X)
    row = {"a": 0.55, "b": 0.6}
    explanation = explainer.explain(row, target="yes")
    chances = chances_of(explanation, served)
    assert chances is not None
    assert chances["now"] > 0.5
    assert chances["least"] is None


def test_a_model_without_probabilities_has_no_chances() -> None:
    explainer = DiverseExplainer(lambda rows: rows["a"] > 0.5, max_counterfactuals=1).fit(X)
    served = Served("toy", explainer, cases=X)
    assert chances_of(explainer.explain(ROW), served) is None


def test_predicted_numbers_have_the_wanted_range() -> None:
    explainer = DiverseExplainer(
        lambda rows: 100 * rows["a"] + 0.5, schema=Schema(step=0), max_counterfactuals=1
    ).fit(X)
    served = Served("toy", explainer, cases=X)
    explanation = explainer.explain(ROW, interval=(60, np.inf))
    chances = chances_of(explanation, served)
    assert chances is not None
    assert (chances["kind"], chances["least"], chances["most"]) == ("number", 60, None)
    assert chances["now"] == pytest.approx(30.5)
    assert chances["then"][0] >= 60
    assert chances["scale"] == [0.5, 100.5]


def test_what_ifs_and_kept_options_have_their_chance() -> None:
    served = serve(TWO, "yes")
    served.warm_up()
    client = TestClient(create_app(served), base_url="http://127.0.0.1")
    (known,) = served.model.predict_proba(pd.DataFrame([{"a": 0.9, "b": 0.9}]))
    asked: dict[str, Any] = {"values": {"a": 0.9, "b": 0.9}, "target": "yes"}
    assert client.post("/explorer/predict", json=asked).json()["chance"] == known[1]
    asked = {"values": ROW, "target": "yes"}
    asked |= {"target_probability": 0.9, "kept": [{"a": 0.9}]}
    (kept,) = client.post("/explorer/explain", json=asked).json()["kept"]
    (known,) = served.model.predict_proba(pd.DataFrame([ROW | {"a": 0.9}]))
    assert kept["chance"] == pytest.approx(known[1])
    assert kept["label"] == "yes"
    assert known[1] < 0.9
    assert not kept["reaches_goal"]
