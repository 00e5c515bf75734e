"""Counterfactuals near data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import DiverseExplainer, InvalidInputError, NearData, NoCounterfactualError
from counterset.distances import CustomDistance, get

LINE = np.array([[0.0], [1.0], [2.0], [4.0]])


def test_the_score_is_the_distance_to_the_nth_nearest_row() -> None:
    support = NearData(neighbours=2, share=1.0).learn(LINE, get("l1"))
    assert support.threshold == 3  # of the row at 4: its second nearest other row is at 1
    assert support.scores(np.array([[0.5], [10.0]])).tolist() == [0.5, 8.0]
    assert support.has(np.array([[0.5], [10.0]])).tolist() == [True, False]


def test_at_most_most_rows_are_compared_with_and_one_row_is_enough() -> None:
    assert len(NearData(most_rows=2).learn(LINE, get("l1")).points) == 2
    assert NearData().learn(LINE[:1], get("l1")).threshold == 0


@pytest.mark.parametrize("given", [{"neighbours": 0}, {"share": 1.5}, {"most_rows": 0}])
def test_unusable_parameters_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        NearData(**given)


@given(
    st.sampled_from(["l1", "l2", "linf", "l0", CustomDistance(lambda A, B: 1.0 * (A @ B.T > 2))]),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.5, 0.95, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_looking_at_few_rows_at_a_time_changes_no_answer(
    distance: Any, neighbours: int, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # Coarse numbers: many distances are equal to the threshold.
    rows, points = (rng.integers(0, 4, (count, 3)) / 3 for count in (300, 60))
    support = NearData(neighbours, share).learn(rows, get(distance))
    literal = [np.sort(each)[support.neighbours - 1] for each in get(distance)(points, rows)]
    assert support.has(points).tolist() == (np.array(literal) <= support.threshold).tolist()
    assert support.has(points[:0]).tolist() == []


def test_nothing_plausible_is_said() -> None:
    rows = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    explainer = DiverseExplainer.paper(
        lambda X: X[:, 0] > 5, plausibility=NearData(neighbours=2, share=0.5)
    ).fit(rows)
    with pytest.raises(NoCounterfactualError, match="Loosen plausibility="):
        explainer.explain([0.0])
