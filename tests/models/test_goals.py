"""What an explanation may lead to: classes, sets of them, probabilities and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from support.probable import GRID, Sure
from support.settings import paper_by_steps

from counterset import DiverseExplainer, InvalidInputError, NoCounterfactualError
from counterset.models.answers import Answers
from counterset.models.goals import AnyOther, Classes, InInterval, OneOf, is_confident, set_goal


def size(rows: Any) -> Any:
    """Classify a number: small below 3, large from 7 on, medium between."""
    x = np.asarray(rows)[:, 0]
    return np.select([x < 3, x < 7], ["small", "medium"], "large")


def fitted(model: Any, X: Any = GRID, **settings: Any) -> DiverseExplainer:
    return paper_by_steps(model, diversity=None, **settings).fit(X)


# Goals by themselves.


def test_goals_accept_what_they_say() -> None:
    labels = np.array(["a", "b", "c"])
    assert AnyOther().accepts(labels, np.array(["a", "a", "c"])).tolist() == [False, True, False]
    assert OneOf(np.array(["a", "c"])).accepts(labels, labels).tolist() == [True, False, True]
    numbers = np.array([0.9, 1.0, 2.0, 2.1])
    assert InInterval(1, 2).accepts(numbers, numbers).tolist() == [False, True, True, False]


def test_only_any_other_class_depends_on_the_input() -> None:
    assert AnyOther().per_label
    assert not OneOf(np.array(["a"])).per_label
    assert not InInterval(0, 1).per_label


def test_without_a_probability_every_answer_is_confident() -> None:
    answers = Answers(np.array(["a", "b"]), np.array([0.2, 0.8]))
    assert is_confident(answers, None).tolist() == [True, True]
    assert is_confident(answers, 0.8).tolist() == [False, True]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8),
    st.sets(st.integers(0, 4), min_size=1),
)
def test_a_set_of_targets_accepts_exactly_its_members(labels: list[int], wanted: set[int]) -> None:
    goal = OneOf(np.array(sorted(wanted)))
    accepted = goal.accepts(np.array(labels), np.array(labels))
    assert accepted.tolist() == [label in wanted for label in labels]


# Targets.


def test_no_target_means_any_other_class() -> None:
    explanation = fitted(size, max_counterfactuals=2).explain([5.0])
    assert explanation.label == "medium"
    # 7 is two steps away, and 3 would be too, but small ends below 3.
    assert set(explanation.labels) == {"large", "small"}
    assert explanation.labels[0] == "large"


def test_a_target_is_reached_though_another_class_is_nearer() -> None:
    explanation = fitted(size, max_counterfactuals=1).explain([1.0], target="large")
    assert explanation.labels.tolist() == ["large"]
    # The search leaves at most a tenth of the range of the data, which is 1 here.
    assert 7 <= explanation.values[0, 0] <= 8


@pytest.mark.parametrize(
    "target",
    [["small", "large"], ("large", "small"), {"small", "large"}, np.array(["small", "large"])],
    ids=["list", "tuple", "set", "array"],
)
def test_several_targets_are_all_acceptable(target: Any) -> None:
    explainer = fitted(size, search=None, max_counterfactuals=7)
    explanation = explainer.explain([5.0], target=target)
    assert sorted(explanation.values[:, 0]) == [0, 1, 2, 7, 8, 9, 10]
    assert set(explanation.labels) == {"small", "large"}


@pytest.mark.parametrize("target", [np.str_("large"), np.array("large"), pd.Index(["large"])])
def test_a_target_may_come_from_numpy_or_pandas(target: Any) -> None:
    explanation = fitted(size, max_counterfactuals=1).explain([5.0], target=target)
    assert explanation.labels.tolist() == ["large"]


def test_each_input_of_a_batch_moves_to_the_target() -> None:
    many = fitted(size, max_counterfactuals=1).explain_many(GRID[:7], target="large")
    assert [each.label for each in many] == ["small"] * 3 + ["medium"] * 4
    assert all(each.labels.tolist() == ["large"] for each in many)


@pytest.mark.parametrize("target", ["huge", ["large", "huge"], 1, [None]])
def test_an_unknown_target_is_refused_with_those_there_are(target: Any) -> None:
    with pytest.raises(NoCounterfactualError, match=r"nothing to move towards.*'large', 'medium'"):
        fitted(size).explain([1.0], target=target)


def test_no_target_at_all_is_refused() -> None:
    with pytest.raises(NoCounterfactualError, match=r"any of \[\].*choose another target"):
        fitted(size).explain([1.0], target=[])


def test_an_input_that_is_there_already_is_refused_by_its_position() -> None:
    explainer = fitted(size)
    with pytest.raises(InvalidInputError, match=r"for 4 of 11 inputs \(first at position 7: 'larg"):
        explainer.explain_many(GRID, target="large")
    with pytest.raises(InvalidInputError, match="already predicts what you want for 1 of 1"):
        explainer.explain([4.0], target=["medium", "large"])


# Probabilities.


def test_a_probability_moves_the_counterfactual_further() -> None:
    explainer = fitted(Sure(), max_counterfactuals=1)
    plain = explainer.explain([2.0])
    sure = explainer.explain([2.0], target_probability=0.8)
    assert 5 <= plain.values[0, 0] < 6
    assert 8 <= sure.values[0, 0] < 9


def test_a_class_that_is_reached_can_be_made_more_probable() -> None:
    explainer = fitted(Sure(), max_counterfactuals=1)
    explanation = explainer.explain([6.0], target="yes", target_probability=0.9)
    assert explanation.label == "yes"
    assert explanation.labels.tolist() == ["yes"]
    assert explanation.values[0, 0] >= 9
    with pytest.raises(InvalidInputError, match="already predicts what you want"):
        explainer.explain([9.5], target="yes", target_probability=0.9)


def test_a_probability_that_no_row_reaches_is_told() -> None:
    X = GRID[:9]
    with pytest.raises(NoCounterfactualError, match=r"probable enough.*Loosen"):
        fitted(Sure(), X).explain([1.0], target_probability=0.95)


@pytest.mark.parametrize("value", [-0.1, 1.5, "high", True, np.nan])
def test_a_probability_lies_between_0_and_1(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="target_probability must be between 0 and 1"):
        fitted(Sure()).explain([1.0], target_probability=value)


def test_a_probability_needs_predict_proba() -> None:
    with pytest.raises(InvalidInputError, match=r"needs a model with predict_proba.*does not have"):
        fitted(size).explain([1.0], target_probability=0.8)


# Intervals.


def double(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] * 2 + 0.25


def test_an_interval_is_reached_from_below_and_from_above() -> None:
    explainer = fitted(double, max_counterfactuals=1)
    below, above = explainer.explain_many([[1.0], [9.0]], interval=(8, 12))
    # 2 x + 0.25 in [8, 12] is x in [3.875, 5.875]; the search comes within 1 of the end.
    for each in (below, above):
        assert ((each.labels >= 8) & (each.labels <= 12)).all()
        np.testing.assert_array_equal(each.labels, double(each.values))
    assert 3.875 <= below.values[0, 0] <= 4.875
    assert 4.875 <= above.values[0, 0] <= 5.875


def test_an_end_of_an_interval_may_be_open() -> None:
    explanation = fitted(double, max_counterfactuals=1).explain([1.0], interval=(15, np.inf))
    assert explanation.labels[0] >= 15


def test_numbers_need_an_interval() -> None:
    explainer = fitted(double)
    for given_target in (None, 3):
        with pytest.raises(InvalidInputError, match=r"predicts numbers.*interval=\(low, high\)"):
            explainer.explain([1.0], target=given_target)


def test_a_number_that_is_predicted_exactly_may_be_a_target() -> None:
    explanation = fitted(lambda X: np.round(X[:, 0]) / 2, max_counterfactuals=1).explain(
        [1.0], target=4.5
    )
    assert explanation.labels.tolist() == [4.5]


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        ((3, 1), r"interval is empty: 3.0 is not at most 1.0"),
        ((np.nan, 1), "interval is empty"),
        ((1,), r"two numbers \(low, high\), got \(1,\)"),
        ((1, 2, 3), "two numbers"),
        ((None, 2), "two numbers .*infinity for an open end"),
        (5, "two numbers"),
        ("ab", "two numbers"),
    ],
)
def test_unusable_intervals_are_refused(interval: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(double).explain([1.0], interval=interval)


def test_a_target_and_an_interval_are_refused_together() -> None:
    with pytest.raises(InvalidInputError, match=r"a target class or an interval .*not both"):
        fitted(double).explain([1.0], target=3, interval=(1, 2))


def test_an_interval_of_words_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"predicts numbers, but it predicts 'large'"):
        fitted(size).explain([1.0], interval=(0, 1))


def test_an_interval_that_no_row_reaches_is_refused_with_the_range_there_is() -> None:
    with pytest.raises(NoCounterfactualError, match=r"in \(50, 60\).*go from 0.25 to 20.25"):
        fitted(double).explain([1.0], interval=(50, 60))


def test_an_input_in_the_interval_is_refused() -> None:
    with pytest.raises(
        InvalidInputError, match=r"already predicts what you want .*position 1: 10.25"
    ):
        fitted(double).explain_many([[1.0], [5.0]], interval=(8, 12))


def test_whole_numbers_are_classes_and_may_be_an_interval_too() -> None:
    explainer = fitted(lambda X: np.rint(X[:, 0]).astype(int), max_counterfactuals=1)
    assert explainer.explain([1.0]).labels[0] != 1
    assert explainer.explain([1.0], interval=(6, 8)).labels[0] in (6, 7, 8)


# The goals of a call, before any row is looked at.


def test_the_goal_of_a_call_is_found() -> None:
    classes = Classes(np.array([0, 1, 2]))
    assert set_goal(classes, None, None) == AnyOther()
    goal = set_goal(classes, [1, 2], None)
    assert isinstance(goal, OneOf)
    assert goal.wanted.tolist() == [1, 2]
    assert set_goal(classes, None, (1, 5)) == InInterval(1.0, 5.0)


# With scikit-learn, on made-up flowers of three kinds.


def flowers() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    kind = np.repeat(["setosa", "versicolor", "virginica"], 60)
    centres = pd.DataFrame(
        {"petal_length": [1.5, 4.3, 5.6], "petal_width": [0.2, 1.3, 2.0]},
        index=["setosa", "versicolor", "virginica"],
    )
    frame = centres.loc[kind].reset_index(drop=True)
    return frame + random.normal(scale=0.3, size=frame.shape), kind


@pytest.mark.parametrize("target", [None, "virginica", ["setosa", "virginica"]])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(20, random_state=0)]
)
def test_several_classes(model: Any, target: Any) -> None:
    X, y = flowers()
    model.fit(X, y)
    inputs = X[model.predict(X) == "versicolor"].iloc[:8]
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2, diversity=None).fit(X)
    accepted = {"setosa", "virginica"} if target is None else set(np.atleast_1d(target))
    for each in explainer.explain_many(inputs, target=target):
        assert each.label == "versicolor"
        assert set(model.predict(each.counterfactuals)) <= accepted


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
def test_a_probability_of_one_of_several_classes() -> None:
    X, y = flowers()
    model = LogisticRegression().fit(X, y)
    inputs = X[y == "setosa"].iloc[:5]
    explainer = DiverseExplainer.paper(model, max_counterfactuals=3).fit(X)
    for each in explainer.explain_many(inputs, target="versicolor", target_probability=0.9):
        column = list(model.classes_).index("versicolor")
        assert (model.predict_proba(each.counterfactuals)[:, column] >= 0.9).all()


@pytest.mark.parametrize("model", [LinearRegression(), RandomForestRegressor(20, random_state=0)])
def test_a_regression(model: Any) -> None:
    X, _ = flowers()
    model.fit(X[["petal_length"]], X["petal_width"])
    explainer = DiverseExplainer.paper(model, max_counterfactuals=2, diversity=None)
    explainer.fit(X[["petal_length"]])
    short = X.loc[X["petal_length"] < 2, ["petal_length"]].iloc[:5]
    with pytest.raises(InvalidInputError, match="predicts numbers, not classes"):
        explainer.explain_many(short)
    for each in explainer.explain_many(short, interval=(1.2, 1.6)):
        predicted = model.predict(each.counterfactuals)
        assert ((predicted >= 1.2) & (predicted <= 1.6)).all()


# The classes that a model predicts on the training rows -------------------------------------------


@given(
    st.one_of(
        st.lists(st.integers(-3, 3), min_size=1),
        st.lists(st.sampled_from(["yes", "no", "maybe", ""]), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.sampled_from([0.5, -1.0, 2.0]), min_size=1),
    )
)
def test_classes_are_the_sorted_labels_and_codes_point_at_them(labels: list[Any]) -> None:
    classes, codes = Classes.learn(np.array(labels))
    assert classes.labels.tolist() == sorted(set(labels))
    assert len(classes) == len(set(labels))
    assert [classes.labels.tolist()[code] for code in codes] == labels
    assert classes.codes(np.array(labels)).tolist() == codes.tolist()


def test_classes_that_do_not_compare_keep_their_order_of_appearance() -> None:
    labels = np.array(["b", 1, "a", "b", 1], dtype=object)
    classes, codes = Classes.learn(labels)
    assert classes.labels.tolist() == ["b", 1, "a"]
    assert codes.tolist() == [0, 1, 2, 0, 1]


def test_a_label_never_seen_has_the_code_minus_one() -> None:
    classes, _ = Classes.learn(np.array([1, 3, 1]))
    assert classes.codes(np.array([3, 2, 1])).tolist() == [1, -1, 0]
