"""The compact table that an explanation prints."""

from __future__ import annotations

import numpy as np
from support.settings import explainer_by_steps

from counterset import DiverseExplainer
from counterset.words.views import MOST_FEATURES, UNCHANGED

X = np.random.default_rng(0).random((80, 70)).round(2)


def test_at_most_sixty_features_are_listed_and_the_rest_counted() -> None:
    explainer = DiverseExplainer.paper(lambda rows: rows.sum(axis=1) > 35)
    text = repr(explainer.fit(X).explain(X[X.sum(axis=1) < 35][0]))
    assert sum(line.startswith("x") for line in text.splitlines()) == MOST_FEATURES
    assert "... and 10 more features that change." in text


def test_a_regression_is_predicted_and_not_classified() -> None:
    explainer = explainer_by_steps(
        lambda rows: rows[:, :3].sum(axis=1) / 3, diversity=None, search=None, sparse=False
    ).fit(X)
    row = X[X[:, :3].sum(axis=1) / 3 < 0.4][0]
    text = repr(explainer.explain(row, interval=(0.5, 0.75)))
    assert text.splitlines()[0].startswith("Input 0 is predicted to be 0.")
    assert "options lead to a prediction between 0.5 and 0.75," in text
    assert "classified" not in text
    assert "\npredicted" in text
    assert "options lead to a prediction of at least 0.5," in repr(
        explainer.explain(row, interval=(0.5, np.inf))
    )
    high = X[X[:, :3].sum(axis=1) / 3 > 0.6][0]
    assert "options lead to a prediction of at most 0.5," in repr(
        explainer.explain(high, interval=(-np.inf, 0.5))
    )


def test_what_stays_is_marked() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    explainer = explainer_by_steps(lambda X: X.sum(axis=1) > 1, max_counterfactuals=2, search=None)
    lines = repr(explainer.fit(rows).explain(rows[0])).splitlines()
    assert lines[2].split() == ["x0", "0", UNCHANGED, "3"]
    assert lines[3].split() == ["x1", "0", "2", UNCHANGED]
