"""The scale of each feature, and when one means little."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import CountersetWarning, DiverseExplainer, InvalidInputError, Schema
from counterset.distances import L0, L1
from counterset.exceptions import UnsuitableScaleWarning
from counterset.tables.scaling import count_costs, learn_scaling, read_costs, warn_of_scale
from counterset.tables.table import Table

INCOMES = np.array([*range(1, 50), 1e6])
FRAME = pd.DataFrame(
    {
        "income": INCOMES,
        "delays": [0.0] * 45 + [1.0, 2.0, 3.0, 4.0, 90.0],
        "flag": [0.0] * 49 + [1.0],
        "home": ["own", "rent"] * 25,
        "same": 3.0,
        "rank": pd.Categorical(["a"] * 47 + ["b", "c", "d"], ordered=True),
    }
)


def scaling(scale: Any, frame: pd.DataFrame = FRAME) -> dict[str, tuple[float, float]]:
    table, matrix = Table.learn(frame)
    offset, factor, unit = learn_scaling(matrix, table, scale)
    np.testing.assert_allclose(unit * factor, 1)
    return dict(zip(table.names, zip(offset.tolist(), factor.tolist(), strict=True), strict=True))


def test_the_usual_range_of_a_number_becomes_0_to_1() -> None:
    learned = scaling("robust")
    assert learned["income"] == (2, 1 / (48 - 2))
    assert learned["delays"] == (0, 1 / 90)  # five values beside 0 are too few to leave one out
    assert learned["flag"] == (0, 1)
    assert learned["same"] == (3, 1)


def test_ranks_of_an_ordinal_have_no_outliers() -> None:
    assert scaling("robust")["rank"] == scaling("range")["rank"] == (0, 1 / 3)
    rare = FRAME[["rank"]].iloc[[0] * 1000 + list(range(50))]
    assert scaling("robust", rare)["rank"] == (0, 1 / 3)


def test_the_other_scales_are_as_they_were() -> None:
    assert scaling("range")["income"] == (1, 1 / (1e6 - 1))
    assert scaling("mad")["income"] == (25.5, 1 / 12.5)
    assert scaling("mad")["delays"] == (0, 1 / 90)
    assert scaling(None)["income"] == (0, 1)
    assert scaling({"income": 2.0})["income"] == (0, 2)


@given(
    st.lists(st.integers(-100, 100), min_size=30, max_size=60, unique=True),
    st.integers(10**4, 10**12),
)
def test_an_outlier_does_not_change_a_robust_scale(values: list[int], outlier: int) -> None:
    without = pd.DataFrame({"x": values}, dtype=np.float64)
    with_outlier = pd.DataFrame({"x": [*values, outlier]}, dtype=np.float64)
    low, high = sorted(values)[1], sorted(values)[-2]
    assert scaling("robust", without)["x"] == (low, 1 / (high - low))
    assert scaling("robust", with_outlier)["x"] == (low, 1 / (high - low))


def test_an_unknown_scale_names_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match="Choose 'robust', 'range', 'mad', None"):
        scaling("wide")


def told(scale: Any, frame: pd.DataFrame = FRAME, schema: Schema | None = None) -> str:
    """Return the warning about a scale, empty if there is none."""
    table, matrix = Table.learn(frame, schema)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_scale(matrix, table, scale, stacklevel=1)
    assert len(caught) <= 1, "one warning tells it all"
    return str(caught[0].message) if caught else ""


def test_a_range_that_one_outlier_stretches_is_told() -> None:
    assert told("range").startswith(
        "scale='range' means little for 1 of 6 features ('income'): a few outliers stretch the "
        "range to more than 100 times that of the other values"
    )
    assert "Use scale='robust'" in told("range")


@pytest.mark.parametrize(("largest", "is_told"), [(46 * 100 + 1, False), (46 * 100 + 2, True)])
def test_a_range_is_ruined_from_100_times_the_usual_one_on(largest: float, is_told: bool) -> None:
    frame = pd.DataFrame({"income": [*range(1, 50), largest]}, dtype=np.float64)
    assert bool(told("range", frame)) == is_told


def test_a_deviation_of_0_is_told() -> None:
    assert told("mad").startswith(
        "scale='mad' means little for 1 of 6 features ('delays'): most values are equal, so that "
        "the median absolute deviation is 0 and the whole range is taken in its place."
    )


@pytest.mark.parametrize("scale", ["robust", None, np.ones(6), {"income": 2.0}])
def test_other_scales_are_what_the_user_meant(scale: Any) -> None:
    assert told(scale) == ""


def test_many_features_are_not_all_listed() -> None:
    frame = pd.DataFrame({f"x{i}": INCOMES for i in range(7)})
    assert "7 of 7 features ('x0', 'x1', 'x2', 'x3', 'x4', ...)" in told("range", frame)


def test_ranks_and_categories_are_never_stretched() -> None:
    frame = pd.DataFrame({"n": INCOMES})
    order = tuple(np.unique(INCOMES))
    assert told("range", frame, Schema(ordinal={"n": order})) == ""
    assert told("mad", pd.DataFrame({"n": ["a"] * 40 + ["b", "c"]})) == ""


@pytest.mark.parametrize(("scale", "name"), [("range", "income"), ("mad", "delays")])
def test_fit_warns_once_and_points_at_the_call(scale: str, name: str) -> None:
    explainer = DiverseExplainer(lambda rows: rows["income"] > 25, scale=scale)
    with pytest.warns(UnsuitableScaleWarning, match=f"{scale}.*'{name}'") as caught:
        explainer.fit(FRAME)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert issubclass(UnsuitableScaleWarning, CountersetWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer.set_params(scale="robust").fit(FRAME)


@pytest.mark.parametrize("scale", ["robust", "range", "mad"])
@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-310])
def test_a_column_of_tiny_numbers_has_finite_distances(scale: str, size: float) -> None:
    # One over such a range is infinite, and so were the distances.
    X = np.column_stack([np.arange(40) % 5 * size, np.linspace(0, 1, 40)])
    explainer = DiverseExplainer(
        lambda rows: rows[:, 0] > 2 * size, scale=scale, max_counterfactuals=1
    )
    with pytest.warns(UnsuitableScaleWarning, match=r"'x0'\): their values differ by less than"):
        explainer.fit(X)
    assert np.isfinite(explainer.distance_.space.factor).all()
    explanation = explainer.explain(X[0])
    assert np.isfinite(explanation.distances).all()
    moved = (
        np.abs(explanation.coded.matrix - explanation.coded.input)
        * explainer.distance_.space.factor
    )
    np.testing.assert_allclose(explanation.distances, moved.sum(axis=1), rtol=1e-12)


COLUMNS, _ = Table.learn(
    pd.DataFrame({"age": [1.0, 2.0], "own": [1, 0], "rent": [0, 1], 7: [3, 4]}),
    Schema(one_hot={"home": ["own", "rent"]}),
)


def test_costs_are_found_by_label_by_text_and_by_group() -> None:
    assert read_costs(None, COLUMNS).tolist() == [1, 1, 1]
    assert read_costs({"home": 2, "7": 0.5}, COLUMNS).tolist() == [1, 2, 0.5]
    assert read_costs({"rent": 2, 7: 0.5}, COLUMNS).tolist() == [1, 2, 0.5]


def test_only_a_count_of_changes_needs_weights_for_costs() -> None:
    costs = read_costs({"age": 2}, COLUMNS)
    size, count = L1(), L0()
    assert count_costs(size, costs, COLUMNS) is size
    counted = count_costs(count, costs, COLUMNS)
    assert isinstance(counted, L0)
    assert np.asarray(counted.weights).tolist() == [2, 1, 1]
    assert count_costs(count, np.ones(3), COLUMNS) is count
