"""How bounds on a distance read."""

from counterset.exact import DistanceBounds


def test_exact_bounds_read_as_one_number() -> None:
    bounds = DistanceBounds(0.5, 0.500001, True, [1.0], 0.012, "by hand")
    assert repr(bounds) == "cfd = 0.500001 (by hand, 0.012 s)"


def test_other_bounds_read_as_an_interval_with_its_reason() -> None:
    bounds = DistanceBounds(0.0, float("inf"), False, None, 60.0, "by hand", "nothing was found")
    assert repr(bounds) == "0 <= cfd <= inf (by hand: nothing was found)"
