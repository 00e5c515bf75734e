"""What a model answers, and what was wanted, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.worded import by_hand

from counterset import InvalidInputError
from counterset.models.goals import AnyOther, Goal, InInterval, OneOf
from counterset.words.outcomes import Outcomes, rounded
from counterset.words.templates import Templates


def outcomes(texts: Any = None, **changes: Any) -> Outcomes:
    return Outcomes(by_hand(**changes), Templates.read(), texts or {})


@pytest.mark.parametrize(
    ("label", "told"), [("good", "'good'"), (1, "1"), (True, "True"), (np.int64(3), "3")]
)
def test_a_class_is_written_as_it_is(label: Any, told: str) -> None:
    assert outcomes(classes=(0, 1)).text(label) == told
    assert outcomes(classes=(0, 1)).classified(label) == f"is classified as {told}"


def test_a_class_can_have_a_text() -> None:
    assert outcomes({"good": "approved"}).text("good") == "approved"


def test_a_text_for_what_is_no_class_is_an_error_that_names_the_classes() -> None:
    # It had no effect.
    with pytest.raises(InvalidInputError, match=r"names 'Good', but .* classes 'bad', 'good'\."):
        outcomes({"Good": "approved"})
    with pytest.raises(InvalidInputError, match=r"names '1', but the model has the classes 0, 1\."):
        outcomes({"1": "approved"}, classes=(0, 1), label=0, labels=[1])
    with pytest.raises(InvalidInputError, match="outcomes takes a mapping"):
        outcomes(["good"])


def test_a_class_that_the_model_never_gave_can_have_a_text() -> None:
    class Model:
        classes_ = np.array(["bad", "good", "great"])

    assert outcomes({"great": "more"}, model=Model()).text("great") == "more"


def test_a_regression_is_never_classified() -> None:
    regression = outcomes(
        classes=(0.5, 175.9, 200.25), label=175.93219, labels=[12.4], goal=InInterval(0, 15)
    )
    assert regression.classified(175.93219) == "is predicted to be 175.9"
    assert regression.wanted() == "between 0 and 15"


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (AnyOther(), "'good'"),
        (OneOf(np.array(["good"])), "'good'"),
        (OneOf(np.array(["a", "b", "c"])), "'a', 'b' or 'c'"),
        (InInterval(2.5, np.inf), "at least 2.5"),
        (InInterval(-np.inf, 12000), "at most 12,000"),
    ],
)
def test_what_was_wanted(goal: Goal, words: str) -> None:
    assert outcomes(goal=goal).wanted() == words


def test_a_probability_that_was_asked_for_is_told() -> None:
    wanted = outcomes(probability=0.8).wanted()
    assert wanted == "'good' with a probability of at least 80%"


def test_without_options_the_other_classes_are_named() -> None:
    assert outcomes(rows=[]).wanted() == "'good'"
    assert outcomes(rows=[], classes=("bad", "good", "great")).wanted() == "'good' or 'great'"
    assert outcomes(rows=[], label="ok", classes=["ok"]).wanted() == "another result"


@pytest.mark.parametrize(
    ("number", "text"), [(175.8999, "175.9"), (12, "12"), (1e-12, "1e-12"), (-0.5, "-0.5")]
)
def test_predictions_are_rounded_to_four_digits(number: float, text: str) -> None:
    assert rounded(number) == text


def test_a_prediction_is_told_on_its_side_of_the_wanted_range() -> None:
    regression = outcomes(
        classes=(0.5, 175.9, 200.25), label=15.0004, labels=[14.9996], goal=InInterval(0, 15)
    )
    # Both used to be told as 15, between 0 and 15.
    assert (regression.text(15.0004), regression.text(14.9996)) == ("15.0004", "14.9996")
    assert (regression.text(15.0), regression.text(15.12345)) == ("15", "15.12")


def test_a_wanted_probability_is_told_with_all_its_digits() -> None:
    assert outcomes(probability=0.995).wanted().endswith("at least 99.5%")  # it was 100%
    assert outcomes(probability=0.57).wanted().endswith("at least 57%")


@pytest.mark.parametrize(
    ("goal", "aim"),
    [
        (InInterval(80, 120), "a prediction between 80 and 120"),
        (InInterval(80, np.inf), "a prediction of at least 80"),
        (InInterval(-np.inf, 120), "a prediction of at most 120"),
        (OneOf(np.array(["good"])), "'good'"),
    ],
)
def test_what_options_lead_to_is_a_noun(goal: Goal, aim: str) -> None:
    assert outcomes(goal=goal).aim() == aim  # options used to lead "to between 80 and 120"
