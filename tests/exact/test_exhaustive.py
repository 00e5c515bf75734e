"""The exhaustive explainer: what it lists, and when it gives up."""

from typing import Any

import numpy as np
import pytest
from support.toys_exact import ball

from counterset import Constraints, ExhaustiveExplainer, InvalidInputError
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import Answer, Box, Grid
from counterset.exceptions import (
    ModelError,
    NoCounterfactualExistsError,
    OutOfTimeError,
    TooManyCounterfactualsError,
)


def test_the_answer_is_unknown_where_only_a_search_is_possible() -> None:
    explainer = ExhaustiveExplainer(ball, 0.1, "l2", Box(-1.5, 1.5))
    assert explainer.contains([0.0, 0.0], [1.01, 0.0]) is Answer.UNKNOWN
    assert explainer.contains([0.0, 0.0], [1.4, 1.4]) is Answer.NO
    assert explainer.contains([0.0, 0.0], [0.5, 0.0]) is Answer.NO  # classified alike
    assert explainer.is_strong([0.0, 0.0], [0.5, 0.0]) is Answer.NO
    assert explainer.counterfactual_distance([0.0, 0.0]).lower == 0


def test_safety_is_of_counterfactuals_of_the_domain() -> None:
    kept, grid = Constraints(immutable=["x1"]), Grid([[0, 1, 2], [0, 1]])
    explainer = ExhaustiveExplainer(ball, 0.1, "l2", grid, constraints=kept)
    assert explainer.safety([0.0, 0.0], [2.0, 0.0]) == pytest.approx(0.1)
    for c in ([0.5, 0.0], [1.0, 0.0], [2.0, 1.0]):
        with pytest.raises(InvalidInputError, match="no counterfactual of x"):
            explainer.safety([0.0, 0.0], c)


def test_a_grid_is_explained_up_to_epsilon_only() -> None:
    grid = Grid([np.arange(-20, 21) / 10] * 2)
    explanation = ExhaustiveExplainer(ball, 0.25, "l1", grid).explain([0.0, 0.0])
    assert explanation.distances[0] == pytest.approx(1.1)
    assert explanation.distances[-1] <= 1.35 + 1e-9
    assert (ball(explanation.values) == "B").all()
    certificate = explanation.certificate
    assert certificate is not None
    assert certificate.safety is not None
    assert certificate.safety[0] == pytest.approx(0.25)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.25, 1.0])
@pytest.mark.parametrize("distance", [L1(), L2(), LInf(), L0(), L1([1, 3]), L2([2, 0.5])])
def test_no_point_of_a_grid_farther_than_epsilon_past_the_nearest_is_ever_built(
    distance: Distance, epsilon: float
) -> None:
    asked: list[np.ndarray] = []

    def watched(X: Any) -> np.ndarray:
        asked.extend(np.asarray(X))
        return ball(X)

    axis = np.arange(-60, 61) / 20
    x = np.array([0.123, -0.3])
    explanation = ExhaustiveExplainer(watched, epsilon, distance, Grid([axis, axis])).explain(x)
    nearest = explanation.distances[0]
    lengths = distance(x, np.array(asked))[0]
    assert lengths.max() <= nearest + epsilon + 1e-8
    # Each of them once, besides the input, and none of them left out.
    points = np.array([[a, b] for a in axis for b in axis])
    within = points[distance(x, points)[0] <= nearest + epsilon + 1e-12]
    others = {tuple(row) for row in asked if not np.array_equal(row, x)}
    assert others == set(map(tuple, within))
    assert len(asked) == len(within) + 1
    assert len(explanation) == (ball(within) == "B").sum()


def test_the_input_is_never_its_own_counterfactual() -> None:
    calls = []

    def fickle(X: Any) -> np.ndarray:
        calls.append(len(X))
        return np.full(len(X), len(calls))

    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ModelError, match="classified the input in two ways"):
        ExhaustiveExplainer(fickle, 0.1, domain=points).explain(points[0])


def test_a_grid_that_takes_too_long_is_given_up_with_the_count_so_far() -> None:
    explainer = ExhaustiveExplainer(
        lambda X: np.zeros(len(X)), 0.1, "l1", Grid([np.arange(10)] * 9), time_limit=0.05
    )
    with pytest.raises(OutOfTimeError, match="0 counterfactuals were found so far") as caught:
        explainer.explain(np.zeros(9))
    assert caught.value.count == 0
    assert isinstance(caught.value, TimeoutError)


def test_what_the_exhaustive_explainer_refuses() -> None:
    with pytest.raises(InvalidInputError, match="infinitely many"):
        ExhaustiveExplainer(ball, 0.1, domain=Box(-1, 1)).explain([0.0, 0.0])
    with pytest.raises(InvalidInputError, match="c holds something that is not a number"):
        ExhaustiveExplainer(ball, 0.1, domain=Box(-1, 1)).contains([0.0, 0.0], ["a", "b"])
    with pytest.raises(InvalidInputError, match="epsilon"):
        ExhaustiveExplainer(ball, -0.1, domain=Box(-1, 1)).contains([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(NoCounterfactualExistsError, match="whole domain"):
        ExhaustiveExplainer(ball, 0.1, domain=[[0.1, 0.1]]).explain([0.0, 0.0])
    crowded = ExhaustiveExplainer(
        ball, 9.0, "l1", Grid([np.arange(-9, 10)] * 2), max_counterfactuals=10
    )
    with pytest.raises(TooManyCounterfactualsError, match="so far") as caught:
        crowded.explain([0.0, 0.0])
    assert caught.value.count > 10
    again = caught.value.__reduce__()
    assert again[0](*again[1]).count == caught.value.count


def test_constraints_leave_out_what_breaks_them() -> None:
    grid, x = Grid([[0, 1, 2], [0, 1, 2]]), [0.0, 0.0]
    free = ExhaustiveExplainer(ball, 9.0, "l1", grid).explain(x)
    kept = Constraints(immutable=["x1"], ranges={"x0": (0, 1)})
    kept_explanation = ExhaustiveExplainer(lambda rows: rows.sum(axis=1) > 0, 9.0, "l1", grid)
    kept_explanation.set_params(constraints=kept)
    assert len(free) > 1
    assert kept_explanation.explain(x).values.tolist() == [[1, 0]]
    assert kept_explanation.contains(x, [2.0, 0.0]) is Answer.NO
    nowhere = ExhaustiveExplainer(ball, 9.0, "l1", grid, constraints=kept)
    with pytest.raises(NoCounterfactualExistsError, match="whole domain within the constraints"):
        nowhere.explain(x)


def test_an_immutable_feature_of_a_grid_keeps_a_value_that_the_grid_lacks() -> None:
    grid, kept = Grid([[0, 1, 2], [5, 6]]), Constraints(immutable=["x1"])
    found = ExhaustiveExplainer(ball, 9.0, "l1", grid, constraints=kept).explain([0.0, 0.5])
    assert found.values.tolist() == [[1, 0.5], [2, 0.5]]


def test_constraints_that_differ_from_input_to_input_are_refused() -> None:
    # Proposition 2 compares inputs: what others may do must not depend on their own values.
    explainer = ExhaustiveExplainer(
        ball, 0.1, "l2", Box(-2, 2), constraints=Constraints(increase_only=["x0"])
    )
    with pytest.raises(InvalidInputError, match="increase_only 'x0' depends on the input's own"):
        explainer.contains([0.0, 0.0], [1.5, 0.0])
