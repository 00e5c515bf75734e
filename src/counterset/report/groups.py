"""Groups of people: the values of a feature or of another column, numbers in bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Mask, Vector, to_python
from counterset._base.bidi import isolated
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanations import Explanations
from counterset.report.texts import TEXTS
from counterset.words.groups import LEAST, Group, band, banded, group_by
from counterset.words.templates import Templates

__all__ = ["LEAST", "Group", "figures_of", "group_people"]


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
        return table.features[at].label, group_by(
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


def _of_values(values: pd.Series, among: Mask) -> list[Group]:
    """Return the groups by values that are no feature."""
    missing = values.isna().to_numpy()
    groups: list[Group] = []
    if types.is_datetime64_any_dtype(values.dtype):
        groups = banded(_nanoseconds(values), ~missing, among, _days)
    elif types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        groups = banded(numbers, ~missing, among, band)
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


def _days(low: float, high: float, _: int) -> str:
    """Return how the days between two ends are called."""
    first, last = (str(pd.Timestamp(int(each)).date()) for each in (low, high))
    return first if first == last else f"{first} to {last}"


def _can_be_sorted(values: pd.Series) -> bool:
    try:
        sorted(values.dropna())
    except TypeError:
        return False
    return True
