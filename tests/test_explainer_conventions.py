"""The explainer keeps scikit-learn's conventions, and can be saved."""

from __future__ import annotations

import inspect
import io
import pickle
import re
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted
from support.toys import FRAME, X, approve, fitted

from counterset import (
    AngleDiversity,
    CountersetError,
    DiverseExplainer,
    FeatureDiversity,
    InvalidInputError,
    LineSearch,
    Nearest,
    NearestCandidates,
    Paper,
    Schema,
)
from counterset.exceptions import ModelError, NotFittedError


def test_all_parameters_but_the_model_are_keyword_only() -> None:
    parameters = inspect.signature(DiverseExplainer).parameters
    for name, parameter in parameters.items():
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        expected = positional if name == "model" else inspect.Parameter.KEYWORD_ONLY
        assert parameter.kind == expected, name
    for method in (DiverseExplainer.explain, DiverseExplainer.explain_many):
        assert inspect.signature(method).parameters["target"].kind == expected


def test_parameters_can_be_read_and_set() -> None:
    explainer = DiverseExplainer.paper(approve, distance="l2")
    parameters = explainer.get_params(deep=False)
    assert parameters["model"] is approve
    assert parameters["distance"] == "l2"
    assert explainer.set_params(max_counterfactuals=3) is explainer
    assert explainer.max_counterfactuals == 3
    with pytest.raises(ValueError, match="alpha"):
        explainer.set_params(alpha=3)


def test_the_settings_of_the_paper_are_one_call_away() -> None:
    explainer = DiverseExplainer.paper(approve)
    assert explainer.strategy == Paper()
    steps = NearestCandidates(1000), AngleDiversity(0.5), LineSearch(0.1), None
    assert explainer.strategy == Paper(*steps)
    assert (NearestCandidates(), AngleDiversity(), LineSearch()) == steps[:3]
    assert (explainer.max_counterfactuals, explainer.distance) == (5, "l1")
    assert explainer.scale == "range"
    assert explainer.schema == Schema(step=0)


def test_parameters_of_ones_own_take_the_place_of_the_papers() -> None:
    schema = Schema(categorical=["x1"])
    explainer = DiverseExplainer.paper(approve, search=None, regions=3, schema=schema)
    assert explainer.strategy == Paper(search=None, regions=3)
    assert explainer.scale == "range"
    assert explainer.schema == Schema(categorical=["x1"], step=0)
    own_step = DiverseExplainer.paper(approve, schema=Schema(step={"x0": 2.0}))
    assert own_step.schema == Schema(step={"x0": 2.0})
    with pytest.raises(InvalidInputError, match="schema must be Schema or None, got 3"):
        DiverseExplainer.paper(approve, schema=3).fit(X)
    with pytest.raises(TypeError, match="unknown"):
        DiverseExplainer.paper(approve, unknown=3)
    with pytest.raises(InvalidInputError, match="has the strategy Paper"):
        DiverseExplainer.paper(approve, strategy=Nearest())


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"sparsify": True}, "strategy=Nearest()"),
        ({"diversity": FeatureDiversity()}, "strategy=Nearest(diversity=FeatureDiversity())"),
        ({"sparsify": False, "search": LineSearch(0.2)}, "strategy=Paper(search=LineSearch("),
        ({"candidates": NearestCandidates(20)}, "strategy=Paper(candidates=NearestCandidates("),
        ({"search": None}, "strategy=Paper(search=None)"),
        ({"anchors": "auto"}, "strategy=Shared(own=0, regions='auto')"),
        ({"anchors": 4, "sparsify": False}, "strategy=Paper(regions=4)"),
    ],
)
def test_parameters_that_moved_to_a_strategy_are_refused_with_the_new_line(
    given: dict[str, Any], line: str
) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(line)):
        DiverseExplainer(approve, **given)


def test_the_defaults_change_few_features_and_search_finely() -> None:
    explainer = DiverseExplainer(approve)
    assert explainer.strategy == Nearest(AngleDiversity(0.5), LineSearch(0.001))
    assert (explainer.scale, explainer.schema, explainer.costs) == ("robust", None, None)


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
    explainer = DiverseExplainer.paper(approve)
    for call in (
        lambda: explainer.explain(X[0]),
        lambda: explainer.explain_many(X),
        lambda: explainer.prepare(target="yes"),
        lambda: explainer.check_goal("yes"),
        lambda: explainer.with_strategy(Nearest()),
    ):
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call fit") as caught:
            call()
        assert isinstance(caught.value, CountersetError)
        assert isinstance(caught.value, sklearn.exceptions.NotFittedError)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(explainer)
    check_is_fitted(explainer.fit(X))


def test_fit_returns_the_explainer_and_ignores_y() -> None:
    explainer = DiverseExplainer.paper(approve)
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


def test_a_refit_that_fails_leaves_the_explainer_as_it_was() -> None:
    # It used to keep the new rows and the old labels, and to answer from that mixture.
    explainer = fitted(FRAME, regions=3, sparse=True)
    before = explainer.explain_many(FRAME).to_frame()
    names = explainer.feature_names_in_.tolist()
    other = FRAME.rename(columns={"age": "years"}) * 2
    calls = iter([approve(other), RuntimeError("interrupted")])

    def failing(rows: Any) -> Any:
        answer = next(calls)
        if isinstance(answer, Exception):
            raise answer
        return answer

    explainer.set_params(model=failing)
    with pytest.raises(ModelError, match="interrupted"):
        explainer.fit(other)
    explainer.set_params(model=approve)
    assert explainer.feature_names_in_.tolist() == names
    pd.testing.assert_frame_equal(explainer.explain_many(FRAME).to_frame(), before)


def test_it_prints_as_scikit_learn_does() -> None:
    assert repr(DiverseExplainer(approve, distance="l2")).startswith("DiverseExplainer(")
    assert "distance='l2'" in repr(DiverseExplainer(approve, distance="l2"))


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
    # Beside the rows: their positions and their classes, two numbers for ten.
    assert held.tell() < 1.3 * data.nbytes


def approve_half(rows: Any) -> Any:
    return rows.sum(axis=1) > 5
