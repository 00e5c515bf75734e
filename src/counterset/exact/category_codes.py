"""The codes that boosting libraries give to the values of pandas' categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Matrix

__all__ = ["CategoryCodes"]


@dataclass(frozen=True)
class CategoryCodes:
    """What a library does to a table before its trees see it, as a step of a pipeline.

    Attributes
    ----------
    n_features_in_
        The number of columns.
    categories
        Takes the positions of the categories among the columns. Returns the values that the model
        was trained on for each of them, in the order of their codes; None where it takes the codes
        of the table itself.
    """

    n_features_in_: int
    categories: Callable[[list[int]], Sequence[Sequence[Any] | None]]

    def transform(self, X: Any) -> Matrix:
        """Return a table as numbers, its categories as codes; NaN for values that are not known.

        Examples
        --------
        >>> frame = pd.DataFrame({"home": pd.Categorical(["rent", "own"]), "age": [31, 52]})
        >>> CategoryCodes(2, lambda positions: [["rent", "own"]]).transform(frame)
        array([[ 0., 31.],
               [ 1., 52.]])
        """
        if not isinstance(X, pd.DataFrame):
            return np.asarray(X, dtype=np.float64)
        of_category = [isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes]
        positions = [i for i, is_category in enumerate(of_category) if is_category]
        known = dict(zip(positions, self.categories(positions), strict=True))
        columns = [
            _codes(X.iloc[:, i], known[i]) if i in known else X.iloc[:, i].to_numpy(np.float64)
            for i in range(X.shape[1])
        ]
        return np.column_stack(columns)


def _codes(column: pd.Series, values: Sequence[Any] | None) -> Any:
    held = column.cat if values is None else column.cat.set_categories(list(values)).cat
    codes = held.codes.to_numpy(np.float64)
    return np.where(codes < 0, np.nan, codes)
