"""Numbers in columns of objects or text: Python's numbers, ``Decimal`` and text of digits.

They come back as they came: a ``Decimal`` as a ``Decimal``, and "3.50" not as "3.5".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import TrainingColumns
from counterset.tables.features.number import Number, read_numbers

__all__ = ["Form", "WrittenNumber", "form_of"]

#: What the cells of a column are: Python's whole numbers or floats, Decimals, or text of digits.
Form: TypeAlias = Literal["int", "float", "decimal", "text"]

#: Digits as people write them; "007" is a code, and "1e3" has no digits that can be kept.
DIGITS = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(\d+))?")


@dataclass(frozen=True)
class WrittenNumber(Number):
    """A number in a column of objects or text.

    Attributes
    ----------
    form
        What the cells are.
    decimals
        How many digits after the point Decimals and texts have, as the training data has them.
    blank
        What stands for a missing value: None, NaN or NA.
    """

    form: Form = "float"
    decimals: int = 0
    blank: Any = None

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return super().takes(training) and is_written(training.first.dtype)

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        feature, codes = super().learn(training)
        column = training.first
        known = column.dropna()
        decimals = max(map(_decimals_of, known), default=0)
        finest = float(Decimal(1).scaleb(-decimals))
        form = form_of(column)
        if form == "text":  # a text has no place for more digits
            grid = feature.grid
            finer = 0.0 if grid.is_uniform else max(grid.finest, finest)
            feature = replace(feature, step=max(grid.step, finest), finest_step=finer)
        blank = next(iter(column[column.isna()]), None)
        return replace(feature, form=form or "float", decimals=decimals, blank=blank), codes

    @property
    def is_number(self) -> bool:
        return False

    @staticmethod
    def _read(column: pd.Series, name: str, what: str) -> Vector:
        if is_written(column.dtype) and form_of(column) in ("decimal", "text"):
            column = column.map(float, na_action="ignore")
        return read_numbers(column, name, what)

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        codes = super()._encode(frame, what)
        for row, (cell, again) in enumerate(
            zip(frame.iloc[:, self.columns[0]], self._write(codes), strict=True)
        ):
            if not pd.isna(cell) and not _equal(cell, again):
                raise InvalidInputError(
                    f"{what} has {cell!r} in feature {self.name!r}, row {row}, where the training "
                    f"data would have {again!r}. Write it as the training data does."
                )
        return codes

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        written = np.empty(len(codes), dtype=object)
        written[:] = self._write(codes)
        return [pd.Series(written, dtype=object).astype(self.dtype)]

    def _write(self, codes: Vector) -> list[Any]:
        """Return numbers as the cells of the training data are."""
        return [self.blank if np.isnan(code) else self._cell(code) for code in codes.tolist()]

    def _cell(self, code: float) -> Any:
        writers: dict[Form, Callable[[float], Any]] = {
            "int": lambda code: int(code) if code.is_integer() else code,
            "float": float,
            "decimal": lambda code: Decimal(repr(code)).quantize(
                Decimal(1).scaleb(-max(self.decimals, _decimals_of(Decimal(repr(code)))))
            ),
            "text": lambda code: f"{code:.{self.decimals}f}",
        }
        return writers[self.form](code)


def is_written(dtype: Any) -> bool:
    """Return whether a column holds objects or text."""
    return bool(types.is_object_dtype(dtype) or types.is_string_dtype(dtype))


def form_of(column: pd.Series) -> Form | None:
    """Return what the known cells of a column of objects or text are; None: no numbers.

    Examples
    --------
    >>> form_of(pd.Series(["12.50", "3.00"])), form_of(pd.Series(["007", "12"]))
    ('text', None)
    >>> form_of(pd.Series([Decimal("0.5"), None])), form_of(pd.Series([1, "x"], dtype=object))
    ('decimal', None)
    """
    known = column.dropna()
    if not len(known):
        return None
    if all(isinstance(cell, str) for cell in known):
        matches = [DIGITS.fullmatch(cell) for cell in known]
        same = len({len(match[1] or "") for match in matches if match}) == 1
        return "text" if same and all(matches) else None
    if all(isinstance(cell, Decimal) for cell in known):
        return "decimal"
    if all(isinstance(cell, Integral) and not isinstance(cell, bool | np.bool_) for cell in known):
        return "int"
    real = all(isinstance(c, Real) and not isinstance(c, bool | np.bool_) for c in known)
    return "float" if real else None


def _decimals_of(cell: Any) -> int:
    """Return how many digits a text or a Decimal has after the point, 0 for other numbers."""
    if not isinstance(cell, str | Decimal):
        return 0
    exponent = Decimal(cell).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _equal(cell: Any, again: Any) -> bool:
    """Return whether a cell is what its code is written as, digit for digit."""
    exact = isinstance(cell, str | Decimal) or isinstance(again, str)
    return bool(cell == again) if exact else float(cell) == float(again)
