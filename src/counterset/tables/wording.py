"""Wording: how people speak of a feature, as the schema declares it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from counterset.exceptions import InvalidInputError

__all__ = ["Unit", "Wording", "check_texts", "check_unit", "readable"]

#: A unit as users write it: "months", the pair ("month", "months") for one and for several, or a
#: pattern in which {} stands for the number: "${}".
Unit: TypeAlias = str | tuple[str, str]
#: Where one word of a name written in one ends: before a capital after a small letter or a digit,
#: before the last capital of several if a small letter follows, and before a number.
WORD_ENDS = re.compile(
    r"(?<=[a-z])(?<!\b[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Z])"
)
#: A word that begins with one small letter and a capital is written so: kEUR, kWh, pH, eGFR.
SMALL_AND_CAPITAL = re.compile(r"\W*[a-z][A-Z]")


@dataclass(frozen=True)
class Wording:
    """How people speak of a feature.

    Attributes
    ----------
    label
        Its display name.
    unit
        The unit of several, such as "months"; empty if it has none.
    unit_of_one
        The unit of one, such as "month".
    texts
        Texts of single values, by their codes.
    of_missing
        The text of a missing value, or None.

    Examples
    --------
    >>> Wording("duration", "months", "month").with_unit("24"), Wording("income", "${}").unit
    ('24 months', '${}')
    """

    label: str
    unit: str = ""
    unit_of_one: str = ""
    texts: tuple[tuple[float, str], ...] = ()
    of_missing: str | None = None

    @property
    def unit_is_word(self) -> bool:
        """Whether the unit is a word, which is written once: "from 48 to 24 months"."""
        return bool(re.match(r"[^\W\d_A-Z]{3}", self.unit))

    def with_unit(self, text: str, *, is_one: bool = False) -> str:
        """Return a number, as text, with its unit.

        Parameters
        ----------
        is_one
            Whether the number is 1.
        """
        unit = self.unit_of_one if is_one else self.unit
        if not unit:
            return text
        if "{}" in unit:
            return unit.replace("{}", text)
        return f"{text}{unit}" if unit.startswith(("%", "°")) else f"{text} {unit}"

    def text(self, code: float) -> str | None:
        """Return the declared text of a code that is not missing, None if there is none."""
        return dict(self.texts).get(code)


def check_unit(name: Any, unit: Any) -> tuple[str, str]:
    """Check one unit that a user declared; return it for several, and for one."""
    pair = unit if isinstance(unit, list | tuple) and len(unit) == 2 else (unit, unit)
    if not all(isinstance(each, str) and each.strip() for each in pair):
        raise InvalidInputError(
            f"units[{name!r}] must be a text such as 'months' or '${{}}', or a pair for one and "
            f"for several, ('month', 'months'), got {unit!r}."
        )
    one, many = pair
    if isinstance(unit, str) and Wording("", many).unit_is_word:
        one = _singular(many)
    return many, one


def check_texts(name: Any, texts: Any) -> None:
    """Check the texts of values that a user declared for one feature."""
    wrong = not isinstance(texts, Mapping) or not all(
        isinstance(text, str) and text.strip() for text in texts.values()
    )
    if wrong:
        raise InvalidInputError(
            f"texts[{name!r}] takes a mapping from values to texts, such as "
            f"{{'<100': 'less than 100'}}, got {texts!r}."
        )


def readable(name: str) -> str:
    """Return a column's name as words.

    Examples
    --------
    >>> readable("credit_amount"), readable("hours-per-week"), readable("MonthlyIncome")
    ('credit amount', 'hours per week', 'monthly income')
    >>> readable("BMI"), readable("x0"), readable("Late30-59Days"), readable("7")
    ('BMI', 'x0', 'late 30-59 days', 'column 7')
    >>> readable("savings (kEUR)"), readable("pH")
    ('savings (kEUR)', 'pH')
    """
    if re.fullmatch(r"\d*", name.strip()):
        return f"column {name.strip()}".strip()
    text = re.sub(r"(?<!\d)-|-(?!\d)|[_\s]+", " ", name)
    if not re.fullmatch(r"[A-Za-z]{1,2}\d+", name):  # x0 is one word
        text = WORD_ENDS.sub(" ", text)
    words = [
        word
        if (word.isupper() and len(word) > 1) or SMALL_AND_CAPITAL.match(word)
        else word.lower()
        for word in text.split()
    ]
    return " ".join(words) or name


def _singular(unit: str) -> str:
    """Return the unit of one: the first word without its s."""
    first, space, rest = unit.partition(" ")
    return f"{first.removesuffix('s')}{space}{rest}"
