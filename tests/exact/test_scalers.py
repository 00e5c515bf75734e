"""Linear scalers of a pipeline as one scaling."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from toys_exact import CUBE, TWO

from counterset.exact.scalers import read_scalers


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False, with_std=False)],
        [MinMaxScaler(feature_range=(-2, 5)), "passthrough", RobustScaler()],
        [MaxAbsScaler(), RobustScaler(with_centering=False), RobustScaler(with_scaling=False)],
    ],
    ids=str,
)
def test_scalers_become_one_scaling(scalers: list[Any]) -> None:
    model = make_pipeline(*scalers, LogisticRegression()).fit(CUBE, TWO)
    scaling, last = read_scalers(model)
    assert scaling is not None
    assert last is model[-1]
    scaled = model[:-1].transform(CUBE)
    np.testing.assert_allclose(CUBE * scaling.factor + scaling.shift, scaled, atol=1e-12)
    weights, bias = scaling.fold_into(last.coef_.T, last.intercept_)
    np.testing.assert_allclose((CUBE @ weights + bias).ravel(), model.decision_function(CUBE))


def test_other_models_are_returned_as_they_are() -> None:
    alone = LogisticRegression().fit(CUBE, TWO)
    assert read_scalers(alone) == (None, alone)
    for step in (FunctionTransformer(np.sqrt), MinMaxScaler(clip=True)):
        model = make_pipeline(step, LogisticRegression()).fit(CUBE, TWO)
        assert read_scalers(model) == (None, model)
