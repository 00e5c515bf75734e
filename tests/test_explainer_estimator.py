"""What scikit-learn expects of an explainer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from counterset import DiverseExplainer, InvalidInputError
from counterset.exceptions import NotFittedError

X = np.random.default_rng(0).random((30, 2))


def model(rows: Any) -> Any:
    return rows.sum(axis=1) > 1


def test_scikit_learn_knows_when_it_is_fitted() -> None:
    explainer = DiverseExplainer(model)
    with pytest.raises(NotFittedError, match="This DiverseExplainer is not fitted yet"):
        explainer.explain(X[0])
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(explainer)
    check_is_fitted(explainer.fit(X))


def test_a_clone_keeps_the_model_itself() -> None:
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    copy = clone(explainer)
    assert copy.model is model
    assert copy.max_counterfactuals == 2
    with pytest.raises(NotFittedError):
        copy.explain(X[0])


def test_parameters_are_checked_again_when_they_change() -> None:
    explainer = DiverseExplainer.paper(model, diversity=None).fit(X)
    explainer.explain(X[0])
    explainer.max_counterfactuals = 0
    with pytest.raises(InvalidInputError, match="max_counterfactuals"):
        explainer.explain(X[0])
    explainer.set_params(max_counterfactuals=2)
    assert len(explainer.explain(X[0])) == 2
    explainer.set_params(scale=None)
    with pytest.raises(NotFittedError, match="scale changed after fit"):
        explainer.explain(X[0])
