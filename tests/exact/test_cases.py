"""Conditions are split into cases, and only where they matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from counterset import Constraints, DiverseExplainer, InvalidInputError
from counterset.exact import Box, ExhaustiveExplainer, counterfactual_distance, solvers
from counterset.exact.problem import Problem

#: "yes" where x0 + x1 > 2.
X = np.array([[a, b] for a in np.arange(0, 3.25, 0.25) for b in np.arange(0, 3.25, 0.25)])
MODEL = LogisticRegression(C=1e6).fit(X[X.sum(axis=1) != 2], X[X.sum(axis=1) != 2].sum(axis=1) > 2)
ORIGIN = [0.5, 0.5]


def distance_within(*conditions: str, **more: Any) -> Any:
    kept = Constraints(conditions=conditions)
    return counterfactual_distance(MODEL, ORIGIN, "l1", Box(0, 3), constraints=kept, **more)


def solved(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """Return a list to which every part that is solved is added."""
    parts: list[Problem] = []
    solve_part = solvers._solve_part

    def counted(model: Any, fallback: bool, problem: Problem, start: Any) -> Any:
        parts.append(problem)
        return solve_part(model, fallback, problem, start)

    monkeypatch.setattr(solvers, "_solve_part", counted)
    return parts


def test_a_case_by_hand() -> None:
    # One more in sum leads to yes. Either both numbers stay below 0.9, which is 1.8 in sum and too
    # little, or both are at least 2: 1.5 more each.
    assert distance_within().upper < 1.1
    bounds = distance_within("if x0 >= 0.9 then x1 >= 2", "if x1 >= 0.9 then x0 >= 2")
    assert bounds.exact
    assert bounds.upper == pytest.approx(3)
    np.testing.assert_allclose(bounds.witness, [2, 2])


def test_conditions_that_the_nearest_keeps_are_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = solved(monkeypatch)
    far = [f"if x0 > 2.9 and x1 > {i / 10} then x1 >= 2.95" for i in range(20)]
    assert distance_within(*far).exact
    assert len(parts) == 1
    distance_within("if x0 + x1 > 1.9 then x0 >= 2", *far)
    assert len(parts) == 1 + 3  # the whole, and both of its cases


def test_conditions_that_leave_nothing_are_a_proof() -> None:
    bounds = distance_within("if x0 + x1 > 1.9 then x0 >= 2", "if x0 >= 2 then x1 + x0 < 1")
    assert bounds.none_exists
    assert bounds.exact


def test_when_time_is_up_the_bounds_hold_all_the_same() -> None:
    texts = [f"if x0 + x1 > {1 + i / 10} then x0 >= {2 + i / 10}" for i in range(9)]
    known, exact = [2.9, 1.0], distance_within(*texts)
    bounds = distance_within(*texts, time_limit=1e-9, start=known)
    assert exact.exact
    assert bounds.lower <= exact.upper <= bounds.upper


def test_all_counterfactuals_near_the_nearest_keep_conditions() -> None:
    frame = pd.DataFrame({"n": [0, 1, 2, 3, 4, 2, 3], "c": list("pppppqq")})
    kept = Constraints(conditions=["if c == 'p' then n <= 1 or n == 4"])
    explainer = ExhaustiveExplainer(lambda rows: rows["n"] >= 2, 3, domain=frame, constraints=kept)
    found = explainer.explain(frame.iloc[[0]]).counterfactuals
    assert sorted(map(tuple, found.to_numpy())) == [(2, "q"), (3, "q"), (4, "p")]
    changes = Constraints(forbidden_changes={"c": [("p", "q")]})
    refused = ExhaustiveExplainer(lambda rows: rows["n"] >= 2, 3, domain=frame, constraints=changes)
    with pytest.raises(InvalidInputError, match=r"forbidden_changes\['c'\] depends on the input"):
        refused.explain(frame.iloc[[0]])


def test_an_explanation_within_conditions_is_certified() -> None:
    kept = Constraints(conditions=["if x0 >= 0.9 then x1 >= 2", "if x1 >= 0.9 then x0 >= 2"])
    explainer = DiverseExplainer(MODEL, max_counterfactuals=1, constraints=kept, scale=None)
    explanation = explainer.fit(X).explain(ORIGIN)
    np.testing.assert_allclose(explanation.values, [[2, 2]])
    certificate = explainer.certify(explanation, epsilon=1.0).certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.distance_bounds.exact
    assert certificate.distance_bounds.upper == pytest.approx(3)
