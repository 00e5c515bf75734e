"""What the page knows from the start."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, Schema
from counterset.serve.explorer import describe_features, describe_start
from counterset.serve.served import Served


def serve(X: pd.DataFrame, **settings: Any) -> Served:
    explainer = explainer_by_steps(lambda rows: rows.iloc[:, 0] > 1, **settings).fit(X)
    return Served("toy", explainer, cases=X)


def test_the_start_is_json(served: Served) -> None:
    start = describe_start(served)
    assert json.loads(json.dumps(start, allow_nan=False)) == start
    assert start["classes"] == [
        {"value": "approved", "text": "approved"},
        {"value": "declined", "text": "declined"},
    ]
    assert (start["target"], start["options"], start["cases"]["count"]) == (0, 3, 50)
    assert start["cases"]["numbers"][:2] == ["150", "151"]
    assert set(start["cases"]["decisions"]) == {0, 1}


def test_classes_are_called_as_people_call_them(served: Served) -> None:
    called = Served("loans", served.explainer, served.cases, outcomes={"declined": "no"})
    assert [each["text"] for each in describe_start(called)["classes"]] == ["approved", "no"]


def test_numbers_have_a_slider_and_categories_have_texts(served: Served) -> None:
    income, _, home, town = describe_features(served)
    assert (income["label"], income["unit"], income["step"]) == ("Income", "EUR", 1.0)
    assert len(income["bars"]) == 24
    assert max(income["bars"]) == 1
    assert income["choices"] is None
    assert home["choices"] == [{"value": "own", "text": "Own"}, {"value": "rent", "text": "Rent"}]
    assert not home["has_order"]
    assert town["constraint"] == {"locked": True}


def test_constraints_begin_as_the_explainer_has_them() -> None:
    X = pd.DataFrame({"a": [0, 1, 2, 3] * 5, "b": [0, 5, 9, 3] * 5, "c": [1, 2, 3, 4] * 5})
    own = Constraints(increase_only=["a"], decrease_only=["b"], ranges={"b": (1, None)})
    a, b, c = describe_features(serve(X, constraints=own, costs={"c": 2.0}))
    assert a["constraint"] == {"direction": "up"}
    assert b["constraint"] == {"direction": "down", "low": 1}
    assert c["constraint"] == {}


def test_a_slider_leaves_outliers_out() -> None:
    X = pd.DataFrame({"a": [*np.linspace(0, 10, 500), 1e6]})
    (feature,) = describe_features(serve(X))
    assert feature["high"] <= 10
    assert feature["low"] >= 0


def test_a_number_without_a_step_has_a_round_one_on_the_slider() -> None:
    X = pd.DataFrame({"a": np.linspace(0, 7, 300)})
    (feature,) = describe_features(serve(X, schema=Schema(step=0)))
    assert (feature["step"], feature["any_number"]) == (0.02, True)


def test_each_feature_has_a_typical_value_and_the_ends_of_the_training_data() -> None:
    kinds = pd.Categorical(["a", "b", "b", "b"] * 5, categories=["a", "b", "never"])
    X = pd.DataFrame({"n": [0, 1, 3, 900] * 5, "kind": kinds, "x": [0.5, 1.5, 2.5, 9.5] * 5})
    n, kind, x = describe_features(serve(X))
    assert (n["least"], n["most"], n["typical"]) == (0, 900, 1)
    assert (kind["typical"], kind["unseen"]) == ("b", [2])
    assert x["typical"] == 1.5
    assert x["typical"] in X["x"].tolist()


def test_flags_are_chosen_in_words() -> None:
    X = pd.DataFrame({"a": [0.5, 1.5] * 10, "b": [True, False] * 10, "c": [0.0, 1.0] * 10})
    _, b, c = describe_features(serve(X))
    assert [each["text"] for each in b["choices"]] == ["No", "Yes"]
    assert [each["value"] for each in c["choices"]] == [0, 1]


@pytest.mark.parametrize(
    ("goal", "interval"),
    [
        ({}, [2.0, 4.0]),
        ({"interval": (3, np.inf)}, [3.0, 4.0]),
        ({"interval": (-np.inf, 1.5)}, [0.0, 1.5]),
    ],
)
def test_a_regression_has_a_range_in_place_of_classes(
    goal: dict[str, Any], interval: list[float]
) -> None:
    X = pd.DataFrame({"a": np.linspace(0, 4, 41)})
    explainer = DiverseExplainer(lambda rows: rows["a"].to_numpy(), schema=Schema(step=0)).fit(X)
    start = describe_start(Served("toy", explainer, cases=X, goal=goal))
    assert start["classes"] is None
    assert start["interval"] == pytest.approx(interval)


def test_an_open_end_of_a_range_is_a_round_number_beyond_all_predictions() -> None:
    X = pd.DataFrame({"a": np.linspace(-7.12345, 8.76543, 41)})
    explainer = DiverseExplainer(lambda rows: rows["a"].to_numpy(), schema=Schema(step=0)).fit(X)
    for goal, interval in (((1, np.inf), [1.0, 8.77]), ((-np.inf, 1), [-7.13, 1.0])):
        start = describe_start(Served("toy", explainer, cases=X, goal={"interval": goal}))
        assert start["interval"] == pytest.approx(interval)
