"""Training rows are the user's own: steps belong to what is proposed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, Schema
from counterset.exceptions import UnsuitableScaleWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore::counterset.exceptions.UnsuitableScaleWarning"),
    pytest.mark.filterwarnings("ignore::counterset.exceptions.FewerCounterfactualsWarning"),
]


def ratios_and_amounts(count: int = 1000) -> pd.DataFrame:
    """A column that is 80 % between 0 and 1, and 20 % in the hundreds."""
    random = np.random.default_rng(3)
    is_amount = random.random(count) < 0.2
    debt = np.where(is_amount, random.uniform(100, 900, count), random.random(count))
    return pd.DataFrame({"debt": debt, "age": random.integers(20, 70, count)})


def low_debt(rows: pd.DataFrame) -> Any:
    return np.where(rows["debt"] < 0.4, "yes", "no")


def test_a_column_of_ratios_and_amounts_is_labelled_as_the_model_labels_it() -> None:
    # The ratios used to be rounded to 0 or 1 before the model was asked about them.
    X = ratios_and_amounts()
    explainer = DiverseExplainer(low_debt).fit(X)
    labels = explainer.explain(X.iloc[np.flatnonzero(X["debt"] > 0.4)[0]]).to_dict()["training"]
    counts = {each["label"]: each["rows"] for each in labels["labels"]}
    assert counts == pd.Series(low_debt(X)).value_counts().to_dict()


def test_a_ratio_a_count_and_an_amount_get_digits_of_their_own() -> None:
    X = ratios_and_amounts()
    explainer = DiverseExplainer(low_debt, constraints=Constraints(immutable=["age"])).fit(X)
    ratio = explainer.explain({"debt": 0.7312345, "age": 30})
    assert ratio.counterfactuals["debt"].tolist() == [0.39]
    amount = DiverseExplainer(lambda rows: rows["debt"] > 250).fit(X)
    assert amount.explain({"debt": 0.5, "age": 30}).counterfactuals["debt"].tolist()[0] == 251


@pytest.mark.parametrize("parameters", [{}, {"constraints": Constraints(immutable=["age"])}])
def test_without_a_search_training_rows_are_returned_as_they_are(parameters: Any) -> None:
    X = ratios_and_amounts()
    explainer = explainer_by_steps(low_debt, search=None, sparse=False, **parameters).fit(X)
    declined = X[low_debt(X) == "no"][:20]
    for explanation in explainer.explain_many(declined):
        debts = explanation.counterfactuals["debt"]
        assert debts.isin(X["debt"]).all()
        if not parameters:
            rows = explanation.counterfactuals.reset_index(drop=True)
            assert len(rows.merge(X, on=["debt", "age"])) >= len(rows)


def test_what_a_dense_search_proposes_is_on_the_steps_where_the_model_accepts_that() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.random(400) * 1000, "b": random.random(400) * 1000})
    explainer = explainer_by_steps(lambda rows: rows["a"] + rows["b"] > 900, sparse=False).fit(X)
    for explanation in explainer.explain_many(X[X["a"] + X["b"] < 900][:20]):
        values = explanation.counterfactuals.to_numpy()
        own = explanation.input.to_numpy()
        assert np.all((values == np.rint(values)) | (values == own))


def test_features_that_change_together_take_values_that_occur_together() -> None:
    # Learned steps used to round a rent to one that never occurs with that region.
    random = np.random.default_rng(1)
    region = random.integers(0, 6, 600)
    X = pd.DataFrame(
        {
            "region": np.array(list("abcdef"))[region],
            "rent": 300.7 + 97.3 * region + 1000 * (random.random(600) < 0.3),
            "income": random.uniform(1000, 5000, 600),
        }
    )
    known = set(zip(X["region"], X["rent"], strict=True))

    def enough(rows: pd.DataFrame) -> Any:
        return rows["income"] - 2 * rows["rent"] > 1500

    constraints = Constraints(together=[["region", "rent"]])
    explainer = DiverseExplainer(enough, constraints=constraints).fit(X)
    changed = 0
    for explanation in explainer.explain_many(X[~enough(X)][:40], if_none="ignore"):
        own = tuple(explanation.input[["region", "rent"]])
        for pair in explanation.counterfactuals[["region", "rent"]].itertuples(index=False):
            assert tuple(pair) == own or tuple(pair) in known
            changed += tuple(pair) != own
    assert changed > 20


def test_a_value_within_the_training_range_is_not_rounded_beyond_it() -> None:
    X = pd.DataFrame({"share": np.linspace(0.0312, 0.9987, 300)})
    explainer = DiverseExplainer(
        lambda rows: rows["share"] > 0.9951, schema=Schema(step={"share": 0.01}), anonymity=1
    ).fit(X)
    (option,) = explainer.explain({"share": 0.5}).counterfactuals["share"]
    assert 0.9951 < option <= 0.9987


def test_the_warning_about_sizes_is_given() -> None:
    with pytest.warns(UnsuitableScaleWarning, match="very different sizes"):
        DiverseExplainer(low_debt).fit(ratios_and_amounts())
