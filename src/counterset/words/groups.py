"""Groups of people: by the values of a feature, numbers in bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from counterset._base.arrays import Mask, Vector
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import rounded
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["LEAST", "Group", "band", "banded", "group_by"]

#: Of a group of fewer than 10 people no figure is shown: it would say little about the group, and
#: much about its people.
LEAST = 10
#: Numbers with more than 6 values are shown in 4 bands of about equally many people.
MOST_VALUES, BANDS = 6, 4
#: The ends of bands are written with 4 digits, or more if two bands would read alike.
DIGITS = (4, 6, 9, 17)

#: Writes a band from its ends, with a limited number of digits.
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


def group_by(feature: Feature, codes: Vector, among: Mask) -> list[Group]:
    """Return the groups by a feature, in the order of its values; missing values come last.

    Parameters
    ----------
    feature
        What people are grouped by.
    codes
        The value of each person.
    among
        The people that count: numbers are cut into bands of about equally many of them.

    Examples
    --------
    >>> from counterset.tables.table import Table
    >>> table, matrix = Table.learn([[float(age)] for age in range(20, 60)])
    >>> everybody = np.ones(40, dtype=bool)
    >>> [group.text for group in group_by(table.features[0], matrix[:, 0], everybody)]
    ['20 to 29', '30 to 39', '40 to 49', '50 to 59']
    """
    writer, known = Writer(Templates.read()), feature.is_known(codes)
    groups = (
        banded(codes, known, among, _text_of(feature, writer)) if feature.values is None else []
    )

    def of_one(code: float) -> Group:
        members = np.isnan(codes) if np.isnan(code) else codes == code
        return Group(writer.own(feature, code), members)

    if not groups:
        groups = [of_one(code) for code in np.unique(codes[known]).tolist()]
    groups += [of_one(code) for code in np.unique(codes[~known]).tolist()]
    return [group for group in groups if (group.members & among).any()]


def _text_of(feature: Feature, writer: Writer) -> BandText:
    """Return what writes a band of a feature."""

    def text(low: float, high: float, digits: int) -> str:
        if low == high:
            return writer.own(feature, low)
        if feature.is_time:
            return f"{feature.format(low)} to {feature.format(high)}"
        text = band(low, high, digits)
        return text if feature.wording is None else feature.wording.with_unit(text, is_one=False)

    return text


def band(low: float, high: float, digits: int) -> str:
    """Return how the numbers between two ends are called.

    Examples
    --------
    >>> band(1000.0, 2500.5, 4), band(1000.0, 2500.5, 6), band(3.0, 3.0, 4)
    ('1,000 to 2,500', '1,000 to 2,500.5', '3')
    """
    first, last = rounded(low, digits), rounded(high, digits)
    return first if low == high else f"{first} to {last}"


def banded(values: Vector, known: Mask, among: Mask, text: BandText) -> list[Group]:
    """Return bands of about equally many people; none if there are few values.

    Parameters
    ----------
    values
        The number of each person.
    known
        Who has a number.
    among
        The people that count.
    text
        Writes a band from its ends, with a limited number of digits.
    """
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
