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


def test_no_counterfactual_is_certainly_strong_on_the_boundary_of_a_class() -> None:
    # A point 2e-16 beyond the boundary was strong, although cfd(x) = 0 has no strong one.
    maybe = DistanceBounds(0.0, 2e-16, True, None, 0.0, "by hand")
    assert is_strong(2e-16, maybe) is Answer.UNKNOWN
    assert is_approximate(2e-16, maybe, 0.1) is Answer.YES
    attained = DistanceBounds(2e-16, 2e-16, True, None, 0.0, "by hand")
    assert is_strong(2e-16, attained) is Answer.YES
    zero = DistanceBounds(0.0, 0.0, True, None, 0.0, "by hand")
    assert is_strong(1e-300, zero) is Answer.NO
