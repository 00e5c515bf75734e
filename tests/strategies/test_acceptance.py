"""Which rows count as counterfactuals, and the labels that come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import explainer_by_steps
from support.toys import Recorder

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
    LineSearch,
    NoCounterfactualError,
)


def test_a_label_longer_than_those_of_the_training_rows_is_not_cut() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0]})

    def model(rows: pd.DataFrame) -> np.ndarray:
        return np.array(["not" if a > 5 else "no" if a > 1.5 else "si" for a in rows["a"]])

    explainer = DiverseExplainer.paper(model, max_counterfactuals=1, search=None).fit(frame)
    assert explainer.explain([9.0]).labels.tolist() == ["no"]


@pytest.mark.parametrize("labels", [("a", "b", "longer"), (0, 1, 2), (0, 1, "two"), (0.5, 1.5, 2)])
def test_a_class_that_no_training_row_has_comes_back_as_it_is(labels: tuple[Any, ...]) -> None:
    # Between the two classes of the training rows lies a third one, where the search ends.
    low, high, between = labels
    data = np.concatenate([np.linspace(0, 0.3, 5), np.linspace(0.7, 1, 5)])[:, None]

    def model(rows: Any) -> Any:
        kinds = np.where(rows[:, 0] < 0.4, 0, np.where(rows[:, 0] > 0.6, 1, 2))
        return pd.Series([(low, high, between)[k] for k in kinds]).to_numpy()

    explainer = DiverseExplainer.paper(model, search=LineSearch(0.01), max_counterfactuals=1).fit(
        data
    )
    if labels == (0.5, 1.5, 2):
        explanation = explainer.explain([0.1], interval=(1, 2))
    else:
        explanation = explainer.explain([0.1])
    assert explanation.labels.tolist() == [between]


def test_several_classes_that_no_training_row_has_are_told_apart() -> None:
    data = np.concatenate([np.full((5, 2), 0.5), [[0.9, 0.9]]]) + np.arange(6)[:, None] / 1000

    def model(rows: Any) -> Any:
        right, up = rows[:, 0] > 0.6, rows[:, 1] > 0.6
        return np.select([right & up, right, up], ["both", "right", "up"], "neither")

    explainer = DiverseExplainer.paper(model, max_counterfactuals=1, scale=None).fit(data)
    # The way to "both" leads through "up" from the one input, through "right" from the other.
    inputs = np.array([[0.5, 0.59], [0.59, 0.5]])
    assert [e.labels.tolist() for e in explainer.explain_many(inputs)] == [["up"], ["right"]]


class TestRowLimit:
    """What is asked on behalf of one input is limited."""

    X = np.random.default_rng(0).random((300, 6)).round(3)

    def explainer(self, **parameters: Any) -> tuple[DiverseExplainer, Recorder]:
        model = Recorder(lambda rows: rows.sum(axis=1) > 3)
        return explainer_by_steps(model, **parameters).fit(self.X), model

    @pytest.mark.parametrize("most", [1, 50, 400])
    @pytest.mark.parametrize("sparsify", [True, False])
    def test_the_model_is_asked_about_no_more_rows_and_answers_stay_valid(
        self, most: int, sparsify: bool
    ) -> None:
        explainer, model = self.explainer(max_model_rows=most, sparse=sparsify)
        inputs = self.X[self.X.sum(axis=1) < 2.8][:8]
        explainer.explain_many(inputs, if_none="ignore")  # what is learned once is not counted
        model.asked.clear()
        found = explainer.explain_many(inputs, if_none="ignore")
        returned = int(found.counts.sum())
        # The inputs themselves, and what is returned, are asked about in any case.
        assert model.rows <= len(inputs) * (most + 1) + returned
        for one in found:
            assert (one.values.sum(axis=1) > 3).all()

    def test_that_it_was_reached_is_said(self) -> None:
        explainer, _ = self.explainer(max_model_rows=40)
        x = self.X[self.X.sum(axis=1) < 2.8][0]
        told = "For 1 of 1 inputs the search ended at max_model_rows=40: they may have fewer"
        with pytest.warns(FewerCounterfactualsWarning, match=told):
            explainer.explain(x)
        stuck = Constraints(immutable=[f"x{i}" for i in range(5)], ranges={"x5": (0, 0.1)})
        with pytest.raises(NoCounterfactualError, match=r"ended at max_model_rows=40\. Allow"):
            explainer.explain(x, constraints=stuck)

    def test_a_limit_that_is_not_reached_changes_nothing(self) -> None:
        free, limited = self.explainer()[0], self.explainer(max_model_rows=10**6)[0]
        inputs = self.X[:20]
        one = free.explain_many(inputs, if_none="ignore")
        other = limited.explain_many(inputs, if_none="ignore", memory=1)  # one row a block
        np.testing.assert_array_equal(one.to_frame(), other.to_frame())

    @pytest.mark.parametrize("most", [0, 2.5, "many"])
    def test_what_is_no_number_of_rows_is_refused(self, most: Any) -> None:
        with pytest.raises(InvalidInputError, match="max_model_rows"):
            self.explainer(max_model_rows=most)
