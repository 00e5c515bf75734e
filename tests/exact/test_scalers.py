"""Linear scalers as a centre, a factor and a shift."""

from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from support.toys_exact import CUBE

from counterset.exact.preprocessing import read_scaler


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False, with_std=False),
        MinMaxScaler(feature_range=(-2, 5)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
    ],
    ids=repr,
)
def test_a_scaler_is_a_centre_a_factor_and_a_shift(scaler: Any) -> None:
    read = read_scaler(scaler.fit(CUBE))
    assert read is not None
    expected = scaler.transform(CUBE)
    scaled = (CUBE - read.centre) * read.factor + read.shift
    np.testing.assert_allclose(scaled, expected, atol=1e-12)


def test_a_scaler_that_clips_is_not_linear() -> None:
    assert read_scaler(MinMaxScaler(clip=True).fit(CUBE)) is None
