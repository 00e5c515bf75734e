"""No answer asks for more and for less of a feature, and what usually does not help comes last."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanation,
    FeatureDiversity,
    Nearest,
    Paper,
    Schema,
    Shared,
    datasets,
)
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.strategies.directions import find_directions

#: How many people of each table are explained in one test, and in a thorough one.
PEOPLE, MANY = 40, 170


def contradicts(explanation: Explanation) -> bool:
    """Whether two options move an ordered feature in opposite directions, cell by cell."""
    table = explanation.coded.table
    directions: dict[str, set[bool]] = {}
    for row in explanation.coded.matrix.tolist():
        for feature, before, after in zip(
            table.features, explanation.coded.input.tolist(), row, strict=True
        ):
            if feature.is_category or feature.kind == "binary":
                continue
            if not feature.is_known(np.array([before, after])).all() or before == after:
                continue
            directions.setdefault(feature.name, set()).add(after > before)
    return any(len(each) == 2 for each in directions.values())


def boosted(name: str) -> tuple[Any, Any, pd.DataFrame]:
    """Return a bundled table, a model of it behind encoders, and the people whom it declines."""
    data = datasets.load(name)
    X, y = (data.X, data.y) if name != "spambase" else (data.X.iloc[::5], data.y.iloc[::5])
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder="passthrough",
    )
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=30, random_state=0))
    model.fit(X, y)
    return data, model, X


@pytest.mark.parametrize("strategy", [Nearest(), Shared(), Nearest(FeatureDiversity())], ids=repr)
@pytest.mark.parametrize("name", ["german_credit", "diabetes", "spambase"])
def test_no_answer_moves_a_feature_in_both_directions(
    name: str, strategy: Any, thorough: bool
) -> None:
    # What used to be: "raise the credit amount" beside "reduce the credit amount".
    data, model, X = boosted(name)
    explainer = DiverseExplainer(model, schema=data.schema, strategy=strategy).fit(X)
    people = X.iloc[:: len(X) // (MANY if thorough else PEOPLE)]
    explanations = explainer.explain_many(people, if_none="ignore")
    assert sum(map(contradicts, explanations)) == 0
    assert explanations.counts.mean() > 3


def test_with_both_ways_answers_contradict_themselves() -> None:
    data, model, X = boosted("diabetes")
    explainer = DiverseExplainer(model, schema=data.schema, strategy=Nearest(both_ways=True)).fit(X)
    explanations = explainer.explain_many(X.head(PEOPLE), if_none="ignore")
    assert sum(map(contradicts, explanations)) > 3
    assert not any(option.unusual for each in explanations for option in each.options)


def test_usual_options_come_first_and_others_say_what_usually_helps() -> None:
    data, model, X = boosted("diabetes")
    explainer = DiverseExplainer(model, schema=data.schema).fit(X)
    explanations = explainer.explain_many(X.iloc[::4], if_none="ignore")
    seen = 0
    for explanation in explanations:
        wanted = 1 - explanation.label
        usual = explainer.directions(target=wanted)["direction"]
        marks, text = [], explanation.describe(width=None)
        for option in explanation.options:
            against = tuple(
                change.name
                for change in option.changes
                if usual.get(change.name) == ("down" if change.after > change.before else "up")
            )
            assert option.unusual == against
            marks.append(bool(against))
            assert (f"ption {option.rank}" in text.split("\n\n")[-1]) or not against
        assert marks == sorted(marks)
        for part in (False, True):
            own = explanation.distances[np.array(marks, dtype=bool) == part]
            assert (np.diff(own) >= 0).all()
        assert ("unusual for this model" in text) == any(marks)
        assert ("unusual for this model" in explanation.letter()) == any(marks)
        seen += any(marks)
        loaded = Explanation.from_json(explanation.to_json(reasons=False))
        assert [each.unusual for each in loaded.options] == [
            each.unusual for each in explanation.options
        ]
        assert loaded.describe(width=None) == text
    assert seen >= 3


def test_the_nearest_option_is_told_of_even_if_it_does_not_come_first() -> None:
    data, model, X = boosted("diabetes")
    explainer = DiverseExplainer(model, schema=data.schema).fit(X)
    explanations = explainer.explain_many(X, if_none="ignore")
    later = [i for i, each in enumerate(explanations) if len(each) and each.distances.argmin() > 0]
    assert later
    nearest = explanations.coded.nearest
    for i in later:
        assert nearest[i] == explanations[i].distances.min()


def test_the_paper_s_strategy_knows_no_directions() -> None:
    data, model, X = boosted("diabetes")
    explainer = DiverseExplainer(model, schema=data.schema, strategy=Paper()).fit(X)
    explanations = explainer.explain_many(X.head(PEOPLE), if_none="ignore")
    assert sum(map(contradicts, explanations)) > 0
    assert (explainer.directions(target=0).loc["Glucose"][["direction"]] == "down").all()


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6),
)
def test_four_of_five_and_at_least_ten_make_a_direction_usual(
    counts: list[tuple[int, int]],
) -> None:
    found = find_directions(*np.array(counts).T)
    for direction, (raised, lowered) in zip(found.tolist(), counts, strict=True):
        expected = 0
        if raised + lowered >= 10 and raised != lowered:
            most, least = max(raised, lowered), min(raised, lowered)
            expected = 2 if most >= 10 and most >= 4 * least else 1
        assert direction == (expected if raised > lowered else -expected)


INCOME = pd.DataFrame(
    {
        "income": np.random.default_rng(0).integers(10, 90, 400).astype(float),
        "debt": np.random.default_rng(1).integers(0, 50, 400).astype(float),
        "home": np.random.default_rng(2).choice(["own", "rent"], 400),
        "savings": np.random.default_rng(3).choice(["none", "some", "much"], 400),
    }
)
SCHEMA = Schema(ordinal={"savings": ["none", "some", "much"]}, special={"debt": [99]})


def approve(rows: Any) -> Any:
    score = rows["income"] - rows["debt"] + 10 * (rows["savings"] == "much")
    return np.where(score > 25, "yes", "no")


def test_directions_are_those_of_the_model_and_the_data() -> None:
    explainer = DiverseExplainer(approve, schema=SCHEMA).fit(INCOME)
    found = explainer.directions(target="yes")
    assert found.index.tolist() == ["income", "debt", "savings"]  # a home has no order
    assert found["direction"].tolist() == ["up", "down", "up"]
    assert found["supported"].tolist()[:2] == [True, True]
    wanted = approve(INCOME) == "yes"
    first, second = INCOME["income"][wanted], INCOME["income"][~wanted]
    above = (first.to_numpy()[:, None] > second.to_numpy()).mean()
    ties = (first.to_numpy()[:, None] == second.to_numpy()).mean()
    assert found["higher"]["income"] == pytest.approx(above + ties / 2)
    opposite = explainer.directions(target="no")["direction"].tolist()
    assert opposite[:2] == ["down", "up"]


def test_suggested_constraints_leave_out_what_is_constrained_already_and_hold() -> None:
    explainer = DiverseExplainer(approve, schema=SCHEMA).fit(INCOME)
    suggested = Constraints.suggest(explainer, target="yes")
    assert next(iter(suggested.increase_only)) == "income"
    assert list(suggested.decrease_only) == ["debt"]
    again = DiverseExplainer(approve, schema=SCHEMA, constraints=suggested).fit(INCOME)
    assert repr(Constraints.suggest(again, target="yes")) == "Constraints()"
    person = INCOME[approve(INCOME) == "no"].iloc[0]
    (explanation,) = again.explain_many([dict(person)], target="yes", if_none="ignore")
    for option in explanation.options:
        assert option.unusual == ()


def test_what_is_wanted_must_be_known() -> None:
    explainer = DiverseExplainer(approve, schema=SCHEMA).fit(INCOME)
    with pytest.raises(InvalidInputError, match=r"directions\(target='yes'\)"):
        explainer.directions()
    with pytest.raises(NoCounterfactualError, match="maybe"):
        explainer.directions(target="maybe")


def test_a_regression_has_directions_towards_an_interval() -> None:
    explainer = DiverseExplainer(lambda rows: rows["income"] * 2.0, schema=SCHEMA).fit(INCOME)
    found = explainer.directions(interval=(150, np.inf))
    assert found["direction"].to_dict() == {"income": "up", "debt": "", "savings": ""}
    # From both sides of an interval nothing is usual.
    assert explainer.directions(interval=(90, 110))["direction"]["income"] == ""


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_both_ways_is_true_or_false(value: Any) -> None:
    for strategy in (Nearest, Shared):
        with pytest.raises(InvalidInputError, match="both_ways must be True or False"):
            strategy(both_ways=value)
