"""What a certificate says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import Certificate
from counterset.results.bounds import SEARCH, DistanceBounds


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
        "People like you, within 0.25 of you, are offered the same list, in the same order. "
        "Option 2 is not on it, but found for you alone."
    )
    assert listed.alone == [2]
    several = Certificate(list_radius=np.inf, from_list=np.array([False, False]))
    assert str(several) == (
        "Anyone of your class is offered the same list, in the same order. "
        "Options 1 and 2 are not on it, but found for you alone."
    )
    assert Certificate().alone == []
