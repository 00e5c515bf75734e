"""Numbers: continuous and integer features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Matrix, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature, Grid, TrainingColumns, learn_grid, range_of
from counterset.tables.schema import Kind
from counterset.tables.spread import usual_range

__all__ = ["Number", "decode_numbers", "few_digits", "format_number", "numpy_dtype"]
__all__ += ["read_numbers", "rounded"]

#: float64 holds every whole number below this one, and not every one above it.
LARGEST_EXACT = 2.0**53
#: 17 digits tell any float from all others.
MOST_DIGITS = 17
#: Rounding may move a number by a tenth of its difference from others that it is compared with.
SMALL = 0.1
#: Numbers from 1e-9 to 1e16 are written out: beyond, people count zeros, and floats skip numbers.
SMALLEST_ORDINARY, LARGEST_ORDINARY = 1e-9, 1e16
#: The ends of a range are shown with 4 digits, unless they are whole.
SHOWN_DIGITS = 4


@dataclass(frozen=True)
class Number(Feature):
    """A number, which is its own code.

    An ``integer`` one is whole and a ``binary`` one is 0 or 1, whatever the dtype.
    """

    usual_range: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        return training.kind in ("continuous", "integer") or training.is_flag

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        name, kind, dtype = training.name, training.kind, training.first.dtype
        codes = cls._read(training.first, name, training.what)
        special = _special_codes(training)
        numbers = np.where(np.isin(codes, special), np.nan, codes)
        _check_exact(numbers, dtype, kind, name)
        grid = _grid_of(training, numbers)
        feature = cls(
            name,
            kind,
            training.positions,
            dtype,
            *range_of(numbers),
            step=grid.step,
            finest_step=grid.finest,
            can_be_missing=bool(np.isnan(codes).any()),
            special=special,
            usual_range=usual_range(numbers),
        )
        return feature, codes

    @property
    def usual(self) -> tuple[float, float]:
        return self.usual_range

    @property
    def is_number(self) -> bool:
        exact = isinstance(self.dtype, np.dtype) and (
            self.dtype == np.float64 or self.dtype.kind in "iu"
        )
        return exact and not self.can_be_missing and not self.special

    @property
    def is_whole(self) -> bool:
        """Whether the feature takes whole numbers only."""
        return self.kind != "continuous" or self._holds_integers

    @property
    def resolution(self) -> float:
        return 1.0 if self.is_whole else 0.0

    @property
    def _holds_integers(self) -> bool:
        return bool(types.is_integer_dtype(self.dtype))

    @property
    def float_dtype(self) -> np.dtype[Any]:
        held = numpy_dtype(self.dtype)
        short = isinstance(held, np.dtype) and held.kind == "f"
        return held if short else super().float_dtype

    @property
    def dtype_range(self) -> tuple[float, float]:
        if not self._holds_integers:
            return super().dtype_range
        dtype, exact = np.iinfo(numpy_dtype(self.dtype)), LARGEST_EXACT - 1
        return max(float(dtype.min), -exact), min(float(dtype.max), exact)

    @staticmethod
    def _read(column: pd.Series, name: str, what: str) -> Vector:
        """Read a column of numbers, NaN where one is missing."""
        return read_numbers(column, name, what)

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        codes = self._read(frame.iloc[:, self.columns[0]], self.name, what)
        held = self._in_dtype(codes)  # in single precision, 0.1 is another number
        if self._holds_integers:
            least, most = self.dtype_range
            wrong = (codes != held) & ~np.isnan(codes) | (codes < least) | (codes > most)
            if wrong.any():
                row = int(wrong.argmax())
                raise InvalidInputError(
                    f"{what} has {codes[row]} in feature {self.name!r}, row {row}, which its dtype "
                    f"in the training data, {self.dtype}, cannot hold, or no float holds exactly. "
                    f"Pass whole numbers in its range and below 2**53, or fit on floats."
                )
        return held

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        if self.is_number:
            return [decode_numbers(codes, self.dtype)]
        if self._holds_integers:
            codes = np.rint(codes)
        missing = np.isnan(codes)
        if missing.any() and types.is_extension_array_dtype(self.dtype):
            return [pd.Series(codes).astype("Float64").mask(missing).astype(self.dtype)]
        return [pd.Series(codes).astype(self.dtype)]

    def hold(self, codes: Vector) -> Vector:
        whole = np.rint(codes) if self.is_whole else codes
        return self._keep_special(codes, self._in_dtype(whole))

    def snap(self, codes: Vector) -> Vector:
        snapped = self.grid.snap(codes)
        inside = (codes >= self.low) & (codes <= self.high)
        snapped = np.where(inside, np.clip(snapped, *self.inner_ends), snapped)
        return self._keep_special(codes, self.hold(snapped))

    def snap_away(self, codes: Vector, own: Vector, snapped: Vector) -> Vector:
        """Move codes to the next ones that counterfactuals take, away from the inputs' own.

        Parameters
        ----------
        snapped
            The nearest such codes: they stay where an input has no number of its own.
        """
        up, down = self.grid.ends(codes, codes)
        away = self.hold(np.where(codes > own, up, down))
        inside = (away >= self.low) & (away <= self.high)
        moves = self.is_known(codes) & self.is_known(own) & (codes != own) & inside
        return np.where(moves, away, snapped)

    @cached_property
    def inner_ends(self) -> tuple[float, float]:
        """The smallest and the largest code of the training range that counterfactuals take.

        The nearest multiple of a step to a value of the training data can lie beyond all of them.
        """
        return self.ends(self.low, self.high)

    def _in_dtype(self, codes: Vector) -> Vector:
        """Return numbers as the column's dtype holds them."""
        held = numpy_dtype(self.dtype)
        if self._holds_integers:
            return np.rint(codes)
        if held == np.float64 or not isinstance(held, np.dtype) or held.kind != "f":
            return codes
        short: Vector = codes.astype(held).astype(np.float64)
        return short

    def _keep_special(self, codes: Vector, moved: Vector) -> Vector:
        return np.where(np.isin(codes, self.special), codes, moved) if self.special else moved

    def ends(self, low: float, high: float) -> tuple[float, float]:
        least, most = self.dtype_range
        low, high = max(low, least), min(high, most)
        first, last = (float(end) for end in self.grid.ends(np.array(low), np.array(high)))
        if first <= last:
            return first, last
        # No multiple of the step lies between the two.
        return (float(np.ceil(low)), float(np.floor(high))) if self.is_whole else (low, high)

    def _value_of(self, code: float) -> Any:
        if self.is_whole and code == round(code):
            return round(code)
        # In the column's own precision, fewer digits tell a number from others.
        return float(str(self.float_dtype.type(code)))

    def format(self, code: float) -> str:
        return super().format(code) if np.isnan(code) else format_number(self._value_of(code))

    def _code_of(self, value: Any) -> float:
        code = float(value)
        # Single precision holds 0.1 as 0.10000000149: that is the value meant.
        return code if self.is_whole else float(self._in_dtype(np.array([code]))[0])

    def _unknown(self, value: Any) -> str:
        return f"Feature {self.name!r} holds numbers, got {value!r}."

    def _content(self) -> str:
        held = f", held as {self.dtype}" if self.is_whole and not self._holds_integers else ""
        special = f", special {', '.join(map(self.format, self.special))}" if self.special else ""
        (low, high), (first, last) = (
            map(self._short, ends) for ends in ((self.low, self.high), self.usual)
        )
        return f"{low} to {high}, usually {first} to {last}{self._steps()}{held}{special}"

    def _short(self, code: float) -> str:
        """Return a number with the few digits that tell its size."""
        return self.format(code if code.is_integer() else float(f"{code:.{SHOWN_DIGITS}g}"))

    def _steps(self) -> str:
        """Describe the steps in a few words; nothing where every number will do."""
        if not self.step:
            return ""
        if self.grid.is_uniform:
            return f", in steps of {format_number(self.step)}"
        return f", in steps of {format_number(self.finest_step)} to {format_number(self.step)}"


def format_number(value: float) -> str:
    """Return a number as people write it: all digits, commas between thousands.

    Numbers of extraordinary size are written with an exponent.

    Examples
    --------
    >>> format_number(12000), format_number(0.00025), format_number(1234.5), format_number(2e30)
    ('12,000', '0.00025', '1,234.5', '2e+30')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if value and not SMALLEST_ORDINARY <= abs(value) < LARGEST_ORDINARY:
        return np.format_float_scientific(value, trim="-")
    sign = "-" if value < 0 else ""
    whole, _, fraction = np.format_float_positional(abs(value), trim="-").partition(".")
    return f"{sign}{int(whole):,}{'.' if fraction else ''}{fraction}"


def rounded(number: float, digits: int = 4, apart_from: Iterable[float] = ()) -> str:
    """Return a number with a few digits, as people write it: four for predictions.

    Parameters
    ----------
    apart_from
        Numbers that the number is compared with, such as the ends of a wanted range: there are as
        many more digits as it takes to keep the difference from each, up to a tenth.

    Examples
    --------
    >>> rounded(175.8999), rounded(1234567.0), rounded(0.00012345), rounded(123.4, digits=2)
    ('175.9', '1,235,000', '0.0001234', '120')
    >>> rounded(100.004), rounded(100.004, apart_from=[100])
    ('100', '100.004')
    """
    return format_number(few_digits(number, digits, apart_from))


def few_digits(number: float, digits: int, apart_from: Iterable[float] = ()) -> float:
    """Return a number with a few digits only; parameters as for ``rounded``."""
    number = float(number)
    ends = np.array(list(apart_from), dtype=np.float64)
    for count in range(digits, MOST_DIGITS):
        near = float(f"{number:.{count}g}")
        if (abs(near - number) <= SMALL * np.abs(number - ends)).all():
            return near
    return number


def decode_numbers(codes: Matrix, dtype: np.dtype[Any]) -> Labels:
    """Return numbers in a numpy dtype of floats or of whole numbers; any number of axes."""
    return (np.rint(codes) if dtype.kind in "iu" else codes).astype(dtype)


def numpy_dtype(dtype: Any) -> Any:
    """Return the numpy dtype of a column's numbers: int64 for pandas' Int64.

    Examples
    --------
    >>> numpy_dtype(pd.Int64Dtype()), numpy_dtype(np.dtype("float32"))
    (dtype('int64'), dtype('float32'))
    """
    return getattr(dtype, "numpy_dtype", dtype)


def read_numbers(column: pd.Series, name: str, what: str) -> Vector:
    """Read a column of numbers, NaN where one is missing."""
    try:
        if not types.is_numeric_dtype(column.dtype) and any(isinstance(v, str) for v in column):
            raise TypeError("text that reads as a number would come back as another text")
        codes = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:
        raise InvalidInputError(
            f"{what} has a number in feature {name!r} that is too large for a float. Cap it, or "
            f"drop it."
        ) from None
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{what} is not numeric in feature {name!r} (dtype {column.dtype}), where numbers "
            f"were expected. Convert it, or fit on data where it is a category."
        ) from None
    infinite = np.isinf(codes)
    if infinite.any():
        raise InvalidInputError(
            f"{what} has an infinite value in feature {name!r}, row {infinite.argmax()}. "
            f"Cap or drop it."
        )
    return codes


def _grid_of(training: TrainingColumns, numbers: Vector) -> Grid:
    """Return the declared step of a column, or learn its steps."""
    declared, kind, dtype = training.step, training.kind, training.first.dtype
    is_whole = kind != "continuous" or types.is_integer_dtype(dtype)
    least = 1.0 if is_whole else 0.0
    if declared is not None and is_whole and declared % 1:
        raise InvalidInputError(
            f"The step of {training.name!r} is {declared}, but the feature takes whole numbers "
            f"only. Declare a whole step, or the feature continuous and its column floats."
        )
    if declared is not None or training.is_flag:
        return Grid(max(declared or 0.0, least))
    # A number that is declared continuous may take fractions, though no training row has one.
    significant_only = kind == "continuous" and not (numbers % 1 > 0).any()
    grid = learn_grid(numbers, significant_only=significant_only)
    if not is_whole:
        return grid
    return Grid(max(grid.step, least), 0.0 if grid.is_uniform else max(grid.finest, least))


def _special_codes(training: TrainingColumns) -> tuple[float, ...]:
    """Return the declared special codes of a column, as far as its dtype can hold them."""
    dtype = numpy_dtype(training.first.dtype)
    special = sorted({float(code) for code in training.special})
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        special = [float(dtype.type(code)) for code in special]
    if types.is_integer_dtype(training.first.dtype):
        least, most = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        special = [code for code in special if code.is_integer() and least <= code <= most]
    return tuple(special)


def _check_exact(codes: Vector, dtype: Any, kind: Kind, name: str) -> None:
    """Check that codes stand for the training column's numbers without loss."""
    if types.is_integer_dtype(dtype) and (np.abs(codes) >= LARGEST_EXACT).any():
        raise InvalidInputError(
            f"Feature {name!r} has whole numbers beyond 2**53, as an identifier would, which "
            f"cannot be computed with exactly. Leave it out, or declare it categorical."
        )
    fractions = np.flatnonzero(codes % 1 > 0)
    if kind == "integer" and len(fractions):
        raise InvalidInputError(
            f"Feature {name!r} is declared integer, but has {codes[fractions[0]]} in row "
            f"{fractions[0]} of the training data. Declare it continuous."
        )
