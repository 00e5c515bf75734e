"""Certificates, as an explainer proves them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from counterset import (
    Constraints,
    DiverseExplainer,
    ExhaustiveExplainer,
    Explanation,
    InvalidInputError,
    NearData,
    counterfactual_distance,
)
from counterset.distances import CustomDistance
from counterset.exact import Answer, Box, Certificate, DistanceBounds
from counterset.exceptions import UnsupportedDistanceError

X = np.random.default_rng(0).random((150, 2))
MODEL = LogisticRegression(C=100).fit(X, X.sum(axis=1) > 1)


def far_out(rows: Any) -> np.ndarray:
    return np.asarray(np.abs(np.asarray(rows)[:, 0]) >= 1)


def test_a_certificate_tells_how_far_each_option_is_safe() -> None:
    explainer = DiverseExplainer.paper(MODEL, max_counterfactuals=3).fit(X)
    explanation = explainer.explain(X[0])
    assert explanation.certificate is None
    certified = explainer.certify(explanation, epsilon=0.3)
    certificate = certified.certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.distance_bounds.exact
    assert certificate.safety is not None
    cfd = certificate.distance_bounds.lower
    np.testing.assert_allclose(certificate.safety, cfd + 0.3 - explanation.distances)
    assert certificate.radii is not None
    np.testing.assert_array_equal(certificate.radii, np.maximum(certificate.safety, 0) / 2)
    assert "safe within" in repr(certified)
    assert "anyone of your class within r of you has this option within 0.3 of their optimum" in (
        repr(certified)
    )
    assert "Your own optimum is" in repr(certified)
    assert "safe within" in certified._repr_html_()

    # Proposition 2, on inputs around.
    exhaustive = ExhaustiveExplainer(MODEL, 0.3, explainer.distance_, Box.of(explainer))
    for c, radius in zip(explanation.values, certificate.radii, strict=True):
        nearby = X[0] + radius * 0.9 * np.array([[0.5, -0.4], [-0.5, 0.4]]) * np.ptp(X, axis=0)
        for x in np.clip(nearby, X.min(axis=0), X.max(axis=0)):
            if radius > 0 and MODEL.predict([x])[0] == explanation.label:
                assert exhaustive.contains(x, c) is Answer.YES


def test_inputs_outside_the_training_range_widen_the_domain() -> None:
    explainer = DiverseExplainer.paper(MODEL, diversity=None, max_counterfactuals=2).fit(X)
    certified = explainer.certify(explainer.explain([1.5, 1.5]), epsilon=0.3)
    assert certified.certificate is not None
    with_domain = explainer.certify(explainer.explain(X[0]), 0.3, domain=Box(-1, 2))
    assert with_domain.certificate is not None


def test_a_certificate_rests_on_a_metric() -> None:
    odd = CustomDistance(lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2))
    explainer = DiverseExplainer.paper(MODEL, distance=odd, max_counterfactuals=2).fit(X)
    with pytest.raises(UnsupportedDistanceError, match="triangle inequality"):
        explainer.certify(explainer.explain(X[0]), epsilon=0.3)


def test_a_certificate_tells_what_it_holds_and_no_more() -> None:
    assert str(Certificate()) == ""
    assert Certificate().column() == []
    assert "within 0.25 of you gets the same examples" in str(Certificate(stable_radius=0.25))
    mixed = Certificate(epsilon=0.5, safety=np.array([0.5, -0.1]))
    assert mixed.column() == ["0.25", "-"]
    assert str(mixed).endswith("within 0.5 of their optimum (-: not certain).")
    sure = Certificate(epsilon=0.5, safety=np.array([0.5, 0.1]))
    assert str(sure).endswith("within 0.5 of their optimum.")
    searched = ExhaustiveExplainer(far_out, 0.1, domain=Box(-2, 2)).counterfactual_distance([0.0])
    told = "This model could not be read, so nothing is proved. Your own optimum is at most 1 away."
    assert str(Certificate(distance_bounds=searched)) == told
    nothing = DistanceBounds(0.25, np.inf, False, None, 0.0, "by hand")
    told = "Your own optimum is at least 0.25 away."
    assert str(Certificate(distance_bounds=nothing)) == told


@given(st.floats(1e-9, 1e9))
def test_a_told_radius_is_never_more_than_the_proved_one(delta: float) -> None:
    (told,) = Certificate(epsilon=1.0, safety=np.array([delta])).column()
    assert 0.98 * delta / 2 <= float(told) <= delta / 2


def test_an_option_outside_the_domain_is_not_called_safe() -> None:
    explainer = DiverseExplainer.paper(MODEL, max_counterfactuals=2).fit(X)
    explanation = explainer.explain(X[0])
    free = explainer.certify(explanation, 5.0).certificate
    assert free is not None
    assert free.safety is not None
    assert (free.safety > 0).all()
    # The domain holds one value of the second feature, but both of the options change it.
    box = Box([-5, X[0, 1]], [5, X[0, 1]])
    fixed = explainer.certify(explanation, 5.0, domain=box).certificate
    assert fixed is not None
    assert fixed.column() == ["-", "-"]


def test_only_an_explanation_of_this_explainer_is_certified() -> None:
    explainer = DiverseExplainer.paper(MODEL, max_counterfactuals=2).fit(X)
    explanation = explainer.explain(X[0])
    for wrong in (X[0], explainer.explain_many(X[:2])):
        with pytest.raises(InvalidInputError, match="one explanation"):
            explainer.certify(wrong, 0.3)  # type: ignore[arg-type]
    other = DiverseExplainer.paper(MODEL, distance="l2", max_counterfactuals=2).fit(X)
    with pytest.raises(InvalidInputError, match="by another explainer"):
        other.certify(explanation, 0.3)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(1),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, max_depth=3, random_state=0),
        MLPClassifier((6,), solver="lbfgs", random_state=0, max_iter=1000),
        make_pipeline(StandardScaler(), LogisticRegression()),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_family_is_certified(model: Any) -> None:
    model.fit(X, X.sum(axis=1) > 1)
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2).fit(X)
    certified = explainer.certify(explainer.explain(X[0]), epsilon=0.3)
    certificate = certified.certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.safety is not None
    assert certificate.distance_bounds.exact == (not isinstance(model, SVC))
    # Where only a search is possible the optimum may be 0, so that nothing far is safe.
    least = certificate.distance_bounds.lower + 0.3 - certified.distances
    np.testing.assert_allclose(certificate.safety, least)
    assert "Your own optimum is" in str(certified)
    assert ("nothing is proved" in str(certified)) == isinstance(model, SVC)


def test_whole_numbers_and_constraints_are_certified() -> None:
    frame = pd.DataFrame({"count": (10 * X[:, 0]).astype(int), "age": (50 * X[:, 1]).astype(int)})
    model = LogisticRegression(C=100).fit(frame, X.sum(axis=1) > 1)
    explainer = DiverseExplainer.paper(
        model, max_counterfactuals=1, constraints=Constraints(immutable=["age"])
    ).fit(frame)
    free = DiverseExplainer.paper(model, max_counterfactuals=1).fit(frame)
    x = frame.iloc[np.argmin(np.abs(X.sum(axis=1) - 0.9))]
    kept, any_ = (each.certify(each.explain(x), 5.0).certificate for each in (explainer, free))
    assert kept is not None
    assert any_ is not None
    assert kept.distance_bounds is not None
    assert any_.distance_bounds is not None
    # The age stays, so the optimum is farther.
    assert kept.distance_bounds.exact
    assert kept.distance_bounds.witness["age"] == x["age"]
    assert kept.distance_bounds.lower > any_.distance_bounds.upper
    assert kept.distance_bounds.method == "mixed-integer programme of a linear model"
    assert kept.distance_bounds.witness["count"] == int(kept.distance_bounds.witness["count"])
    assert kept.safety is not None
    assert kept.safety[0] > 0


def test_mixed_tables_are_certified_as_far_as_the_model_can_be_read() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "home": np.where(X[:, 1] > 0.5, "own", "rent")})
    wanted = (frame["home"] == "own") & (frame["a"] > 0.3)
    encode = make_column_transformer((OneHotEncoder(), ["home"]), remainder="passthrough")
    tree = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(frame, wanted)
    certified = {}
    for name, model in (("read", tree), ("searched", tree.predict)):
        explainer = DiverseExplainer.paper(model, max_counterfactuals=1).fit(frame)
        found = explainer.certify(explainer.explain(frame.iloc[0]), 0.3).certificate
        assert found is not None
        assert found.distance_bounds is not None
        certified[name] = found
    assert certified["read"].distance_bounds.exact  # type: ignore[union-attr]
    assert certified["searched"].distance_bounds.lower == 0  # type: ignore[union-attr]
    read, searched = (certified[name].distance_bounds for name in ("read", "searched"))
    assert read.upper <= searched.upper  # type: ignore[union-attr]


def test_an_input_that_misses_a_value_is_named() -> None:
    # It used to be an error about a Box that the user never made.
    frame = pd.DataFrame(np.random.default_rng(0).random((80, 2)), columns=["a", "b"])
    frame.loc[0, "a"] = np.nan
    explainer = DiverseExplainer(lambda rows: rows["b"] > 0.5, max_counterfactuals=1).fit(frame)
    with pytest.raises(UnsupportedDistanceError, match=r"no value for \['a'\]"):
        explainer.certify(explainer.explain(frame.iloc[0]), epsilon=0.5)


WINE, KIND = load_wine(return_X_y=True, as_frame=True)
PEOPLE, DISEASE = load_diabetes(return_X_y=True, as_frame=True)


def bounds_of(explanation: Explanation) -> DistanceBounds:
    assert explanation.certificate is not None
    assert explanation.certificate.distance_bounds is not None
    return explanation.certificate.distance_bounds


def label_of(model: Any, row: pd.Series) -> Any:
    return model.predict(row.to_frame().T)[0]


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(8, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_wanted_class_and_constraints_are_certified(model: Any) -> None:
    # The witness used to be of any other class, and to move what may not change.
    model.fit(WINE, KIND)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(WINE)
    kept = Constraints(
        immutable=["alcohol"],
        increase_only=["magnesium"],
        max_increase={"color_intensity": 6.0},
        ranges={"proline": (None, 900)},
        relations=["flavanoids <= total_phenols"],
    )
    x = WINE.iloc[0]
    assert label_of(model, x) == 0
    free = explainer.certify(explainer.explain(x), 0.5)
    explanation = explainer.explain(x, target=2, constraints=kept)
    certified = explainer.certify(explanation, 0.5)
    bounds = bounds_of(certified)
    assert bounds.exact
    witness = bounds.witness
    assert label_of(model, witness) == 2
    assert witness["alcohol"] == x["alcohol"]
    assert witness["magnesium"] >= x["magnesium"]
    assert witness["color_intensity"] <= x["color_intensity"] + 6.0
    assert witness["proline"] <= 900
    assert witness["flavanoids"] <= witness["total_phenols"]
    assert bounds_of(free).upper < bounds.lower <= explanation.distances[0]
    assert certified.certificate is not None
    assert certified.certificate.constrained
    assert "who asks for the same and may take this option" in repr(certified)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        GradientBoostingRegressor(n_estimators=10, max_depth=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_range_of_predictions_is_certified(model: Any) -> None:
    # The witness used to predict what the input does: 0 <= cfd <= 1.9e-16.
    model.fit(PEOPLE, DISEASE)
    explainer = DiverseExplainer(
        model, max_counterfactuals=1, constraints=Constraints(immutable=["age", "sex"])
    ).fit(PEOPLE)
    x = PEOPLE.iloc[0]
    assert label_of(model, x) > 130
    explanation = explainer.explain(x, interval=(90, 130))
    bounds = bounds_of(explainer.certify(explanation, 0.5))
    assert bounds.exact
    assert 90 <= label_of(model, bounds.witness) <= 130
    assert bounds.witness[["age", "sex"]].tolist() == x[["age", "sex"]].tolist()
    assert 0.01 < bounds.lower <= explanation.distances[0]
    with pytest.raises(InvalidInputError, match="interval="):
        explainer.certify(explanation, options=True)
    with pytest.raises(InvalidInputError, match="predicts numbers"):
        counterfactual_distance(model, x, domain=explainer)


def test_the_constraints_of_the_row_and_the_call_count() -> None:
    explainer = DiverseExplainer(
        MODEL, max_counterfactuals=1, constraints=Constraints(immutable=["x0"])
    ).fit(X)
    rows = X[(MODEL.predict(X) == 0) & (X.min(axis=1) > 0.35)][:3]
    own = [None, Constraints(immutable=["x1"]), Constraints(ranges={"x0": (0.7, 0.8)})]
    many = explainer.explain_many(rows, constraints=own)
    found = [bounds_of(explainer.certify(each, 0.5)).witness for each in many]
    assert found[0][0] == rows[0, 0]
    assert found[1][1] == rows[1, 1]
    assert 0.7 <= found[2][0] <= 0.8
    called = explainer.explain(rows[0], constraints=Constraints(immutable=["x1"]))
    assert bounds_of(explainer.certify(called, 0.5)).witness[1] == rows[0, 1]
    loaded = Explanation.from_json(called.to_json())
    assert bounds_of(explainer.certify(loaded, 0.5)).witness[1] == rows[0, 1]


def test_a_probability_is_certified() -> None:
    explainer = DiverseExplainer(MODEL, max_counterfactuals=1).fit(X)
    x = X[MODEL.predict(X) == 0][0]
    bounds = bounds_of(explainer.certify(explainer.explain(x, target_probability=0.9), 0.5))
    assert bounds.exact
    assert MODEL.predict_proba([bounds.witness])[0, 1] >= 0.9
    assert bounds.upper > bounds_of(explainer.certify(explainer.explain(x), 0.5)).upper


def test_that_there_is_none_is_proved() -> None:
    # Within reach nothing is approved: the search finds none, and there is none.
    explainer = DiverseExplainer(MODEL, max_counterfactuals=1).fit(X)
    x = X[np.argmin(X.sum(axis=1))][None, :]
    stuck = Constraints(max_increase={"x0": 0.01, "x1": 0.01})
    (nothing,) = explainer.explain_many(x, constraints=stuck, if_none="ignore")
    assert nothing.status == "none_found"
    certified = explainer.certify(nothing)
    assert bounds_of(certified).none_exists
    assert bounds_of(certified).exact
    assert "It is proved that nothing in the domain does what is asked for." in str(certified)
    assert bounds_of(Explanation.from_json(certified.to_json())).none_exists
    assert bounds_of(explainer.certify(nothing, epsilon=0.5)).none_exists
    told = "Proved: no change within the constraints and the range that was looked at leads to True"
    assert told in certified.describe(width=None)


def test_what_was_not_found_may_exist() -> None:
    explainer = DiverseExplainer(MODEL, max_counterfactuals=1).fit(X)
    explanation = explainer.explain(X[MODEL.predict(X) == 0][0])
    # As if the search had found none.
    nothing = replace(
        explanation,
        status="none_found",
        labels=explanation.labels[:0],
        distances=explanation.distances[:0],
        examples=explanation.examples[:0],
        _matrix=explanation._matrix[:0],
    )
    certified = explainer.certify(nothing)
    assert not bounds_of(certified).none_exists
    assert MODEL.predict([bounds_of(certified).witness])[0]
    assert "Proved: there is an option, no farther than" in certified.describe(width=None)


def test_an_input_that_has_what_is_wanted_needs_no_certificate() -> None:
    explainer = DiverseExplainer(MODEL, max_counterfactuals=1).fit(X)
    approved = X[MODEL.predict(X) == 1][:1]
    (there,) = explainer.explain_many(approved, target=True, skip=True)
    with pytest.raises(InvalidInputError, match="already"):
        explainer.certify(there)


def test_an_implausible_witness_is_not_reported() -> None:
    explainer = DiverseExplainer(
        MODEL, max_counterfactuals=1, plausibility=NearData(3, share=0.3)
    ).fit(X)
    x = X[MODEL.predict(X) == 0][3]
    bounds = bounds_of(explainer.certify(explainer.explain(x), 0.5))
    assert bounds.lower <= bounds.upper
    coordinates = explainer.distance_.embed(np.array([bounds.witness])).coordinates
    assert explainer.training_.support is not None
    assert explainer.training_.support.has(coordinates).all()
    assert bounds.exact or bounds.reason == "the lower bound does not consider plausibility"
