"""shap: the same Shapley values from another library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shap
from sklearn.ensemble import GradientBoostingClassifier
from support.oracles_reasons import all_orders

from counterset import DiverseExplainer
from counterset.datasets import Dataset, load_diabetes
from counterset.explanations.shapley import shapley_values


@pytest.fixture(scope="module")
def diabetes() -> Dataset:
    return load_diabetes()


def test_all_orders_have_the_values_of_the_exact_explainer(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy(dtype=float)[:, :5]
    model = GradientBoostingClassifier(n_estimators=20, random_state=6).fit(X, diabetes.y)
    inputs, background = X[:4], X[4:9]

    def worth(rows: Any) -> Any:
        return model.predict_proba(rows)[:, 1]

    orders = np.repeat(all_orders(5), len(background), axis=0)
    ours = shapley_values(worth, inputs, background, orders).mean(axis=1)
    theirs = shap.explainers.Exact(worth, shap.maskers.Independent(background))(inputs).values
    np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_the_sampled_values_are_those_of_the_tree_explainer(diabetes: Dataset) -> None:
    X = diabetes.X.to_numpy(dtype=float)
    model = GradientBoostingClassifier(random_state=6).fit(X, diabetes.y)
    yes = model.classes_[1]
    rows = X[model.predict(X) != yes][:40]
    explanations = DiverseExplainer(model).fit(X).explain_many(rows, target=yes)
    background = explanations.context.background
    assert background is not None
    people = background.value.of(explanations.context.goal, model.classes_[0])
    tree = shap.TreeExplainer(
        model, people, feature_perturbation="interventional", model_output="probability"
    )
    exact = -tree.shap_values(rows)
    names, agree = explanations.coded.table.names, []
    for explanation, against in zip(explanations, exact, strict=True):
        for reason in explanation.reasons(most=99):
            # The standard error has the people in it too, which are the same here.
            off = abs(reason.contribution - against[names.index(reason.feature)])
            assert off <= 3 * reason.standard_error + 1e-9
        agree.append(explanation.reasons()[0].feature == names[int(against.argmax())])
    assert np.mean(agree) >= 0.9
