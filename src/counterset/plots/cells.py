"""Which features a plot shows, and what it calls them and their values."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from counterset._base.arrays import Indices
from counterset.plots.style import shortened
from counterset.results.explanation import Explanation
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number, few_digits, format_number

__all__ = ["most_changed", "name_of", "value_text"]

#: A number of more than 9 characters is rounded in a plot. All digits stand in the table.
LONGEST_NUMBER = 9


def most_changed(explanation: Explanation) -> Indices:
    """Return the positions of the features that change, those that change most first.

    That is by the number of options that change them, then by the share of the training range that
    they move; a category moves by all of it.
    """
    table, changed = explanation._table, explanation.changed
    often = changed.sum(axis=0)
    spread = np.array([each.high - each.low or 1.0 for each in table.features])
    both = (explanation._input[None, :], explanation._matrix)
    own, rows = (table.without_special(each) for each in both)
    moved = np.where(changed, np.abs(rows - own) / spread, 0.0)
    switched = np.array([each.is_category for each in table.features]) | np.isnan(moved)
    far = np.where(switched & changed, 1.0, moved).sum(axis=0)
    order: Indices = np.lexsort((-far, -often))
    return order[: np.count_nonzero(often)]


def name_of(feature: Feature) -> str:
    """Return what a plot calls a feature: its label, with its unit if that is a word.

    A pattern such as ``"{}%"`` stands at the values, see :func:`value_text`.

    Examples
    --------
    >>> name_of(Number("credit_amount", "continuous", (0,), np.dtype(float), 0.0, 9000.0))
    'credit amount'
    """
    return f"{feature.label} ({feature.unit})" if _is_word(feature.unit) else feature.label


def value_text(
    feature: Feature, code: float, width: int = 20, apart_from: Iterable[float] = ()
) -> str:
    """Return a value as a plot shows it: long numbers rounded, long texts shortened.

    Parameters
    ----------
    width
        The most characters of a text.
    apart_from
        Other codes that the value is shown beside: rounding keeps its difference from them.

    Examples
    --------
    >>> amount = Number("amount", "continuous", (0,), np.dtype(float), 0.0, 9000.0)
    >>> value_text(amount, 2879.5), value_text(amount, 2879.53125)
    ('2,879.5', '≈2,880')
    """
    text, bare = feature.text_of(code), feature.format(code)
    if not isinstance(feature, Number) or text != bare:  # a text that was declared for it
        return shortened(text, width)
    near = few_digits(code, 4, [each for each in apart_from if not np.isnan(each)])
    is_ordinary = 1e-4 <= abs(near) < 1e15 or near == 0
    about = format_number(near) if is_ordinary else np.format_float_scientific(near, trim="-")
    if near != code and len(text) > LONGEST_NUMBER and len(about) + 1 < len(text):
        text = f"≈{about}"
    wording, is_known = feature.wording, feature.is_known(np.array([code]))[0]
    if wording is None or _is_word(wording.unit) or not is_known:
        return text
    return wording.with_unit(text, is_one=abs(code) == 1)


def _is_word(unit: str) -> bool:
    """Whether a unit is a word, and no pattern for values."""
    return bool(unit) and "{}" not in unit
