"""Types of arguments."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from counterset.cli.parsing import positive_number, whole_number


@pytest.mark.parametrize("text", ["0", "4", "2.0", "", "many"])
def test_what_is_no_whole_number_of_the_range_is_refused(text: str) -> None:
    assert [whole_number(1, 3)(each) for each in "123"] == [1, 2, 3]
    with pytest.raises(ArgumentTypeError, match="whole number from 1 to 3, got "):
        whole_number(1, 3)(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "", "soon"])
def test_what_is_no_number_above_0_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="number above 0, got "):
        positive_number(text)
