"""The paper's lemmas, propositions and examples, on random finite domains and on its figure."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from counterset import (
    Answer,
    Box,
    DistanceBounds,
    ExhaustiveExplainer,
    Grid,
    InvalidInputError,
    ModelError,
    NoCounterfactualExistsError,
    OutOfTimeError,
    TooManyCounterfactualsError,
    UndecidedError,
    metrics,
)
from counterset.distances import L0, L1, L2, CustomDistance, Distance, LInf
from counterset.exact import ReluNetwork, counterfactual_distance
from counterset.exact.definitions import is_approximate, is_strong, safety

METRICS = [L0(), L1(), L2(), LInf(), L1([1, 3]), L2([2, 0.5])]
points_ = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=12, unique=True
)
EPSILONS = st.sampled_from([0.0, 0.5, 1.0, 2.5])


class Table:
    """A model on a finite domain: a class for each point."""

    def __init__(self, points: list[tuple[int, int]], classes: list[int]) -> None:
        self.points = np.array(points, dtype=float)
        self._classes = {tuple(p): c for p, c in zip(self.points, classes, strict=False)}

    def predict(self, X: Any) -> np.ndarray:
        return np.array([self._classes[tuple(row)] for row in np.asarray(X)])


@st.composite
def tables(draw: st.DrawFn) -> Table:
    points = draw(points_)
    classes = draw(st.lists(st.integers(0, 2), min_size=len(points), max_size=len(points)))
    assume(len(set(classes)) > 1)
    return Table(points, classes)


def cfd(model: Table, x: np.ndarray, distance: Distance) -> float:
    return counterfactual_distance(model, x, distance, model.points).upper


#: To rise costs three times as much as to fall: no symmetry, but the triangle inequality.
UPHILL = CustomDistance(
    lambda A, B: (
        3 * np.maximum(B[None] - A[:, None], 0) + np.maximum(A[:, None] - B[None], 0)
    ).sum(axis=2),
    has_triangle_inequality=True,
)


@given(table=tables(), distance=st.sampled_from([*METRICS, UPHILL]))
def test_lemma_1_the_mean_is_at_most_the_maximum(table: Table, distance: Distance) -> None:
    first, second = table.points[::2], table.points[1::2]
    mean = metrics.set_distance(first, second, distance, how="mean")
    assert mean <= metrics.set_distance(first, second, distance, how="max") + 1e-12
    # By the letter of the definitions.
    there = [min(distance(a, b)[0, 0] for b in second) for a in first]
    back = [min(distance(b, a)[0, 0] for a in first) for b in second]
    assert mean == pytest.approx((np.mean(there) + np.mean(back)) / 2)
    largest = metrics.set_distance(first, second, distance, how="max")
    assert largest == pytest.approx((max(there) + max(back)) / 2)
    if distance is UPHILL:
        return  # the second part is about symmetric distances
    for how in ("mean", "max"):
        single = metrics.set_distance(first[:1], second[:1], distance, how=how)
        assert single == pytest.approx(distance(first[0], second[0])[0, 0])


@given(table=tables(), distance=st.sampled_from([*METRICS, UPHILL]))
def test_lemma_2_distances_differ_by_no_more_than_the_inputs(
    table: Table, distance: Distance
) -> None:
    labels = table.predict(table.points)
    for x in table.points[labels == labels[0]]:
        apart = float(distance(table.points[0], x)[0, 0])
        assert cfd(table, table.points[0], distance) <= apart + cfd(table, x, distance) + 1e-9


@given(table=tables(), distance=st.sampled_from(METRICS), epsilon=EPSILONS)
def test_propositions_1_and_2_strong_and_safe_counterfactuals_are_kept(
    table: Table, distance: Distance, epsilon: float
) -> None:
    explainer = ExhaustiveExplainer(table, epsilon, distance, table.points)
    labels = table.predict(table.points)
    x = table.points[0]
    explanation = explainer.explain(x)
    for c, length in zip(explanation.values, explanation.distances, strict=True):
        delta = explainer.safety(x, c)
        assert delta >= -1e-9
        if length == explanation.distances[0]:
            assert explainer.is_strong(x, c)
            assert delta == pytest.approx(epsilon)  # strong ones are epsilon-safe
        for other in table.points[labels == labels[0]]:
            if distance(x, other)[0, 0] < delta / 2 - 1e-9:
                assert explainer.contains(other, c)


@given(table=tables(), distance=st.sampled_from(METRICS), epsilon=EPSILONS)
def test_an_exhaustive_explanation_holds_exactly_the_approximate_counterfactuals(
    table: Table, distance: Distance, epsilon: float
) -> None:
    x = table.points[0]
    explanation = ExhaustiveExplainer(table, epsilon, distance, table.points).explain(x)
    labels, lengths = table.predict(table.points), distance(x, table.points)[0]
    others = labels != labels[0]
    expected = others & (lengths <= lengths[others].min() + epsilon + 1e-9)
    assert sorted(map(tuple, explanation.values)) == sorted(map(tuple, table.points[expected]))
    assert (np.diff(explanation.distances) >= 0).all()
    assert explanation.label == labels[0]


def test_without_the_triangle_inequality_a_strong_counterfactual_is_lost() -> None:
    squared = CustomDistance(
        lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=2), is_symmetric=True
    )
    table = Table([(0, 0), (1, 0), (4, 0), (-2, 0)], [0, 0, 1, 1])
    # Lemma 2 fails: cfd falls from 9 to 4 over a distance of 1 ...
    first, second = np.array([1.0, 0.0]), np.array([0.0, 0.0])
    assert cfd(table, first, squared) == 9
    assert cfd(table, second, squared) == 4
    # ... and so does proposition 1: the inputs are nearer than epsilon / 2 = 1.25.
    explainer = ExhaustiveExplainer(table, 2.5, squared, table.points)
    assert explainer.is_strong(first, [4.0, 0.0])
    assert explainer.contains(second, [4.0, 0.0]) is Answer.NO


def ball(X: Any) -> np.ndarray:
    """Figure 1, left: yellow within distance 1 of the middle."""
    return np.where((np.asarray(X) ** 2).sum(axis=1) <= 1, "Y", "B")


def test_example_1_opposite_inputs_have_opposite_counterfactuals() -> None:
    # The sphere, by points on it and just outside.
    turns = np.linspace(0, 2 * np.pi, 3600, endpoint=False)
    outside = 1.0001 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    nearest_only = ExhaustiveExplainer(ball, 0.0, "l2", outside)
    for size in (0.1, 0.01, 0.001):
        x = np.array([size, 0.0])
        c, opposite = nearest_only.explain(x).values[0], nearest_only.explain(-x).values[0]
        np.testing.assert_allclose(c, -opposite, atol=1e-6)
        apart = np.linalg.norm(c - opposite)
        assert apart == pytest.approx(2, abs=1e-3)
        assert apart / np.linalg.norm(2 * x) >= 0.99 / size  # no k holds


#: Figure 1, right: yellow where |a| + |b| <= 1.3, as a network.
DIAMOND = ReluNetwork(
    [
        (np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]), np.zeros(4)),
        (np.ones((4, 1)), np.array([-1.3])),
    ],
    labels=["Y", "B"],
)


def test_figure_1_the_nearest_counterfactuals_of_the_diamond() -> None:
    for x in ([-0.2, 0.2], [0.2, 0.2], [0.2, -0.2]):
        bounds = counterfactual_distance(DIAMOND, x, "l2", Box(-1.5, 1.5))
        expected = np.array(x) + 0.45 * np.sign(x)
        assert bounds.exact
        assert bounds.upper == pytest.approx(0.45 * np.sqrt(2), abs=1e-4)
        np.testing.assert_allclose(bounds.witness, expected, atol=2e-3)


def test_example_2_a_boundary_counterfactual_is_lost_after_any_step() -> None:
    x2, c, c2 = np.array([0.2, -0.2]), np.array([-0.651, 0.651]), np.array([0.65, -0.65])
    cfd2 = counterfactual_distance(DIAMOND, x2, "l2", Box(-1.5, 1.5)).upper
    epsilon = float(np.linalg.norm(x2 - c)) - cfd2 + 1e-4
    explainer = ExhaustiveExplainer(DIAMOND, epsilon, "l2", Box(-1.5, 1.5))
    assert explainer.contains(x2, c) is Answer.YES
    assert explainer.safety(x2, c) == pytest.approx(0, abs=1e-3)  # 0-safe
    x3 = x2 + 0.05 * (c2 - x2)
    assert explainer.contains(x3, c) is Answer.NO


def test_bounds_decide_as_much_as_they_can() -> None:
    bounds = DistanceBounds(1.0, 2.0, False, None, 0.0, "by hand")
    assert [is_strong(d, bounds).value for d in (1.0, 1.5, 2.1)] == ["yes", "unknown", "no"]
    answers = [is_approximate(d, bounds, 0.5).value for d in (1.5, 2.5, 2.6)]
    assert answers == ["yes", "unknown", "no"]
    assert safety(1.5, bounds, 1.0) == (0.5, 1.5)
    with pytest.raises(UndecidedError, match="do not decide"):
        bool(is_strong(1.5, bounds))


def test_exact_bounds_decide_to_their_tolerance_and_no_farther() -> None:
    bounds = DistanceBounds(1.0, 1.00001, True, None, 0.0, "by hand")
    assert is_strong(1.00001, bounds) is Answer.YES
    assert is_approximate(1.50001, bounds, 0.5) is Answer.YES
    assert is_strong(1.00003, bounds) is Answer.NO
    assert is_approximate(1.50003, bounds, 0.5) is Answer.NO
    # The safety that is proved counts from the lower bound all the same.
    assert safety(1.2, bounds, 0.5)[0] == pytest.approx(0.3, abs=1e-12)
    loose = DistanceBounds(1.0, 1.00001, False, None, 0.0, "by hand")
    assert is_strong(1.00001, loose) is Answer.UNKNOWN


def test_unknown_is_said_where_only_a_search_is_possible() -> None:
    explainer = ExhaustiveExplainer(ball, 0.1, "l2", Box(-1.5, 1.5))
    assert explainer.contains([0.0, 0.0], [1.01, 0.0]) is Answer.UNKNOWN
    assert explainer.contains([0.0, 0.0], [1.4, 1.4]) is Answer.NO
    assert explainer.contains([0.0, 0.0], [0.5, 0.0]) is Answer.NO  # decided alike
    assert explainer.is_strong([0.0, 0.0], [0.5, 0.0]) is Answer.NO
    assert explainer.counterfactual_distance([0.0, 0.0]).lower == 0


def test_safety_is_of_counterfactuals_of_the_domain() -> None:
    explainer = ExhaustiveExplainer(ball, 0.1, "l2", Grid([[0, 1, 2], [0, 1]], may_change=[0]))
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
def test_no_point_of_a_grid_past_the_optimum_and_epsilon_is_ever_built(
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
    with pytest.raises(ModelError, match="decided the input in two ways"):
        ExhaustiveExplainer(fickle, 0.1, domain=points).explain(points[0])


def test_a_grid_that_takes_too_long_is_given_up_with_the_count_so_far() -> None:
    explainer = ExhaustiveExplainer(
        lambda X: np.zeros(len(X)), 0.1, "l1", Grid([np.arange(10)] * 9), time_limit=0.05
    )
    with pytest.raises(OutOfTimeError, match="0 counterfactuals were found so far") as caught:
        explainer.explain(np.zeros(9))
    assert caught.value.count == 0
    assert isinstance(caught.value, TimeoutError)


def test_bad_questions_to_the_exhaustive_explainer() -> None:
    with pytest.raises(InvalidInputError, match="infinitely many"):
        ExhaustiveExplainer(ball, 0.1, domain=Box(-1, 1)).explain([0.0, 0.0])
    with pytest.raises(InvalidInputError, match="c holds something that is no number"):
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
