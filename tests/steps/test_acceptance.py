"""Which rows count as counterfactuals, and the labels that come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterset import DiverseExplainer, LineSearch


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
