"""How far, how steady, and what is proved, checked or measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.worded import by_hand

from counterset import InvalidInputError
from counterset._base.lazy import Lazy
from counterset.evaluation import Stability
from counterset.exact import Certificate, DistanceBounds
from counterset.explanations.certificate import SEARCH
from counterset.models.goals import InInterval
from counterset.tables.table import Table
from counterset.words.description import how_far, how_sure, measured
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

ENGLISH = Templates.read()


def far(distance: float, **changes: Any) -> list[str]:
    return how_far(by_hand(distances=[distance], **changes), ENGLISH)


def sure(certificate: Certificate | None = None, **changes: Any) -> list[str]:
    explanation = by_hand(**changes)
    if certificate is not None:
        explanation = explanation.with_certificate(certificate)
    return how_sure(explanation, ENGLISH, Outcomes(explanation, ENGLISH, {}))


def settings(**changes: Any) -> dict[str, Any]:
    return {"settings": Lazy(lambda: {"distance": "l1", "scale": "robust"} | changes)}


def test_a_distance_is_told_as_a_share_of_a_usual_range() -> None:
    told = "The nearest option is as far as moving one feature across 31% of its usual range."
    assert far(0.312) == [told]
    assert far(0.312, **settings(distance="L2(weights=None)", scale="range")) == [told]
    assert far(2.34) == [
        "The nearest option is as far as moving one feature 2.3 times across its usual range."
    ]
    assert "across less than 1% of" in far(0.0001)[0]  # it used to be told as 1%
    assert "across more than 99% of" in far(0.9999)[0]
    assert "across 100% of" in far(1.0)[0]
    assert "across 104% of" in far(1.04)[0]


@pytest.mark.parametrize(
    "changes", [{"distance": "l0"}, {"distance": "gower"}, {"scale": "mad"}, {"scale": None}]
)
def test_nothing_is_said_where_it_would_be_wrong(changes: dict[str, Any]) -> None:
    assert far(0.3, **settings(**changes)) == []


def test_costs_are_told_in_place_of_a_share() -> None:
    assert far(0.3, costs={"x1": 2.0}) == ["Features that cost more to change count as farther."]


def test_what_is_checked_is_no_proof() -> None:
    assert sure() == [
        "Checked: the model was asked about every option, and each is classified as 'good'.",
        "Not proved: there may be a nearer option that was not found.",
    ]
    regression = sure(classes=(0.5, 1.5), label=0.5, labels=[1.5], goal=InInterval(1, 2))
    assert regression[0].endswith("and each leads to a prediction between 1 and 2.")
    assert "with a probability of at least 80%" in sure(probability=0.8)[0]


def test_bounds_prove_that_nothing_is_nearer() -> None:
    bounds = DistanceBounds(0.2999, 0.3, True, None, 0.1, "by hand")
    assert "Proved: no option is nearer than 0.299." in sure(Certificate(distance_bounds=bounds))
    unread = DistanceBounds(0.0, 0.3, False, None, 0.1, SEARCH, "only an upper bound")
    told = sure(Certificate(0.5, unread, np.array([0.3])))
    assert told[1:] == ["This model could not be read, so nothing is proved about nearer options."]


def test_safety_is_told_for_the_options_that_have_it() -> None:
    bounds = DistanceBounds(0.3, 0.3, True, None, 0.1, "by hand")
    certificate = Certificate(0.5, bounds, np.array([0.25, -0.1, 0.25, 0.5]))
    told = sure(certificate, rows=[1, 2, 3, 1])
    for options in ("options 1 and 3 stay within 0.5", "option 4 stays within 0.5"):
        assert any(f"Proved: {options} of the best option for every input" in each for each in told)
    assert any("nearer than 0.125." in each for each in told)


@pytest.mark.parametrize(
    ("radius", "sentence"),
    [
        (0.05, "within a distance of 0.05 is explained by the same training examples."),
        (np.inf, "every input of the same class is explained by the same training examples."),
        (0.0, None),
        (None, None),
    ],
)
def test_the_stable_radius(radius: float | None, sentence: str | None) -> None:
    told = sure(Certificate(stable_radius=radius))
    assert len(told) == (2 if sentence is None else 3)
    assert sentence is None or sentence in told[-1]


@pytest.mark.parametrize(
    ("radius", "from_list", "sentences"),
    [
        (0.05, [True, True], ["within a distance of 0.05 goes down the same list of options"]),
        (np.inf, [True, False], ["every input of the same class goes down", "Option 2 is not on"]),
        (0.05, [False, False], ["0.05 goes down the same list", "Options 1 and 2 are not on"]),
        (0.0, [True, True], []),
    ],
)
def test_the_list_that_is_shared(
    radius: float, from_list: list[bool], sentences: list[str]
) -> None:
    told = sure(Certificate(list_radius=radius, from_list=np.array(from_list)))
    assert len(told) == 2 + len(sentences)
    for sentence, words in zip(told[2:], sentences, strict=True):
        assert words in sentence


def test_for_whom_else_an_option_works() -> None:
    told = sure(Certificate(option_radii=np.array([0.12345, np.inf, 0.0, 0.12341])))
    assert told[2:] == [
        "Proved: with the same values, options 1 and 4 work for every input of the same class that "
        "is nearer than 0.123.",
        "Proved: with the same values, option 2 works for every input of the same class.",
        "Not proved: for which other inputs option 3 works.",
    ]


def test_an_explanation_without_options_proves_nothing() -> None:
    assert sure(rows=[]) == []
    assert how_far(by_hand(rows=[]), ENGLISH) == []


TABLE, _ = Table.learn(pd.DataFrame({"a": [0.0, 0.9], "b": [0.5, 1.5], "c": ["x", "y"]}))


def test_what_evaluate_measured_is_told_as_measured() -> None:
    table = pd.DataFrame(
        {
            "input_distance": [0.02, 0.04, 0.09],
            "covered": [1.0, 0.0, np.nan],
            "kept": [1.0, 0.6, np.nan],
        }
    )
    assert measured(table, ENGLISH, 1, TABLE) == [
        "Measured: for 1 of 2 slightly different inputs (0.03 away on average), the nearest option "
        "is among these; on average, they are offered 80% of these options too."
    ]
    (told,) = measured(table[2:], ENGLISH, 1, TABLE)
    assert told.startswith("Not measured")
    assert measured(None, ENGLISH, 1, TABLE) == []
    for wrong in (pd.DataFrame({"a": [1]}), table[:0], 0.5):
        with pytest.raises(InvalidInputError, match="stability takes what stability returns"):
            measured(wrong, ENGLISH, 1, TABLE)  # type: ignore[arg-type]


def test_the_copies_that_keep_an_option_are_told_as_measured() -> None:
    apart = {"a": 0.1234, "b": 0.0}
    told = measured(Stability(20, np.array([19, 20, 19]), 18, 17, 0.051, apart), ENGLISH, 3, TABLE)
    assert told == [
        "Measured: for 17 of 20 slightly different inputs of the same class (0.051 away on "
        "average), the nearest option is among these. Found again: options 1 and 3 for 19 of 20 "
        "(at least 78%), option 2 for 20 of 20 (at least 86%); all of these options and no others "
        "for 18 of 20.",
        "In brackets: the least share of all such inputs, 95% sure. An option is found again if "
        "the same features change, numbers in the same direction and categories to the same value.",
        "Slightly different means, on average: a by 0.12.",
    ]


def test_without_copies_nothing_is_told_as_measured() -> None:
    (told,) = measured(Stability(0, np.array([0]), 0, 0, np.nan), ENGLISH, 1, TABLE)
    assert told.startswith("Not measured: no slightly different input")


def test_copies_of_another_explanation_are_refused() -> None:
    with pytest.raises(
        InvalidInputError, match="measured on 2 options, but this explanation has 3"
    ):
        measured(Stability(20, np.array([19, 20]), 18, 18, 0.05), ENGLISH, 3, TABLE)


def none_found(bounds: DistanceBounds | None) -> list[str]:
    explanation = by_hand()
    certificate = None if bounds is None else Certificate(distance_bounds=bounds)
    nothing = replace(
        explanation,
        status="none_found",
        labels=explanation.labels[:0],
        distances=explanation.distances[:0],
        examples=explanation.examples[:0],
        _matrix=explanation.coded.matrix[:0],
        _certificate=Lazy(lambda: certificate),
    )
    return how_sure(nothing, ENGLISH, Outcomes(nothing, ENGLISH, {}))


def test_whether_there_is_none_is_proved_or_not() -> None:
    assert none_found(None) == []
    (proved,) = none_found(DistanceBounds(np.inf, np.inf, True, None, 0.0, "by hand"))
    assert proved.startswith("Proved: no change within the constraints and the range that was")
    (unknown,) = none_found(DistanceBounds(0.5, np.inf, False, None, 60.0, "by hand"))
    assert unknown == "Not proved: there may be an option that was not found."
    (found,) = none_found(DistanceBounds(0.5, 0.71234, False, [1.0], 0.0, "by hand"))
    assert found == "Proved: there is an option, no farther than 0.713, that was not found here."


def test_with_a_goal_or_constraints_safety_is_about_those_who_ask_for_the_same() -> None:
    bounds = DistanceBounds(1.0, 1.0, True, None, 0.0, "by hand")
    certificate = Certificate(0.5, bounds, np.array([0.5]), constrained=True)
    assert any(
        "nearer than 0.25, asks for the same and may make these changes." in sentence
        for sentence in sure(certificate)
    )
