"""What would have to be different, in plain sentences."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.settings import explainer_by_steps
from support.worded import by_hand

from counterset import Constraints, Schema
from counterset.models.goals import InInterval
from counterset.words.description import Description


def test_a_description_reads_from_the_result_to_what_is_sure() -> None:
    explanation = by_hand([3], constraints={"immutable": ["start"]})
    text = explanation.describe(width=None)
    assert text.splitlines()[0] == (
        "Input 0 is classified as 'bad'. One option leads to 'good'; what is not named stays as it "
        "is:"
    )
    assert "1. 10 changes (distance 0.25):" in text
    assert "   - reduce the credit amount from 5,951 DM to 1,250.5 DM" in text
    assert text.index("may not change.") < text.index("The nearest option") < text.index("Checked:")


def test_fewer_options_than_asked_for_are_told() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    explainer = explainer_by_steps(lambda X: X["a"] > 2.5, diversity=None, anonymity=1).fit(frame)
    with pytest.warns(match="fewer than 5"):
        explanation = explainer.explain(frame.iloc[0])
    told = (
        "One option leads to True (5 were asked for; no others were found that are different "
        "enough);"
    )
    assert told in explanation.describe(width=None)


def test_no_option_and_no_need_of_one_are_told() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.5, 4.0]})
    explainer = explainer_by_steps(lambda X: X["a"] > 1.5, diversity=None).fit(frame)
    fixed = Constraints(immutable=["a"])
    with pytest.warns():
        none, reached = explainer.explain_many(
            frame.iloc[[0, 3]], target=True, constraints=fixed, if_none="warn"
        )
    assert none.describe() == (
        "Input 0 is classified as False. No option that leads to True was found.\n\n"
        "a may not change."
    )
    assert reached.describe().startswith(
        "Input 3 is classified as True. This is already the result that was asked for."
    )


def test_a_regression_is_told_by_numbers() -> None:
    explanation = by_hand(
        [1, 3],
        classes=(0.5, 12.41, 175.9),
        label=175.9321,
        labels=[12.41, 3.25],
        goal=InInterval(0, 15),
    )
    text = explanation.describe(width=None)
    assert text.startswith(
        "Input 0 is predicted to be 175.9. 2 options lead to a prediction between 0 and 15, "
    )
    assert "(predicted to be 12.41, distance 0.25):" in text
    assert "classified" not in text


def test_several_classes_are_told_for_each_option() -> None:
    text = by_hand([1, 3], labels=["good", "great"]).describe(width=None)
    assert "2 options lead to 'good' or 'great'" in text
    assert "(classified as 'great', distance 0.5)" in text


def test_outcomes_have_the_names_that_people_use() -> None:
    text = by_hand().describe(outcomes={"good": "approved", "bad": "declined"})
    assert text.startswith("Input 0 is classified as declined. One option leads to approved;")


def test_lines_are_as_long_as_asked_for() -> None:
    text = by_hand([1]).describe(width=60)
    assert max(map(len, text.splitlines())) <= 60
    unbroken = by_hand([1]).describe(width=None)
    assert " ".join(text.split()) == " ".join(unbroken.split())
    assert str(Description.of(by_hand([1]))) == by_hand([1]).describe()


LABELS = {"x0": "alpha", "x1": "beta", "x2": "gamma"}
ITEM = re.compile(r"the (alpha|beta|gamma) from (?:about )?(-?[\d,.]*\d)(?: km)? to (-?[\d,.]*\d)")


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-3, 1.0, 12_345.0]))
def test_every_number_typed_back_flips_the_model(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(60, 3)) * scale, rng.normal(size=3)

    def model(rows: Any) -> Any:
        return np.where(np.asarray(rows) @ weights > 0, "yes", "no")

    schema = Schema(labels=LABELS, units={"x1": "km"})
    explainer = explainer_by_steps(model, schema=schema, max_counterfactuals=2, diversity=None)
    x = X[0]
    with warnings.catch_warnings():  # an option less than asked for is no matter here
        warnings.simplefilter("ignore")
        explanation = explainer.fit(X).explain_many([x], if_none="warn")[0]
    options = Description.of(explanation).options
    assert len(options) == len(explanation)
    for option in options:
        typed, items = x.copy(), ITEM.findall(option[0])
        for label, before, after in items:
            at = list(LABELS.values()).index(label)
            assert float(before.replace(",", "")) == pytest.approx(x[at], rel=1e-3)
            typed[at] = float(after.replace(",", ""))
        assert items
        assert model(typed[None, :])[0] != model(x[None, :])[0]
