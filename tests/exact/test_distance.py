"""The front door: what is asked, what is refused, and what any model gets."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from counterset import (
    Box,
    DiverseExplainer,
    DomainError,
    Grid,
    InvalidInputError,
    ModelError,
    NoCounterfactualExistsError,
    NotFittedError,
    Points,
    UnsupportedDistanceError,
    UnsupportedModelError,
)
from counterset.distances import L1, CustomDistance
from counterset.exact import ReluNetwork, counterfactual_distance, counterfactual_distances
from counterset.exact.domains import as_domain

RNG = np.random.default_rng(0)
X = RNG.random((60, 2))
LINEAR = LogisticRegression().fit(X, X.sum(axis=1) > 1)
CURVED = SVC().fit(X, ((X - 0.5) ** 2).sum(axis=1) > 0.1)


def test_any_other_model_gets_an_upper_bound_and_is_told_so() -> None:
    for domain in (Box(0, 1), None):
        bounds = counterfactual_distance(CURVED, [0.5, 0.5], "l2", domain)
        assert bounds.lower == 0
        assert 0.1 < bounds.upper < 0.45
        assert not bounds.exact
        assert bounds.method == "search"
        assert "only an upper bound" in bounds.reason
        assert CURVED.predict([bounds.witness])[0] != CURVED.predict([[0.5, 0.5]])[0]


def test_search_is_the_same_every_time() -> None:
    first, second = (counterfactual_distance(CURVED, [0.5, 0.5], "l1", Box(0, 1)) for _ in "ab")
    assert first.upper == second.upper
    np.testing.assert_array_equal(first.witness, second.witness)


def test_search_that_finds_nothing_is_no_proof() -> None:
    bounds = counterfactual_distance(lambda rows: np.zeros(len(rows)), [0.5], "l1", Box(0, 1))
    assert (bounds.lower, bounds.upper, bounds.witness) == (0, np.inf, None)
    assert "found no counterfactual" in bounds.reason
    hurried = counterfactual_distance(
        lambda rows: rows[:, 0] > 0.9, [0.5], "l1", Box(0, 1), time_limit=1e-9
    )
    assert hurried.upper <= 0.5


def test_what_a_search_finds_flips_the_model_alone_too() -> None:
    # A stand-in for sums that are rounded otherwise in a batch: its border is a hair nearer there.
    def batched(rows: np.ndarray) -> np.ndarray:
        border = 0.7 if len(rows) > 1 else 0.7001
        return np.asarray(rows[:, 0] > border)

    bounds = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1))
    assert bounds.witness is not None
    assert batched(bounds.witness[None, :])[0]
    started = counterfactual_distance(batched, [0.5, 0.5], "l1", Box(0, 1), start=[0.70011, 0.5])
    assert started.witness is not None
    assert batched(started.witness[None, :])[0]


def test_search_takes_a_start_and_walks_back_from_it() -> None:
    def corner(rows: np.ndarray) -> np.ndarray:
        return np.asarray((np.abs(rows - 0.9999) < 1e-5).all(axis=1))

    bounds = counterfactual_distance(
        corner, [0.5, 0.5], "l1", Box(0, 1), start=[[0.9999, 0.9999], [0.99991, 0.9999]]
    )
    assert bounds.upper == pytest.approx(2 * 0.4999, abs=1e-4)


def test_exact_or_nothing() -> None:
    with pytest.raises(UnsupportedModelError, match="SVC"):
        counterfactual_distance(CURVED, [0.5, 0.5], method="exact")
    searched = counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1), method="search")
    exact = counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1), method="exact")
    assert exact.upper <= searched.upper + 1e-12


def test_a_distance_that_no_solver_takes() -> None:
    odd = CustomDistance(lambda A, B: np.zeros((len(A), len(B))))
    forest = RandomForestClassifier(3, random_state=0).fit(X, X.sum(axis=1) > 1)
    with pytest.raises(UnsupportedDistanceError, match="tree ensemble"):
        counterfactual_distance(forest, [0.2, 0.2], odd)
    with pytest.raises(InvalidInputError, match="3 weights, but the input has 2"):
        counterfactual_distance(LINEAR, [0.2, 0.2], L1([1, 2, 3]))


def test_inputs_outside_the_domain() -> None:
    with pytest.raises(DomainError, match=r"'x1' is 2, not between 0 and 1"):
        counterfactual_distance(LINEAR, [0.5, 2], domain=Box(0, 1))


def test_empty_domains() -> None:
    with pytest.raises(DomainError, match="low bound is above"):
        Box([0, 1], [1, 0])
    with pytest.raises(DomainError, match="no points"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=np.empty((0, 2)))
    with pytest.raises(DomainError, match="feature 1 has no values"):
        Grid([[0], []])
    with pytest.raises(DomainError, match="no features"):
        Grid([])


def test_domains_that_do_not_fit() -> None:
    with pytest.raises(InvalidInputError, match="bounds for 3 features"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Box([0, 0, 0], 1))
    with pytest.raises(InvalidInputError, match="as many low as high"):
        Box([0, 0, 0], [1, 1])
    with pytest.raises(InvalidInputError, match="one low and one high"):
        Box(np.nan, 1)
    with pytest.raises(InvalidInputError, match="has 1 features, but the input has 2"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Grid([[0, 1]]))
    with pytest.raises(InvalidInputError, match="no finite number, in feature 0"):
        Grid([[np.inf]])
    with pytest.raises(InvalidInputError, match=r"a fitted explainer, got \{'low': 0\}"):
        as_domain({"low": 0})
    with pytest.raises(InvalidInputError, match="unknown feature 'x7'"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=Box(may_change=["x7"]))


def test_may_change_takes_names_positions_and_masks() -> None:
    answers = {
        counterfactual_distance(LINEAR, [0.2, 0.2], "l1", Box(0, 1, may_change=which)).upper
        for which in (["x1"], [1], [False, True])
    }
    assert len(answers) == 1


def test_the_domain_of_an_explainer_is_the_range_of_its_data() -> None:
    explainer = DiverseExplainer(LINEAR)
    with pytest.raises(NotFittedError, match="no range"):
        counterfactual_distance(LINEAR, [0.5, 0.5], domain=explainer)
    explainer.fit(X)
    box = as_domain(explainer)
    assert isinstance(box, Box)
    np.testing.assert_array_equal(box.high, X.max(axis=0))
    wider = box.holding([2.0, 0.5])
    np.testing.assert_array_equal(wider.high, [2.0, X[:, 1].max()])
    with pytest.raises(InvalidInputError, match="rows of its table"):
        Box(0, 1).holding([2.0])


def test_parameters_are_checked() -> None:
    for bad, match in (
        ({"time_limit": 0}, "time_limit"),
        ({"tolerance": -1}, "tolerance"),
        ({"method": "guess"}, "method must be"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            counterfactual_distance(LINEAR, [0.5, 0.5], **bad)
    with pytest.raises(InvalidInputError, match="of one row, got 2"):
        counterfactual_distance(LINEAR, X[:2])
    with pytest.raises(InvalidInputError, match="has a predict method"):
        counterfactual_distance("model", [0.5, 0.5])


def test_rows_of_frames_series_and_lists_are_inputs() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = LogisticRegression().fit(frame, X.sum(axis=1) > 1)
    from_frame = counterfactual_distance(model, frame.iloc[[0]], "l1")
    from_series = counterfactual_distance(model, frame.iloc[0], "l1")
    assert from_frame.upper == from_series.upper
    assert list(from_frame.witness.index) == ["a", "b"]
    many = counterfactual_distances(model, frame, "l1", Points(frame))
    assert many.exact.all()


@pytest.mark.parametrize(
    ("x", "match"),
    [
        ([np.nan, 0.2], "x is nan in feature 0"),
        ([0.1, np.inf], "x is inf in feature 1"),
        (["a", "b"], "no number"),
        ("ab", "no number"),
        ([[1, 2], [3]], "different lengths"),
        (None, r"one row of numbers, got shape \(\)"),
        ([], "one row of numbers"),
        (np.zeros((1, 1, 2)), r"got shape \(1, 1, 2\)"),
    ],
)
def test_inputs_that_are_no_row_of_numbers(x: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        counterfactual_distance(LINEAR, x)


@pytest.mark.parametrize(
    ("X", "match"),
    [([[np.nan, 1]], "X is nan"), ([0.1, 0.2], "one per input"), (np.empty((0, 2)), "no rows")],
)
def test_batches_that_are_no_rows_of_numbers(X: Any, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        counterfactual_distances(LINEAR, X)


def test_domains_that_are_no_numbers() -> None:
    for domain, match in (
        ("box", "got 'box'"),
        (3, "got 3"),
        ([["a", "b"]], "A set of points holds something that is no number"),
        ([[0.1, np.nan]], "A set of points is nan in feature 1"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            counterfactual_distance(LINEAR, [0.5, 0.5], domain=domain)
    with pytest.raises(InvalidInputError, match="got 'a' and 'b'"):
        Box("a", "b")
    with pytest.raises(InvalidInputError, match=r"feature 0: \['a'\]"):
        Grid([["a"], [1]])
    for wrong in (3, "ab"):
        with pytest.raises(InvalidInputError, match="a list of values for each feature"):
            Grid(wrong)  # type: ignore[arg-type]


def test_a_mask_that_is_too_short_is_not_taken_for_positions() -> None:
    # [True] used to be read as position 1.
    with pytest.raises(InvalidInputError, match="a yes or no for 1 features, but there are 2"):
        counterfactual_distance(LINEAR, [0.2, 0.2], domain=Box(0, 1, may_change=[True]))
    with pytest.raises(InvalidInputError, match=r"got the text 'x0'\. Put it in brackets"):
        counterfactual_distance(LINEAR, [0.2, 0.2], domain=Box(0, 1, may_change="x0"))


@pytest.mark.parametrize(
    ("domain", "every"), [(Box(0, 1), 1), (Grid([[0, 0.5, 1], [0, 0.5, 1]]), 2)]
)
def test_a_model_that_changes_its_mind_is_found_out(domain: Any, every: int) -> None:
    calls = []

    def fickle(rows: Any) -> np.ndarray:
        calls.append(len(rows))
        return np.full(len(rows), len(calls) // every % 2)

    with pytest.raises(ModelError, match="the same row in two ways"):
        counterfactual_distance(fickle, [0.2, 0.2], "l1", domain)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3),
        KNeighborsClassifier(1),
        MLPClassifier((2,), solver="lbfgs"),
        DecisionTreeClassifier(),
        DummyClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_of_one_class_has_no_counterfactuals(model: Any) -> None:
    model.fit(X, np.ones(len(X)))
    with pytest.raises(NoCounterfactualExistsError, match="one class only"):
        counterfactual_distance(model, [0.2, 0.2], "l1", Box(0, 1))


def test_proved_absence_is_not_absence_in_time() -> None:
    same = ReluNetwork([([[1.0], [1.0]], [5.0])])
    with pytest.raises(NoCounterfactualExistsError):
        counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1))
    with pytest.raises(NoCounterfactualExistsError):
        counterfactual_distance(same, [0.5, 0.5], "l1", Grid([[0, 1], [0, 1]]))
    hurried = counterfactual_distance(same, [0.5, 0.5], "l1", Box(0, 1), time_limit=1e-9)
    assert (hurried.witness, hurried.upper, hurried.exact) == (None, np.inf, False)
    assert hurried.reason == "the time was up"
