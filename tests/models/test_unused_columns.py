"""Columns that a model does not look at are named, and models that need names say so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import DiverseExplainer
from counterset.exceptions import ModelError, UnusedColumnsWarning
from counterset.models.adapter import find_unused

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.random(80), "b": RNG.random(80), "town": RNG.choice(["x", "y"], 80), "id": range(80)}
)
Y = np.where(X["a"] + (X["town"] == "x") > 0.9, "yes", "no")


def fitted(*transformers: Any, **options: Any) -> Any:
    select = make_column_transformer(*transformers, **options)
    return make_pipeline(select, LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "unused"),
    [
        (fitted((StandardScaler(), ["a"]), (OneHotEncoder(), ["town"])), ["b", "id"]),
        (fitted((StandardScaler(), [0]), (OneHotEncoder(), ["town"])), ["b", "id"]),
        (fitted((OneHotEncoder(), make_column_selector(dtype_exclude="number"))), ["a", "b", "id"]),
        (fitted(("drop", ["id"]), (OneHotEncoder(), ["town"]), remainder="passthrough"), ["id"]),
        (fitted((OneHotEncoder(), ["town"]), remainder="passthrough"), []),
        (fitted((StandardScaler(), slice(0, 2)), (OneHotEncoder(), ["town"])), ["id"]),
        (lambda rows: rows["a"] > 0.5, []),
    ],
)
def test_columns_that_are_dropped_are_found(model: Any, unused: list[str]) -> None:
    assert find_unused(model, list(X)) == unused
    # They are not looked at: other values change no answer.
    if unused and hasattr(model, "predict"):
        other = X.assign(**{name: X[name].to_numpy()[::-1] for name in unused})
        assert (model.predict(other) == model.predict(X)).all()


def test_further_columns_of_the_table_are_dropped_too() -> None:
    select = ColumnTransformer([("keep", "passthrough", ["a", "b"])])
    model = make_pipeline(select, LogisticRegression()).fit(X[["a", "b"]], Y)
    assert find_unused(model, list(X)) == ["town", "id"]


def test_fit_warns_once_and_names_them() -> None:
    model = fitted((StandardScaler(), ["a"]), (OneHotEncoder(), ["town"]))
    explainer = DiverseExplainer(model, max_counterfactuals=1)
    with pytest.warns(UnusedColumnsWarning, match=r"2 of 4 columns \('b', 'id'\)") as caught:
        explainer.fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer.explain(X.iloc[0])


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(
            make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()
        ).fit(X[["a", "b"]], Y),
        lambda rows: rows["a"] > 0.5,
    ],
)
def test_a_model_that_selects_columns_by_name_asks_for_a_frame(model: Any) -> None:
    with pytest.raises(ModelError, match="selects columns by name; pass a DataFrame"):
        DiverseExplainer(model).fit(X[["a", "b"]].to_numpy())


def test_a_model_that_fails_for_another_reason_says_that() -> None:
    def model(rows: Any) -> Any:
        raise ValueError("too hot")

    with pytest.raises(ModelError, match=r"too hot.*It must accept rows in the form"):
        DiverseExplainer(model).fit(X[["a", "b"]].to_numpy())
