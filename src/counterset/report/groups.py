"""Groups of people: the values of a feature or of another column, numbers in bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Mask, to_python
from counterset._base.bidi import isolated
from counterset.exceptions import InvalidInputError
from counterset.explanations.explanations import Explanations
from counterset.report.texts import TEXTS
from counterset.words.groups import LEAST, Group, band, banded, group_by
from counterset.words.templates import Templates

__all__ = ["figures_of", "group_people"]


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
    if types.is_numeric_dtype(values.dtype) and not types.is_bool_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        groups = banded(numbers, ~missing, among, band)
    if not groups:
        texts = np.array([isolated(str(to_python(each))) for each in values], dtype=object)
        codes, _ = pd.factorize(values, sort=_can_be_sorted(values))
        groups = [
            Group(str(texts[codes == code][0]), codes == code) for code in range(codes.max() + 1)
        ]
    if missing.any():
        groups.append(Group(Templates.read()("value.missing"), missing))
    return [group for group in groups if (group.members & among).any()]


def _can_be_sorted(values: pd.Series) -> bool:
    try:
        sorted(values.dropna())
    except TypeError:
        return False
    return True
