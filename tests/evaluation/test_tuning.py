"""Tuning, and the tables that show it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    DistanceDiversity,
    DiverseExplainer,
    InvalidInputError,
    LineSearch,
    NearestCandidates,
    NoCounterfactualError,
    Paper,
    evaluate,
)
from counterset._base.arrays import Mask
from counterset.evaluation.tuning import ReportTable
from counterset.paper import tune
from counterset.strategies.ranking import Cutoff


def line_model(rows: object) -> Mask:
    above: Mask = np.asarray(rows).sum(axis=1) > 1
    return above


def test_tuning_measures_the_whole_grid_and_recommends_a_pareto_optimal_setting() -> None:
    X = np.random.default_rng(0).random((300, 2))
    tuning = tune(
        line_model, X, X[:8], strategy=Paper(), betas=[0, 0.5], gammas=[0.1, None],
        max_counterfactuals=3,
    )  # fmt: skip
    assert len(tuning.table) == 2 * 2 * 2
    assert tuning.table["gamma"].isna().sum() == 4
    assert tuning.recommended["pareto"]
    best = tuning.explainer
    assert isinstance(best.strategy, Paper)
    assert isinstance(best.strategy.diversity, AngleDiversity | DistanceDiversity)
    assert best.strategy.diversity.beta == tuning.recommended["beta"]
    assert best.max_counterfactuals == 3
    shown = tuning.to_table().frame
    assert shown[""].tolist()[0] == "recommended"
    assert len(shown) == tuning.table["pareto"].sum()


def test_the_pareto_front_and_the_distance_to_the_ideal_are_those_of_a_literal_count() -> None:
    X = np.random.default_rng(1).random((200, 3))
    tuning = tune(
        line_model, X, X[:10], strategy=Paper(), betas=[0, 0.2, 0.5], gammas=[0.1, 0.001, None]
    )
    table = tuning.table
    signs = {"k_distance": 1, "k_diversity": -1, "set_distance_max": 1}
    costs = [[sign * row[name] for name, sign in signs.items()] for _, row in table.iterrows()]

    def dominates(a: list[float], b: list[float]) -> bool:
        return all(p <= q for p, q in zip(a, b, strict=True)) and a != b

    front = [not any(dominates(other, cost) for other in costs) for cost in costs]
    assert table["pareto"].tolist() == front
    assert {True, False} == set(front)
    columns = list(zip(*costs, strict=True))
    squares = [
        [((value - min(column)) / (max(column) - min(column))) ** 2 for value in column]
        for column in columns
    ]
    ideal = [math.sqrt(sum(parts)) for parts in zip(*squares, strict=True)]
    np.testing.assert_allclose(table["from_ideal"], ideal)
    assert tuning.recommended["from_ideal"] == min(table["from_ideal"])


@pytest.mark.filterwarnings("ignore::counterset.exceptions.FewerCounterfactualsWarning")
def test_step_2_and_the_number_of_options_are_tried_too() -> None:
    X = np.random.default_rng(0).random((300, 2))
    candidates: list[Cutoff] = [NearestCandidates(40), CandidatesWithin(0.3)]
    tuning = tune(
        line_model, X, X[:6], strategy=Paper(), filters=["angle"], betas=[0.2], gammas=[0.1],
        candidates=candidates, counts=[1, 3],
    )  # fmt: skip
    assert len(tuning.table) == 4
    for (step_2, count), row in zip(
        product(candidates, [1, 3]), tuning.table.to_dict("records"), strict=True
    ):
        one = DiverseExplainer(
            line_model,
            strategy=Paper(step_2, AngleDiversity(0.2), LineSearch(0.1)),
            max_counterfactuals=count,
        )
        alone = evaluate(one.fit(X), X[:6], repeats=1)
        assert (row["candidates"], row["max_counterfactuals"]) == (repr(step_2), count)
        assert row["k_distance"] == pytest.approx(alone["k_distance"].mean())
        assert row["counterfactuals"] <= count
    best = tuning.explainer
    assert isinstance(best.strategy, Paper)
    assert repr(best.strategy.candidates) == tuning.recommended["candidates"]
    assert best.max_counterfactuals == tuning.recommended["max_counterfactuals"]
    shown = tuning.to_table().frame
    assert list(shown.columns)[:3] == ["candidates", "max_counterfactuals", "filter"]


def test_a_strategy_without_step_2_cannot_try_it() -> None:
    with pytest.raises(InvalidInputError, match="step 2 of the strategy Paper, which Nearest has"):
        tune(line_model, np.eye(2), np.eye(2), candidates=[CandidatesWithin(0.3)])
    with pytest.raises(InvalidInputError, match="counts"):
        tune(line_model, np.eye(2), np.eye(2), counts=[0])


def test_what_is_the_same_for_all_settings_does_not_count() -> None:
    X = np.random.default_rng(0).random((50, 2))
    tuning = tune(line_model, X, X[:3], filters=["angle"], betas=[0.5, 0.5], gammas=[0.1])
    assert tuning.table["from_ideal"].tolist() == [0, 0]
    assert tuning.table["pareto"].all()


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        tune(line_model, np.eye(2), np.eye(2), filters=["colour"])


def test_a_grid_without_settings_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no setting to try"):
        tune(line_model, np.eye(2), np.eye(2), betas=[])


def test_a_regression_is_tuned_for_an_interval() -> None:
    X = np.random.default_rng(0).random((200, 2))
    tuning = tune(
        lambda rows: np.asarray(rows).sum(axis=1), X, X[:6], betas=[0], gammas=[0.1, 0.01],
        interval=(1.5, 2),
    )  # fmt: skip
    assert (tuning.table["validity"] == 1).all()
    assert tuning.recommended["pareto"]


def test_a_class_is_tuned_for() -> None:
    X = np.random.default_rng(0).random((200, 2))
    tuning = tune(line_model, X, X[:6], betas=[0], gammas=[0.1], target=True)
    apart = tune(line_model, X, X[:6][~line_model(X[:6])], betas=[0], gammas=[0.1])
    assert tuning.table["k_distance"].tolist() == apart.table["k_distance"].tolist()


def test_rows_that_all_meet_the_goal_leave_nothing_to_compare() -> None:
    # The first setting was recommended.
    X = np.random.default_rng(0).random((200, 2))
    with pytest.raises(NoCounterfactualError, match="there is nothing to compare"):
        tune(line_model, X, X[line_model(X)], betas=[0], gammas=[0.1], target=True)


@pytest.fixture
def table() -> ReportTable:
    frame = pd.DataFrame({"what | who": ["a_b & c", "{x}\\y"], "valid": ["50 %", "1 ± 2"]})
    return ReportTable("odd", "Odd signs", frame, note="A note.")


def test_the_note_stands_below_the_text(table: ReportTable) -> None:
    lines = table.to_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("Odd signs", "A note.", 5)


def test_a_bar_does_not_break_markdown(table: ReportTable) -> None:
    lines = table.to_markdown().splitlines()
    assert lines[2:4] == ["| what / who | valid |", "|---|---|"]
    assert lines[-1] == "A note."


def test_signs_that_mean_something_in_latex_are_escaped(table: ReportTable) -> None:
    latex = table.to_latex()
    assert r"a\_b \& c & 50 \% \\" in latex
    assert r"\{x\}/y & 1 $\pm$ 2 \\" in latex


def test_a_table_without_rows_says_so() -> None:
    assert ReportTable("none", "Nothing", pd.DataFrame()).to_text() == "Nothing\n(no rows)"
