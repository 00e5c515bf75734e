"""How far an input may move before an option stops working: worked out by hand, and attacked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from support.made_recipes import recipes_of
from support.mixed_toys import FRAME, explain, lend
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, Explanation, InvalidInputError
from counterset.exact import Box, Grid
from counterset.exact.certify import option_radii
from counterset.exact.query import DistanceQuery
from counterset.exceptions import UnsupportedDistanceError
from counterset.strategies.shared import OptionList
from counterset.tables.table import Table

X = np.random.default_rng(0).random((200, 3))
#: A model that approves where the features add up to more than 1, exactly.
SUM = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [False, True])
SUM.coef_, SUM.intercept_ = np.array([[8.0, 8.0]]), np.array([-8.0])


def radius_by_hand(
    x: Any, row: Any, box: Box, listed: bool = False, model: Any = SUM, distance: str = "l1"
) -> float:
    query = DistanceQuery.of(model, distance, box)
    rows, from_list = np.array([row], dtype=float), np.array([listed])
    return float(option_radii(query, query.problem_of(x), rows, from_list)[0])


def test_only_kept_features_can_spoil_an_option() -> None:
    # Setting the first number to 0.6 gives 1.1 in all: the second may fall by 0.1, no more.
    assert radius_by_hand([0.2, 0.5], [0.6, 0.5], Box(0, 1)) == pytest.approx(0.1)
    # One that is only just enough works for nobody who is much worse off.
    assert radius_by_hand([0.2, 0.5], [0.5001, 0.5], Box(0, 1)) == pytest.approx(1e-4)


def test_an_option_that_is_enough_alone_works_for_all() -> None:
    assert radius_by_hand([0.2, 0.5], [1.2, 0.5], Box(0, 2)) == np.inf
    assert radius_by_hand([0.2, 0.5], [0.6, 0.6], Box(0, 2)) == np.inf  # it sets all features


def test_inputs_outside_the_domain_do_not_count() -> None:
    assert radius_by_hand([0.2, 0.5], [0.6, 0.5], Box([0, 0.45], 1)) == np.inf
    fixed = Box([0, 0.5], [1, 0.5])  # others differ in the first feature only, which is set
    assert radius_by_hand([0.2, 0.5], [0.6, 0.5], fixed) == np.inf


def test_who_has_more_than_a_list_asks_for_keeps_it() -> None:
    # Between 0.5 and 0.8 it is good, outside it is bad; the list asks for at least 0.6.
    model = DecisionTreeClassifier().fit(
        [[0.45, 0], [0.55, 0], [0.75, 1], [0.85, 1]], [False, True, True, False]
    )
    box = Box(0, 1)
    # Who sets the number to 0.6 gets there, wherever they come from.
    assert radius_by_hand([0.4, 0.0], [0.6, 0.0], box, model=model) == np.inf
    # Who has 0.85 keeps it, which is bad. They are 0.45 away; 0.2 of that is proved.
    listed = radius_by_hand([0.4, 0.0], [0.6, 0.0], box, listed=True, model=model)
    assert listed == pytest.approx(0.2)
    # Of who has 0.59 it is proved as far as from 0.6 to 0.8: nobody nearer is beyond 0.8.
    near = radius_by_hand([0.55, 0.0], [0.6, 0.0], box, listed=True, model=model)
    assert near == pytest.approx(0.2)


def test_a_domain_must_have_an_inside() -> None:
    explainer = DiverseExplainer(LogisticRegression().fit(X, X.sum(axis=1) > 1.5)).fit(X)
    explanation = explain(explainer, X[:1])[0]
    for domain in (X, Grid([[0.0, 1.0]] * 3)):
        with pytest.raises(InvalidInputError, match="options=True needs a Box as domain, got"):
            explainer.certify(explanation, options=True, domain=domain)


#: Models of each family, for a table of numbers and for a mixed one.
FAMILIES = {
    "linear": lambda: LogisticRegression(C=10, max_iter=2000),
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(6, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
    "network": lambda: MLPClassifier((5,), solver="lbfgs", max_iter=800, random_state=0),
}


def fitted(family: str, table: str, **settings: Any) -> tuple[DiverseExplainer, Any]:
    """Return an explainer of a model of this family, and its training rows."""
    rows: Any = X
    labels = np.where(X @ [1.0, 0.7, -0.5] > 0.6, "yes", "no")
    model: Any = FAMILIES[family]()
    if table == "mixed":
        rows, labels = FRAME, lend(FRAME)
        numbers = (StandardScaler(), make_column_selector(dtype_include="number"))
        categories = (OneHotEncoder(), make_column_selector(dtype_include="category"))
        model = make_pipeline(make_column_transformer(numbers, categories), model)
    return explainer_by_steps(model.fit(rows, labels), **settings).fit(rows), rows


def others_within(
    explainer: DiverseExplainer, x: np.ndarray, radius: float, random: np.random.Generator
) -> np.ndarray:
    """Return rows of the training range, nearer to x than the radius, many of them only just."""
    table = explainer.distance_.table
    low = np.array([min(feature.low, own) for feature, own in zip(table.features, x, strict=True)])
    high = np.array(
        [max(feature.high, own) for feature, own in zip(table.features, x, strict=True)]
    )
    category = np.array([feature.is_category for feature in table.features])
    moves = random.standard_normal((400, len(x))) * (random.random((400, len(x))) < 0.5)
    moves[:, category] = 0
    unit = explainer.distance_.pairwise(x[None], x + moves)[0]
    moves /= np.where(unit > 0, unit, 1.0)[:, None]
    reach = radius if np.isfinite(radius) else 3.0
    y = x + moves * reach * random.choice([0.5, 0.99, 0.999999], (400, 1))
    switched = category & (random.random(y.shape) < 0.2)
    values = np.floor(random.random(y.shape) * (high + 1))
    y = np.clip(np.where(switched, values, y), low, high)
    y = np.concatenate([table.hold(y), np.floor(y) if table.is_plain else table.hold(y)])
    y = np.clip(y, low, high)
    return np.asarray(y[explainer.distance_.pairwise(x[None], y)[0] < radius])


def same_change(x: np.ndarray, row: np.ndarray, y: np.ndarray, one_sided: np.ndarray) -> np.ndarray:
    """Make the change from x to a row at other inputs; some numbers may be beyond it already."""
    changed = np.where(x != row, row, y)
    farther = np.where(row > x, np.maximum(y, row), np.minimum(y, row))
    return np.asarray(np.where(one_sided & (x != row), farther, changed))


def attack(explainer: DiverseExplainer, explanation: Explanation, seed: int) -> list[float]:
    """Try to break the radii of an explanation, and return them."""
    certificate = explainer.certify(explanation, options=True).certificate
    assert certificate is not None
    assert certificate.option_radii is not None
    assert certificate.safety is None
    random, table = np.random.default_rng(seed), explainer.distance_.table
    numbers = np.array([not feature.is_category for feature in table.features])
    listed = certificate.from_list
    for i, radius in enumerate(certificate.option_radii):
        x, row = explanation._input, explanation._matrix[i]
        y = others_within(explainer, x, radius, random)
        variants = [np.zeros(len(x), dtype=bool)]
        if listed is not None and listed[i]:
            variants.append(numbers)
        for one_sided in variants:
            rows = same_change(x, row, y, one_sided)
            if len(rows):
                answers = explainer.model.predict(table.decode(rows))
                assert (answers == explanation.labels[i]).all(), (i, radius)
    return list(certificate.option_radii)


@pytest.mark.parametrize("table", ["numbers", "mixed"])
@pytest.mark.parametrize(
    ("family", "anchors"),
    [(family, None) for family in FAMILIES] + [("linear", 2), ("tree", 2), ("network", 2)],
)
def test_no_attack_breaks_a_radius(
    family: str, table: str, anchors: int | None, thorough: bool
) -> None:
    explainer, rows = fitted(family, table, regions=anchors, max_counterfactuals=3)
    radii: list[float] = []
    for seed, explanation in enumerate(explain(explainer, rows[: 4 if thorough else 2])):
        radii += attack(explainer, explanation, seed)
    assert len(radii) >= (6 if thorough else 2)
    assert sum(radius > 0 for radius in radii) >= len(radii) // 2


@pytest.mark.parametrize("distance", ["l0", "l1", "l2", "linf", "gower"])
def test_no_attack_breaks_a_radius_in_any_distance(distance: str, thorough: bool) -> None:
    explainer, rows = fitted("boosting", "mixed", distance=distance, max_counterfactuals=2)
    for seed, explanation in enumerate(explain(explainer, rows[: 3 if thorough else 1])):
        attack(explainer, explanation, seed)


@pytest.mark.parametrize("family", ["linear", "tree", "network"])
def test_the_radius_is_no_smaller_than_it_must_be(family: str) -> None:
    # Just beyond it lies someone for whom the option does not work: the solver's own witness.
    explainer, rows = fitted(family, "numbers", max_counterfactuals=2)
    broken = 0
    for explanation in explain(explainer, rows[:8]):
        certified = explainer.certify(explanation, options=True).certificate
        assert certified is not None
        assert certified.option_radii is not None
        for row, radius in zip(explanation._matrix, certified.option_radii, strict=True):
            x = explanation._input
            held = x != row
            low, high = np.minimum(X.min(axis=0), row), np.maximum(X.max(axis=0), row)
            box = Box(np.where(held, row, low), np.where(held, row, high))
            if np.isinf(radius):
                continue
            query = DistanceQuery.of(explainer.model, explainer.distance_, box)
            witness = query.bounds(row).witness
            y = np.where(held, x, witness)
            away = float(explainer.distance_.pairwise(x[None], y[None])[0, 0])
            assert radius <= away <= radius * (1 + 1e-4) + 1e-6
            broken += explainer.model.predict([np.where(held, row, y)])[0] == explanation.label
    assert broken >= 3


@given(st.integers(0, 2**32 - 1))
def test_options_of_a_list_work_for_all_within_the_radius(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.random((40, 3))
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(rows, random.random(40) > 0.5)
    table, _ = Table.learn(rows)
    features = random.random((6, 3)) < 0.6
    recipes = recipes_of(features, np.where(features, random.random((6, 3)), 0.0))
    options = OptionList(recipes, random.random(3))
    x = random.random(3)
    query = DistanceQuery.of(model, "l1", Box(0, 1))
    applied = options.apply(x[None], table)[0]
    works = model.predict(applied) != model.predict(x[None])[0]
    problem, listed = query.problem_of(x), np.ones(int(works.sum()), dtype=bool)
    radii = option_radii(query, problem, applied[works], listed)
    y = random.random((500, 3))
    y[:250] = np.clip(x + (y[:250] - 0.5) * random.choice([0.05, 0.2, 0.6], (250, 1)), 0, 1)
    away = np.abs(y - x).sum(axis=1)
    for which, row, radius in zip(np.flatnonzero(works), applied[works], radii, strict=True):
        near = y[away < radius]
        if len(near):
            answers = model.predict(options.apply(near, table)[:, which])
            assert (answers == model.predict(row[None])[0]).all()


def test_a_model_that_cannot_be_read_proves_nothing() -> None:
    model = SVC().fit(X, X.sum(axis=1) > 1.5)
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    certified = explainer.certify(explainer.explain(X[0]), options=True)
    assert certified.certificate is not None
    assert certified.certificate.option_radii is not None
    assert certified.certificate.option_radii.tolist() == [0, 0]
    assert "It is not proved for whom else an option works." in repr(certified)
    assert "Not proved: for which other inputs options 1 and 2 work." in certified.describe(
        width=None
    )


def test_a_class_is_proved_and_no_probability() -> None:
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1.5)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
    x = X[model.predict(X) == 0][0]
    probable = explainer.explain(x, target_probability=0.7)
    with pytest.raises(InvalidInputError, match="made with target_probability="):
        explainer.certify(probable, options=True)
    number = DiverseExplainer(lambda rows: rows.sum(axis=1), max_counterfactuals=1).fit(X)
    with pytest.raises(InvalidInputError, match="made with interval="):
        number.certify(number.explain(X[0], interval=(2, 3)), options=True)


def test_nothing_asked_for_is_an_error() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1).fit(X[:, :2])
    with pytest.raises(InvalidInputError, match="not asked to prove anything"):
        explainer.certify(explainer.explain([0.2, 0.2]))


def test_a_distance_of_your_own_proves_nothing() -> None:
    def own(A: Any, B: Any) -> Any:
        return np.abs(A[:, None] - B[None]).sum(axis=2)

    explainer = DiverseExplainer(SUM, distance=own, max_counterfactuals=1).fit(X[:, :2])
    with pytest.raises(UnsupportedDistanceError, match="l0, l1, l2 or linf"):
        explainer.certify(explainer.explain([0.2, 0.2]), options=True)


def test_time_that_is_up_proves_less_and_breaks_nothing() -> None:
    explainer, rows = fitted("boosting", "mixed", max_counterfactuals=3)
    explanation = explain(explainer, rows[:1])[0]
    full, hurried = (
        explainer.certify(explanation, options=True, time_limit=limit).certificate
        for limit in (60.0, 1e-6)
    )
    assert full is not None
    assert hurried is not None
    assert full.option_radii is not None
    assert hurried.option_radii is not None
    assert (hurried.option_radii <= full.option_radii * (1 + 1e-6)).all()


def test_safety_and_options_are_proved_in_one_call_or_in_two() -> None:
    explainer, rows = fitted("linear", "numbers", max_counterfactuals=2)
    explanation = explain(explainer, rows[:1])[0]
    at_once = explainer.certify(explanation, 0.3, options=True).certificate
    in_turn = explainer.certify(explainer.certify(explanation, 0.3), options=True).certificate
    assert at_once is not None
    assert in_turn is not None
    for name in ("safety", "option_radii"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(in_turn, name))
    assert at_once.epsilon == in_turn.epsilon == 0.3


def test_constraints_of_others_are_no_part_of_it() -> None:
    free, rows = fitted("linear", "mixed", max_counterfactuals=1)
    tight = DiverseExplainer(
        free.model, max_counterfactuals=1, constraints=Constraints(immutable=["age", "job", "home"])
    ).fit(rows)
    explanation = explain(tight, rows[:1])[0]
    certificate = tight.certify(explanation, options=True).certificate
    assert certificate is not None
    assert certificate.option_radii is not None
    # Moving an immutable feature of the other input costs what it costs in the distance.
    assert attack(tight, explanation, 0) == certificate.option_radii.tolist()


def test_a_frame_of_pandas_is_certified_by_name() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression(C=100).fit(frame, X.sum(axis=1) > 1.5)
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(frame)
    certified = explainer.certify(explainer.explain(frame.iloc[0]), options=True)
    assert "works within" in repr(certified)
    assert "works within" in certified._repr_html_()
    assert "Works within r: anyone of your class nearer than r" in repr(certified)
