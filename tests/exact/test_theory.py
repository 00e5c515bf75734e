"""The paper's lemmas, propositions and examples, on random finite domains and on its figure."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.toys_exact import ball

from counterset import ExhaustiveExplainer, metrics
from counterset.distances import L0, L1, L2, CustomDistance, Distance, LInf
from counterset.exact import Answer, Box, ReluNetwork, counterfactual_distance

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
