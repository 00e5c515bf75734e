"""The plot of stability under noise."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.displays import mixed

from counterset import Constraints, DiverseExplainer, InvalidInputError, evaluate
from counterset.plots import StabilityDisplay


def test_an_explanation_is_measured_as_evaluate_does() -> None:
    explanation, explainer = mixed()
    display = StabilityDisplay.from_explanation(explanation, explainer, repeats=4)
    row = explanation.coded.table.decode(
        explanation.coded.input[None, :], pd.Index([explanation.index])
    )
    assert display.title.startswith("Classified as no: 4 options lead to yes. For ")
    expected = evaluate(explainer, row, repeats=4, random_state=0)
    columns = ["input_distance", "set_distance_mean", "set_distance_max"]
    pd.testing.assert_frame_equal(display.table[columns], expected[columns])


def test_copies_are_asked_for_the_same() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    tight = Constraints(immutable=["age", "home"], ranges={"score": (300, 800)})
    asked: dict[str, Any] = {"target": ["yes"], "constraints": tight}
    narrow = DiverseExplainer(explainer.model, max_counterfactuals=1).fit(
        explainer.training_.table.decode(explainer.training_.pool.matrix)
    )
    (other,) = narrow.explain_many(row, **asked)
    display = StabilityDisplay.from_explanation(other, narrow, repeats=3)
    expected = evaluate(narrow, row, repeats=3, **asked)
    columns = ["input_distance", "set_distance_mean", "set_distance_max", "k_distance"]
    pd.testing.assert_frame_equal(display.table[columns], expected[columns])


def test_copies_of_a_regression_are_asked_for_the_interval() -> None:
    X = np.random.default_rng(0).random((200, 2))
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1), max_counterfactuals=1).fit(X)
    explanation = explainer.explain(X[0], interval=(1.5, 2))
    display = StabilityDisplay.from_explanation(explanation, explainer, repeats=2)
    expected = evaluate(explainer, X[:1], interval=(1.5, 2), repeats=2)
    assert display.table["k_distance"].tolist() == expected["k_distance"].tolist()


def test_marks_stand_at_the_distances_in_the_axes_that_are_passed() -> None:
    table = pd.DataFrame({
        "input_distance": [0.1, 0.2, np.nan],
        "set_distance_mean": [0.05, 0.1, np.nan],
        "set_distance_max": [0.3, 0.2, np.nan],
    })  # fmt: skip
    _, ax = plt.subplots()
    display = StabilityDisplay.from_evaluation(table).plot(ax)
    assert display.ax_ is ax
    largest, mean = ax.collections
    np.testing.assert_array_equal(largest.get_offsets(), [[0.1, 0.3], [0.2, 0.2]])
    np.testing.assert_array_equal(mean.get_offsets(), [[0.1, 0.05], [0.2, 0.1]])
    assert ax.get_legend() is None
    assert ax.get_title(loc="left").replace("\n", " ") == (
        "For 2 of 2 slightly changed copies, the options change less than the input"
    )
    plt.close(display.figure_)


def test_another_table_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"counterset\.evaluate"):
        StabilityDisplay.from_evaluation(pd.DataFrame({"a": [1]}))


def test_a_table_without_copies_is_refused() -> None:
    names = ["input_distance", "set_distance_mean", "set_distance_max"]
    with pytest.raises(InvalidInputError, match="nothing to draw"):
        StabilityDisplay.from_evaluation(pd.DataFrame({name: [np.nan] for name in names}))
