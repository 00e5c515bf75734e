"""Step 3 for answers that change few features."""

from __future__ import annotations

import numpy as np

from counterset.steps.sparse_choice import LANDMARK_STRIDE, NEAREST, _near_and_far


def test_sparse_answers_start_from_the_nearest_and_from_landmarks() -> None:
    many = NEAREST + 5
    owners = np.array([0] * many + [2] * many)
    places = np.ones(2 * many, dtype=np.intp)
    places[[many - 2, 2 * many - 1]] = 3 * LANDMARK_STRIDE  # one far landmark for each
    picked = _near_and_far(owners, places).tolist()
    assert picked == [*range(NEAREST), many - 2, *range(many, many + NEAREST), 2 * many - 1]
    assert _near_and_far(owners[:0], places[:0]).tolist() == []
