"""Reasons in words: the same in letters, reports and descriptions."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from support.worded import by_hand

from counterset import Constraints, DiverseExplainer, ExhaustiveExplainer, Explanation
from counterset.explanations.reasons import make_reason
from counterset.models.goals import OneOf

X = np.random.default_rng(4).normal(size=(300, 5)).round(2)
MODEL = GradientBoostingClassifier(n_estimators=20, random_state=4).fit(
    X, np.where(X @ [3.0, 2.0, 1.0, 1.0, 0.5] > 0, "yes", "no")
)


def explained(**parameters: Any) -> Explanation:
    explainer = DiverseExplainer(MODEL, **parameters).fit(X)
    row = X[MODEL.predict(X) == "no"][:1]
    return explainer.explain_many(row, if_none="ignore")[0]


@pytest.fixture(params=["with options", "without"])
def explanation(request: pytest.FixtureRequest) -> Explanation:
    locked = (
        Constraints(immutable=[f"x{i}" for i in range(5)]) if request.param == "without" else None
    )
    found = explained(constraints=locked, max_counterfactuals=2)
    assert (len(found) == 0) == (request.param == "without")
    return found


def section(text: str, heading: str) -> list[str]:
    """Return the lines below a heading."""
    return text.partition(f"{heading}\n")[2].partition("\n\n")[0].splitlines()


def test_letters_report_and_description_say_the_same(explanation: Explanation) -> None:
    reasons = explanation.reasons()
    assert len(reasons) >= 2
    heading = "The main reasons for this result, the most important first:"
    short = section(explanation.letter(width=None), heading)
    assert short == [f"  {each.label}: {each.text}" for each in reasons]
    described = section(explanation.describe(reasons=True, width=None), heading)
    reviewed = section(explanation.letter("reviewer", width=None), "Main reasons")
    assert described == reviewed
    for brief, full in zip(short, described, strict=True):
        assert full.startswith(f"{brief} (lowers the probability of 'yes' by ")
    page = explanation.to_html()
    for line in described:
        assert f"<li>{html.escape(line.strip())}</li>" in page


def test_they_do_not_depend_on_the_options() -> None:
    # With any other result wanted, the sentence names no labels that options happen to lead to.
    letters = {
        tuple(section(explained(max_counterfactuals=count).letter("reviewer"), "Main reasons"))
        for count in (1, 3, 5, 8)
    }
    assert len(letters) == 1


def test_a_description_has_them_only_if_they_are_asked_for(explanation: Explanation) -> None:
    assert "main reason" not in explanation.describe()
    assert explanation.describe(reasons=True).startswith(explanation.describe().split("\n\n")[0])


def test_figures_by_hand() -> None:
    good = OneOf(np.array(["good"]))
    explanation = by_hand(goal=good, model=lambda rows: np.where(rows["late"], "bad", "good"))
    late = explanation.coded.table.features[explanation.coded.table.position("late")]
    expected = make_reason(late, 1.0, explanation.reasons()[0].contribution, 0.0, 0.0)
    assert explanation.reasons()[0].typical == expected.typical
    review = explanation.letter("reviewer", outcomes={"good": "approved"}, width=None)
    # Of the three people, one is late too: the value is what separates the two others.
    assert (
        "  Late: yes (takes away approved in 67% of the comparisons, standard error 8.3 "
        "percentage points; typical of approved: no)"
    ) in review


def test_a_value_that_is_typical_too_is_not_compared() -> None:
    X = np.array([[0.0]] * 30 + [[1.0]] * 10)

    class Model:
        classes_ = np.array([False, True])

        def predict(self, rows: Any) -> Any:
            return self.predict_proba(rows)[:, 1] > 0.5

        def predict_proba(self, rows: Any) -> Any:
            likely = np.where(rows[:, 0] > 0, 0.9, np.where(rows[:, 0] < 0, 0.1, 0.6))
            return np.column_stack([1 - likely, likely])

    explainer = DiverseExplainer(Model(), max_counterfactuals=1).fit(np.vstack([X, [[-1.0]]]))
    explanation = explainer.explain([-1.0])
    assert "; typical of True: 0)" in explanation.letter("reviewer", width=None)
    near = explainer.explain_many([[0.0]], target=True, target_probability=0.8)[0]
    review = near.letter("reviewer", width=None)
    assert "x0: 0 (lowers the probability of True by " in review
    assert "typical of" not in review


def test_a_report_without_training_rows_says_that_reasons_are_not_known() -> None:
    exhaustive = ExhaustiveExplainer(lambda X: X[:, 0] >= 2, 0.5, domain=[[1.0], [2.0], [2.2]])
    page = exhaustive.explain([1.0]).to_html()
    assert "Not known: there are no training rows to compare this input with." in page
