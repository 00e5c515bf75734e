"""Checks of robustness on pairs of inputs."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset import DiverseExplainer, ExhaustiveExplainer, InvalidInputError
from counterset.evaluation import empirical_robustness, weak_robustness
from counterset.exact import Answer, Box

RNG = np.random.default_rng(0)
X = RNG.random((150, 2))
MODEL = LogisticRegression(C=100).fit(X, X.sum(axis=1) > 1)
PAIRS = [(x, np.clip(x + 0.01 * RNG.normal(size=2), 0, 1)) for x in X[:6]]


def far_out(rows: Any) -> np.ndarray:
    return np.asarray(np.abs(np.asarray(rows)[:, 0]) >= 1)


def test_the_exhaustive_explainer_keeps_strong_counterfactuals() -> None:
    explainer = ExhaustiveExplainer(MODEL, 0.2, "l2", Box(-1, 2))
    checked = weak_robustness(explainer, PAIRS, 0.1)
    assert checked.holds is Answer.YES
    assert checked.pairs == checked.kept > 0


def test_a_function_that_reports_the_nearest_alone_loses_it() -> None:
    def nearest_end(x: Any) -> np.ndarray:
        return np.array([[1.0 if x[0] > 0 else -1.0]])

    pairs = [([-0.01], [0.01]), ([0.01], [0.02]), ([0.5], [-0.5]), ([0.0], [1.5])]
    points = np.array([[-1.0], [1.0]])
    checked = weak_robustness(nearest_end, pairs, 0.1, model=far_out, distance="l1", domain=points)
    assert checked.holds is Answer.NO
    assert (checked.pairs, checked.kept, len(checked.lost)) == (2, 1, 1)
    with pytest.raises(InvalidInputError, match="does not hold the model"):
        weak_robustness(nearest_end, pairs, 0.1)
    with pytest.raises(InvalidInputError, match="must return rows, one per counterfactual"):
        empirical_robustness(lambda x: [1.0], pairs, 0.1, model=far_out, distance="l1")


def test_only_close_pairs_of_one_class_that_are_apart_count() -> None:
    def nearest_end(x: Any) -> np.ndarray:
        return np.array([[1.0 if x[0] > 0 else -1.0]])

    counted = ([0.05], [0.1])
    others = [([0.1], [0.2]), ([0.1], [0.25]), ([0.97], [1.01]), ([0.1], [0.1])]  # eps, more, ...
    for pairs, n_pairs in (([counted], 1), (others, 0), ([*others, counted], 1)):
        points = np.array([[-1.0], [1.0], [0.0]])
        checked = weak_robustness(
            nearest_end, pairs, 0.1, model=far_out, distance="l1", domain=points
        )
        assert (checked.pairs, checked.kept) == (n_pairs, n_pairs)
        estimate = empirical_robustness(nearest_end, pairs, 0.1, model=far_out, distance="l1")
        assert len(estimate.ratios) == n_pairs


def test_the_estimate_takes_the_larger_of_the_set_distances() -> None:
    def two_or_three(x: Any) -> np.ndarray:
        return np.array([[1.0], [2.0]]) if x[0] > 0 else np.array([[1.0], [2.0], [4.0]])

    pair = [([-0.05], [0.05])]
    estimate = empirical_robustness(two_or_three, pair, 0.2, model=far_out, distance="l1")
    assert estimate.k == pytest.approx(0.5 * (0 + 2) / 0.1)  # the mean would be a third of it
    assert estimate.worst == pair[0]


def test_what_bounds_leave_open_is_unknown() -> None:
    def reports_one_end(x: Any) -> np.ndarray:
        return np.array([[1.2]]) if x[0] > 0 else np.array([[-1.2]])

    checked = weak_robustness(
        reports_one_end, [([-0.01], [0.01])], 0.1, model=far_out, distance="l1", domain=Box(-2, 2)
    )
    # Searched from above only, a counterfactual far beyond the best found is not strong.
    assert checked.pairs == 1
    assert checked.holds is Answer.YES
    open_ended = weak_robustness(
        lambda x: np.array([[1.0]]) if x[0] > 0 else np.array([[-1.0]]),
        [([-0.01], [0.01])],
        0.1,
        model=far_out,
        distance="l1",
        domain=Box(-2, 2),
    )
    assert open_ended.holds is Answer.UNKNOWN
    assert open_ended.undecided == 1


def test_frames_and_fitted_explainers_are_checked_in_their_own_distance() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = LogisticRegression(C=100).fit(frame, X.sum(axis=1) > 1)
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2).fit(frame)
    inner = frame[(frame > 0.1).all(axis=1) & (frame < 0.9).all(axis=1)]
    pairs = [(inner.iloc[i], inner.iloc[i] + 0.001) for i in range(3)]
    estimate = empirical_robustness(explainer, pairs, 0.1)
    assert estimate.k == max(estimate.ratios)
    assert estimate.worst is not None
    checked = weak_robustness(explainer, pairs, 0.1)
    assert checked.pairs == 3
    assert empirical_robustness(explainer, pairs, 1e-9) == type(estimate)(0.0, (), None)


@pytest.mark.parametrize("pairs", [None, [X[0]], [(X[0],)], [3]])
def test_pairs_that_are_none_are_refused(pairs: Any) -> None:
    explainer = ExhaustiveExplainer(MODEL, 0.2, "l2", Box(-1, 2))
    with pytest.raises(InvalidInputError, match="list of pairs of inputs"):
        weak_robustness(explainer, pairs, 0.1)
