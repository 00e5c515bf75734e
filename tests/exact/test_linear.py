"""Linear models: closed forms against textbook formulas and linear programmes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from support.oracles_exact import half_space_distance
from support.toys_exact import CUBE, DISTANCES, THREE, TWO, given_linear, given_scaler

from counterset import Constraints, DiverseExplainer
from counterset.distances import L1, L2, Distance, LInf
from counterset.exact import Box, counterfactual_distance, counterfactual_distances
from counterset.exact.linear import HalfSpaces, LinearModel, read_linear
from counterset.exact.norms import Norm
from counterset.exact.preprocessing import Preprocessing
from counterset.tables.table import Table

MODELS = [
    LogisticRegression(),
    LinearSVC(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    Perceptron(),
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(with_mean=False, with_std=False), LogisticRegression()),
    make_pipeline(MinMaxScaler(), "passthrough", RobustScaler(), LinearSVC()),
    make_pipeline(MaxAbsScaler(), RobustScaler(with_centering=False), RidgeClassifier()),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
def test_witness_is_confirmed_and_no_sample_is_nearer_than_the_bound(
    model: LogisticRegression, y: np.ndarray
) -> None:
    model.fit(CUBE, y)
    samples = np.random.default_rng(1).random((3000, 3))
    labels = model.predict(samples)
    for x in CUBE[:3]:
        own = model.predict(x[None, :])[0]
        for distance in DISTANCES:
            bounds = counterfactual_distance(model, x, distance, Box(0, 1))
            assert bounds.exact, bounds
            assert bounds.upper - bounds.lower < 1e-9
            assert model.predict(bounds.witness[None, :])[0] != own
            assert bounds.upper == distance(x, bounds.witness)[0, 0]
            assert bounds.lower <= distance(x, samples[labels != own]).min()


@pytest.mark.parametrize(
    ("distance", "dual"),
    [
        (L1(), lambda w: np.abs(w).max()),
        (L2(), np.linalg.norm),
        (LInf(), lambda w: np.abs(w).sum()),
        (L1([1, 2, 4]), lambda w: (np.abs(w) / [1, 2, 4]).max()),
        (L2([1, 2, 4]), lambda w: np.sqrt((w**2 / [1, 2, 4]).sum())),
        (LInf([1, 2, 4]), lambda w: (np.abs(w) / [1, 2, 4]).sum()),
    ],
)
def test_without_bounds_it_is_the_margin_over_the_dual_norm(distance: Distance, dual) -> None:  # type: ignore[no-untyped-def]
    model = LogisticRegression().fit(CUBE, TWO)
    expected = np.abs(model.decision_function(CUBE)) / dual(model.coef_[0])
    np.testing.assert_allclose(counterfactual_distances(model, CUBE, distance).upper, expected)


def test_features_that_may_not_change_keep_their_value() -> None:
    model = LogisticRegression().fit(CUBE, TWO)
    kept = Constraints(immutable=["x1", "x2"])
    bounds = counterfactual_distance(model, CUBE[0], "l1", constraints=kept)
    assert bounds.exact
    np.testing.assert_array_equal(bounds.witness[1:], CUBE[0, 1:])
    free = counterfactual_distance(model, CUBE[0], "l1")
    assert bounds.lower >= free.lower


def test_scaled_distance_of_a_fitted_explainer() -> None:
    wide = CUBE * [1.0, 100.0, 0.01]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wide, TWO)
    explainer = DiverseExplainer.paper(model, distance="l2").fit(wide)
    bounds = counterfactual_distance(model, wide[0], explainer.distance_, explainer)
    assert bounds.exact
    assert bounds.upper == explainer.distance_(wide[0], bounds.witness)[0, 0]
    # The same in units of the range.
    low, spread = wide.min(axis=0), np.ptp(wide, axis=0)
    unit = (wide - low) / spread
    same = counterfactual_distance(
        lambda rows: model.predict(rows * spread + low), unit[0], "l2", Box(0, 1), method="search"
    )
    assert bounds.lower <= same.upper


@pytest.mark.parametrize("distance", [L1(), L2(), LInf()])
def test_frames_in_single_precision_are_classified_and_answered_in_it(distance: Distance) -> None:
    # The model then computes in single precision: witnesses used to flip in a batch, but not alone.
    frame = pd.DataFrame(CUBE.astype(np.float32), columns=list("abc"))
    model = LogisticRegression().fit(frame, TWO)
    own = model.predict(frame)
    many = counterfactual_distances(model, frame, distance, Box(0, 1))
    double = counterfactual_distances(model, frame.astype(float), distance, Box(0, 1))
    assert double.exact.all()
    for i, bounds in enumerate(many):
        assert bounds.witness is not None
        assert model.predict(pd.DataFrame([bounds.witness]))[0] != own[i]
        assert bounds.exact or "precision" in bounds.reason
    assert (many.upper - many.lower < 1e-4).all()
    assert (many.lower < double.lower).all()
    # Nothing that the model flips is nearer than the bound, all around the witness.
    rng = np.random.default_rng(0)
    for i in range(5):
        witness = many.witnesses[i].to_numpy(dtype=float)
        near = (witness + rng.normal(size=(2000, 3)) * 1e-6).astype(np.float32)
        points = pd.DataFrame(near.clip(0, 1), columns=list("abc"))
        flipped = points[model.predict(points) != own[i]].to_numpy(dtype=float)
        assert many.lower[i] <= distance(frame.iloc[i].to_numpy(dtype=float), flipped).min()


def test_where_the_border_is_the_edge_of_the_box_the_model_has_the_last_word() -> None:
    model = given_linear([1.0], -1.0)
    # A lead of 0 goes to the first class: from above it is reached at 1, from below only past it.
    above = counterfactual_distance(model, [1.5], "l1", Box(1, 2))
    assert above.witness.tolist() == [1.0]
    assert above.exact
    for bounds in (
        counterfactual_distance(model, [0.5], "l1", Box(0, 1)),
        counterfactual_distances(model, np.array([[0.5]]), "l1", Box(0, 1))[0],
    ):
        assert bounds.witness is None
        assert not bounds.exact
        assert "border" in bounds.reason


# Shortest moves into a half-space: against linear programmes and samples --------------------------


numbers = st.floats(-2, 2).map(lambda v: round(v, 2))


@given(
    gradient=st.lists(numbers, min_size=3, max_size=3),
    need=st.floats(0.01, 3),
    weights=st.lists(st.floats(0, 3).map(lambda v: round(v, 1)), min_size=3, max_size=3),
    kind=st.sampled_from(["l1", "linf"]),
)
def test_bounded_moves_solve_the_linear_programme(
    gradient: list[float], need: float, weights: list[float], kind: str
) -> None:
    x, low, high = np.array([0.2, 0.5, 0.9]), np.zeros(3), np.ones(3)
    norm = Norm(kind, np.array(weights))  # type: ignore[arg-type]
    g = np.array(gradient)
    moves = HalfSpaces.around(x[None, :], g, low, high, norm).moves(np.array([need]))
    length = float(norm.of(moves)[0])
    expected = half_space_distance(g, need, x, low, high, kind, norm.weights)
    if np.isnan(length):
        # In the corner of the box it depends on the last bit.
        assert expected == np.inf or abs(np.where(g > 0, g * (1 - x), -g * x).sum() - need) < 1e-6
    else:
        assert g @ moves[0] >= need - 1e-9
        assert ((x + moves[0] >= low - 1e-12) & (x + moves[0] <= high + 1e-12)).all()
        assert length == pytest.approx(expected, abs=1e-7)


@given(
    gradient=st.lists(numbers, min_size=3, max_size=3),
    need=st.floats(0.01, 2),
    seed=st.integers(0, 100),
)
def test_no_bounded_move_is_shorter_in_l2(gradient: list[float], need: float, seed: int) -> None:
    x, g = np.array([0.2, 0.5, 0.9]), np.array(gradient)
    norm = Norm("l2", np.array([1.0, 2.0, 0.5]))
    half_space = HalfSpaces.around(x[None, :], g, np.zeros(3), np.ones(3), norm)
    length = norm.of(half_space.moves(np.array([need])))[0]
    others = np.random.default_rng(seed).random((2000, 3)) - x
    others = others[others @ g >= need]
    if len(others):
        assert length <= norm.of(others).min() + 1e-12


def test_as_few_features_as_possible_move_in_l0() -> None:
    norm = Norm("l0", np.ones(3))
    x, gradient = np.zeros((2, 3)), np.array([1.0, -2.0, 0.5])
    spaces = HalfSpaces.around(x, gradient, np.full(3, -1.0), np.ones(3), norm)
    np.testing.assert_array_equal(
        spaces.moves(np.array([1.5, 2.5])), [[0.0, -0.75, 0.0], [0.5, -1.0, 0.0]]
    )
    assert np.isnan(spaces.moves(np.array([3.6, 0.0]))).all(axis=1).tolist() == [True, False]
    np.testing.assert_array_equal(
        spaces.of(np.array([1])).moves(np.array([2.5])), [[0.5, -1.0, 0.0]]
    )


# Reading linear models ----------------------------------------------------------------------------


def read_all(model: Pipeline) -> LinearModel | None:
    """The last step of a pipeline, as a model of the input's columns."""
    before, last = Preprocessing.of(model)
    read, (table, _) = read_linear(last), Table.learn(CUBE)
    assert read is not None
    return read.before(before, table)


def test_a_scaler_whose_terms_cancel_leaves_its_rounding_behind() -> None:
    model = given_linear([1.0, -1.0, 0.0], 0.1)
    read = read_all(make_pipeline(given_scaler(1e9, 1.0, 3), model))
    assert read is not None
    _, need, rounding, _ = read.preference(np.zeros((1, 3)), np.array([-1.0, 1.0]), 0.0, 2.0**-53)
    assert need[0] == pytest.approx(-0.1)
    assert rounding[0] > 1e-7  # of terms of 1e9, which the folded bias does not show


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [MinMaxScaler(feature_range=(-2, 5)), "passthrough", RobustScaler()],
        [make_column_transformer((MaxAbsScaler(), [2, 0]), remainder="passthrough")],
        [make_column_transformer((StandardScaler(), [1]), (RobustScaler(), [1]))],
    ],
    ids=str,
)
def test_scalers_go_into_the_weights(scalers: list[Any]) -> None:
    model = make_pipeline(*scalers, LogisticRegression()).fit(CUBE, TWO)
    read = read_all(model)
    assert read is not None
    scores = (CUBE - read.centre) @ read.weights + read.bias
    lead = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(lead, model.decision_function(CUBE), atol=1e-12)
    assert (read.weight_size >= np.abs(read.weights) - 1e-12).all()


def test_models_that_are_not_linear_are_not_read_as_such() -> None:
    assert read_linear(LogisticRegression()) is None
    assert read_linear(DecisionTreeClassifier().fit(CUBE, TWO)) is None
    for step in (FunctionTransformer(np.sqrt), MinMaxScaler(clip=True)):
        assert read_all(make_pipeline(step, LogisticRegression()).fit(CUBE, TWO)) is None
