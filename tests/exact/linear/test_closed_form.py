"""Linear models: closed forms against textbook formulas and linear programmes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_exact import half_space_distance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from counterset import Box, DiverseExplainer, NoCounterfactualExistsError
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exact import counterfactual_distance, counterfactual_distances
from counterset.exact.linear.models import read_linear

RNG = np.random.default_rng(0)
X = RNG.random((80, 3))
TWO = (X @ [1.0, 2.0, -1.0] > 1).astype(int)
THREE = np.digitize(X @ [1.0, 2.0, -1.0], [0.6, 1.4])

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
DISTANCES = [L1(), L2(), LInf(), L0(), L1([1, 2, 0.5]), L2([1, 2, 0.5]), LInf([3, 1, 0.2])]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
def test_witness_is_confirmed_and_no_sample_is_nearer_than_the_bound(
    model: LogisticRegression, y: np.ndarray
) -> None:
    model.fit(X, y)
    samples = RNG.random((3000, 3))
    labels = model.predict(samples)
    for x in X[:3]:
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
    model = LogisticRegression().fit(X, TWO)
    expected = np.abs(model.decision_function(X)) / dual(model.coef_[0])
    np.testing.assert_allclose(counterfactual_distances(model, X, distance).upper, expected)


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
    from counterset.exact.linear.half_spaces import HalfSpaces
    from counterset.exact.norms import Norm

    x, low, high = np.array([0.2, 0.5, 0.9]), np.zeros(3), np.ones(3)
    norm = Norm(kind, np.array(weights))  # type: ignore[arg-type]
    g = np.array(gradient)
    moves = HalfSpaces.around(x[None, :], g, low, high, norm).moves(np.array([need]))
    length = float(norm.of(moves)[0])
    expected = half_space_distance(g, need, x, low, high, kind, norm.weights)
    if np.isnan(length):
        # At the corner the last bit decides.
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
    from counterset.exact.linear.half_spaces import HalfSpaces
    from counterset.exact.norms import Norm

    x, g = np.array([0.2, 0.5, 0.9]), np.array(gradient)
    norm = Norm("l2", np.array([1.0, 2.0, 0.5]))
    half_space = HalfSpaces.around(x[None, :], g, np.zeros(3), np.ones(3), norm)
    length = norm.of(half_space.moves(np.array([need])))[0]
    others = np.random.default_rng(seed).random((2000, 3)) - x
    others = others[others @ g >= need]
    if len(others):
        assert length <= norm.of(others).min() + 1e-12


def test_weighted_counts_and_whole_numbers_are_solved_by_a_programme() -> None:
    model = LogisticRegression().fit(X, TWO)
    x = X[np.argmin(TWO)]
    weighted = counterfactual_distance(model, x, L0([1, 5, 5]), Box(0, 1))
    assert weighted.exact
    assert weighted.upper in (1.0, 5.0, 6.0, 10.0, 11.0)

    frame = pd.DataFrame({"a": [0, 3, 9, 4], "b": [0.0, 1.0, 2.0, 9.0]})
    model = LogisticRegression().fit(frame, [0, 0, 1, 1])
    bounds = counterfactual_distance(model, frame.iloc[[0]], "l1", Box(0, 9))
    assert bounds.exact
    assert float(bounds.witness["a"]).is_integer()
    assert model.predict(frame.iloc[[0]])[0] != model.predict(bounds.witness.to_frame().T)[0]


def test_features_that_may_not_change_keep_their_value() -> None:
    model = LogisticRegression().fit(X, TWO)
    bounds = counterfactual_distance(model, X[0], "l1", Box(may_change=[0]))
    assert bounds.exact
    np.testing.assert_array_equal(bounds.witness[1:], X[0, 1:])
    free = counterfactual_distance(model, X[0], "l1")
    assert bounds.lower >= free.lower


def test_scaled_distance_of_a_fitted_explainer() -> None:
    wide = X * [1.0, 100.0, 0.01]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wide, TWO)
    explainer = DiverseExplainer(model, distance="l2").fit(wide)
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


def test_a_batch_gives_what_each_input_gets_alone() -> None:
    model = RidgeClassifier().fit(X, THREE)
    for distance in DISTANCES:
        many = counterfactual_distances(model, X, distance, Box(0, 1))
        assert len(many) == len(X)
        assert many.exact.all()
        for i in (0, 7, -1):
            alone = counterfactual_distance(model, X[i], distance, Box(0, 1))
            assert many[i].upper == pytest.approx(alone.upper, abs=1e-12)
            assert many[i].lower == pytest.approx(alone.lower, abs=1e-12)
    assert [bounds.upper for bounds in many[:2]] == many.upper[:2].tolist()
    assert len(list(many)) == len(many.witnesses) == len(X)
    assert "80 exact" in repr(many)


def check_batch_against_single(
    model: Pipeline | LogisticRegression, rows: np.ndarray, distance: Distance, box: Box
) -> None:
    many = counterfactual_distances(model, rows, distance, box)
    for i, x in enumerate(rows):
        own = model.predict(x[None, :])[0]
        try:
            alone = counterfactual_distance(model, x, distance, box)
        except NoCounterfactualExistsError:
            assert many.lower[i] == many.upper[i] == np.inf
            continue
        assert many[i].exact == alone.exact
        np.testing.assert_allclose(
            [many.lower[i], many.upper[i]], [alone.lower, alone.upper], rtol=1e-9, atol=1e-12
        )
        for witness in (alone.witness, many.witnesses[i]):
            if witness is not None:  # asked alone, as whoever gets it will
                assert model.predict(witness[None, :])[0] != own


whole_numbers = st.integers(-3, 3).map(float)


@settings(max_examples=60)
@given(
    coefficients=st.lists(
        st.lists(whole_numbers, min_size=3, max_size=3), min_size=1, max_size=3
    ).filter(lambda rows: len(rows) != 2),
    intercept=whole_numbers,
    rows=st.lists(st.lists(whole_numbers, min_size=3, max_size=3), min_size=1, max_size=6),
    distance=st.sampled_from([*DISTANCES, L1([1, 0, 2]), L2([0, 0, 1]), LInf([1, 0, 1])]),
    box=st.sampled_from([Box(), Box(-3, 3), Box(-3, 3, may_change=[0, 2])]),
    scale=st.sampled_from([None, 1e6, 1e-6]),
)
def test_a_batch_and_single_inputs_agree_and_every_witness_flips(
    coefficients: list[list[float]],
    intercept: float,
    rows: list[list[float]],
    distance: Distance,
    box: Box,
    scale: float | None,
) -> None:
    model = LogisticRegression()
    model.coef_ = np.array(coefficients)
    model.intercept_ = np.full(len(coefficients), intercept)
    model.classes_ = np.arange(max(2, len(coefficients)))
    model.n_features_in_ = 3
    if scale is not None:  # a scaler whose terms cancel leaves rounding behind
        scaler = StandardScaler()
        scaler.mean_, scaler.scale_ = np.full(3, scale), np.full(3, max(1.0, scale))
        scaler.var_, scaler.n_features_in_ = scaler.scale_**2, 3
        model = make_pipeline(scaler, model)
    check_batch_against_single(model, np.array(rows), distance, box)


@pytest.mark.parametrize("distance", [L1(), L2(), LInf()])
def test_frames_in_single_precision_are_asked_and_answered_in_it(distance: Distance) -> None:
    # The model then computes in single precision: witnesses used to flip in a batch, but not alone.
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abc"))
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
    # Nothing that the model flips is nearer than the bound: asked all around the witness.
    rng = np.random.default_rng(0)
    for i in range(5):
        witness = many.witnesses[i].to_numpy(dtype=float)
        near = (witness + rng.normal(size=(2000, 3)) * 1e-6).astype(np.float32)
        points = pd.DataFrame(near.clip(0, 1), columns=list("abc"))
        flipped = points[model.predict(points) != own[i]].to_numpy(dtype=float)
        assert many.lower[i] <= distance(frame.iloc[i].to_numpy(dtype=float), flipped).min()


def test_a_scaler_whose_terms_cancel_leaves_its_rounding_behind() -> None:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = np.full(2, 1e9), np.ones(2)
    scaler.var_, scaler.n_features_in_ = np.ones(2), 2
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([[1.0, -1.0]]), np.array([0.1])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    read = read_linear(make_pipeline(scaler, model))
    assert read is not None
    _, lack, rounding = read.preference(np.zeros((1, 2)), (1, 0), 2.0**-53)
    assert lack[0] == pytest.approx(-0.1)
    assert rounding[0] > 1e-7  # of terms of 1e9, which the folded bias does not show


def test_where_the_border_is_the_edge_of_the_box_the_model_has_the_last_word() -> None:
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([-1.0])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 1
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


def test_a_batch_says_where_there_is_no_counterfactual() -> None:
    model = LogisticRegression().fit(X, TWO)
    high = X[TWO == 1][:1]
    box = Box(np.minimum(high[0], 0.999), 1, may_change=[])
    many = counterfactual_distances(model, high, "l1", box)
    assert many.lower[0] == many.upper[0] == np.inf
    assert many[0].witness is None
    with pytest.raises(NoCounterfactualExistsError, match="whole domain"):
        counterfactual_distance(model, high[0], "l1", box)


def test_batches_of_frames_and_of_other_families_go_one_by_one() -> None:
    frame = pd.DataFrame({"a": [0, 3, 9, 4], "b": [0.0, 1.0, 2.0, 9.0]})
    model = LogisticRegression().fit(frame, [0, 0, 1, 1])
    many = counterfactual_distances(model, frame, "l1", Box(0, 9))
    assert many.exact.all()
    assert list(many[1].witness.index) == ["a", "b"]
    floats = counterfactual_distances(model, frame.astype(float), "l1", Box(0, 9))
    assert isinstance(floats[0].witness, pd.Series)
    nothing = counterfactual_distances(model, frame, "l1", Box(0, 9, may_change=[]))
    assert np.isinf(nothing.lower).all()


def test_models_that_are_not_linear_are_not_read_as_such() -> None:
    assert read_linear(LogisticRegression()) is None
    step = FunctionTransformer(np.sqrt)
    assert read_linear(make_pipeline(step, LogisticRegression()).fit(X, TWO)) is None
    clipped = make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(X, TWO)
    assert read_linear(clipped) is None
