"""What is said of retrainings, in a description and in a report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.worded import by_hand

from counterset import DiverseExplainer, Explanation, InvalidInputError
from counterset.evaluation import Survival


def survived(*works: list[int]) -> Survival:
    rows = np.array(works, dtype=bool)
    reached = np.zeros((1, rows.shape[1]), dtype=bool)
    return Survival(rows, reached, np.array([len(rows)]), pd.Index([0]))


def said(explanation: Explanation, survival: Survival) -> str:
    text = explanation.describe(survival=survival, width=None)
    return text[text.index("Measured: ") :]


def test_a_set_is_said_before_its_options() -> None:
    kept = survived([1] * 15 + [0] * 5, [0] * 5 + [1] * 14 + [0], [1] * 15 + [0] * 5)
    assert said(by_hand((1, 2, 3)), kept) == (
        "Measured: after 19 of 20 retrainings of the model, at least one of these options still "
        "led to 'good' (95% sure: after at least 78% of all such retrainings). Single options: "
        "options 1 and 3 after 15, option 2 after 14."
    )


def test_one_option_is_no_set() -> None:
    assert said(by_hand((1,)), survived([1, 1, 1, 0])) == (
        "Measured: after 3 of 4 retrainings of the model, this option still led to 'good' (95% "
        "sure: after at least 24% of all such retrainings)."
    )


def test_a_set_that_never_survives_gets_no_share() -> None:
    assert said(by_hand((1, 2)), survived([0, 0, 0], [0, 0, 0])) == (
        "Measured: after none of 3 retrainings of the model did any of these options still lead "
        "to 'good'."
    )


def test_without_options_nothing_is_said() -> None:
    none = Survival(
        np.zeros((0, 3), dtype=bool), np.zeros((1, 3), dtype=bool), np.array([0]), pd.Index([0])
    )
    assert "retraining" not in by_hand(()).describe(survival=none)


@pytest.mark.parametrize("wrong", [survived([1]), 19, "often"])
def test_the_survival_of_another_explanation_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"which has 2 options"):
        by_hand((1, 2)).describe(survival=wrong)


def test_a_report_says_it_of_the_options_that_it_shows() -> None:
    X = np.random.default_rng(0).random((200, 6)).round(2)
    explainer = DiverseExplainer(lambda rows: rows.max(axis=1) > 0.9, max_counterfactuals=6).fit(X)
    explanation = explainer.explain([0.1] * 6)
    works = [[1, 1, 0]] * len(explanation)
    page = explanation.to_html(survival=survived(*works))
    assert "after 2 of 3 retrainings of the model" in page


def test_a_report_says_nothing_of_options_that_it_does_not_show() -> None:
    X = np.random.default_rng(0).random((400, 9)).round(2)
    explainer = DiverseExplainer(lambda rows: rows.max(axis=1) > 0.9, max_counterfactuals=9).fit(X)
    explanation = explainer.explain([0.1] * 9)
    works = [[0, 1]] * 7 + [[1, 1]] * 2  # the report shows seven
    page = explanation.to_html(survival=survived(*works))
    assert "after 1 of 2 retrainings of the model" in page
    assert "after 2 of 2 retrainings" in said(explanation, survived(*works))
