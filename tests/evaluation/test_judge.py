"""Sets are judged by what was asked for: a class, a probability, an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.shifting_noise import Shift

from counterset import DiverseExplainer, InvalidInputError, NoCounterfactualError, evaluate
from counterset._base.arrays import Matrix


# What is wanted: y = 10 x at least, or a class by the same line.
def line(rows: Any) -> Any:
    return 10 * np.asarray(rows, dtype=float)[:, 0]


def level(rows: Any) -> Any:
    return np.array(["low", "middle", "high"])[np.digitize(line(rows), [40, 70])]


class Sure:
    """The class of the line, the surer the farther from 5; knows its probability."""

    classes_ = np.array([0, 1])

    def predict(self, rows: Any) -> Any:
        return (line(rows) > 5).astype(int)

    def predict_proba(self, rows: Any) -> Any:
        high = np.clip(line(rows) / 10, 0, 1)
        return np.stack([1 - high, high], axis=1)


class Stubborn:
    """An explainer that gives one set whatever it is asked for, and records what that was."""

    def __init__(self, *S: float) -> None:
        self.S = np.array([[each, 0.0] for each in S])
        self.asked: list[dict[str, Any]] = []

    def explain_many(
        self, X: Matrix, target: Any = None, target_probability: Any = None, interval: Any = None
    ) -> list[Matrix]:
        self.asked.append(
            {"target": target, "target_probability": target_probability, "interval": interval}
        )
        return [self.S for _ in X]


GRID = np.stack([np.linspace(0, 1, 50), np.linspace(1, 0, 50)], axis=1)
WIDE = GRID * 10


def test_a_regression_is_evaluated_for_an_interval() -> None:
    # There was no way to say which prediction is wanted, so a regression could not be evaluated.
    explainer = DiverseExplainer.paper(line, diversity=None, max_counterfactuals=3).fit(GRID)
    table = evaluate(explainer, GRID[[5, 20]], interval=(6, 8), repeats=2)
    assert table["same_class"].all()
    assert (table["validity"] == 1).all()
    assert (table["counterfactuals"] == 3).all()


def test_validity_is_judged_by_the_interval() -> None:
    # Another prediction than the input's is not enough.
    table = evaluate(
        Stubborn(0.5, 0.6, 0.7, 0.95), GRID[:1], interval=(6, 8), repeats=1, model=line,
        training=GRID,
    )  # fmt: skip
    assert table["validity"].tolist() == [0.5]


def test_validity_is_judged_by_the_target() -> None:
    explainer = Stubborn(5.0, 8.0, 9.0, 6.0)  # middle, high, high, middle
    ask: dict[str, Any] = {"model": level, "training": WIDE, "repeats": 1}
    assert evaluate(explainer, WIDE[:1], **ask)["validity"].tolist() == [1]
    assert evaluate(explainer, WIDE[:1], target="high", **ask)["validity"].tolist() == [0.5]
    both = evaluate(explainer, WIDE[:1], target=["high", "middle"], **ask)
    assert both["validity"].tolist() == [1]
    assert [asked["target"] for asked in explainer.asked[2:4]] == ["high", "high"]


def test_validity_is_judged_by_the_probability() -> None:
    explainer = Stubborn(0.6, 0.7, 0.9, 0.2)
    ask: dict[str, Any] = {"model": Sure(), "training": GRID, "repeats": 1}
    table = evaluate(explainer, GRID[:1], target_probability=0.7, **ask)
    assert table["validity"].tolist() == [0.5]
    table = evaluate(explainer, GRID[:1], target=1, target_probability=0.9, **ask)
    assert table["validity"].tolist() == [0.25]


def test_a_copy_counts_for_an_interval_if_it_lies_outside_as_the_input_does() -> None:
    inputs = np.array([[0.1, 0.0], [0.55, 0.0], [0.85, 0.0]])
    table = evaluate(
        Stubborn(0.7), inputs, interval=(6, 8), repeats=1, noise=Shift(0.1), model=line,
        training=GRID,
    )  # fmt: skip
    # 0.1 moves to 0.2, 0.55 into the interval, 0.85 to 0.95.
    assert table["same_class"].tolist() == [True, False, True]


def test_a_copy_that_meets_the_goal_does_not_count_though_it_has_the_class() -> None:
    # Both are of class 1, but the copy is sure enough of it.
    table = evaluate(
        Stubborn(0.9), [[0.6, 0.0]], target=1, target_probability=0.65, repeats=1,
        noise=Shift(0.1), model=Sure(), training=GRID,
    )  # fmt: skip
    assert table["same_class"].tolist() == [False]
    assert table["validity"].tolist() == [1]


def test_an_input_that_meets_the_goal_already_has_a_row_without_figures() -> None:
    explainer = DiverseExplainer.paper(level, diversity=None, max_counterfactuals=2).fit(WIDE)
    inputs = WIDE[[45, 5, 46, 25]]  # high, low, high, middle
    table = evaluate(explainer, inputs, target="high", repeats=2)
    assert table["input"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert table["repeat"].tolist() == [1, 2] * 4
    there = table[table["input"].isin([0, 2])]
    assert not there["same_class"].any()
    assert (there["counterfactuals"] == 0).all()
    figures = there.drop(columns=["input", "repeat", "same_class", "counterfactuals"])
    assert figures.isna().to_numpy().all()
    others = table[table["input"].isin([1, 3])]
    assert (others["validity"] == 1).all()
    # They are what they would be without the inputs that were left out.
    alone = evaluate(explainer, inputs[[1, 3]], target="high", repeats=2)
    columns = ["validity", "k_distance", "k_diversity", "set_distance_max", "input_distance"]
    np.testing.assert_array_equal(others[columns], alone[columns])


def test_inputs_that_all_meet_the_goal_are_no_error() -> None:
    explainer = DiverseExplainer.paper(level, diversity=None).fit(WIDE)
    table = evaluate(explainer, WIDE[45:47], target="high", repeats=1)
    assert table["counterfactuals"].tolist() == [0, 0]
    assert table["validity"].isna().all()


def test_a_function_that_takes_the_goal_gets_it() -> None:
    explainer = DiverseExplainer.paper(level, diversity=None).fit(WIDE)
    ask: dict[str, Any] = {"target": "high", "repeats": 1, "model": level, "training": WIDE}
    one = evaluate(explainer.explain, WIDE[:3], **ask)
    pd.testing.assert_frame_equal(
        one.drop(columns="seconds"),
        evaluate(explainer, WIDE[:3], **ask).drop(columns="seconds"),
    )


def test_a_goal_that_no_training_row_reaches_is_refused() -> None:
    # It would look like an explainer that finds nothing.
    explainer = DiverseExplainer.paper(level, diversity=None).fit(WIDE)
    with pytest.raises(NoCounterfactualError, match="No training row is predicted 'hihg'"):
        evaluate(explainer, WIDE[:2], target="hihg")
    regression = DiverseExplainer.paper(line, diversity=None).fit(GRID)
    with pytest.raises(NoCounterfactualError, match=r"No training row is predicted in \(50, 60\)"):
        evaluate(regression, GRID[:2], interval=(50, 60))
    with pytest.raises(InvalidInputError, match="Pass training="):
        evaluate(Stubborn(1.0), WIDE[:2], target="high", model=level, distance=explainer.distance_)


def test_a_regression_without_an_interval_is_refused() -> None:
    for explainer in (DiverseExplainer.paper(line).fit(GRID), Stubborn(1.0)):
        with pytest.raises(InvalidInputError, match="Pass the range you want"):
            evaluate(explainer, GRID[:2], model=line, training=GRID)


def test_a_probability_needs_a_model_that_knows_it() -> None:
    explainer = DiverseExplainer.paper(level, diversity=None).fit(WIDE)
    with pytest.raises(InvalidInputError, match="needs a model with predict_proba"):
        evaluate(explainer, WIDE[:2], target="high", target_probability=0.9)
    with pytest.raises(InvalidInputError, match="target_probability must be between 0 and 1"):
        evaluate(explainer, WIDE[:2], target_probability=7)
