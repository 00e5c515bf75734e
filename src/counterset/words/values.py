"""Values and features as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import to_python
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.words.templates import Templates

__all__ = ["Writer"]

#: A value in which the words of a sentence could be seen stands in quotes.
AMBIGUOUS = re.compile(r"^\s|\s$|^$|,|;|\b(and|from|to|instead|or)\b")
#: A label is a word if it has three letters in a row; others, such as "x0", get no article.
WORD = re.compile(r"[^\W\d_]{3}")


@dataclass(frozen=True)
class Writer:
    """Write features and their values in one language."""

    templates: Templates

    def feature(self, feature: Feature) -> str:
        """Return how a sentence names a feature: "the credit amount", or x0."""
        label = feature.label
        if self._is_flag(feature):
            return self.templates("feature.flag", label=label)
        articles = tuple(self.templates.texts["language.without_article"])
        is_word = WORD.search(label) and not re.match(r"column \S+$", label)
        if not is_word or label.lower().startswith(articles):
            return label
        return self.templates("feature.word", label=label)

    def value(self, feature: Feature, code: float) -> str:
        """Return a value with its unit."""
        text = self._bare(feature, code)
        if self._has_unit(feature, code) and feature.wording is not None:
            return feature.wording.with_unit(text, is_one=abs(code) == 1)
        return text

    def pair(self, feature: Feature, first: float, last: float) -> tuple[str, str]:
        """Return two values, of which the last in the sentence has the unit if it is a word."""
        words = feature.wording is not None and feature.wording.unit_is_word
        both = self._has_unit(feature, first) and self._has_unit(feature, last)
        if words and both:
            return self._bare(feature, first), self.value(feature, last)
        return self.value(feature, first), self.value(feature, last)

    def _bare(self, feature: Feature, code: float) -> str:
        """Return a value without its unit."""
        wording = feature.wording
        if np.isnan(code):
            told = None if wording is None else wording.of_missing
            return self.templates("value.missing") if told is None else told
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
        wording = feature.wording
        return wording is not None and not np.isnan(code) and wording.text(code) is None

    @staticmethod
    def _is_flag(feature: Feature) -> bool:
        """Whether a feature says yes or no, and nobody declared what it is called."""
        flags: list[Any] = [False, True]
        values = feature.values if feature.values is not None else (feature.low, feature.high)
        return feature.wording is None and feature.kind == "binary" and list(values) == flags
