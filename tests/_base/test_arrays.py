"""Names for arrays, and numpy's scalars as Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterset._base.arrays import to_python, unmasked


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
