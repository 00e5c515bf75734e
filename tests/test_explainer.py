"""DiverseExplainer as its users meet it: right answers, kept promises, clear errors."""

from __future__ import annotations

import inspect
import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    CountersetError,
    DistanceDiversity,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
    LineSearch,
    ModelError,
    NearestCandidates,
    NoCounterfactualError,
    NotFittedError,
)

Rows = NDArray[np.float64]

X = np.random.default_rng(0).random((80, 2))
FRAME = pd.DataFrame(X, columns=["age", "income"], index=[f"p{i}" for i in range(80)])
DECLINED = np.flatnonzero(X.sum(axis=1) <= 1)


def approve(rows: Any) -> Any:
    """Approve a sum above 1."""
    return np.where(np.asarray(rows, dtype=float).sum(axis=1) > 1, "yes", "no")


def fitted(data: Any = X, model: Any = approve, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"max_counterfactuals": 2, "diversity": None}
    return DiverseExplainer(model, **{**options, **parameters}).fit(data)


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, model: Any = approve) -> None:
        self.model = model
        self.asked: list[Any] = []

    def __call__(self, rows: Any) -> Any:
        self.asked.append(rows.copy())
        return self.model(rows)

    @property
    def rows(self) -> int:
        return sum(len(rows) for rows in self.asked)


# --- The algorithm ---------------------------------------------------------------------------


def test_the_papers_picture_of_the_four_steps() -> None:
    # The figure of the four steps, with its own coordinates. The boundary runs from (1, 2) to
    # (1.8, 0): blue is x + 0.4 y > 1.8. The training rows come in another order than 1 to 5.
    x = np.array([1.1, 0.4])
    one, two, three, four, five = [1.9, 0.3], [1.8, 0.9], [2.0, 1.1], [1.8, 1.6], [2.8, 1.8]
    training = np.array([five, x, three, one, four, two])

    def blue(rows: Rows) -> Any:
        return np.where(rows[:, 0] + 0.4 * rows[:, 1] > 1.8, "blue", "yellow")

    explainer = DiverseExplainer(
        blue,
        distance="l2",
        candidates=NearestCandidates(4),  # step 2 drops the fifth
        diversity=AngleDiversity(0.05),  # step 3 drops the third, which lies behind the second
        search=LineSearch(0.05),
        max_counterfactuals=3,
        scale=None,
    ).fit(training)

    without_search = explainer.set_params(search=None).explain(x)
    assert without_search.values.tolist() == [one, two, four]
    assert without_search.examples.tolist() == [3, 5, 4]
    lengths = np.sqrt([0.8**2 + 0.1**2, 0.7**2 + 0.5**2, 0.7**2 + 1.2**2])
    np.testing.assert_allclose(without_search.distances, lengths)

    # All three are longer than 16 * 0.05 and at most 32 * 0.05: five halvings. The boundary is
    # at the shares 0.54/0.76, 0.54/0.9 and 0.54/1.18 of the ways: within 23/32, 20/32, 15/32.
    found = explainer.set_params(search=LineSearch(0.05)).explain(x)
    shares = np.array([20, 23, 15]) / 32
    ends = np.array([two, one, four])
    np.testing.assert_allclose(found.values, x + shares[:, None] * (ends - x))
    np.testing.assert_allclose(found.distances, shares * lengths[[1, 0, 2]])
    assert found.examples.tolist() == [5, 3, 4]  # now the second is nearest
    # The crosses of the picture.
    np.testing.assert_allclose(
        found.values, [[1.53, 0.7], [1.67, 0.33], [1.42, 0.95]], rtol=0, atol=0.015
    )
    assert (found.label, found.labels.tolist()) == ("yellow", ["blue"] * 3)


def test_the_fundamental_problem_of_the_paper_gets_both_directions() -> None:
    # A yellow band between two blue ones: left and right are both reported.
    training = np.array([[0.0], [4.0], [5.0], [6.0], [10.0], [9.0]])
    explainer = fitted(
        training,
        lambda rows: np.abs(rows[:, 0] - 5) > 3,
        diversity=AngleDiversity(0.5),
        search=None,
    )
    assert sorted(explainer.explain([5.2]).values.tolist()) == [[0.0], [9.0]]


def test_scaling_decides_what_is_near() -> None:
    training = np.array([[0.0, 0.0], [1000.0, 0.0], [0.0, 1.0], [100.0, 0.6]])
    options: dict[str, Any] = {"search": None, "max_counterfactuals": 3}

    def model(rows: Rows) -> Any:
        return rows.sum(axis=1) > 0

    nearest = {
        scale: fitted(training, model, scale=scale, **options).explain([0.0, 0.0]).examples.tolist()
        for scale in ("range", None)
    }
    assert nearest == {"range": [3, 1, 2], None: [2, 3, 1]}
    weighted = fitted(training, model, scale=[1.0, 10_000.0], **options).explain([0.0, 0.0])
    assert weighted.examples.tolist() == [1, 3, 2]
    assert weighted.distances.tolist() == [1000.0, 6100.0, 10_000.0]


def test_scaling_by_the_median_absolute_deviation() -> None:
    training = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])  # median 3, deviations 2 1 0 1 97
    explainer = fitted(training, lambda rows: rows[:, 0] > 3.5, scale="mad", search=None)
    assert explainer.explain([3.0]).distances.tolist() == [1.0, 97.0]
    # A feature of which most values are equal is scaled by its range.
    mostly = np.array([[0.0], [0.0], [0.0], [10.0]])
    explainer = fitted(mostly, lambda rows: rows[:, 0] > 5, scale="mad", max_counterfactuals=1)
    assert explainer.set_params(search=None).explain([0.0]).distances.tolist() == [1.0]


def test_weights_by_name() -> None:
    explainer = fitted(FRAME, scale={"income": 4.0})
    assert explainer.distance_(FRAME.iloc[:1], FRAME.iloc[1:2])[0, 0] == pytest.approx(
        abs(X[0, 0] - X[1, 0]) + 4 * abs(X[0, 1] - X[1, 1])
    )


def test_a_wanted_class_of_several() -> None:
    training = np.arange(12.0)[:, None]

    def thirds(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 8], ["low", "middle"], "high")

    explainer = fitted(training, thirds, scale=None)
    assert explainer.classes_.tolist() == ["high", "low", "middle"]
    anyone = explainer.explain([0.0])
    assert set(anyone.labels) == {"middle"}
    wanted = explainer.explain([0.0], target="high")
    assert wanted.labels.tolist() == ["high", "high"]
    # On the way lies "middle", which is not acceptable: the search does not stop there.
    assert (wanted.values >= 8).all()
    assert (wanted.values <= 8 + 0.1).all()


def test_any_other_class_may_come_out_of_the_search() -> None:
    training = np.array([[0.0], [8.0], [9.0]])

    def thirds(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 7], ["low", "middle"], "high")

    # No training row is "middle", but the way to "high" leads through it.
    explainer = fitted(training, thirds, scale=None, max_counterfactuals=1)
    explanation = explainer.explain([0.0])
    assert explanation.labels.tolist() == ["middle"]
    assert explanation.values[0, 0] == pytest.approx(4, abs=0.1)


def test_an_input_of_a_class_never_seen_in_training_is_explained() -> None:
    training = np.array([[0.0], [8.0]])

    def model(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 10], ["low", "middle"], "high")

    explanation = fitted(training, model, scale=None, search=None).explain([20.0])
    assert explanation.label == "high"
    assert explanation.labels.tolist() == ["middle", "low"]


@pytest.mark.parametrize(
    "labels",
    [(0, 1), ("no", "yes"), (False, True), (-1.0, 1.0)],
    ids=["int", "str", "bool", "float"],
)
def test_labels_of_any_type(labels: tuple[Any, Any]) -> None:
    def model(rows: Rows) -> Any:
        return np.array(labels)[(rows.sum(axis=1) > 1).astype(int)]

    explainer = fitted(model=model)
    assert explainer.classes_.tolist() == list(labels)
    explanation = explainer.explain([0.1, 0.1])
    assert explanation.label == labels[0]
    assert type(explanation.label) is type(labels[0])
    assert explanation.labels.tolist() == [labels[1]] * 2
    assert explainer.explain([0.1, 0.1], target=labels[1]).labels.tolist() == [labels[1]] * 2


def test_every_counterfactual_is_valid_and_the_distances_ascend() -> None:
    explanations = fitted().explain_many(X)
    for explanation in explanations:
        assert (approve(explanation.values) == explanation.labels).all()
        assert (explanation.labels != explanation.label).all()
        assert (np.diff(explanation.distances) >= 0).all()
    distance = fitted().distance_(X[:1], explanations[0].values)[0]
    np.testing.assert_allclose(explanations[0].distances, distance)


def test_a_distance_function_works_in_every_step() -> None:
    def manhattan(A: Rows, B: Rows) -> Rows:
        return np.asarray(np.abs(A[:, None] - B[None]).sum(axis=2))

    for candidates in (NearestCandidates(10), CandidatesWithin(0.25)):
        for diversity in (AngleDiversity(0.01), DistanceDiversity(0.0), None):
            options: dict[str, Any] = {
                "candidates": candidates, "diversity": diversity, "max_counterfactuals": 1,
            }  # fmt: skip
            named = fitted(distance="l1", **options).explain_many(X[:5])
            custom = fitted(distance=manhattan, **options).explain_many(X[:5])
            pd.testing.assert_frame_equal(named.to_frame(), custom.to_frame())


# --- Rows in, rows out -----------------------------------------------------------------------


def test_one_row_may_come_as_a_vector_a_series_or_a_table() -> None:
    of_frame, of_array = fitted(FRAME), fitted(X)
    expected = of_array.explain(X[0]).values
    for explanation in (
        of_array.explain(X[:1]),
        of_array.explain(X[0].tolist()),
        of_frame.explain(FRAME.iloc[0]),
        of_frame.explain(FRAME.iloc[:1]),
        of_frame.explain(X[0]),
    ):
        np.testing.assert_array_equal(explanation.values, expected)
    assert of_frame.explain(FRAME.iloc[3]).index == "p3"
    assert of_frame.explain(FRAME.iloc[[3]]).index == "p3"


def test_a_row_of_a_frame_of_several_dtypes_is_taken() -> None:
    frame = FRAME.assign(age=np.arange(80))
    explainer = fitted(frame, lambda rows: rows["age"] > 40)
    one = explainer.explain(frame.iloc[3])
    pd.testing.assert_frame_equal(
        pd.DataFrame(one.counterfactuals),
        pd.DataFrame(explainer.explain(frame.iloc[[3]]).counterfactuals),
    )


def test_integer_columns_stay_integers_and_the_model_is_asked_only_about_integers() -> None:
    frame = pd.DataFrame({"age": np.arange(20, 60), "rate": np.linspace(0, 1, 40)})
    model = Recorder(lambda rows: rows["age"] + rows["rate"] > 40)
    explanations = fitted(frame, model, search=LineSearch(0.01)).explain_many(frame.iloc[:5])
    for rows in model.asked:
        assert rows.dtypes.equals(frame.dtypes)
    for explanation in explanations:
        rows = explanation.counterfactuals
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(frame.dtypes)
        assert (rows["age"] + rows["rate"] > 40).all()


def test_a_fraction_in_an_integer_column_is_not_cut_off_in_silence() -> None:
    data = np.arange(20).reshape(10, 2)
    explainer = fitted(data, lambda rows: rows.sum(axis=1) > 20, max_counterfactuals=1)
    try:
        explanation = explainer.explain([2.7, 3.0])
    except CountersetError:
        return  # refusing it is fine
    # Otherwise the row explained is the nearest that the column can hold, and is told as such.
    assert explanation.input.tolist() == [3, 3]
    assert explanation.distances[0] == explainer.distance_([3, 3], explanation.values)[0, 0]


def test_a_number_that_the_dtype_cannot_hold_is_refused() -> None:
    explainer = fitted(np.arange(20, dtype=np.uint8).reshape(10, 2), lambda rows: rows[:, 0] > 9)
    with pytest.raises(CountersetError):
        explainer.explain([-3, 0])


def test_columns_of_single_precision_stay_so_and_what_is_returned_was_asked() -> None:
    data = X.astype(np.float32)
    model = Recorder(lambda rows: rows.sum(axis=1) > 1)
    explanations = fitted(data, model, search=LineSearch(1e-9)).explain_many(data[:5])
    assert {rows.dtype for rows in model.asked} == {np.dtype(np.float32)}
    asked = {tuple(row) for rows in model.asked for row in rows.tolist()}
    for explanation in explanations:
        assert explanation.values.dtype == np.float32
        assert {tuple(row) for row in explanation.values.tolist()} <= asked


def test_a_value_rounded_to_single_precision_has_not_changed() -> None:
    data = np.array([[0.1, 0.0], [0.1, 1.0]], dtype=np.float32)
    explainer = fitted(data, lambda rows: rows[:, 1] > 0.5, max_counterfactuals=1)
    explanation = explainer.explain([0.1, 0.0])  # the double 0.1 is not the single 0.1
    assert explanation.changed.tolist() == [[False, True]]


def test_constant_and_single_features() -> None:
    data = np.column_stack([np.ones(10), np.arange(10.0)])
    explanation = fitted(data, lambda rows: rows[:, 1] > 4).explain(data[0])
    assert (explanation.values[:, 0] == 1).all()
    single = fitted(data[:, 1:], lambda rows: rows[:, 0] > 4).explain([0.0])
    assert (single.values > 4).all()


def test_what_is_passed_in_is_not_modified() -> None:
    frame, array = FRAME.copy(), X.copy()
    fitted(frame).explain_many(frame)
    fitted(frame).explain(frame.iloc[0])
    fitted(array).explain_many(array)
    pd.testing.assert_frame_equal(frame, FRAME)
    np.testing.assert_array_equal(array, X)


def test_read_only_data_is_taken() -> None:
    array = X.copy()
    array.setflags(write=False)
    np.testing.assert_array_equal(
        fitted(array).explain_many(array).to_frame(), fitted(X).explain_many(X).to_frame()
    )


def test_changing_the_data_after_fit_changes_nothing() -> None:
    for data in (X.copy(), FRAME.copy()):
        explainer = fitted(data)
        before = explainer.explain(X[0]).values
        data[:] = 0.0
        np.testing.assert_array_equal(explainer.explain(X[0]).values, before)


def test_a_model_that_scribbles_on_its_rows_does_no_harm() -> None:
    def scribble(rows: Any) -> Any:
        labels = approve(rows)
        rows[:] = 0.0
        return labels

    for data in (X, FRAME):
        honest, scribbled = fitted(data), fitted(data, scribble)
        pd.testing.assert_frame_equal(
            honest.explain_many(data[:5]).to_frame(), scribbled.explain_many(data[:5]).to_frame()
        )


# --- What the model is asked -----------------------------------------------------------------


def test_fit_asks_the_model_once_about_each_training_row() -> None:
    model = Recorder()
    fitted(FRAME, model)
    assert len(model.asked) == 1
    pd.testing.assert_frame_equal(
        model.asked[0].reset_index(drop=True), FRAME.reset_index(drop=True)
    )


@pytest.mark.parametrize(("gamma", "calls"), [(0.1, 4), (0.001, 6)])
def test_an_explanation_asks_the_model_a_handful_of_times(gamma: float, calls: int) -> None:
    model = Recorder()
    explainer = fitted(X, model, search=LineSearch(gamma))
    for x in X[:10]:
        model.asked.clear()
        explainer.explain(x)
        assert len(model.asked) <= calls


def test_without_a_search_the_model_is_asked_about_the_inputs_only() -> None:
    model = Recorder()
    explainer = fitted(X, model, search=None)
    model.asked.clear()
    explainer.explain_many(X[:7])
    assert [len(rows) for rows in model.asked] == [7]


def test_a_batch_counts_what_the_model_was_asked() -> None:
    model = Recorder()
    explainer = fitted(X, model)
    model.asked.clear()
    explanations = explainer.explain_many(X[:7])
    assert (explanations.model_calls, explanations.model_rows) == (len(model.asked), model.rows)
    # One question a halving and segment at least, seven for three halvings at most.
    assert model.rows <= 7 + 7 * 2 * 3 * 7


# --- scikit-learn's conventions --------------------------------------------------------------


def test_all_parameters_but_the_model_are_keyword_only() -> None:
    parameters = inspect.signature(DiverseExplainer).parameters
    for name, parameter in parameters.items():
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        expected = positional if name == "model" else inspect.Parameter.KEYWORD_ONLY
        assert parameter.kind == expected, name
    for method in (DiverseExplainer.explain, DiverseExplainer.explain_many):
        assert inspect.signature(method).parameters["target"].kind == expected


def test_parameters_can_be_read_and_set() -> None:
    explainer = DiverseExplainer(approve, distance="l2")
    parameters = explainer.get_params(deep=False)
    assert parameters["model"] is approve
    assert parameters["distance"] == "l2"
    assert explainer.set_params(max_counterfactuals=3) is explainer
    assert explainer.max_counterfactuals == 3
    with pytest.raises(ValueError, match="alpha"):
        explainer.set_params(alpha=3)


def test_a_clone_has_the_parameters_and_the_fitted_model_but_is_not_fitted() -> None:
    model = LogisticRegression().fit(X, approve(X))
    explainer = fitted(model=model, distance="l2")
    copy = clone(explainer)
    assert copy.get_params(deep=False) == explainer.get_params(deep=False)
    check_is_fitted(copy.model)
    with pytest.raises(NotFittedError):
        copy.explain(X[0])
    np.testing.assert_array_equal(copy.fit(X).explain(X[0]).values, explainer.explain(X[0]).values)


def test_explain_before_fit_is_an_error_of_both_libraries() -> None:
    explainer = DiverseExplainer(approve)
    for call in (lambda: explainer.explain(X[0]), lambda: explainer.explain_many(X)):
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call fit") as caught:
            call()
        assert isinstance(caught.value, CountersetError)
        assert isinstance(caught.value, sklearn.exceptions.NotFittedError)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(explainer)
    check_is_fitted(explainer.fit(X))


def test_fit_returns_the_explainer_and_ignores_y() -> None:
    explainer = DiverseExplainer(approve)
    assert explainer.fit(X, ["something else"] * 80) is explainer
    assert explainer.classes_.tolist() == ["no", "yes"]


def test_learned_names() -> None:
    of_frame = fitted(FRAME)
    assert of_frame.n_features_in_ == 2
    assert of_frame.feature_names_in_.tolist() == ["age", "income"]
    of_array = fitted(X)
    assert of_array.n_features_in_ == 2
    assert not hasattr(of_array, "feature_names_in_")


def test_fitting_again_forgets_the_first_data() -> None:
    explainer = fitted(FRAME)
    explainer.fit(X + 0.25)
    assert explainer.explain(X[0]).values.shape == (2, 2)
    assert not hasattr(explainer, "feature_names_in_")
    np.testing.assert_array_equal(
        explainer.explain(X[0]).values, fitted(X + 0.25).explain(X[0]).values
    )


def test_it_prints_as_scikit_learn_does() -> None:
    assert repr(DiverseExplainer(approve, distance="l2")).startswith("DiverseExplainer(")
    assert "distance='l2'" in repr(DiverseExplainer(approve, distance="l2"))


# --- Saving ----------------------------------------------------------------------------------


def test_pickle_and_joblib_give_bit_identical_answers(tmp_path: Path) -> None:
    model = LogisticRegression().fit(FRAME, approve(FRAME))
    explainer = fitted(FRAME, model)
    before = explainer.explain_many(FRAME).to_frame()
    joblib.dump(explainer, tmp_path / "explainer.joblib")
    for again in (
        pickle.loads(pickle.dumps(explainer)),
        joblib.load(tmp_path / "explainer.joblib"),
    ):
        pd.testing.assert_frame_equal(
            again.explain_many(FRAME).to_frame(), before, check_exact=True
        )


def test_results_can_be_pickled() -> None:
    explanations = fitted(FRAME).explain_many(FRAME.iloc[:4])
    again = pickle.loads(pickle.dumps(explanations))
    pd.testing.assert_frame_equal(again.to_frame(), explanations.to_frame())
    assert repr(again[0]) == repr(explanations[0])


def test_a_saved_explainer_holds_the_training_rows_once() -> None:
    data = np.random.default_rng(1).random((5000, 10))
    explainer = fitted(data, approve_half)
    explainer.explain(data[0])  # by now the points of the scaled space are there
    held = io.BytesIO()
    pickle.dump(explainer, held)
    assert held.tell() < 1.2 * data.nbytes


def approve_half(rows: Any) -> Any:
    return rows.sum(axis=1) > 5


# --- Bad input -------------------------------------------------------------------------------


def with_value(data: Rows, value: float) -> Rows:
    changed = data.copy()
    changed[3, 1] = value
    return changed


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"(?s)inf.*'x1', row 3.*drop"):
        fitted(with_value(X, value))
    with pytest.raises(InvalidInputError, match=r"(?s)inf.*'x1', row 3.*drop"):
        fitted().explain_many(with_value(X, value))
    with pytest.raises(InvalidInputError, match=r"'income'"):
        fitted(FRAME).explain_many(pd.DataFrame(with_value(X, value), columns=FRAME.columns))


def test_a_missing_value_where_the_training_data_has_none_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'x1', row 3.*[Ff]ill"):
        fitted().explain_many(with_value(X, np.nan))
    with pytest.raises(InvalidInputError, match=r"'income', row 0.*[Ff]ill"):
        fitted(FRAME).explain(pd.Series({"age": 1.0, "income": None}))
    integers = FRAME.assign(age=pd.array(range(80), dtype="Int64"))
    with pytest.raises(InvalidInputError, match=r"'age'.*[Ff]ill"):
        fitted(integers, lambda rows: rows["income"] > 0.5).explain_many(
            integers.assign(age=pd.array([None] * 80, dtype="Int64"))
        )


@pytest.mark.parametrize("data", [X[:, :1], np.hstack([X, X])])
def test_the_wrong_number_of_columns_is_refused(data: Rows) -> None:
    with pytest.raises(InvalidInputError, match=rf"X has {data.shape[1]} features.*fitted on 2"):
        fitted().explain_many(data)
    with pytest.raises(InvalidInputError, match=rf"X has {data.shape[1]} features"):
        fitted(FRAME).explain(data[0])


def test_another_order_of_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"another order.*feature_names_in_"):
        fitted(FRAME).explain_many(FRAME[["income", "age"]])
    with pytest.raises(InvalidInputError, match=r"another order"):
        fitted(FRAME).explain(FRAME[["income", "age"]].iloc[0])
    explainer = fitted(FRAME)
    explainer.explain_many(FRAME[["income", "age"]][explainer.feature_names_in_])


def test_missing_and_extra_columns_are_named() -> None:
    with pytest.raises(InvalidInputError, match=r"missing \['income'\], extra \['wage'\]"):
        fitted(FRAME).explain_many(FRAME.rename(columns={"income": "wage"}))
    with pytest.raises(InvalidInputError, match=r"missing \[\], extra \['wage'\].*Pass exactly"):
        fitted(FRAME).explain_many(FRAME.assign(wage=1.0))


def test_a_repeated_column_is_refused() -> None:
    twice = FRAME.set_axis(["age", "age"], axis=1)
    with pytest.raises(InvalidInputError, match=r"unique, got \['age'\] more than once"):
        fitted(twice)
    with pytest.raises(InvalidInputError):
        fitted(FRAME).explain_many(pd.concat([FRAME, FRAME["age"]], axis=1))


def test_a_frame_where_an_array_was_fitted_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"fitted on an array.*to_numpy\(\)"):
        fitted(X).explain_many(FRAME)


@pytest.mark.parametrize(
    "data", [np.empty((0, 2)), np.empty((3, 0)), FRAME.iloc[:0], FRAME[[]]],
    ids=["no rows", "no columns", "no rows in a frame", "no columns in a frame"],
)  # fmt: skip
def test_empty_training_data_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"empty: got \d+ rows and \d+ columns\. Fit on"):
        fitted(data)


def test_no_rows_to_explain_are_refused() -> None:
    with pytest.raises(CountersetError, match="no rows"):
        fitted().explain_many(X[:0])


def test_a_model_of_one_class_is_refused() -> None:
    with pytest.raises(NoCounterfactualError, match=r"predicts 'yes' for all 80 .*Fit on data"):
        fitted(model=lambda rows: ["yes"] * len(rows))


def test_a_target_that_no_row_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        NoCounterfactualError, match=r"predicted 'maybe'.*target of \['no', 'yes'\]"
    ):
        fitted().explain(X[0], target="maybe")


def test_a_target_that_is_already_reached_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"already decides 'yes' for \d+ of 80 .*Leave"):
        fitted().explain_many(X, target="yes")


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("distance", "l3", r"Unknown distance 'l3'\. Choose one of"),
        ("distance", 2, r"A distance is .*, got int"),
        ("candidates", 50, r"candidates must be NearestCandidates or .*, got 50"),
        ("candidates", None, r"candidates must be .*, got None"),
        ("diversity", 0.5, r"diversity must be AngleDiversity.*, got 0\.5"),
        ("search", 0.1, r"search must be LineSearch or None, got 0\.1"),
        ("max_counterfactuals", 0, r"max_counterfactuals must be .* at least 1, got 0"),
        ("max_counterfactuals", 2.5, r"max_counterfactuals must be .* at least 1, got 2\.5"),
        ("scale", "z", r"Unknown scale 'z'\. Choose 'range'"),
        ("scale", [1.0], r"one finite, positive weight for each of the 2 features"),
        ("scale", [1.0, -1.0], r"one finite, positive weight"),
        ("scale", ["a", "b"], r"one finite, positive weight"),
        ("scale", {"wage": 2.0}, r"unknown features \['wage'\]\. Known: "),
        ("model", None, r"A model has a predict method .*, got NoneType"),
    ],
)  # fmt: skip
def test_unusable_parameters_are_refused_in_fit(parameter: str, value: Any, message: str) -> None:
    explainer = DiverseExplainer(approve).set_params(**{parameter: value})
    with pytest.raises(InvalidInputError, match=message):
        explainer.fit(X)


def test_unusable_parameters_set_after_fit_are_refused_too() -> None:
    explainer = fitted().set_params(max_counterfactuals=0)
    with pytest.raises(InvalidInputError, match="max_counterfactuals must be"):
        explainer.explain(X[0])


def test_weights_of_a_distance_must_fit_the_features() -> None:
    from counterset.distances import L1

    with pytest.raises(InvalidInputError, match=r"3 weights, but the rows have 2 features"):
        fitted(distance=L1(weights=[1, 1, 1])).explain(X[0])


def test_a_model_that_gives_the_wrong_number_of_labels_is_refused() -> None:
    with pytest.raises(ModelError, match=r"asked about 80 rows, got an answer of shape \(79,\)"):
        fitted(model=lambda rows: approve(rows)[1:])


def test_a_model_that_raises_is_named_in_the_error() -> None:
    explainer = fitted()

    def broken(rows: Any) -> Any:
        raise ZeroDivisionError("oops")

    with pytest.raises(ModelError, match=r"The model raised ZeroDivisionError .*: oops"):
        explainer.set_params(model=broken).explain(X[0])


def test_a_vector_where_a_table_is_meant_is_refused() -> None:
    for call in (fitted, fitted().explain_many):
        with pytest.raises(InvalidInputError, match=r"must be 2-d.*got shape \(2,\).*reshape"):
            call(X[0])
    with pytest.raises(InvalidInputError):
        fitted(FRAME).explain_many(FRAME.iloc[0])


@pytest.mark.parametrize("rows", [X[:2], X[:0], np.zeros((1, 1, 2)), np.float64(3.0)])
def test_a_table_where_a_row_is_meant_is_refused(rows: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"one row, got .* shape .*explain_many"):
        fitted().explain(rows)
    with pytest.raises(InvalidInputError, match=r"one row, got .* shape \(2, 2\)"):
        fitted(FRAME).explain(FRAME.iloc[:2])


def test_rows_of_different_length_are_refused() -> None:
    for call in (fitted, fitted().explain_many, fitted().explain):
        with pytest.raises(InvalidInputError):
            call([[1.0, 2.0], [3.0]])


def test_text_where_numbers_were_fitted_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="not numeric"):
        fitted(FRAME).explain_many(FRAME.assign(income="much"))
    with pytest.raises(InvalidInputError):
        fitted().explain(["a", "b"])


def test_complex_numbers_are_refused() -> None:
    for data in (X + 0j, FRAME.astype(complex)):
        with pytest.raises(InvalidInputError, match="complex128"):
            fitted(data)


def test_a_sparse_matrix_is_refused_with_a_way_out() -> None:
    from scipy import sparse

    with pytest.raises(InvalidInputError, match=r"sparse matrix\. Pass X\.toarray\(\)"):
        fitted(sparse.csr_matrix(X))


def test_a_model_that_contradicts_itself_gives_no_input_as_its_own_counterfactual() -> None:
    def fickle(rows: Any) -> Any:
        # Fits as two classes of one and the same row, then decides it the first way.
        return np.arange(len(rows)) % 2 == 1

    for distance in ("l1", "l2", lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2)):
        explainer = fitted(np.ones((4, 2)), fickle, distance=distance)
        with pytest.raises(NoCounterfactualError, match=r"equal to the input.*always alike"):
            explainer.explain([1.0, 1.0])


# --- Fewer than asked ------------------------------------------------------------------------


def test_too_few_candidates_are_blamed_on_step_2() -> None:
    explainer = fitted(candidates=NearestCandidates(3), max_counterfactuals=5)
    with pytest.warns(FewerCounterfactualsWarning, match=r"the fewest: 3\).*step 2.*alpha"):
        assert len(explainer.explain([0.1, 0.1])) == 3


def test_too_few_that_differ_are_blamed_on_step_3() -> None:
    explainer = fitted(diversity=AngleDiversity(1.0), max_counterfactuals=5)
    with pytest.warns(FewerCounterfactualsWarning, match=r"because step 3.*lower beta"):
        explainer.explain([0.1, 0.1])


def test_the_search_leading_to_one_point_is_blamed_on_step_4() -> None:
    # Integers: both ways end at 1.
    data = np.array([[0], [2], [3]])
    explainer = fitted(data, lambda rows: rows[:, 0] > 0, search=LineSearch(0.01))
    with pytest.warns(FewerCounterfactualsWarning, match=r"because step 4 .* same point"):
        explanation = explainer.explain([0])
    assert explanation.values.tolist() == [[1]]


def test_a_batch_is_warned_about_once_and_counts_the_short_inputs() -> None:
    explainer = fitted(candidates=NearestCandidates(3), max_counterfactuals=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explainer.explain_many(X[:6])
    assert len(caught) == 1
    assert str(caught[0].message).startswith("6 of 6 inputs have fewer than 5 counterfactuals")
    assert caught[0].filename == __file__  # the user's line, not the library's


def test_enough_counterfactuals_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(max_counterfactuals=1).explain_many(X)


# --- Good manners ----------------------------------------------------------------------------


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    fitted(FRAME).explain_many(FRAME)
    assert capsys.readouterr() == ("", "")


def test_the_global_random_state_is_left_alone() -> None:
    np.random.seed(3)
    before = np.random.get_state()
    fitted().explain_many(X)
    after = np.random.get_state()
    assert str(before) == str(after)


def test_the_same_input_gives_the_same_set_always() -> None:
    first = fitted().explain_many(X).to_frame()
    pd.testing.assert_frame_equal(fitted().explain_many(X).to_frame(), first, check_exact=True)
