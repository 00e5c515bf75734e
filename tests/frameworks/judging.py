"""Explain several inputs, and judge the answers by the library's own word."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from counterset import DiverseExplainer

N_INPUTS = 5


def explain_and_judge(
    model: Any, X: Any, decide: Callable[[Any], Any], *, picklable: bool = True
) -> None:
    """Check explanations of the first inputs of each class against ``decide``.

    Parameters
    ----------
    decide
        From rows to labels by the library itself, not by way of an adapter.
    """
    explainer = DiverseExplainer.paper(model, max_counterfactuals=3).fit(X)
    decided = np.asarray(decide(X))
    for label in np.unique(decided):
        inputs = X[decided == label][:N_INPUTS]
        explanations = explainer.explain_many(inputs)
        assert len(explanations) == len(inputs)
        for explanation in explanations:
            rows = explanation.counterfactuals
            assert explanation.label == label
            assert len(rows) >= 1
            assert (np.asarray(decide(rows)) == explanation.labels).all()
            assert (explanation.labels != label).all()
            check_looks_like(rows, X)
        if picklable:
            again = pickle.loads(pickle.dumps(explainer)).explain_many(inputs)
            pd.testing.assert_frame_equal(again.to_frame(), explanations.to_frame())


def check_looks_like(rows: Any, X: Any) -> None:
    """Check that rows have the container, columns and dtypes of the training data."""
    assert type(rows) is type(X)
    if isinstance(X, pd.DataFrame):
        pd.testing.assert_series_equal(rows.dtypes, X.dtypes)
        for name in X.select_dtypes(["object", "category"]):
            assert set(rows[name]) <= set(X[name])
    else:
        assert rows.dtype == X.dtype
        assert rows.shape[1:] == X.shape[1:]
