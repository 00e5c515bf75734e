"""One-hot groups: several columns of 0 and 1 that are one category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Mask, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.category import Category
from counterset.tables.features.feature import TrainingColumns

__all__ = ["OneHotGroup"]

#: The value of a row without a 1 in any column of the group.
NONE_OF_THEM = "none of them"


@dataclass(frozen=True)
class OneHotGroup(Category):
    """A category in several columns: its values are their names, and one for "none of them"."""

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.is_one_hot

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, positions = training.name, training.positions
        if len(positions) < 2:
            raise InvalidInputError(
                f"The one-hot group {name!r} has {len(positions)} columns. Name at least two; a "
                f"single column of 0 and 1 is a feature of its own."
            )
        members = training.frame.iloc[:, list(positions)]
        dtypes = set(members.dtypes)
        if len(dtypes) > 1:
            raise InvalidInputError(
                f"The columns of the one-hot group {name!r} have several dtypes: "
                f"{sorted(map(str, dtypes))}. Convert them to one dtype."
            )
        codes = _positions(members, name, training.what)
        feature = cls(
            name,
            training.kind,
            positions,
            dtypes.pop(),
            low=0.0,
            high=float(len(positions)),
            step=1.0,
            values=(*map(str, members.columns), NONE_OF_THEM),
            seen=tuple(np.unique(codes).tolist()),
        )
        return feature, codes

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        return _positions(frame.iloc[:, list(self.columns)], self.name, what)

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        return [
            pd.Series((codes == i).astype(np.float64)).astype(self.dtype)
            for i in range(len(self.columns))
        ]


def _positions(members: pd.DataFrame, name: str, what: str) -> Vector:
    """Return the position of the 1 in each row; the number of columns if there is none."""
    try:
        hot = members.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        hot = np.full(members.shape, np.nan)
    wrong: Mask = ~np.isin(hot, (0, 1)).all(axis=1) | (hot.sum(axis=1) > 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidInputError(
            f"{what} is not one-hot in the group {name!r}, row {row}: each row holds at most one "
            f"1 and otherwise 0, got {members.iloc[row].to_dict()}."
        )
    position: Indices = hot.argmax(axis=1)
    return np.where(hot.any(axis=1), position, members.shape[1]).astype(np.float64)
