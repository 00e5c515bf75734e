"""The metrics: values worked out by hand, and the lemmas of the paper as properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    FewerCounterfactualsWarning,
    InvalidInputError,
    Paper,
    distances,
    metrics,
)


def rise_only(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """An asymmetric distance: only an increase costs."""
    return np.asarray(np.maximum(B[None] - A[:, None], 0).sum(axis=2))


symmetric = st.sampled_from(["l0", "l1", "l2", "linf"])
any_distance: st.SearchStrategy[Any] = st.one_of(symmetric, st.just(rise_only))
values = st.one_of(st.integers(-2, 2).map(float), st.floats(-100, 100, allow_subnormal=False))


@st.composite
def two_sets(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    d = draw(st.integers(1, 4))
    one, two = (
        draw(hnp.arrays(np.float64, (draw(st.integers(1, 5)), d), elements=values))
        for _ in range(2)
    )
    return one, two


def test_k_distance_worked_out_by_hand() -> None:
    S = [[1.0, 0.0], [0.0, 3.0], [3.0, 4.0]]
    assert metrics.k_distance([0, 0], S, "l1") == pytest.approx((1 + 3 + 7) / 3)
    assert metrics.k_distance([0, 0], S, "l2") == pytest.approx((1 + 3 + 5) / 3)
    assert metrics.k_distance([0, 0], S, "l0") == pytest.approx((1 + 1 + 2) / 3)


def test_k_diversity_worked_out_by_hand() -> None:
    S = [[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]
    assert metrics.k_diversity(S, "l1") == pytest.approx((7 + 3 + 4) / 3)
    assert metrics.k_diversity(S, "l2") == pytest.approx((5 + 3 + 4) / 3)


def test_coverage_worked_out_by_hand() -> None:
    # From 1 the nearest of the other set is 3, two away; from 5 it is 4, one away.
    S1, S2 = [[1.0], [4.0]], [[5.0], [3.0], [9.0]]
    assert metrics.coverage(S1, S2, "l1") == pytest.approx((2 + 1) / 2)
    # What comes after the first of a set only has to be found, not to find anything.
    assert metrics.coverage(S1, [[5.0], [3.0], [99.0]], "l1") == pytest.approx((2 + 1) / 2)


def test_coverage_of_single_counterfactuals_is_their_set_distance() -> None:
    one, two = [[1.0, 2.0]], [[4.0, 0.0]]
    for distance in ("l1", "l2", "linf"):
        assert metrics.coverage(one, two, distance) == metrics.set_distance(one, two, distance)


def test_coverage_of_nothing_is_refused() -> None:
    some: list[list[float]] = [[1.0]]
    for one, other in (([], some), (some, [])):
        with pytest.raises(InvalidInputError):
            metrics.coverage(one, other)
        with pytest.raises(InvalidInputError):
            metrics.jump([0.0], one, [0.0], other)


def test_jump_worked_out_by_hand() -> None:
    # The first person changes a, the second b. Carried over to the second person, (5, 0) is (5, 1),
    # 4 + 7 from (1, 8); carried over to the first, (1, 8) is (0, 8), 5 + 8 from (5, 0).
    x1, S1, x2, S2 = [0.0, 0.0], [[5.0, 0.0]], [1.0, 1.0], [[1.0, 8.0]]
    assert metrics.jump(x1, S1, x2, S2, "l1") == pytest.approx((4 + 7 + 5 + 8) / 2)
    assert metrics.set_distance(S1, S2, "l1") == 4 + 8


def test_the_same_changes_to_the_same_values_do_not_jump() -> None:
    x1, x2 = [0.0, 0.0, 0.0], [0.1, 0.0, -0.2]
    S1, S2 = [[5.0, 0.0, 0.0], [0.0, 3.0, 2.0]], [[0.1, 3.0, 2.0], [5.0, 0.0, -0.2]]
    assert metrics.jump(x1, S1, x2, S2, "l1") == 0
    assert metrics.set_distance(S1, S2, "l1") == pytest.approx((0.2 + 0.1) / 2)


@given(two_sets(), symmetric, st.data())
def test_a_set_distance_is_at_most_the_jump_and_what_is_carried(
    sets: tuple[NDArray[np.float64], NDArray[np.float64]], distance: str, data: st.DataObject
) -> None:
    S1, S2 = sets
    d = S1.shape[1]
    x1, x2 = (data.draw(hnp.arrays(np.float64, d, elements=values)) for _ in range(2))
    measure = distances.get(distance)

    def carried(x: Any, S: Any, other: Any) -> float:
        over = [[c if c != own else its for c, own, its in zip(row, x, other)] for row in S]  # noqa: B905
        return float(np.mean([measure([row], [to])[0, 0] for row, to in zip(S, over)]))  # noqa: B905

    most = metrics.jump(x1, S1, x2, S2, distance)
    most += (carried(x1, S1, x2) + carried(x2, S2, x1)) / 2
    assert metrics.set_distance(S1, S2, distance) <= most * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_jump_takes_tables_of_mixed_columns_in_the_explainers_distance(container: str) -> None:
    columns = {
        "income": [1.5, 2.5, 3.5, 4.5] * 5,
        "home": ["own", "rent", "rent", "own"] * 5,
        "age": list(range(20, 40)),
    }
    frame: Any = pd.DataFrame(columns)
    x1, x2 = frame.iloc[[0]], frame.iloc[[1]].assign(home="own", income=1.5)
    S1, S2 = x1.assign(home="rent"), x2.assign(home="rent")
    if container == "polars":
        frame, x1, x2, S1, S2 = map(pl.from_pandas, (frame, x1, x2, S1, S2))
    explainer = DiverseExplainer(lambda rows: np.arange(len(rows)) % 2).fit(frame)
    # Both move from their own home to a rented one; they differ in age, which stays.
    assert metrics.jump(x1, S1, x2, S2, explainer.distance_) == 0
    assert metrics.set_distance(S1, S2, explainer.distance_) > 0


def test_set_distance_worked_out_by_hand() -> None:
    S1, S2 = [[0.0], [1.0], [5.0]], [[0.0], [2.0]]
    # From S1: 0, 1, 3. From S2: 0, 1.
    assert metrics.set_distance(S1, S2, "l1") == pytest.approx((4 / 3 + 1 / 2) / 2)
    assert metrics.set_distance(S1, S2, "l1", how="max") == pytest.approx((3 + 1) / 2)


def test_a_single_counterfactual_has_no_diversity() -> None:
    assert metrics.k_diversity([[1.0, 2.0]]) == 0.0
    assert metrics.k_diversity([1.0, 2.0]) == 0.0  # one row, as a distance reads it


def test_an_asymmetric_distance_goes_from_the_input_to_the_counterfactual() -> None:
    assert metrics.k_distance([0.0], [[2.0], [-2.0]], rise_only) == 1.0


@given(two_sets(), any_distance)
def test_lemma_1_the_mean_is_at_most_the_maximum(
    sets: tuple[NDArray[np.float64], NDArray[np.float64]], distance: Any
) -> None:
    mean = metrics.set_distance(*sets, distance, how="mean")
    assert 0 <= mean <= metrics.set_distance(*sets, distance, how="max") * (1 + 1e-12)


@given(two_sets(), symmetric)
def test_lemma_1_single_points_are_as_far_as_their_distance(
    sets: tuple[NDArray[np.float64], NDArray[np.float64]], distance: str
) -> None:
    a, b = sets[0][:1], sets[1][:1]
    expected = float(distances.get(distance)(a, b)[0, 0])
    hows: tuple[Literal["mean", "max"], ...] = ("mean", "max")
    for how in hows:
        assert metrics.set_distance(a, b, distance, how=how) == expected


@given(two_sets(), any_distance)
def test_set_distance_is_symmetric_and_zero_for_equal_sets(
    sets: tuple[NDArray[np.float64], NDArray[np.float64]], distance: Any
) -> None:
    one, two = sets
    hows: tuple[Literal["mean", "max"], ...] = ("mean", "max")
    for how in hows:
        there = metrics.set_distance(one, two, distance, how=how)
        assert there == pytest.approx(metrics.set_distance(two, one, distance, how=how))
        assert metrics.set_distance(one, one[::-1], distance, how=how) == 0


@given(two_sets())
def test_diversity_is_at_most_twice_the_distance_under_l1(
    sets: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    S, x = sets[0], sets[1][0]
    assert metrics.k_diversity(S, "l1") <= 2 * metrics.k_distance(x, S, "l1") * (1 + 1e-12)


@pytest.mark.parametrize("empty", [[], np.empty((0, 2)), pd.DataFrame({"a": [], "b": []})])
def test_metrics_of_an_empty_set_are_undefined(empty: Any) -> None:
    full = [[1.0, 2.0]]
    calls: list[tuple[Callable[..., float], tuple[Any, ...]]] = [
        (metrics.k_distance, ([0.0, 0.0], empty)),
        (metrics.k_diversity, (empty,)),
        (metrics.set_distance, (empty, full)),
        (metrics.set_distance, (full, empty)),
        (metrics.sparsity, ([0.0, 0.0], empty)),
    ]
    for measure, arguments in calls:
        with pytest.raises(InvalidInputError, match="is empty, so the metric is undefined"):
            measure(*arguments)


def test_the_validity_of_an_empty_explanation_is_undefined() -> None:
    # It was NaN, with a warning of numpy's.
    X = np.random.default_rng(0).random((50, 2))
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1).fit(X)
    nothing = Constraints(immutable=["x0", "x1"])
    with pytest.warns(FewerCounterfactualsWarning):
        (explanation,) = explainer.explain_many(X[:1], constraints=nothing, if_none="warn")
    for model in (None, explainer.model):
        with pytest.raises(InvalidInputError, match="is empty, so the metric is undefined"):
            metrics.validity(explanation, model)


def test_an_unknown_way_to_compare_sets_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"how must be 'mean' or 'max', got 'sum'"):
        metrics.set_distance([[0.0]], [[1.0]], how="sum")  # type: ignore[arg-type]


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="Unknown distance 'l7'"):
        metrics.k_distance([0.0], [[1.0]], "l7")


def test_sparsity_counts_the_changed_features() -> None:
    assert metrics.sparsity([0, 0, 0], [[1, 0, 0], [1, 2, 0], [0, 0, 0]]) == 1.0


def test_sparsity_of_one_counterfactual_given_as_a_vector() -> None:
    assert metrics.sparsity([0, 1, 2], [0, 1, 3]) == 1.0


def test_sparsity_of_frames_with_text() -> None:
    frame = pd.DataFrame(
        {"age": [30, 31, 30], "job": ["clerk", "clerk", "nurse"], "rate": [1.5, 1.5, 2.5]}
    )
    for x in (frame.iloc[0], frame.iloc[:1]):
        assert metrics.sparsity(x, frame.iloc[1:]) == 1.5


def test_sparsity_of_lists_with_text() -> None:
    assert metrics.sparsity([1, "a"], [[1, "a"], [1, "b"]]) == 0.5


def test_sparsity_of_rows_of_different_length_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        metrics.sparsity([0, 0], [[1, 0, 0], [1, 2, 0]])


@pytest.fixture
def explanation() -> Explanation:
    X = np.random.default_rng(0).random((100, 2))
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2)
    return explainer.fit(X).explain([0.2, 0.3])


def test_validity_is_one_for_what_an_explainer_gives(explanation: Explanation) -> None:
    assert metrics.validity(explanation) == 1.0


def test_validity_can_be_asked_of_another_model(explanation: Explanation) -> None:
    assert metrics.validity(explanation, lambda rows: np.zeros(len(rows), dtype=bool)) == 0.0
    first_only = np.array([True, False])
    assert metrics.validity(explanation, lambda rows: first_only) == 0.5

    class Model:
        def predict(self, rows: Any) -> Any:
            return [True] * len(rows)

    assert metrics.validity(explanation, Model()) == 1.0


def test_the_metrics_take_an_explainers_own_distance() -> None:
    X = pd.DataFrame({"age": [20, 40, 70], "income": [1000.0, 3000.0, 5000.0]})
    explainer = DiverseExplainer.paper(
        lambda rows: rows["income"] > 2000, search=None, diversity=None, max_counterfactuals=2
    ).fit(X)
    explanation = explainer.explain(X.iloc[0])
    S = explanation.counterfactuals
    assert isinstance(S, pd.DataFrame)
    # In the scaled space the rows are (0, 0), (0.4, 0.5) and (1, 1).
    assert metrics.k_distance(X.iloc[0], S, explainer.distance_) == pytest.approx(1.45)
    assert metrics.k_diversity(S, explainer.distance_) == pytest.approx(1.1)
    assert metrics.set_distance(S, S.iloc[:1], explainer.distance_) == pytest.approx(0.275)


class TestDisclosure:
    """Options that are the whole row of somebody else."""

    X = np.array([[0.1, 0.2], [0.9, 0.9], [0.9, 0.9], [0.8, 0.7]])

    def rows(self) -> Explanation:
        explainer = DiverseExplainer(
            lambda rows: rows.sum(axis=1) > 1, strategy=Paper(search=None, diversity=None)
        )
        with pytest.warns(FewerCounterfactualsWarning):
            return explainer.fit(self.X).explain([0.1, 0.2])

    def test_options_are_compared_in_all_features(self) -> None:
        explanation = self.rows()
        assert metrics.disclosure(explanation, self.X) == 1
        assert metrics.disclosure(explanation, self.X[:1]) == 0
        assert metrics.disclosure(explanation, np.add(self.X, [0.0, 0.01])) == 0

    def test_rows_that_many_share_can_be_left_out(self) -> None:
        explanation = self.rows()
        alone = (explanation.values == [0.8, 0.7]).all(axis=1).mean()
        assert 0 < alone < 1
        assert metrics.disclosure(explanation, self.X, fewer_than=2) == alone
        assert metrics.disclosure(explanation, self.X, fewer_than=3) == 1

    def test_nonsense_is_refused(self) -> None:
        explanation = self.rows()
        with pytest.raises(InvalidInputError, match="disclosure takes explanations"):
            metrics.disclosure(self.X, self.X)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="fewer_than must be a whole number of at leas"):
            metrics.disclosure(explanation, self.X, fewer_than=1)
