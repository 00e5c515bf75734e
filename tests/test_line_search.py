"""The line search on its own."""

from __future__ import annotations

import numpy as np
import pytest

from counterset import InvalidInputError, LineSearch
from counterset.arrays import Codes, Matrix
from counterset.line_search import REFUSED, Segments


def segments(reach: Matrix | None) -> Segments:
    return Segments(
        starts=np.zeros((1, 1)),
        ends=np.ones((1, 1)),
        lengths=np.ones(1),
        owners=np.zeros(1, dtype=np.intp),
        answers=np.ones(1, dtype=np.intp),
        reach=reach,
    )


def beyond_a_third(points: Matrix, which: Codes) -> Codes:
    return np.where(points[:, 0] >= 1 / 3, 1, REFUSED)


def test_the_prototype_halves_as_often_as_the_farthest_candidate_needs() -> None:
    # A length of 1 needs one halving to 0.5; a reach of 4 needs three.
    own = LineSearch(0.5).search(segments(None), beyond_a_third)
    prototype = LineSearch(0.5, halvings="farthest")
    assert own.ends[0, 0] == 0.5
    assert prototype.search(segments(np.array([4.0])), beyond_a_third).ends[0, 0] == 0.375


def test_without_a_reach_the_prototypes_count_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="reach"):
        LineSearch(0.5, halvings="farthest").search(segments(None), beyond_a_third)
