"""The last number at most a limit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from counterset.exact.trees.pipelines import last_at_most


@settings(max_examples=60)
@given(
    limit=st.floats(-50, 50),
    factor=st.floats(1e-3, 1e3),
    shift=st.floats(-10, 10),
    whole=st.booleans(),
)
def test_the_last_number_at_most(limit: float, factor: float, shift: float, whole: bool) -> None:
    def scaled(values: np.ndarray) -> np.ndarray:
        return values * factor + shift

    low, high = np.array([-1e6]), np.array([1e6])
    last = last_at_most(scaled, np.array([limit]), low, high, np.array([whole]))
    after = last + 1 if whole else np.nextafter(last, np.inf)
    assert scaled(last)[0] <= limit < scaled(after)[0]
    assert not whole or last[0] == np.floor(last[0])
