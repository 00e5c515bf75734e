"""What constraints leave of a box, for one input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.toys_exact import LINEAR

from counterset import Constraints, InvalidInputError, NoCounterfactualError
from counterset.exact import Box, counterfactual_distance, counterfactual_distances
from counterset.exact.constraints import Feasible, most_of
from counterset.exact.query import DistanceQuery
from counterset.exceptions import UnsupportedModelError

FRAME = pd.DataFrame(
    {
        "count": [0, 2, 4, 6],
        "share": [0.0, 0.25, 0.5, 1.0],
        "kind": ["p", "q", "r", "p"],
    }
)


def first(rows: Any) -> Any:
    return rows["count"] > 3


def feasible_of(x: int, **constraints: Any) -> Feasible:
    query = DistanceQuery.of(first, "l1", Box.of(FRAME), constraints=Constraints(**constraints))
    return query.problem_of(FRAME.iloc[[x]]).feasible


def test_constraints_on_one_feature_narrow_its_bounds() -> None:
    feasible = feasible_of(
        1, increase_only=["count"], max_increase={"count": 2.5}, ranges={"share": (0.3, None)}
    )
    assert (feasible.low[0], feasible.high[0]) == (2, 4)
    assert (feasible.low[1], feasible.high[1]) == (0.3, 1.0)  # the input itself lies outside
    fixed = feasible_of(1, immutable=["count", "kind"])
    assert (fixed.low[0], fixed.high[0]) == (2, 2)
    assert fixed.values[2].tolist() == [1.0]


def test_values_and_groups_are_what_the_other_constraints_leave() -> None:
    feasible = feasible_of(
        1,
        allowed={"share": [1.0, 0.5, 0.1], "kind": ["q", "p"]},
        ranges={"share": (0.2, None)},
        together=[["count", "kind"]],
    )
    assert feasible.values[1].tolist() == [0.5, 1.0]
    (group,) = feasible.groups
    # (4, "r") is not allowed.
    assert sorted(map(tuple, group.tuples.tolist())) == [(0.0, 0.0), (2.0, 1.0), (6.0, 0.0)]
    assert feasible.values[0].tolist() == [0.0, 2.0, 6.0]


def test_no_value_left_is_a_proof() -> None:
    kept = Constraints(increase_only=["count"], ranges={"count": (0, 1)})
    bounds = counterfactual_distance(first, FRAME.iloc[[1]], "l1", Box.of(FRAME), constraints=kept)
    assert bounds.none_exists
    assert bounds.exact
    assert bounds.method == "the constraints leave no value for 'count'"
    assert repr(bounds).startswith("no counterfactual exists (the constraints leave no value")


def test_single_precision_holds_no_more_than_the_bounds() -> None:
    frame = FRAME.astype({"share": np.float32})
    query = DistanceQuery.of(
        first, "l1", Box.of(frame), constraints=Constraints(ranges={"share": (0.1, 0.7)})
    )
    feasible = query.problem_of(frame.iloc[[0]]).feasible
    for end in (feasible.low[1], feasible.high[1]):
        assert 0.1 <= end <= 0.7
        assert np.float32(end) == end


def test_below_zero_whole_numbers_are_at_minus_one() -> None:
    strict, loose = (
        DistanceQuery.of(first, "l1", Box.of(FRAME), constraints=Constraints(relations=[text]))
        .problem_of(FRAME.iloc[[0]])
        .feasible.relations[0]
        for text in ("count < 5", "count <= 5")
    )
    low, high = np.zeros(3), np.ones(3)
    whole = np.array([True, False, True])
    assert most_of(strict, whole, low, high) == pytest.approx(-1)
    assert 0 <= most_of(loose, whole, low, high) < 1e-9
    assert 0 <= most_of(strict, ~whole, low, high) < 1e-9


def test_values_that_occur_together_need_rows() -> None:
    kept = Constraints(together=[["x0", "x1"]])
    with pytest.raises(InvalidInputError, match=r"domain=Box\.of\(X\)"):
        counterfactual_distance(lambda X: X[:, 0] > 0, [0.0, 0.0], constraints=kept)


def test_what_no_solver_considers_is_named_or_refused() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = np.digitize(X.sum(axis=1), [0.7, 1.3])
    model = LogisticRegression(C=50).fit(X, y)
    x = X[y == 0][0]
    asked: dict[str, Any] = {"target": 2, "target_probability": 0.8, "domain": Box(0, 1)}
    bounds = counterfactual_distance(model, x, **asked)
    assert not bounds.exact
    assert bounds.reason == "the lower bound does not consider target_probability=0.8"
    assert 0 < bounds.lower < bounds.upper
    assert model.predict_proba([bounds.witness])[0, 2] >= 0.8
    with pytest.raises(UnsupportedModelError, match=r"considers target_probability=0\.8"):
        counterfactual_distance(model, x, method="exact", **asked)


def test_many_inputs_have_a_goal_and_constraints_too() -> None:
    rows = FRAME.iloc[[0, 1]]
    kept = Constraints(immutable=["kind"], max_increase={"count": 6})
    many = counterfactual_distances(first, rows, "l1", FRAME, target=True, constraints=kept)
    assert many.upper.tolist() == [7.0, np.inf]
    assert many.exact.all()


def test_the_goal_is_checked_against_the_model() -> None:
    with pytest.raises(NoCounterfactualError, match="maybe"):
        counterfactual_distance(LINEAR, [0.2, 0.2], target="maybe")
    with pytest.raises(InvalidInputError, match="not both"):
        counterfactual_distance(LINEAR, [0.2, 0.2], target=True, interval=(0, 1))
    with pytest.raises(InvalidInputError, match="Pass a target class instead"):
        counterfactual_distance(lambda X: np.full(len(X), "a"), [0.2], interval=(0, 1))
    with pytest.raises(InvalidInputError, match="already"):
        counterfactual_distance(LINEAR, [0.2, 0.2], target=False)
    with pytest.raises(InvalidInputError, match="constraints must be Constraints"):
        counterfactual_distance(LINEAR, [0.2, 0.2], constraints={"immutable": ["x0"]})  # type: ignore[arg-type]
