"""Reading linear models."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler
from toys_exact import CUBE, TWO, given_linear, given_scaler

from counterset.exact.linear.models import read_linear


def test_a_scaler_whose_terms_cancel_leaves_its_rounding_behind() -> None:
    model = given_linear([1.0, -1.0], 0.1)
    read = read_linear(make_pipeline(given_scaler(1e9, 1.0, 2), model))
    assert read is not None
    _, need, rounding = read.preference(np.zeros((1, 2)), (1, 0), 2.0**-53)
    assert need[0] == pytest.approx(-0.1)
    assert rounding[0] > 1e-7  # of terms of 1e9, which the folded bias does not show


def test_models_that_are_not_linear_are_not_read_as_such() -> None:
    assert read_linear(LogisticRegression()) is None
    step = FunctionTransformer(np.sqrt)
    assert read_linear(make_pipeline(step, LogisticRegression()).fit(CUBE, TWO)) is None
    clipped = make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(CUBE, TWO)
    assert read_linear(clipped) is None
