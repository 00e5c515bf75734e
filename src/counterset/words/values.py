"""Values and features as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from counterset._base.arrays import to_python
from counterset._base.bidi import isolated
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number, format_number, rounded
from counterset.tables.features.time import DAY
from counterset.tables.table import Table
from counterset.words.templates import Templates

__all__ = ["Writer", "exact_percent", "percent"]

#: A value in which the words of a sentence could be seen stands in quotes.
AMBIGUOUS = re.compile(r"^\s|\s$|^$|,|;|\b(and|from|to|instead|or)\b")
#: A label is a word if it has three letters in a row; others, such as "x0", get no article.
WORD = re.compile(r"[^\W\d_]{3}")

#: A person's own number with more than 6 digits, such as 0.39283923300581075, is written as
#: "about" one with 4. What options propose has all its digits: with fewer, it might not work.
MOST_DIGITS, SHOWN_DIGITS = 6, 4
#: Up to 4 values of an ordinal are named one by one; of more, the first and the last.
MOST_VALUES = 4
#: Approximate amounts are written with 2 digits, and of many numbers 5 are named.
ABOUT_DIGITS, MOST_DIFFERENCES = 2, 5


@dataclass(frozen=True)
class Writer:
    """Write features and their values in one language."""

    templates: Templates

    def feature(self, feature: Feature) -> str:
        """Return how a sentence names a feature: "the credit amount", or x0."""
        label = isolated(feature.label)
        if self._is_flag(feature):
            return self.templates("feature.flag", label=label)
        articles = tuple(self.templates.texts["language.without_article"])
        is_word = WORD.search(label) and not re.match(r"column \S+$", label)
        if not is_word or label.lower().startswith(articles):
            return label
        return self.templates("feature.word", label=label)

    def value(self, feature: Feature, code: float) -> str:
        """Return a value with all its digits and its unit."""
        return isolated(self._with_unit(feature, code, self._bare(feature, code)))

    def own(self, feature: Feature, code: float) -> str:
        """Return a person's own value with its unit; a number with many digits is "about" one."""
        return isolated(self._own(feature, code, with_unit=True))

    def pair(self, feature: Feature, before: float, after: float) -> tuple[str, str]:
        """Return a person's own value and another, for "from 48 to 24 months"."""
        return self._pair(feature, before, after, unit_on_own=False)

    def pair_turned(self, feature: Feature, before: float, after: float) -> tuple[str, str]:
        """Return a person's own value and another, for "24 instead of 48 months"."""
        return self._pair(feature, before, after, unit_on_own=True)

    def range(self, feature: Feature, low: float, high: float) -> str:
        """Return a range with its unit: "between 12 and 24 months", "at most 3,900 DM".

        An end is infinite where everything on that side works.
        """
        return self._range(feature, low, high, with_unit=True)

    def pair_with_range(
        self, feature: Feature, before: float, low: float, high: float, *, unit_on_own: bool
    ) -> tuple[str, str]:
        """Return a person's own value and a range, as ``pair`` or ``pair_turned`` does."""
        nearest = low if before < low else high
        own, _ = self._pair(feature, before, nearest, unit_on_own=unit_on_own)
        with_unit = not (unit_on_own and self._names_unit_once(feature, before, nearest))
        return own, self._range(feature, low, high, with_unit=with_unit)

    def _range(self, feature: Feature, low: float, high: float, *, with_unit: bool) -> str:
        def text(code: float, unit: bool) -> str:
            bare = self._bare(feature, code)
            return isolated(self._with_unit(feature, code, bare) if unit else bare)

        if low == high:
            return text(low, with_unit)
        if feature.values is not None:
            return self._range_of_values(feature, low, high)
        if np.isinf(high):
            name = "range.or_later" if feature.is_time else "range.at_least"
            return self.templates(name, low=text(low, with_unit))
        if np.isinf(low):
            name = "range.or_earlier" if feature.is_time else "range.at_most"
            return self.templates(name, high=text(high, with_unit))
        once = self._names_unit_once(feature, low, high)
        if feature.resolution == high - low == 1:  # two whole numbers
            texts = [text(low, with_unit and not once), text(high, with_unit)]
            return self.templates.join(texts, last="list.or")
        ends = {"low": text(low, with_unit and not once), "high": text(high, with_unit)}
        return self.templates("range.between", **ends)

    def _range_of_values(self, feature: Feature, low: float, high: float) -> str:
        """Return the values of an ordinal: one by one where they are few."""
        codes = np.arange(low, high + 1)
        if len(codes) > MOST_VALUES:
            ends = {"low": self.value(feature, low), "high": self.value(feature, high)}
            return self.templates("range.values", **ends)
        texts = [self.value(feature, code) for code in codes]
        texts = [self._quoted(text) if AMBIGUOUS.search(text) else text for text in texts]
        return self.templates.join(texts, last="list.or")

    def amount(self, feature: Feature, difference: float) -> str:
        """Return about how large a difference of two values is, with its unit."""
        if feature.is_time:
            days = float(f"{difference / DAY:.{ABOUT_DIGITS}g}")
            return self.templates("value.days", days=format_number(days))
        about = float(f"{difference:.{ABOUT_DIGITS}g}")
        text = format_number(about)
        if feature.wording is None:
            return text
        return feature.wording.with_unit(text, is_one=about == 1)

    def distance(self, feature: Feature, difference: float) -> str:
        """Return how large a difference of two values is, with all its digits and its unit."""
        if feature.is_time:
            return self.templates("value.days", days=format_number(difference / DAY))
        whole = float(difference).is_integer()
        text = format_number(round(difference) if whole else float(f"{difference:.12g}"))
        if feature.wording is None:
            return text
        return feature.wording.with_unit(text, is_one=difference == 1)

    def differences(self, differences: Mapping[str, float], table: Table) -> str:
        """Return by how much slightly different inputs differ, number by number.

        Parameters
        ----------
        differences
            From the names of features to how much they differ on average.
        """
        named = [
            (table.features[at], difference)
            for name, difference in differences.items()
            if difference > 0 and (at := table.find(name)) is not None
        ]
        items = [
            self.templates(
                "sure.difference", feature=self.feature(feature), amount=self.amount(feature, by)
            )
            for feature, by in named
        ]
        if len(items) > MOST_DIFFERENCES + 1:
            more = len(items) - MOST_DIFFERENCES
            rest = self.templates("sure.more_differences", count=more)
            items = [*items[:MOST_DIFFERENCES], rest]
        return self.templates.join(items) if items else ""

    def _pair(
        self, feature: Feature, before: float, after: float, *, unit_on_own: bool
    ) -> tuple[str, str]:
        once = self._names_unit_once(feature, before, after)
        own = self._own(feature, before, other=after, with_unit=not once or unit_on_own)
        other = self._bare(feature, after)
        if not once or not unit_on_own:
            other = self._with_unit(feature, after, other)
        return isolated(own), isolated(other)

    def _names_unit_once(self, feature: Feature, before: float, after: float) -> bool:
        """Whether one of two values has the unit for both: "from 48 to 24 months"."""
        words = feature.wording is not None and feature.wording.unit_is_word
        return words and self._has_unit(feature, before) and self._has_unit(feature, after)

    def _with_unit(self, feature: Feature, code: float, text: str) -> str:
        if feature.wording is None or not self._has_unit(feature, code):
            return text
        return feature.wording.with_unit(text, is_one=abs(code) == 1)

    def _own(self, feature: Feature, code: float, *, other: float = np.nan, with_unit: bool) -> str:
        """Return a person's own value; if it is rounded, on the side of the other where it is."""
        text = self._bare(feature, code)
        many = (
            isinstance(feature, Number) and len(re.sub(r"\D", "", text).lstrip("0")) > MOST_DIGITS
        )
        near = text
        if many and "." in text:
            near = rounded(code, SHOWN_DIGITS, [] if np.isnan(other) else [other])
        shown = self._with_unit(feature, code, near) if with_unit else near
        is_shorter = len(near) < len(text)
        return self.templates("value.about", value=shown) if is_shorter else shown

    def _bare(self, feature: Feature, code: float) -> str:
        """Return a value without its unit."""
        wording = feature.wording
        if np.isnan(code):
            declared = None if wording is None else wording.of_missing
            return self.templates("value.missing") if declared is None else declared
        if wording is not None and (declared := wording.text(code)) is not None:
            return declared
        value = to_python(feature.describe(code))
        if isinstance(value, bool):
            return self.templates("value.yes" if value else "value.no")
        text = feature.format(code)
        is_number = isinstance(feature, Number)
        return text if is_number or not AMBIGUOUS.search(text) else self._quoted(text)

    def _quoted(self, text: str) -> str:
        return self.templates("value.quoted", text=text)

    @staticmethod
    def _has_unit(feature: Feature, code: float) -> bool:
        wording, is_known = feature.wording, feature.is_known(np.array([code]))[0]
        return wording is not None and bool(is_known) and wording.text(code) is None

    @staticmethod
    def _is_flag(feature: Feature) -> bool:
        """Whether a feature says yes or no, and no label is declared for it."""
        flags: list[Any] = [False, True]
        values = feature.values if feature.values is not None else (feature.low, feature.high)
        return feature.wording is None and feature.kind == "binary" and list(values) == flags


def percent(share: float, templates: Templates) -> str:
    """Return a share in percent; only 0 is written as 0%, and only 1 as 100%.

    Examples
    --------
    >>> english = Templates.read()
    >>> [percent(share, english) for share in (0.0, 0.00017, 0.42, 0.9999, 1.0)]
    ['0%', 'less than 1%', '42%', 'more than 99%', '100%']
    """
    text = f"{share:.0%}"
    if share > 0 and text == "0%":
        return templates("value.less_than", value="1%")
    if share != 1 and text == "100%":
        return templates("value.more_than", value="99%" if share < 1 else "100%")
    return text


def exact_percent(share: float) -> str:
    """Return a share that somebody chose in percent, with all its digits.

    Examples
    --------
    >>> exact_percent(0.57), exact_percent(0.995), exact_percent(0.5)
    ('57%', '99.5%', '50%')
    """
    return f"{(Decimal(repr(float(share))) * 100).normalize():f}%"
