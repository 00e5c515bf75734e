"""What a certificate says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.exact import Certificate
from counterset.explanations.certificate import SEARCH, DistanceBounds


def test_the_radius_is_told_in_words() -> None:
    told = "Anyone of your class within 0.12 of you gets the same examples."
    assert str(Certificate(stable_radius=0.12)) == told


def test_an_infinite_radius_reads_as_everyone() -> None:
    assert (
        str(Certificate(stable_radius=math.inf)) == "Anyone of your class gets the same examples."
    )


@pytest.mark.parametrize("radius", [None, 0.0])
def test_nothing_is_said_where_nothing_is_certain(radius: float | None) -> None:
    assert str(Certificate(stable_radius=radius)) == ""


@given(st.floats(1e-9, 1e9))
def test_the_told_radius_is_never_more_than_the_proved_one(radius: float) -> None:
    told = float(str(Certificate(stable_radius=radius)).split("within ")[1].split(" of")[0])
    assert told <= radius
    assert told >= 0.98 * radius


@pytest.mark.parametrize("upper", [0.2, math.inf])
def test_a_model_that_was_not_read_proves_nothing(upper: float) -> None:
    # A radius was printed that followed from epsilon alone.
    bounds = DistanceBounds(0.0, upper, False, None, 0.0, SEARCH, "only an upper bound")
    certificate = Certificate(0.5, bounds, safety=np.array([0.3, -0.1]))
    assert certificate.column() == ["-", "-"]
    told = "This model could not be read, so nothing is proved."
    if math.isfinite(upper):
        told += " Your own optimum is at most 0.2 away."
    assert str(certificate) == told


def test_it_tells_of_the_list_and_of_what_is_not_on_it() -> None:
    listed = Certificate(list_radius=0.25, from_list=np.array([True, False, True]))
    assert str(listed) == (
        "People like you, within 0.25 of you, go down the same list, in the same order. "
        "Option 2 is not on it, but found for you alone."
    )
    assert listed.alone == [2]
    several = Certificate(list_radius=np.inf, from_list=np.array([False, False]))
    assert str(several) == (
        "Anyone of your class goes down the same list, in the same order. "
        "Options 1 and 2 are not on it, but found for you alone."
    )
    assert Certificate().alone == []


def test_it_tells_for_whom_else_an_option_works() -> None:
    certificate = Certificate(option_radii=np.array([0.12345, np.inf, 0.0]))
    assert certificate.works_column() == ["0.123", "any", "-"]
    assert str(certificate) == (
        "Works within r: anyone of your class nearer than r who makes the same change gets the "
        "same result (-: not certain)."
    )
    sure = Certificate(option_radii=np.array([0.5]))
    assert str(sure).endswith("gets the same result.")
    unproved = Certificate(option_radii=np.array([0.0, 0.0]))
    assert str(unproved) == "It is not proved for whom else an option works."
    assert str(Certificate(option_radii=np.array([]))) == ""
    assert Certificate().works_column() == []


def test_the_nearest_options_keep_what_is_proved_of_them() -> None:
    # The ranks of options that are not on the list were told even of options that are not shown.
    whole = Certificate(
        epsilon=0.5,
        safety=np.array([0.3, 0.2, 0.1]),
        list_radius=0.1,
        from_list=np.array([True, True, False]),
        option_radii=np.array([0.1, 0.2, 0.3]),
    )
    part = whole.of_nearest(2)
    assert part.option_radii is not None
    assert part.option_radii.tolist() == [0.1, 0.2]
    assert part.column() == ["0.15", "0.1"]
    assert part.alone == []
    assert (part.epsilon, part.list_radius) == (0.5, 0.1)
    assert Certificate().of_nearest(1).safety is None


def test_exact_bounds_read_as_one_number() -> None:
    bounds = DistanceBounds(0.5, 0.500001, True, [1.0], 0.012, "by hand")
    assert repr(bounds) == "cfd = 0.500001 (by hand, 0.012 s)"


def test_other_bounds_read_as_an_interval_with_its_reason() -> None:
    bounds = DistanceBounds(0.0, float("inf"), False, None, 60.0, "by hand", "nothing was found")
    assert repr(bounds) == "0 <= cfd <= inf (by hand: nothing was found)"
