"""Reading linear models."""

from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from support.toys_exact import CUBE, TWO, given_linear, given_scaler

from counterset.exact.linear import LinearModel, read_linear
from counterset.exact.preprocessing import Preprocessing
from counterset.tables.table import Table


def read_all(model: Pipeline) -> LinearModel | None:
    """The last step of a pipeline, as a model of the input's columns."""
    before, last = Preprocessing.of(model)
    read, (table, _) = read_linear(last), Table.learn(CUBE)
    assert read is not None
    return read.before(before, table)


def test_a_scaler_whose_terms_cancel_leaves_its_rounding_behind() -> None:
    model = given_linear([1.0, -1.0, 0.0], 0.1)
    read = read_all(make_pipeline(given_scaler(1e9, 1.0, 3), model))
    assert read is not None
    _, need, rounding, _ = read.preference(np.zeros((1, 3)), np.array([-1.0, 1.0]), 0.0, 2.0**-53)
    assert need[0] == pytest.approx(-0.1)
    assert rounding[0] > 1e-7  # of terms of 1e9, which the folded bias does not show


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [MinMaxScaler(feature_range=(-2, 5)), "passthrough", RobustScaler()],
        [make_column_transformer((MaxAbsScaler(), [2, 0]), remainder="passthrough")],
        [make_column_transformer((StandardScaler(), [1]), (RobustScaler(), [1]))],
    ],
    ids=str,
)
def test_scalers_go_into_the_weights(scalers: list[Any]) -> None:
    model = make_pipeline(*scalers, LogisticRegression()).fit(CUBE, TWO)
    read = read_all(model)
    assert read is not None
    scores = (CUBE - read.centre) @ read.weights + read.bias
    lead = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(lead, model.decision_function(CUBE), atol=1e-12)
    assert (read.weight_size >= np.abs(read.weights) - 1e-12).all()


def test_models_that_are_not_linear_are_not_read_as_such() -> None:
    assert read_linear(LogisticRegression()) is None
    assert read_linear(DecisionTreeClassifier().fit(CUBE, TWO)) is None
    for step in (FunctionTransformer(np.sqrt), MinMaxScaler(clip=True)):
        assert read_all(make_pipeline(step, LogisticRegression()).fit(CUBE, TWO)) is None
