"""The principal reasons of a decision."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from counterset import DiverseExplainer, Explanation, InvalidInputError
from counterset.words.reasons import MOST_REASONS, find_reasons

X = np.random.default_rng(0).normal(size=(200, 6))
SCORE = X @ [3.0, 2.0, 1.0, 1.0, 0.5, 0.1]


def explained(model: Any, X: Any = X, row: int = 0, **goal: Any) -> Explanation:
    explainer = DiverseExplainer.paper(model, max_counterfactuals=3, diversity=None)
    return explainer.fit(X).explain(X[row] if isinstance(X, np.ndarray) else X.iloc[row], **goal)


def literal(explanation: Explanation, effect: Any) -> list[int]:
    """Order the features by what each does alone, in the words of the docstring."""
    x, rows = np.asarray(explanation.input, dtype=float), explanation.values.astype(float)
    best: dict[int, tuple[float, int]] = {}
    for j in range(len(x)):
        changed = [row for row in rows if row[j] != x[j]]
        effects = []
        for row in changed:
            alone = x.copy()
            alone[j] = row[j]
            effects.append(effect(alone) - effect(x))
        if changed:
            best[j] = (max(effects), len(changed))
    order = sorted(best, key=lambda j: (-best[j][0], -best[j][1], j))
    most = best[order[0]][0]
    helpful = [j for j in order if best[j][0] > 0 and best[j][0] >= 0.1 * most]
    return (helpful or order)[:MOST_REASONS]


@settings(max_examples=20)
@given(row=st.integers(0, 199), depth=st.sampled_from([None, 3]))
def test_probabilities_order_the_reasons_as_defined(row: int, depth: int | None) -> None:
    labels = np.where(SCORE > 0, "yes", "no")
    model = LogisticRegression() if depth is None else DecisionTreeClassifier(max_depth=depth)
    explanation = explained(model.fit(X, labels), row=row)
    own = list(model.classes_).index(explanation.label)

    def effect(x: Any) -> float:
        probable = model.predict_proba(x[None, :])[0]
        return float(np.delete(probable, own).sum())

    reasons = find_reasons(explanation)
    assert [reason.at for reason in reasons] == literal(explanation, effect)
    for reason in reasons:
        alone = X[row].copy()
        assert alone[reason.at] == reason.code
        alone[reason.at] = reason.other_code
        assert reason.after == pytest.approx(effect(alone))
        assert reason.before == pytest.approx(effect(X[row]))
        assert reason.flips == (model.predict(alone[None, :])[0] != explanation.label)


def test_a_regression_is_ordered_by_how_near_the_interval_is() -> None:
    model = LinearRegression().fit(X, SCORE)
    explanation = explained(model, row=int(SCORE.argmin()), interval=(2.0, 3.0))

    def effect(x: Any) -> float:
        predicted = float(model.predict(x[None, :])[0])
        return -max(2.0 - predicted, predicted - 3.0, 0.0)

    reasons = find_reasons(explanation)
    assert [reason.at for reason in reasons] == literal(explanation, effect)
    assert reasons[0].before == pytest.approx(SCORE.min())


def test_without_probabilities_a_feature_that_flips_alone_comes_first() -> None:
    def model(rows: Any) -> Any:
        return (rows[:, 0] > 1) | (rows[:, 1:3].sum(axis=1) > 2)

    row = int(np.flatnonzero(~model(X))[0])
    explanation = explained(model, row=row)
    reasons = find_reasons(explanation)
    assert [each.at for each in reasons] == literal(explanation, lambda x: float(model(x[None])[0]))
    assert all(reason.before is None for reason in reasons)


def test_at_most_four_and_never_a_feature_that_no_option_changes() -> None:
    model = LogisticRegression().fit(X, SCORE > 0)
    explanation = explained(model)
    assert len(find_reasons(explanation)) <= MOST_REASONS == 4
    assert len(find_reasons(explanation, most=2)) == 2
    equal = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    equal.coef_[:] = 1.0
    counts = [len(find_reasons(explained(equal, row=row))) for row in range(20)]
    assert max(counts) == 4
    changed = set(np.flatnonzero(explanation.changed.any(axis=0)))
    assert {reason.at for reason in find_reasons(explanation, most=99)} <= changed


def test_changes_that_matter_only_together_are_all_reasons() -> None:
    frame = pd.DataFrame({"a": [0, 1, 0, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": range(20)})
    explainer = DiverseExplainer(lambda X: (X["a"] & X["b"]) == 1, max_counterfactuals=1)
    explanation = explainer.fit(frame).explain(frame.iloc[0])
    assert [reason.feature for reason in find_reasons(explanation)] == ["a", "b"]


def test_a_wanted_class_counts_and_no_other() -> None:
    three = np.digitize(SCORE, [-2, 2])
    model = LogisticRegression(max_iter=500).fit(X, three)
    row = int(np.flatnonzero(model.predict(X) == 0)[0])
    explanation = explained(model, row=row, target=2)
    reasons = find_reasons(explanation)
    assert [each.at for each in reasons] == literal(
        explanation, lambda x: float(model.predict_proba(x[None, :])[0, 2])
    )


def test_without_options_there_are_no_reasons_and_without_a_model_an_error() -> None:
    model = LogisticRegression().fit(X, SCORE > 0)
    explainer = DiverseExplainer.paper(model).fit(X)
    own = explainer.explain_many(X[:1], target=bool(model.predict(X[:1])[0]), skip=True)[0]
    assert find_reasons(own) == []
    with pytest.raises(InvalidInputError, match="with_model"):
        find_reasons(pickle.loads(pickle.dumps(explained(model))))
