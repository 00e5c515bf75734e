"""Times: a moment is coded by its microseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Labels, Vector
from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature, TrainingColumns, range_of

__all__ = ["Time"]

DAY, SECOND, MILLISECOND, MICROSECOND = 86_400_000_000, 1_000_000, 1_000, 1


@dataclass(frozen=True)
class Time(Feature):
    """A moment, coded as its microseconds since 1970, in UTC.

    Its step is a day, a second, a millisecond or a microsecond: the longest of which all training
    values are multiples.
    """

    @classmethod
    def takes(cls, training: TrainingColumns) -> bool:
        declared = training.kind in ("continuous", "integer")
        return declared and types.is_datetime64_any_dtype(training.first.dtype)

    @classmethod
    def learn(cls, training: TrainingColumns) -> tuple[Self, Vector]:
        column = training.first
        codes = _read(column, training.name, training.what)
        steps = (DAY, SECOND, MILLISECOND, MICROSECOND)
        feature = cls(
            training.name,
            training.kind,
            training.positions,
            column.dtype,
            *range_of(codes),
            step=float(next(step for step in steps if not np.nanmax(np.append(codes % step, 0)))),
            can_be_missing=bool(np.isnan(codes).any()),
        )
        return feature, codes

    def _encode(self, frame: pd.DataFrame, what: str) -> Vector:
        column = frame.iloc[:, self.columns[0]]
        if not types.is_datetime64_any_dtype(column.dtype):
            try:
                column = pd.Series(pd.to_datetime(column)).astype(self.dtype)
            except (TypeError, ValueError):
                raise InvalidInputError(
                    f"{what} holds something else than times in feature {self.name!r} (dtype "
                    f"{column.dtype}). Convert it: pd.to_datetime(column)."
                ) from None
        return _read(column, self.name, what)

    def decode(self, codes: Vector) -> list[pd.Series | Labels]:
        missing = np.isnan(codes)
        whole = np.where(missing, 0, codes).astype(np.int64)
        times = pd.Series(pd.to_datetime(whole, unit="us")).mask(missing)
        if self._zone is not None:
            times = times.dt.tz_localize("UTC").dt.tz_convert(self._zone)
        return [times.astype(self.dtype)]

    def ends(self, low: float, high: float) -> tuple[float, float]:
        step = self.step
        return float(np.ceil(low / step) * step), float(np.floor(high / step) * step)

    def _value_of(self, code: float) -> Any:
        moment = pd.Timestamp(int(code), unit="us")
        if self._zone is not None:
            return moment.tz_localize("UTC").tz_convert(self._zone)
        return moment.date() if self.step == DAY else moment

    def _code_of(self, value: Any) -> float:
        moment = pd.Timestamp(value)
        if self._zone is not None and moment.tzinfo is None:
            moment = moment.tz_localize(self._zone)
        return float(_microseconds(pd.Series([moment]))[0])

    def _unknown(self, value: Any) -> str:
        return f"Feature {self.name!r} holds times, got {value!r}."

    _amounts = "timedelta"

    def _amount_of(self, difference: Any) -> float:
        return float(pd.Timedelta(difference) / pd.Timedelta(microseconds=1))

    @property
    def _zone(self) -> Any:
        return getattr(self.dtype, "tz", None)


def _read(column: pd.Series, name: str, what: str) -> Vector:
    if (column.dt.nanosecond > 0).any():
        raise InvalidInputError(
            f"{what} has times finer than a microsecond in feature {name!r}, which cannot be "
            f"computed with exactly. Round them: column.dt.floor('us')."
        )
    return _microseconds(column)


def _microseconds(column: pd.Series) -> Vector:
    """Return times as microseconds since 1970, in UTC; NaN where one is missing."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    missing = column.isna().to_numpy()
    whole = column.to_numpy(dtype="datetime64[us]").astype(np.int64)
    return np.where(missing, np.nan, whole).astype(np.float64)
