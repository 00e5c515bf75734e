"""Changes: what the counterfactuals of one input change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table, changed

__all__ = ["Changes"]


@dataclass(frozen=True, eq=False)
class Changes:
    """What the counterfactuals of one input change.

    Attributes
    ----------
    table
        The columns.
    input
        The codes of the input, ``(d,)``.
    matrix
        The codes of the counterfactuals, ``(n, d)``.
    """

    table: Table
    input: Vector
    matrix: Matrix

    @cached_property
    def mask(self) -> Mask:
        """Which features each counterfactual changes, ``(n, d)``."""
        return changed(self.input, self.matrix)

    @cached_property
    def features(self) -> Indices:
        """The positions of the features that change, those that change most often first."""
        often = self.mask.sum(axis=0)
        order: Indices = np.argsort(-often, kind="stable")
        return order[: np.count_nonzero(often)]

    def frame(self, show: Callable[[Feature, float], Any]) -> pd.DataFrame:
        """Return one row for each feature that changes: its value in the input and each option.

        Parameters
        ----------
        show
            Returns what stands for a feature and a code of it.
        """
        features = [self.table.features[i] for i in self.features]
        headings = ["input", *range(1, len(self.matrix) + 1)]
        columns = {
            heading: [show(f, row[i]) for f, i in zip(features, self.features, strict=True)]
            for heading, row in zip(headings, [self.input, *self.matrix], strict=True)
        }
        return pd.DataFrame(columns, index=[f.name for f in features], dtype=object)
