"""Names for arrays, and numpy's scalars as Python's."""

from __future__ import annotations

import numpy as np

from counterset._base.arrays import to_python


def test_labels_of_numpy_print_as_people_write_them() -> None:
    assert repr(to_python(np.int64(3))) == "3"
    assert repr(to_python(np.str_("yes"))) == "'yes'"
    assert to_python("yes") == "yes"
