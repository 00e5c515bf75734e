"""Names for arrays, and numpy's scalars as Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterset._base.arrays import squared_lengths, to_python, unmasked


def test_labels_of_numpy_print_as_people_write_them() -> None:
    assert repr(to_python(np.int64(3))) == "3"
    assert repr(to_python(np.str_("yes"))) == "'yes'"
    assert to_python("yes") == "yes"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1, 2]), "array([1, 2])"),
        (np.array([1.5, 2.0], dtype="float32"), "array([1.5, nan], dtype=float32)"),
        (np.array([True, False]), "array([True, None], dtype=object)"),
        (np.array(["a", "b"]), "array(['a', None], dtype=object)"),
        (
            np.array(["2020", "2021"], dtype="M8[Y]"),
            "array(['2020',  'NaT'], dtype='datetime64[Y]')",
        ),
    ],
)
def test_what_is_masked_is_missing(values: Any, expected: str) -> None:
    masked = np.ma.array(values, mask=[False, values.dtype.kind != "i"])
    assert repr(unmasked(masked)) == expected
    assert unmasked(values) is values


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6])
def test_the_bound_holds_far_from_the_origin_where_digits_are_lost(offset: float) -> None:
    random = np.random.default_rng(0)
    A, B = random.random((20, 6)) + offset, random.random((30, 6)) + offset
    squared, errors = squared_lengths(A, B)
    exact = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    assert (np.abs(squared - exact) <= errors[:, None]).all()
    assert (errors < 1e-10 * max(1, offset**2)).all()


def test_no_rows_are_no_distances() -> None:
    squared, errors = squared_lengths(np.ones((2, 3)), np.empty((0, 3)))
    assert (squared.shape, errors.shape) == ((2, 0), (2,))
