"""The codes that boosting libraries give to the values of categories."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterset.exact.preprocessing import CategoryCodes

FRAME = pd.DataFrame({"age": [31, 52, 40], "home": pd.Categorical(["rent", "own", None])})


def test_codes_are_those_of_the_values_the_model_was_trained_on() -> None:
    asked: list[list[int]] = []

    def categories(positions: list[int]) -> list[list[str]]:
        asked.append(positions)
        return [["rent", "free"]]

    made = CategoryCodes(2, categories).transform(FRAME)
    assert asked == [[1]]
    # "own" is not known, and the last one is missing.
    np.testing.assert_array_equal(made, [[31, 0], [52, np.nan], [40, np.nan]])


def test_without_values_the_codes_are_the_tables_own() -> None:
    made = CategoryCodes(2, lambda positions: [None]).transform(FRAME)
    np.testing.assert_array_equal(made, [[31, 1], [52, 0], [40, np.nan]])


def test_an_array_is_taken_as_it_is() -> None:
    made = CategoryCodes(2, lambda positions: []).transform([[1, 2]])
    np.testing.assert_array_equal(made, [[1.0, 2.0]])
