"""Ranges in place of points: worked out by hand, compared with all points, and attacked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from support.range_attacks import rows_of

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    InvalidInputError,
    NearData,
    Schema,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
RNG = np.random.default_rng(0)
X = RNG.random((200, 2)).round(2)
#: Approves where the numbers add up to more than 1, exactly.
SUM = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [False, True])
SUM.coef_, SUM.intercept_ = np.array([[8.0, 8.0]]), np.array([-8.0])


def ranges_of(explanation: Explanation) -> list[dict[Any, tuple[Any, Any, bool]]]:
    return [
        {each.name: (each.low, each.high, each.proved) for each in option.ranges or ()}
        for option in explanation.options
    ]


def first_range(explainer: DiverseExplainer, x: Any, **asked: Any) -> Any:
    (option, *_) = explainer.with_ranges(explainer.explain(x, **asked)).options
    assert option.ranges is not None
    return option.ranges[0]


def test_where_everything_beyond_works_the_range_has_one_end() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1).fit(X)
    only = Constraints(immutable=["x0"])
    found = first_range(explainer, [0.2, 0.5], constraints=only)
    assert (found.low, found.high, found.text) == (0.81, None, "at least 0.81")
    assert found.proved
    assert found.checked == 0


def test_ranges_end_where_the_goal_does() -> None:
    # Good above 4.5 and up to 7.5 only.
    model = DecisionTreeClassifier().fit([[4.0], [5.0], [7.0], [8.0]], [0, 1, 1, 0])
    rows = np.arange(12.0)[:, None]
    found = first_range(DiverseExplainer(model, max_counterfactuals=1).fit(rows), [2.0])
    assert (found.low, found.high, found.proved) == (5.0, 7.0, True)


def test_without_ranges_nothing_changes() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=2).fit(X)
    explanation = explainer.explain([0.2, 0.5])
    ranged = explainer.with_ranges(explanation)
    assert [option.ranges for option in explanation.options] == [None, None]
    assert explanation.to_json() == explainer.explain([0.2, 0.5]).to_json()
    np.testing.assert_array_equal(ranged.values, explanation.values)
    assert [o.row.tolist() for o in ranged.options] == [o.row.tolist() for o in explanation.options]


def test_ranges_keep_the_constraints() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1).fit(X)
    kept = Constraints(immutable=["x0"], ranges={"x1": (None, 0.9)})
    found = first_range(explainer, [0.2, 0.5], constraints=kept)
    assert (found.low, found.high) == (0.81, 0.9)
    kept = Constraints(immutable=["x0"], max_increase={"x1": 0.35})
    assert first_range(explainer, [0.2, 0.5], constraints=kept).high == 0.85
    kept = Constraints(immutable=["x0"], relations=["x1 <= x0 + 0.65"])
    assert first_range(explainer, [0.2, 0.5], constraints=kept).high == 0.85
    for points in (
        Constraints(immutable=["x0"], conditions=["if x1 > 0.9 then x0 > 0.5"]),
        Constraints(immutable=["x0"], allowed={"x1": [0.85, 0.9, 0.95]}),
        Constraints(immutable=["x0"], together=[["x0", "x1"]]),
        Constraints(relations=["x0 == x1"]),
    ):
        for option in explainer.with_ranges(
            explainer.explain_many([[0.2, 0.5]], constraints=points, if_none="ignore")
        )[0].options:
            assert all(each.low == each.high for each in option.ranges or ())


def test_two_related_numbers_keep_the_relation_at_every_corner() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=3).fit(X)
    kept = Constraints(relations=["x0 + 0.2 <= x1"])
    explanation = explainer.with_ranges(explainer.explain([0.1, 0.5], constraints=kept))
    for option in explanation.options:
        codes = dict(zip(["x0", "x1"], option.row, strict=True))
        ends = {each.name: (each.low, each.high) for each in option.ranges or ()}
        high = ends.get("x0", (codes["x0"],) * 2)[1]
        low = ends.get("x1", (codes["x1"],) * 2)[0]
        assert None not in (high, low)
        assert high + 0.2 <= low + 1e-12


def test_a_range_stays_on_the_side_of_the_option() -> None:
    def anything_else(rows: Any) -> Any:
        return np.asarray(rows)[:, 0] != 5

    rows = np.arange(11.0)[:, None]
    explainer = DiverseExplainer(anything_else, max_counterfactuals=1).fit(rows)
    found = first_range(explainer, [5.0])
    assert (found.low, found.high) in [(6.0, 10.0), (0.0, 4.0)]


def test_what_cannot_be_read_is_checked_and_says_so() -> None:
    curved = SVC().fit(X, X.sum(axis=1) > 1)
    explainer = DiverseExplainer(curved, max_counterfactuals=1).fit(X)
    explanation = explainer.with_ranges(explainer.explain([0.2, 0.4]))
    (option,) = explanation.options
    assert option.ranges is not None
    assert not option.ranges[0].proved
    assert option.ranges[0].checked > 1000
    assert option.ranges[0].high is not None  # beyond the data, nothing was checked
    assert "not proved: every value in the range" in explanation.describe(width=None)
    assert curved.predict(rows_of_array(option, 2000)).all()


def rows_of_array(option: Any, count: int) -> np.ndarray:
    rows = np.tile(option.row, (count, 1))
    for each in option.ranges:
        rows[:, int(each.name[1:])] = RNG.uniform(each.low, each.high, count)
    return rows


def test_plausible_ranges_are_never_called_proved() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1, plausibility=NearData()).fit(X)
    assert not first_range(explainer, [0.2, 0.5]).proved


def test_a_time_limit_leaves_ranges_that_hold() -> None:
    network = MLPClassifier((8, 8), max_iter=300, random_state=0).fit(X, X.sum(axis=1) > 1)
    explainer = DiverseExplainer(network, max_counterfactuals=2).fit(X)
    explanation = explainer.explain([0.2, 0.4])
    for option in explainer.with_ranges(explanation, time_limit=1e-6).options:
        assert network.predict(rows_of_array(option, 2000)).all()


def test_special_codes_and_missing_values() -> None:
    rows = pd.DataFrame({"score": [-9.0, *np.linspace(0, 100, 99)], "rate": [1.0, np.nan] * 50})

    def lend(frame: pd.DataFrame) -> np.ndarray:
        return ((frame["score"] < 0) | (frame["score"] > 60)).to_numpy() | frame["rate"].isna()

    explainer = DiverseExplainer(
        lend, schema=Schema(special={"score": [-9]}), max_counterfactuals=3
    ).fit(rows)
    explanation = explainer.with_ranges(explainer.explain({"score": 20.0, "rate": 1.0}))
    for option in explanation.options:
        for each in option.ranges or ():
            assert each.low >= 60  # -9 is no number below it
    fitted = make_pipeline(SimpleImputer(), RandomForestClassifier(10, random_state=0))
    fitted.fit(rows, lend(rows))
    explainer = DiverseExplainer(fitted, max_counterfactuals=2).fit(rows)
    explanation = explainer.with_ranges(explainer.explain({"score": 20.0, "rate": np.nan}))
    assert len(explanation)
    for option in explanation.options:
        assert all(each.proved for each in option.ranges or ())
        assert (fitted.predict(rows_of(option, RNG, 500)) == option.label).all()


def test_times_end_on_days() -> None:
    days = pd.date_range("2024-01-01", "2024-12-31")
    rows = pd.DataFrame({"due": days})

    def late(frame: pd.DataFrame) -> np.ndarray:
        return (frame["due"] >= pd.Timestamp("2024-07-01")).to_numpy()

    explainer = DiverseExplainer(late, max_counterfactuals=1).fit(rows)
    explanation = explainer.with_ranges(explainer.explain(rows.iloc[10]))
    (option,) = explanation.options
    assert "from 2024-01-11 to between 2024-07-01 and 2024-12-31" in option.sentence
    assert option.ranges is not None
    assert option.ranges[0].proved  # the model was asked about all days
    assert Explanation.from_json(explanation.to_json()).options[0].ranges == option.ranges


def test_ordinals_name_their_values() -> None:
    levels = ["none", "some", "much", "most", "all"]
    rows = pd.DataFrame({"level": levels * 8})

    def enough(frame: pd.DataFrame) -> np.ndarray:
        return frame["level"].isin(["much", "most"]).to_numpy()

    explainer = DiverseExplainer(
        enough, schema=Schema(ordinal={"level": levels}), max_counterfactuals=1
    ).fit(rows)
    (option,) = explainer.with_ranges(explainer.explain({"level": "none"})).options
    assert option.sentence == "Change the level from none to much or most"
    # A level that no training row has is never within a range.
    rows = rows[rows["level"] != "much"]
    explainer = DiverseExplainer(
        lambda frame: (frame["level"] != "none").to_numpy(),
        schema=Schema(ordinal={"level": levels}),
        max_counterfactuals=1,
    ).fit(rows)
    (option,) = explainer.with_ranges(explainer.explain({"level": "none"})).options
    assert option.ranges is not None
    assert (option.ranges[0].low, option.ranges[0].high) == ("some", "some")


def test_a_least_probability_holds_in_the_whole_range() -> None:
    models: list[Any] = [LogisticRegression(C=10), RandomForestClassifier(20, random_state=0)]
    models.append(MLPClassifier((6,), max_iter=400, random_state=0))
    for model in models:
        model.fit(X, X.sum(axis=1) > 1)
        explainer = DiverseExplainer(model, max_counterfactuals=3).fit(X)
        explanation = explainer.explain([0.2, 0.4], target_probability=0.9)
        for option in explainer.with_ranges(explanation).options:
            assert option.ranges is not None
            assert all(each.proved for each in option.ranges)
            rows = np.tile(option.row, (3000, 1))
            for each in option.ranges:
                low = each.low if each.low is not None else each.high - 10
                high = each.high if each.high is not None else each.low + 10
                rows[:, int(each.name[1:])] = RNG.choice(
                    [low, high, *RNG.uniform(low, high, 100)], 3000
                )
            assert (model.predict_proba(rows)[:, 1] >= 0.9).all()


def test_intervals_of_predictions_hold_in_the_whole_range() -> None:
    prices = X @ [3.0, 1.0]
    for model in (LinearRegression(), GradientBoostingRegressor(n_estimators=30, random_state=0)):
        model.fit(X, prices)
        explainer = DiverseExplainer(model, max_counterfactuals=3).fit(X)
        explanation = explainer.explain([0.2, 0.4], interval=(2.0, 2.5))
        for option in explainer.with_ranges(explanation).options:
            assert option.ranges is not None
            assert all(each.proved for each in option.ranges)
            for each in option.ranges:
                low = each.low if each.low is not None else -9
                high = each.high if each.high is not None else 9
                rows = np.tile(option.row, (300, 1))
                rows[:, int(each.name[1:])] = np.linspace(low, high, 300)
                predicted = model.predict(rows)
                assert ((predicted >= 2.0) & (predicted <= 2.5)).all()


@given(st.integers(0, 10**6))
def test_every_point_of_a_small_table_reaches_the_goal(seed: int) -> None:
    """A model that answers at random: the literal check of all points."""
    rng = np.random.default_rng(seed)
    answers = rng.random((6, 5, 4)) < rng.uniform(0.3, 0.9)
    answers[0, 0, 0] = False
    answers[5, 4, 3] = True

    def model(rows: Any) -> Any:
        at = np.asarray(rows).astype(int)
        return answers[tuple(at.T)]

    rows = np.stack(np.meshgrid(range(6), range(5), range(4), indexing="ij"), -1).reshape(-1, 3)
    explainer = DiverseExplainer(model, max_counterfactuals=4).fit(rows)
    explanation = explainer.with_ranges(explainer.explain([0, 0, 0]))
    for option in explanation.options:
        box = [slice(int(v), int(v) + 1) for v in option.row]
        for each in option.ranges or ():
            box[int(each.name[1:])] = slice(each.low, each.high + 1)
            assert each.proved
            assert each.low <= option.row[int(each.name[1:])] <= each.high
            assert each.low > 0  # the input's own value
        assert answers[tuple(box)].all()
        # A range that is alone cannot be made longer by one step.
        for each in option.ranges or () if len(option.ranges or ()) == 1 else ():
            at = int(each.name[1:])
            for code in (each.low - 1, each.high + 1):
                if 0 < code < answers.shape[at]:
                    longer = [*box]
                    longer[at] = slice(code, code + 1)
                    assert not answers[tuple(longer)].all()


def mixed_frame(rng: np.random.Generator, count: int = 120) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "income": rng.normal(3000, 900, count).round(),
            "rate": rng.random(count).astype(np.float32),
            "debts": rng.integers(0, 9, count),
            "home": rng.choice(["own", "rent", "free"], count),
        }
    )


MODELS: dict[str, Any] = {
    "linear": lambda: LogisticRegression(C=3),
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(12, max_depth=5, random_state=0),
    "extra": lambda: ExtraTreesClassifier(12, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=25, random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "network": lambda: MLPClassifier((7, 5), max_iter=200, random_state=0),
}


def pipeline_of(kind: str, classes: int, rng: np.random.Generator) -> tuple[Any, pd.DataFrame]:
    frame = mixed_frame(rng)
    score = frame["income"] / 900 + 2 * frame["rate"] - frame["debts"] / 3
    score += np.where(frame["home"] == "own", 0.7, 0) + rng.normal(0, 0.3, len(frame))
    y = pd.qcut(score, classes, labels=[f"class {i}" for i in range(classes)]).astype(str)
    numbers = make_column_selector(dtype_include="number")
    encoder = make_column_transformer(
        (StandardScaler(), numbers),
        (OneHotEncoder(sparse_output=False), ["home"]),
    )
    return make_pipeline(encoder, MODELS[kind]()).fit(frame, y), frame


def thresholds(pipeline: Any) -> dict[str, list[float]]:
    """The cuts of a pipeline's trees in the units of the columns, as far as arithmetic goes."""
    last, scaler = pipeline[-1], pipeline[0].named_transformers_["standardscaler"]
    trees = getattr(last, "estimators_", [last])
    found: dict[str, list[float]] = {}
    for tree in np.ravel(np.asarray(trees, dtype=object)):
        if not hasattr(tree, "tree_"):
            continue
        for at, name in enumerate(("income", "rate", "debts")):
            cuts = tree.tree_.threshold[tree.tree_.feature == at]
            found.setdefault(name, []).extend(cuts * scaler.scale_[at] + scaler.mean_[at])
    return found


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=6)
@given(seed=st.integers(0, 1000), classes=st.sampled_from([2, 3]))
def test_proved_ranges_withstand_an_attack(kind: str, seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    model, frame = pipeline_of(kind, classes, rng)
    predicted = model.predict(frame)
    explainer = DiverseExplainer(model, max_counterfactuals=3).fit(frame)
    rows = frame[predicted == "class 0"].head(2)
    if not len(rows) or (predicted == predicted[0]).all():
        return
    target = [None, f"class {classes - 1}"][seed % 2]
    asked: dict[str, Any] = {"target": target} if target in predicted else {}
    found = explainer.explain_many(rows, if_none="ignore", **asked)
    for explanation in explainer.with_ranges(found, time_limit=5.0):
        for option in explanation.options:
            assert option.ranges is not None
            near = thresholds(model)
            points = rows_of(option, rng, 400, near)
            reached = model.predict(points)
            wanted = reached == target if asked else reached != "class 0"
            assert wanted.all() or not option.ranges[0].proved


def test_most_ranges_of_readable_models_are_proved() -> None:
    for kind in MODELS:
        model, frame = pipeline_of(kind, 2, np.random.default_rng(1))
        explainer = DiverseExplainer(model, max_counterfactuals=3).fit(frame)
        rows = frame[model.predict(frame) == "class 0"].head(4)
        ranges = [
            each
            for explanation in explainer.with_ranges(explainer.explain_many(rows))
            for option in explanation.options
            for each in option.ranges or ()
        ]
        assert len(ranges) > 3
        assert np.mean([each.proved for each in ranges]) > 0.9, kind
        assert np.mean([each.low != each.high for each in ranges]) > 0.5, kind


def test_nonsense_is_refused() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1).fit(X)
    with pytest.raises(InvalidInputError, match="with_ranges takes one explanation"):
        explainer.with_ranges([explainer.explain([0.2, 0.5])])  # type: ignore[call-overload]
    with pytest.raises(InvalidInputError, match="time_limit must be a number above 0"):
        explainer.with_ranges(explainer.explain([0.2, 0.5]), time_limit=0)
    other = DiverseExplainer(SUM, max_counterfactuals=1, scale=None).fit(X * 7)
    with pytest.raises(InvalidInputError, match="made by another explainer"):
        other.with_ranges(explainer.explain([0.2, 0.5]))


def test_inputs_without_options_stay_as_they_are() -> None:
    explainer = DiverseExplainer(SUM, max_counterfactuals=1).fit(X)
    found = explainer.explain_many([[0.2, 0.5], [0.9, 0.9]], target=True, if_none="ignore")
    ranged = explainer.with_ranges(found)
    assert [len(each) for each in ranged] == [1, 0]
    assert ranged[1].to_json() == found[1].to_json()
    assert [each.spans is None for each in ranged] == [False, True]
    assert ranged[:1][0].options[0].ranges == ranged[0].options[0].ranges
    assert ranged[0].nearest(1).options[0].ranges == ranged[0].options[0].ranges
