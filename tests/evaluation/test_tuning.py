"""Tuning: the whole grid is measured, and a good setting recommended."""

from __future__ import annotations

import numpy as np
import pytest

from counterset import AngleDiversity, DistanceDiversity, InvalidInputError
from counterset._base.arrays import Mask
from counterset.benchmark import tune
from counterset.evaluation.tuning import _from_ideal, _pareto


def line_model(rows: object) -> Mask:
    above: Mask = np.asarray(rows).sum(axis=1) > 1
    return above


def test_tuning_measures_the_whole_grid_and_recommends_a_pareto_optimal_setting() -> None:
    X = np.random.default_rng(0).random((300, 2))
    tuning = tune(line_model, X, X[:8], betas=[0, 0.5], gammas=[0.1, None], max_counterfactuals=3)
    assert len(tuning.table) == 2 * 2 * 2
    assert tuning.table["gamma"].isna().sum() == 4
    assert tuning.recommended["pareto"]
    best = tuning.explainer
    assert isinstance(best.diversity, AngleDiversity | DistanceDiversity)
    assert best.diversity.beta == tuning.recommended["beta"]
    assert best.max_counterfactuals == 3
    shown = tuning.to_table().frame
    assert shown[""].tolist()[0] == "recommended"
    assert len(shown) == tuning.table["pareto"].sum()


def test_pareto_and_the_ideal_on_a_toy_by_hand() -> None:
    costs = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    assert _pareto(costs).tolist() == [True, True, True, False, True]
    ideal = [1.0, np.sqrt(0.5), 1.0, np.sqrt(2), np.sqrt(0.5)]
    np.testing.assert_allclose(_from_ideal(costs), ideal)
    assert _from_ideal(np.ones((2, 2))).tolist() == [0, 0]


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        tune(line_model, np.eye(2), np.eye(2), filters=["colour"])
