"""The steps over a batch, as far as the explainer's own tests do not show them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support.settings import paper_by_steps

from counterset import DiverseExplainer, FewerCounterfactualsWarning
from counterset.exceptions import InconsistentModelWarning
from counterset.strategies.strategy import _repeats


def test_repeats_are_found_among_others_as_far() -> None:
    rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [1.0, np.nan]])
    owners, lengths = np.array([0, 0, 0, 1]), np.ones(4)
    assert _repeats(owners, lengths, rows).tolist() == [False, False, True, False]


def jagged(rows: Any) -> Any:
    """Classify by a border with teeth, finer than the line search."""
    x = np.asarray(rows, dtype=float)
    return x.sum(axis=1) + 0.6 * np.sin(23 * x[:, 0]) * np.cos(31 * x[:, 1]) > 1.6


def test_no_single_change_of_a_sparse_counterfactual_can_be_undone() -> None:
    # After the line search, a change could be needless that the candidate had needed.
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    explainer = paper_by_steps(jagged, sparse=True, max_counterfactuals=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        explanations = explainer.explain_many(rng.random((150, 3)))
    checked = 0
    for explanation in explanations:
        for row, changed in zip(explanation.values, explanation.changed, strict=True):
            for feature in np.flatnonzero(changed):
                undone = row.copy()
                undone[feature] = explanation.input[feature]
                checked += 1
                assert changed.sum() == 1 or jagged(undone[None, :])[0] == explanation.label
    assert checked > 400


def contrary(rows: Any) -> Any:
    """Give a tied row one class in large batches, and another one in small ones."""
    tenths = np.rint(10 * np.asarray(rows, dtype=float).sum(axis=1))
    return (tenths > 12) | ((tenths == 12) & (len(rows) > 20))


def test_what_the_model_contradicts_is_not_returned_and_told() -> None:
    X = np.stack(np.meshgrid(np.arange(10), np.arange(10)), axis=-1).reshape(-1, 2) / 10
    explainer = DiverseExplainer.paper(
        contrary, search=None, diversity=None, max_counterfactuals=3, scale=None
    ).fit(X)
    with (
        pytest.warns(InconsistentModelWarning, match="classified 2 rows otherwise.*the batch"),
        pytest.warns(FewerCounterfactualsWarning, match="did not confirm all"),
    ):
        explanation = explainer.explain([0.5, 0.6])
    # The two nearest rows, at twelve tenths, were counterfactuals only in the batch of fit.
    assert len(explanation) == 1
    assert contrary(explanation.values[:1])[0] != explanation.label


def test_a_consistent_model_is_not_warned_about() -> None:
    X = np.random.default_rng(0).random((60, 2))
    explainer = DiverseExplainer.paper(
        lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=1
    ).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentModelWarning)
        explainer.explain_many(X)
