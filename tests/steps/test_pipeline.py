"""The steps over a batch, as far as the explainer's own tests do not show them."""

from __future__ import annotations

import numpy as np

from counterset.steps.pipeline import _repeats


def test_repeats_are_found_among_others_as_far() -> None:
    rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [1.0, np.nan]])
    owners, lengths = np.array([0, 0, 0, 1]), np.ones(4)
    assert _repeats(owners, lengths, rows).tolist() == [False, False, True, False]
