"""Reasons: what counted against an input, whatever options were found."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.oracles_reasons import all_orders, helps_alone, literal_reasons, shapley_by_enumeration

from counterset import (
    Constraints,
    DiverseExplainer,
    ExhaustiveExplainer,
    Explanation,
    Explanations,
    InvalidInputError,
    Nearest,
    Paper,
    Reason,
    Schema,
    Shared,
)
from counterset.explanations import reasons as reasons_module
from counterset.explanations.reasons import PEOPLE, Background
from counterset.models.goals import AnyOther

# How many options there are does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

RANDOM = np.random.default_rng(17)
LOANS = pd.DataFrame(
    {
        "income": RANDOM.integers(10, 60, 400) * 100,
        "amount": RANDOM.integers(5, 90, 400) * 100,
        "home": RANDOM.choice(["own", "rent", "free"], 400),
        "age": RANDOM.integers(18, 70, 400),
        "flag": RANDOM.choice([True, False], 400),
    }
)
GOOD = (
    LOANS["income"] - 0.6 * LOANS["amount"] + 900 * (LOANS["home"] == "own") + 20 * LOANS["age"]
    > 2200
)


@cache
def boosting() -> Any:
    encode = make_column_transformer((OneHotEncoder(), ["home"]), remainder="passthrough")
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=25, random_state=3))
    return model.fit(LOANS, np.where(GOOD, "good", "bad"))


@cache
def explainer(**parameters: Any) -> DiverseExplainer:
    return DiverseExplainer(boosting(), **parameters).fit(LOANS)


def declined(count: int = 3) -> Any:
    return LOANS[boosting().predict(LOANS) == "bad"].head(count)


def named(explanation: Explanation) -> list[str]:
    return [reason.feature for reason in explanation.reasons()]


def test_one_value_by_hand() -> None:
    # Everybody who is approved has at least 3. With 1, one is not: that is the reason, and the
    # second column, which the model does not use, never is one.
    X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0], [5.0, 5.0]])
    explanation = DiverseExplainer(lambda rows: rows[:, 0] >= 3).fit(X).explain([1.0, 6.0])
    (reason,) = explanation.reasons()
    assert (reason.feature, reason.value, reason.text) == ("x0", 1.0, "1")
    assert (reason.contribution, reason.standard_error) == (1.0, 0.0)
    assert (reason.typical, reason.typical_text) == (4.0, "4")


@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_the_number_of_options_does_not_matter(count: int) -> None:
    # The letter's reasons used to come from the options found, and changed with their number.
    for _, row in declined().iterrows():
        own = explainer().explain(row, target="good")
        assert explainer(max_counterfactuals=count).explain(row, target="good").reasons() == (
            own.reasons()
        )


@pytest.mark.parametrize("strategy", [Nearest(), Shared(own=1), Paper()], ids=repr)
def test_the_strategy_does_not_matter(strategy: Any) -> None:
    other = DiverseExplainer(boosting(), strategy=strategy, scale="range").fit(LOANS)
    for _, row in declined().iterrows():
        expected = explainer().explain(row, target="good").reasons()
        assert other.explain(row, target="good").reasons() == expected != ()


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(immutable=["age", "home"]),
        Constraints(immutable=["income"], decrease_only=["amount"]),
        Constraints(together=[["income", "home"]]),
        Constraints(immutable=list(LOANS)),
    ],
    ids=repr,
)
def test_constraints_do_not_matter_and_people_without_an_option_have_reasons(
    constraints: Constraints,
) -> None:
    for _, row in declined().iterrows():
        expected = explainer().explain(row, target="good").reasons()
        found = explainer().explain_many(
            row.to_frame().T.astype(LOANS.dtypes),
            target="good",
            constraints=constraints,
            if_none="ignore",
        )[0]
        assert found.reasons() == expected != ()
        if len(constraints.immutable) == LOANS.shape[1]:
            assert found.status == "none_found"
            assert expected[0].label.capitalize() in found.letter()


def test_costs_and_a_least_probability_do_not_matter() -> None:
    row = declined().iloc[0]
    expected = explainer().explain(row, target="good").reasons()
    other = DiverseExplainer(boosting(), costs={"income": 9.0}, distance="l2").fit(LOANS)
    assert other.explain(row, target="good", target_probability=0.6).reasons() == expected


def test_many_have_the_reasons_that_each_has_alone() -> None:
    rows = declined(7)
    together = explainer().explain_many(rows, target="good")
    alone = [explainer().explain(row, target="good").reasons() for _, row in rows.iterrows()]
    assert [each.reasons() for each in together] == alone
    assert [each.reasons() for each in together[::-1]] == alone[::-1]
    loaded = Explanations.from_json(together.to_json())
    assert [each.reasons() for each in loaded] == alone


def test_blocks_of_inputs_and_of_orders_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from counterset.explanations import shapley

    expected = explainer().explain_many(declined(4), target="good").reasons()
    monkeypatch.setattr(reasons_module, "MOST_CELLS", 100)
    monkeypatch.setattr(shapley, "MOST_CELLS", 100)
    found = explainer().explain_many(declined(4), target="good").reasons()
    pd.testing.assert_frame_equal(found, expected)


@pytest.fixture
def in_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take all orders in place of random ones, so that values are exact."""

    def orders(n_pairs: int, n_features: int, seed: int) -> Any:
        # n_pairs is a multiple of the number of people: each order is compared with each of them.
        forwards = np.repeat(all_orders(n_features), n_pairs, axis=0)
        return np.stack([forwards, forwards[:, ::-1]], axis=1)

    monkeypatch.setattr(reasons_module, "antithetic_orders", orders)


def people_of(explanation: Explanation) -> Any:
    background = explanation.context.background
    assert background is not None
    return background.value.of(explanation.context.goal, explanation.label)


@pytest.mark.usefixtures("in_all_orders")
@pytest.mark.parametrize("kind", ["probability", "label", "interval"])
def test_small_models_have_the_reasons_of_the_definition(kind: str) -> None:
    X = np.random.default_rng(29).normal(size=(60, 3)).round(1)

    def score(rows: Any) -> Any:
        return rows[:, 0] + rows[:, 1] * rows[:, 2] - 0.51 * rows[:, 2]

    boosted = GradientBoostingClassifier(n_estimators=10, random_state=5).fit(X, score(X) > 0.3)
    model: Any = {"interval": score, "label": lambda rows: score(rows) > 0.5}.get(kind, boosted)
    goal: dict[str, Any] = {"interval": (0.5, 1.5)} if kind == "interval" else {"target": True}

    def worth(row: Any) -> float:
        if kind == "interval":
            predicted = float(score(row[None, :])[0])
            return -max(0.5 - predicted, predicted - 1.5, 0.0)
        if kind == "label":
            return float(model(row[None, :])[0])
        return float(model.predict_proba(row[None, :])[0, 1])

    explained = DiverseExplainer(model).fit(X)
    checked = 0
    for explanation in explained.explain_many(X[:12], skip=True, if_none="ignore", **goal):
        if explanation.status == "already_reached":
            assert explanation.reasons() == ()
            continue
        x, people = np.asarray(explanation.input), people_of(explanation)
        found = explanation.reasons(most=3)
        expected = literal_reasons(worth, x, people, is_label=kind == "label")
        assert [int(each.feature[1:]) for each in found] == expected
        exact = -shapley_by_enumeration(worth, x, people)
        for each in found:
            assert each.contribution == pytest.approx(exact[int(each.feature[1:])], abs=1e-9)
        checked += 1
    assert checked >= 4


@settings(max_examples=15)
@given(row=st.integers(0, 399))
def test_no_reason_is_a_value_that_helps(row: int) -> None:
    explanation = explainer().explain(LOANS.iloc[row])
    table, coded = explanation.coded.table, explanation.coded
    column = list(boosting().classes_).index(explanation.label)

    def worth(codes: Any) -> float:
        probable = boosting().predict_proba(table.decode(codes[None, :]))[0]
        return float(1 - probable[column])

    reasons, people = explanation.reasons(), people_of(explanation)
    assert 1 <= len(reasons) <= 4
    for reason in reasons:
        assert reason.contribution > 0
        assert helps_alone(worth, coded.input, people, table.position(reason.feature)) > 0
    amounts = [reason.contribution for reason in reasons]
    assert all(first >= second for first, second in pairwise(amounts))
    assert amounts[-1] >= 0.1 * amounts[0]


def test_all_contributions_sum_to_what_is_missing() -> None:
    rows = declined(5)
    explanations = explainer().explain_many(rows, target="good")
    column = list(boosting().classes_).index("good")
    people = explanations.coded.table.decode(people_of(explanations[0]))
    typical = boosting().predict_proba(people)[:, column].mean()
    missing = typical - boosting().predict_proba(rows)[:, column].mean()
    table = explanations.reasons()
    assert table["mean_contribution"].sum() == pytest.approx(missing)


def test_values_that_count_only_together_are_all_reasons() -> None:
    frame = pd.DataFrame({"a": [0, 1, 0, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": range(20)})
    explanation = (
        DiverseExplainer(lambda X: (X["a"] & X["b"]) == 1).fit(frame).explain(frame.iloc[0])
    )
    assert named(explanation) == ["a", "b"]


def test_a_few_large_amounts_do_not_make_all_others_typical() -> None:
    # A tenth of the usual range is more than most people have: savings were never a reason.
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"savings": random.lognormal(2, 1.2, 500).round(2), "age": random.integers(18, 70, 500)}
    )
    explained = DiverseExplainer(lambda rows: rows["savings"] + rows["age"] / 6 > 15).fit(frame)
    low, high = explained.training_.table.features[0].usual
    poor = frame[frame["savings"].between(6, 8) & (frame["age"] < 30)].head(5)
    for explanation in explained.explain_many(poor):
        reasons = {reason.feature: reason for reason in explanation.reasons()}
        assert list(reasons) == ["savings", "age"]
        savings = reasons["savings"]
        assert savings.typical - savings.value < 0.1 * (high - low)


def test_who_has_more_than_is_typical_is_not_told_to_have_too_little() -> None:
    # The mean of what others have may help where the typical value does not: a few have very much.
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"savings": random.lognormal(2, 1.2, 500).round(2), "age": random.integers(18, 70, 500)}
    )
    good = frame["savings"] + frame["age"] > 45
    model = LogisticRegression().fit(frame, good)
    explanations = DiverseExplainer(model).fit(frame).explain_many(frame[~model.predict(frame)])
    typical = np.sort(people_of(explanations[0])[:, 0])[(PEOPLE - 1) // 2]
    more = [each for each in explanations if each.coded.input[0] > typical]
    assert len(more) > 10
    assert all("savings" not in named(each) for each in more)
    assert any("savings" in named(each) for each in explanations)


def test_a_group_of_one_hot_columns_is_one_reason() -> None:
    frame = pd.get_dummies(LOANS[["home", "income"]], dtype=int)
    homes = [name for name in frame.columns if name.startswith("home_")]
    model = LogisticRegression().fit(frame / 1000, GOOD)
    schema = Schema(one_hot={"home": homes})
    explained = DiverseExplainer(lambda X: model.predict(X / 1000), schema=schema).fit(frame)
    row = frame[(model.predict(frame / 1000) == 0) & (frame["home_own"] == 0)].iloc[0]
    reasons = explained.explain(row).reasons()
    assert {reason.feature for reason in reasons} <= {"home", "income"}


def test_a_feature_that_may_not_change_is_a_reason_and_an_unused_one_is_not() -> None:
    model = LogisticRegression().fit(LOANS[["age"]], LOANS["age"] > 40)
    explained = DiverseExplainer(
        lambda X: model.predict(X[["age"]]), constraints=Constraints(immutable=["age"])
    ).fit(LOANS)
    young = LOANS[LOANS["age"] < 30].head(1)
    (explanation,) = explained.explain_many(young, if_none="ignore")
    assert named(explanation) == ["age"]


def test_a_wanted_class_counts_and_no_other() -> None:
    X = np.random.default_rng(8).normal(size=(200, 2))
    model = LogisticRegression(max_iter=500).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    row = X[model.predict(X) == 1][0]
    up, down = (DiverseExplainer(model).fit(X).explain(row, target=each) for each in (2, 0))
    assert up.reasons()[0].feature == down.reasons()[0].feature == "x0"
    assert up.reasons()[0].typical > row[0] > down.reasons()[0].typical


def test_any_other_result_is_compared_with_people_of_other_results() -> None:
    X = np.random.default_rng(8).normal(size=(300, 2))
    model = LogisticRegression(max_iter=500).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    for explanation in DiverseExplainer(model).fit(X).explain_many(X[:6]):
        people = people_of(explanation)
        assert len(people) == PEOPLE
        assert (model.predict(people) != explanation.label).all()


def test_a_regression_has_reasons_in_its_own_units() -> None:
    X = np.random.default_rng(8).normal(size=(200, 3))
    model = LinearRegression().fit(X, X @ [3.0, 1.0, 0.0])
    x = np.array([-2.0, 0.0, 0.0])
    explanation = DiverseExplainer(model).fit(X).explain(x, interval=(2.0, np.inf))
    assert named(explanation)[0] == "x0"
    people = people_of(explanation)
    # Linear, and below the interval for nearly all mixtures: 3 for each unit, up to where it ends.
    assert 0 < explanation.reasons()[0].contribution <= 3 * (people[:, 0].mean() + 2.0)
    assert "moves the prediction away by" in explanation.letter("reviewer", width=None)


def test_few_people_with_the_result_are_compared_with_more_often() -> None:
    X = np.vstack([np.zeros((30, 3)), [[1.0, 1.0, 0.0]]])
    explanation = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1.5).fit(X).explain(X[0])
    assert len(people_of(explanation)) == 1
    assert named(explanation) == ["x0", "x1"]
    assert sum(each.contribution for each in explanation.reasons()) == pytest.approx(1)


def test_nobody_with_the_result_means_no_reasons() -> None:
    explained = DiverseExplainer(boosting()).fit(LOANS)
    found = explained.explain_many(declined(1), target="excellent", if_none="ignore")
    assert found[0].reasons() == ()
    assert found.reasons()["share"].tolist() == [0.0] * LOANS.shape[1]


def test_the_model_is_asked_in_two_calls_about_few_rows() -> None:
    asked: list[int] = []

    class Counted:
        classes_ = boosting().classes_

        def predict(self, rows: Any) -> Any:
            return boosting().predict(rows)

        def predict_proba(self, rows: Any) -> Any:
            asked.append(len(rows))
            return boosting().predict_proba(rows)

    explanation = DiverseExplainer(Counted()).fit(LOANS).explain(declined().iloc[0], target="good")
    asked.clear()
    explanation.reasons()
    explanation.letter()
    first, second, *more = asked
    assert first <= 2 * PEOPLE * (LOANS.shape[1] + 1)
    assert second <= (PEOPLE + 1) * LOANS.shape[1] + 1
    assert len(more) <= 1, "the letter asks for probabilities, and for no reasons again"


def test_a_pickle_keeps_the_people_and_can_be_asked_again() -> None:
    explanation = explainer().explain(declined().iloc[0], target="good")
    expected = explanation.reasons()
    again = pickle.loads(pickle.dumps(explanation))
    with pytest.raises(InvalidInputError, match="with_model"):
        again.reasons()
    asked = again.with_model(boosting())
    assert asked.reasons() == expected
    assert asked.letter("reviewer") == explanation.letter("reviewer")


def test_a_file_keeps_them() -> None:
    explanation = explainer().explain(declined().iloc[0], target="good")
    again = Explanation.from_json(explanation.to_json())
    assert again.reasons() == explanation.reasons()
    assert again.reasons(most=99) == explanation.reasons(most=99)
    without = Explanation.from_json(explanation.to_json(reasons=False))
    for each in (without, without.with_model(boosting())):
        with pytest.raises(InvalidInputError, match="no training rows to compare with"):
            each.reasons()
    many = explainer().explain_many(declined(2), target="good")
    loaded = Explanations.from_json(many.to_json()).with_model(boosting())
    with pytest.raises(InvalidInputError, match="no training rows to compare with"):
        loaded.reasons()
    assert loaded[1].reasons() == many[1].reasons()


def test_an_explainer_without_training_rows_says_that_it_has_no_reasons() -> None:
    exhaustive = ExhaustiveExplainer(lambda X: X[:, 0] >= 2, 0.5, domain=[[1.0], [2.0], [2.2]])
    with pytest.raises(InvalidInputError, match="DiverseExplainer"):
        exhaustive.explain([1.0]).reasons()


def test_at_most_as_many_as_asked_for() -> None:
    explanation = explainer().explain(declined().iloc[0], target="good")
    every = explanation.reasons(most=99)
    assert explanation.reasons(most=1) == every[:1]
    assert explanation.reasons() == every[:4]
    with pytest.raises(InvalidInputError, match="most"):
        explanation.reasons(most=0)


def test_missing_values_and_typical_ones() -> None:
    frame = LOANS.assign(income=LOANS["income"].astype(float), home=LOANS["home"].astype(object))
    frame.loc[::3, "income"] = np.nan
    frame.loc[1::3, "home"] = None
    known = frame["income"].notna() & frame["home"].notna()

    def decide(rows: pd.DataFrame) -> Any:
        return rows["income"].notna() & rows["home"].notna()

    explanation = DiverseExplainer(decide).fit(frame).explain(frame.iloc[0])
    (reason,) = explanation.reasons()
    assert (reason.feature, reason.value, reason.text) == ("income", "missing", "not stated")
    people = pd.DataFrame(explanation.coded.table.decode(people_of(explanation)))
    assert reason.typical == people["income"].quantile(0.5, interpolation="lower")
    assert decide(people).all()
    assert known.any()


def test_features_are_ranked_over_many() -> None:
    explanations = explainer().explain_many(LOANS.head(30), target="good", skip=True)
    table = explanations.reasons()
    assert list(table.columns) == ["feature", "mean_contribution", "share"]
    assert sorted(table["feature"]) == sorted(LOANS.columns)
    assert table["mean_contribution"].is_monotonic_decreasing
    open_ = [each for each in explanations if each.status != "already_reached"]
    assert 0 < len(open_) < 30
    for _, row in table.iterrows():
        among = np.mean([row["feature"] in named(each) for each in open_])
        assert row["share"] == pytest.approx(among)
    first = explanations.reasons(most=1)
    assert first["share"].sum() == pytest.approx(1)
    assert explanations[:0].reasons()["share"].tolist() == [0.0] * LOANS.shape[1]


@given(seed=st.integers(0, 999), classes=st.integers(2, 40))
def test_the_rows_of_the_smallest_lots_are_drawn(seed: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    rows, lots = np.arange(120.0)[:, None], random.random(120)
    labels = random.integers(0, classes, 120)
    background = Background.draw(rows, labels, lots, AnyOther())
    order = np.argsort(lots)
    for label in range(-1, classes):  # -1: one that no training row has
        expected = [i for i in order if labels[i] != label][:PEOPLE]
        assert background.of(AnyOther(), label)[:, 0].tolist() == expected
    assert len(background.matrix) <= 4 * PEOPLE


def test_a_reason_is_a_record() -> None:
    reason = explainer().explain(declined().iloc[0], target="good").reasons()[0]
    assert isinstance(reason, Reason)
    with pytest.raises(AttributeError):
        reason.value = 3  # type: ignore[misc]
    assert "code" not in repr(reason)
