"""Groups of people: the values of a feature or of another column, numbers in bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Mask, Vector, to_python
from counterset._base.bidi import isolated
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanations import Explanations
from counterset.report.texts import TEXTS
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import rounded
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["LEAST", "Group", "figures_of", "group_people"]

#: Of a group of fewer than 10 people no figure is shown: it would say little about the group, and
#: much about its people.
LEAST = 10
#: Numbers with more than 6 values are shown in 4 bands of about equally many people.
MOST_VALUES, BANDS = 6, 4
#: The ends of bands are written with 4 digits, or more if two bands would read alike.
DIGITS = (4, 6, 9, 17)

#: Writes a band: from its ends, with at most so many digits.
BandText: TypeAlias = Callable[[float, float, int], str]


@dataclass(frozen=True)
class Group:
    """Some people.

    Attributes
    ----------
    text
        What they have in common.
    members
        Who belongs to it.
    """

    text: str
    members: Mask


def group_people(explanations: Explanations, groups: Any, among: Mask) -> tuple[str, list[Group]]:
    """Return what people are grouped by, and the groups in the order of their values.

    Parameters
    ----------
    groups
        The name of a feature, or one value for each person.
    among
        The people that count: numbers are cut into bands of about equally many of them.
    """
    table = explanations.coded.table
    if isinstance(groups, str) or np.ndim(groups) == 0:
        at = table.position(groups)
        return table.features[at].label, _of_feature(
            table.features[at], explanations.coded.inputs[:, at], among
        )
    if len(groups) != len(explanations):
        raise InvalidInputError(
            f"groups holds {len(groups)} values for {len(explanations)} inputs. Pass one for each, "
            f"or the name of a feature."
        )
    name = str(getattr(groups, "name", None) or TEXTS["group"])
    values = pd.Series(groups if isinstance(groups, pd.Series) else list(groups))
    return name, _of_values(values.reset_index(drop=True), among)


def figures_of(explanations: Explanations, group: Group, among: Mask) -> dict[str, Any] | None:
    """Return the figures of a group; None if it has too few people.

    Parameters
    ----------
    among
        The people that were to be explained.
    """
    mine = group.members & among
    if mine.sum() < LEAST:
        return None
    cost = explanations.coded.nearest[mine]
    known = cost[~np.isnan(cost)]
    counts = explanations.counts[mine]
    return {
        "people": int(mine.sum()),
        "with_an_option": float((counts > 0).mean()),
        "mean_options": float(counts.mean()),
        "median_distance": float(np.median(known)) if len(known) >= LEAST else None,
    }


def _of_feature(feature: Feature, codes: Vector, among: Mask) -> list[Group]:
    """Return the groups by a feature; values that are missing or special stand last."""
    writer, known = Writer(Templates.read()), feature.is_known(codes)
    groups = _banded(codes, known, among, _text_of(feature)) if feature.values is None else []
    if not groups:
        groups = [
            Group(writer.own(feature, code), codes == code)
            for code in np.unique(codes[known]).tolist()
        ]
    others = np.unique(codes[~known & ~np.isnan(codes)])
    groups += [Group(writer.own(feature, code), codes == code) for code in others.tolist()]
    if np.isnan(codes).any():
        groups.append(Group(writer.own(feature, np.nan), np.isnan(codes)))
    return [group for group in groups if (group.members & among).any()]


def _text_of(feature: Feature) -> BandText:
    """Return what writes a band of a feature."""

    def text(low: float, high: float, digits: int) -> str:
        if feature.is_time:
            return TEXTS["band"].format(low=feature.format(low), high=feature.format(high))
        band = _numbers(low, high, digits)
        return band if feature.wording is None else feature.wording.with_unit(band, is_one=False)

    return text


def _of_values(values: pd.Series, among: Mask) -> list[Group]:
    """Return the groups by values that are no feature."""
    missing = values.isna().to_numpy()
    groups: list[Group] = []
    if types.is_datetime64_any_dtype(values.dtype):
        groups = _banded(_nanoseconds(values), ~missing, among, _days)
    elif types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        groups = _banded(numbers, ~missing, among, _numbers)
    if not groups:
        codes, found = pd.factorize(values, sort=_can_be_sorted(values))
        texts = [isolated(str(to_python(each)).removesuffix(" 00:00:00")) for each in found]
        # Different values can read alike, such as 1 and "1".
        alike = pd.Series(range(len(texts))).groupby(texts, sort=False)
        groups = [Group(str(text), np.isin(codes, same)) for text, same in alike]
    if missing.any():
        groups.append(Group(Templates.read()("value.missing"), missing))
    return [group for group in groups if (group.members & among).any()]


def _nanoseconds(times: pd.Series) -> Vector:
    """Return times as numbers; NaN for those that are missing."""
    numbers = times.dt.tz_localize(None).astype("datetime64[ns]").astype("int64")
    return np.where(times.isna(), np.nan, numbers.to_numpy(dtype=np.float64))


def _numbers(low: float, high: float, digits: int) -> str:
    return TEXTS["band"].format(low=rounded(low, digits), high=rounded(high, digits))


def _days(low: float, high: float, digits: int) -> str:
    first, last = (str(pd.Timestamp(int(each)).date()) for each in (low, high))
    return TEXTS["band"].format(low=first, high=last)


def _can_be_sorted(values: pd.Series) -> bool:
    try:
        sorted(values.dropna())
    except TypeError:
        return False
    return True


def _banded(values: Vector, known: Mask, among: Mask, text: BandText) -> list[Group]:
    """Return bands of about equally many people; none if there are few values."""
    mine = np.sort(values[known & among])
    if len(np.unique(mine)) <= MOST_VALUES:
        return []
    bands = max(1, min(BANDS, len(mine) // LEAST))
    # The ends are values that somebody has.
    tops = np.unique([mine[-(-len(mine) * i // bands) - 1] for i in range(1, bands + 1)])
    members = [
        known & (values > low) & (values <= top)
        for low, top in zip([-np.inf, *tops[:-1]], tops, strict=True)
    ]
    inside = [values[each & among] for each in members]
    for digits in DIGITS:
        texts = [text(float(each.min()), float(each.max()), digits) for each in inside]
        if len(set(texts)) == len(texts):
            break
    return [Group(each, mask) for each, mask in zip(texts, members, strict=True)]
