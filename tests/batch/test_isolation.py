"""Rows that fail are found by halving, and other errors are no business of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset.batch.frame_explainer import isolate


class Work:
    """A function of rows that fails on some, and counts its calls."""

    def __init__(self, bad: set[int], error: type[Exception] = ValueError) -> None:
        self.bad = bad
        self.error = error
        self.calls = 0

    def __call__(self, rows: Any) -> list[int]:
        self.calls += 1
        assert len(rows)
        for row in rows.tolist():
            if row in self.bad:
                raise self.error(f"row {row}")
        return [10 * row for row in rows.tolist()]


@given(st.integers(0, 40), st.sets(st.integers(0, 40)))
def test_it_is_as_if_every_row_were_tried_alone(count: int, bad: set[int]) -> None:
    found = isolate(np.arange(count), Work(bad), (ValueError,))
    assert {row: str(error) for row, error in found.errors.items()} == {
        row: f"row {row}" for row in range(count) if row in bad
    }
    done = [
        each for rows, values in found.pieces for each in zip(rows.tolist(), values, strict=True)
    ]
    assert done == [(row, 10 * row) for row in range(count) if row not in bad]


def test_one_bad_row_of_a_thousand_costs_some_twenty_calls() -> None:
    work = Work({617})
    isolate(np.arange(1000), work, (ValueError,))
    assert work.calls == 1 + 2 * 10


@pytest.mark.parametrize("error", [KeyError, AssertionError])
def test_an_error_that_no_row_causes_is_raised(error: type[Exception]) -> None:
    with pytest.raises(error, match="row 3"):
        isolate(np.arange(5), Work({3}, error), (ValueError,))


def test_an_interrupt_is_raised() -> None:
    def interrupted(rows: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        isolate(np.arange(5), interrupted, (Exception,))
