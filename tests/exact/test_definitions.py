"""What bounds on the counterfactual distance tell about the paper's definitions."""

import pytest

from counterset.exact import Answer, DistanceBounds
from counterset.exact.definitions import is_approximate, is_strong, safety
from counterset.exceptions import UndecidedError


def test_bounds_answer_as_much_as_they_can() -> None:
    bounds = DistanceBounds(1.0, 2.0, False, None, 0.0, "by hand")
    assert [is_strong(d, bounds).value for d in (1.0, 1.5, 2.1)] == ["yes", "unknown", "no"]
    answers = [is_approximate(d, bounds, 0.5).value for d in (1.5, 2.5, 2.6)]
    assert answers == ["yes", "unknown", "no"]
    assert safety(1.5, bounds, 1.0) == (0.5, 1.5)
    with pytest.raises(UndecidedError, match="too far apart to tell"):
        bool(is_strong(1.5, bounds))


def test_exact_bounds_answer_up_to_their_tolerance_and_no_farther() -> None:
    bounds = DistanceBounds(1.0, 1.00001, True, None, 0.0, "by hand")
    assert is_strong(1.00001, bounds) is Answer.YES
    assert is_approximate(1.50001, bounds, 0.5) is Answer.YES
    assert is_strong(1.00003, bounds) is Answer.NO
    assert is_approximate(1.50003, bounds, 0.5) is Answer.NO
    # The safety that is proved counts from the lower bound all the same.
    assert safety(1.2, bounds, 0.5)[0] == pytest.approx(0.3, abs=1e-12)
    loose = DistanceBounds(1.0, 1.00001, False, None, 0.0, "by hand")
    assert is_strong(1.00001, loose) is Answer.UNKNOWN
