"""Tables and models to compare explainers on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset import datasets
from counterset.exceptions import InvalidInputError
from counterset.paper import tasks
from counterset.paper.experiment import PROTOCOLS
from counterset.paper.setups import prepare
from counterset.paper.tasks import Task, named_task, table_task


def loans(rows: int = 60) -> tuple[pd.DataFrame, pd.Series]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": random.integers(1, 100, rows),
            "purpose": pd.Categorical(random.choice(["car", "house"], rows), ordered=True),
        }
    )
    return X, (X["income"] > 50).map({True: "yes", False: "no"})


def test_the_papers_network_explains_the_inputs_of_the_final_results(weights: Path) -> None:
    task = named_task("diabetes", "network", inputs=4, immutable=["Age"], weights=weights)
    split = prepare("diabetes")
    expected = split.X_test[PROTOCOLS["final"].rows][:4]
    assert np.array_equal(task.inputs, expected)
    assert task.alpha == 50
    assert task.immutable == ("x7",)
    assert task.accuracy == task.model.accuracy(split)
    # Glucose decides: retrained networks learn the same rows, and are no copies of each other.
    assert task.retrain is not None
    one, other = task.retrain(2)
    assert not np.array_equal(one.layers[0][0], other.layers[0][0])


def test_models_are_trained_on_a_part_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_ROWS", 100)
    task = named_task("diabetes", "logistic", inputs=3)
    X = prepare("diabetes").X_train
    assert np.array_equal(task.X_train, X[np.unique(np.linspace(0, 613, 100).astype(int))])


def test_a_table_of_ones_own_is_split_and_its_numbers_move_freely() -> None:
    X, y = loans()
    X = X.astype({"income": float})
    X.loc[3, "income"] = np.nan
    task = table_task("loans", X, y, "forest", inputs=5)
    assert len(task.X_train) == 47  # of 59: one row lacks a value
    assert task.inputs.index.tolist() == sorted(task.inputs.index)
    assert not set(task.inputs.index) & set(task.X_train.index)
    assert task.X_train["income"].dtype == np.float64
    assert not task.X_train["purpose"].dtype.ordered
    assert task.retrain is not None
    assert len(task.retrain(2)) == 2


def test_a_model_of_ones_own_is_trained_again_where_it_can_be() -> None:
    X, y = loans()
    model = LogisticRegression().fit(X[["income"]].astype(float), y)
    task = table_task("loans", X[["income"]], y, model, inputs=2)
    assert (task.kind, task.model) == ("own", model)
    assert task.retrain is not None
    retrained = task.retrain(2)
    assert retrained[0].coef_[0, 0] != retrained[1].coef_[0, 0] != model.coef_[0, 0]
    unlabelled = table_task("loans", X[["income"]], None, model, inputs=2)
    assert (unlabelled.retrain, unlabelled.reason) == (
        None,
        "the classes of the rows are not known",
    )
    assert np.isnan(unlabelled.accuracy)


def test_the_distance_is_the_library_s_own_for_tables() -> None:
    from counterset import DiverseExplainer, Schema

    data = datasets.load("german_credit")
    task = table_task("german_credit", data.X, data.y, "forest", inputs=3)
    explainer = DiverseExplainer(task.model, schema=Schema(step=0)).fit(task.X_train)
    pairs = task.inputs, task.X_train.iloc[:5]
    assert np.allclose(task.distance(*pairs), explainer.distance_(*pairs))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": 13}, "12 test rows, of which 1 to 12 can be explained, got 13"),
        ({"immutable": ["salary"]}, "no feature 'salary'"),
        ({"y": None}, "no classes, so that no model can be trained"),
        ({"model": len}, "must have a predict method"),
    ],
)
def test_what_cannot_be_compared_on_is_told(change: dict[str, Any], message: str) -> None:
    X, y = loans()
    given: dict[str, Any] = {"name": "loans", "X": X, "y": y, "model": "logistic"} | change
    with pytest.raises(InvalidInputError, match=message):
        table_task(**given)


class Fixed:
    """Returns the same answer for every row, or the row's number."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, X: Any) -> Any:
        return X[:, 0] if self.answer is None else np.full(len(X), self.answer)


@pytest.mark.parametrize(
    ("answer", "message"), [(1, "nothing to move towards"), (None, "compared on classifiers")]
)
def test_models_without_two_classes_are_refused(answer: Any, message: str) -> None:
    rows = np.random.default_rng(0).random((9, 2))
    with pytest.raises(InvalidInputError, match=message):
        Task("toy", "own", Fixed(answer), rows, rows[:1])
