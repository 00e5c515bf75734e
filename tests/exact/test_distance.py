"""counterfactual_distance: the inputs it takes, and what its bounds mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from support.toys_exact import CUBE, DISTANCES, SQUARE, THREE, TWO, given_linear, given_scaler

from counterset import Constraints
from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import (
    Box,
    Grid,
    Points,
    ReluNetwork,
    counterfactual_distance,
    counterfactual_distances,
)


def test_rows_of_frames_series_and_lists_are_inputs() -> None:
    frame = pd.DataFrame(SQUARE, columns=["a", "b"])
    model = LogisticRegression().fit(frame, SQUARE.sum(axis=1) > 1)
    from_frame = counterfactual_distance(model, frame.iloc[[0]], "l1")
    from_series = counterfactual_distance(model, frame.iloc[0], "l1")
    assert from_frame.upper == from_series.upper
    assert list(from_frame.witness.index) == ["a", "b"]
    many = counterfactual_distances(model, frame, "l1", Points(frame))
    assert many.exact.all()


def test_proved_absence_is_not_absence_in_time() -> None:
    same = ReluNetwork([([[1.0], [1.0]], [5.0])])
    assert counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1)).none_exists
    assert counterfactual_distance(same, [0.5, 0.5], "l1", Grid([[0, 1], [0, 1]])).none_exists
    hurried = counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1), time_limit=1e-9)
    assert (hurried.witness, hurried.upper, hurried.exact) == (None, np.inf, False)
    assert hurried.reason == "the time limit was reached"


# The distances of many inputs: those of each input alone ------------------------------------------


def test_a_batch_returns_what_each_input_gets_alone() -> None:
    model = RidgeClassifier().fit(CUBE, THREE)
    for distance in DISTANCES:
        many = counterfactual_distances(model, CUBE, distance, Box(0, 1))
        assert len(many) == len(CUBE)
        assert many.exact.all()
        for i in (0, 7, -1):
            alone = counterfactual_distance(model, CUBE[i], distance, Box(0, 1))
            assert many[i].upper == pytest.approx(alone.upper, abs=1e-12)
            assert many[i].lower == pytest.approx(alone.lower, abs=1e-12)
    assert [bounds.upper for bounds in many[:2]] == many.upper[:2].tolist()
    assert len(list(many)) == len(many.witnesses) == len(CUBE)
    assert "80 exact" in repr(many)


def check_batch_against_single(
    model: Pipeline | LogisticRegression,
    rows: np.ndarray,
    distance: Distance,
    box: Box,
    constraints: Constraints | None = None,
) -> None:
    many = counterfactual_distances(model, rows, distance, box, constraints=constraints)
    for i, x in enumerate(rows):
        own = model.predict(x[None, :])[0]
        alone = counterfactual_distance(model, x, distance, box, constraints=constraints)
        if alone.none_exists:
            assert many.lower[i] == many.upper[i] == np.inf
            continue
        assert many[i].exact == alone.exact
        np.testing.assert_allclose(
            [many.lower[i], many.upper[i]], [alone.lower, alone.upper], rtol=1e-9, atol=1e-12
        )
        for witness in (alone.witness, many.witnesses[i]):
            if witness is not None:  # alone, as users will classify it
                assert model.predict(witness[None, :])[0] != own


def closest_call(model: Pipeline | LogisticRegression, rows: np.ndarray) -> float:
    """Return by how little the label of any row wins."""
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        return float(np.abs(scores).min())
    first_two = np.sort(scores, axis=1)[:, -2:]
    return float(np.diff(first_two, axis=1).min())


whole_numbers = st.integers(-3, 3).map(float)


@given(
    coefficients=st.lists(
        st.lists(whole_numbers, min_size=3, max_size=3), min_size=1, max_size=3
    ).filter(lambda rows: len(rows) != 2),
    intercept=whole_numbers,
    rows=st.lists(st.lists(whole_numbers, min_size=3, max_size=3), min_size=1, max_size=6),
    distance=st.sampled_from([*DISTANCES, L1([1, 0, 2]), L2([0, 0, 1]), LInf([1, 0, 1])]),
    box=st.sampled_from([Box(), Box(-3, 3)]),
    constraints=st.sampled_from([None, Constraints(immutable=["x1"])]),
    scale=st.sampled_from([None, 1e6, 1e-6]),
)
def test_a_batch_and_single_inputs_agree_and_every_witness_flips(
    coefficients: list[list[float]],
    intercept: float,
    rows: list[list[float]],
    distance: Distance,
    box: Box,
    constraints: Constraints | None,
    scale: float | None,
) -> None:
    model = given_linear(coefficients, intercept)
    if scale is not None:  # a scaler whose terms cancel leaves rounding behind
        model = make_pipeline(given_scaler(scale, max(1.0, scale), 3), model)
    # On the boundary itself rounding decides, and may decide otherwise in a batch than alone.
    assume(closest_call(model, np.array(rows)) > 1e-12)
    check_batch_against_single(model, np.array(rows), distance, box, constraints)


def test_a_batch_with_immutable_features_is_solved_at_once() -> None:
    model, kept = LogisticRegression().fit(CUBE, TWO), Constraints(immutable=["x0"])
    many = counterfactual_distances(model, CUBE[:5], "l1", Box(-9, 9), constraints=kept)
    assert {bounds.method for bounds in many} == {"closed form of a linear model"}
    np.testing.assert_array_equal(np.array(many.witnesses)[:, 0], CUBE[:5, 0])


def test_a_batch_says_where_there_is_no_counterfactual() -> None:
    model = LogisticRegression().fit(CUBE, TWO)
    high = CUBE[TWO == 1][:1]
    box = Box(np.minimum(high[0], 0.999), 1)
    kept = Constraints(immutable=["x0", "x1", "x2"])
    many = counterfactual_distances(model, high, "l1", box, constraints=kept)
    assert many.lower[0] == many.upper[0] == np.inf
    assert many[0].witness is None
    assert counterfactual_distance(model, high[0], "l1", box, constraints=kept).none_exists


def test_a_constant_model_has_no_counterfactual_in_any_distance() -> None:
    # In l0, a missing witness used to count as a change of all features: "exactly 3", and of NaN.
    model = given_linear([[0.0, 0.0, 0.0]], 1.0)
    for distance in DISTANCES:
        many = counterfactual_distances(model, CUBE[:2], distance, Box())
        assert np.isinf(many.lower).all()
        assert many.exact.all()
        assert many.witnesses == [None, None]
        assert counterfactual_distance(model, CUBE[0], distance, Box()).none_exists


def test_frames_of_whole_numbers_go_one_by_one() -> None:
    frame = pd.DataFrame({"a": [0, 3, 9, 4], "b": [0.0, 1.0, 2.0, 9.0]})
    model = LogisticRegression().fit(frame, [0, 0, 1, 1])
    many = counterfactual_distances(model, frame, "l1", Box(0, 9))
    assert many.exact.all()
    assert list(many[1].witness.index) == ["a", "b"]
    floats = counterfactual_distances(model, frame.astype(float), "l1", Box(0, 9))
    assert isinstance(floats[0].witness, pd.Series)
    kept = Constraints(immutable=["a", "b"])
    none = counterfactual_distances(model, frame, "l1", Box(0, 9), constraints=kept)
    assert np.isinf(none.lower).all()
