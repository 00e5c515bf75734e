"""Read descriptions and letters back: from English sentences to the values that they name.

The grammar is written down here, as a reader of the sentences would find it out. Nothing of the
library is used, so a sentence that says something else than the rows is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from support.literal_checker import Column, Row, amount_of, broken, is_missing, kept, same

#: What stands between two items of a list, or between two clauses.
BETWEEN = re.compile(r", and |, | and ")
VERBS = ("reduce", "raise", "move", "change", "state")
#: A value in quotes, or one that ends before the next item.
VALUE = r'(?:"[^"]*"|.+?)'
ENDS_HERE = r"(?=, and |, (?!\d{3}\b)| and |$)"


@dataclass(frozen=True)
class Change:
    """One change as a sentence tells it; ``before`` is None where a value is stated."""

    verb: str | None
    column: Column
    before: str | None
    after: str


@dataclass(frozen=True)
class Reader:
    """Read sentences about one table.

    Attributes
    ----------
    columns
        The features of the table.
    labels
        How people call them, by name; others are called as their column, in words.
    units
        The units of numbers, by name: every form that may stand beside a number.
    texts
        From names to the texts of values.
    """

    columns: Sequence[Column]
    labels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    def label(self, column: Column) -> str:
        return self.labels.get(column.name, re.sub("[_-]", " ", column.name))

    # --- What would have to be different -------------------------------------------------------

    def options(self, description: str) -> list[list[Change]]:
        """Return the changes of each option of ``describe(width=None)``, in its order."""
        found: list[list[Change]] = []
        for line in description.splitlines():
            if many := re.fullmatch(r"(\d+)\. (\d+) changes \(.*\):", line):
                assert int(many[1]) == len(found) + 1
                found.append([])
            elif one := re.fullmatch(r"(\d+)\. (.*) \((?:.*, )?distance .*\)\.", line):
                assert int(one[1]) == len(found) + 1
                found.append(self.sentence(one[2]))
            elif item := re.fullmatch(r"   - (.*)", line):
                found[-1] += self.sentence(item[1])
        return found

    def sentence(self, text: str) -> list[Change]:
        """Read "Reduce the a from 3 to 2 and the b from 5 to 4, and change the c from x to y"."""
        changes: list[Change] = []
        verb, rest = None, text
        while rest:
            if changes:
                between = BETWEEN.match(rest)
                assert between, f"cannot read {rest!r} in {text!r}"
                rest = rest[between.end() :]
            first = rest.split(" ", 1)[0].lower()
            if first in VERBS:
                verb, rest = first, rest.split(" ", 1)[1]
            column, rest = self._named(rest, text)
            shape = rf" from (?P<before>{VALUE}) to (?P<after>{VALUE}){ENDS_HERE}"
            if verb == "state":
                shape = rf" as (?P<after>{VALUE}){ENDS_HERE}"
            values = re.match(shape, rest)
            assert values, f"cannot read {rest!r} in {text!r}"
            changes.append(Change(verb, column, values.groupdict().get("before"), values["after"]))
            rest = rest[values.end() :]
        return changes

    def options_in_letter(self, letter: str) -> list[list[Change]]:
        """Return the changes of each option of ``letter(width=None)``."""
        found: list[list[Change]] = []
        for line in letter.splitlines():
            if many := re.fullmatch(r"  (\d+)\. With these \d+ changes(?: \(.*\))?:", line):
                assert int(many[1]) == len(found) + 1
                found.append([])
            elif one := re.fullmatch(
                r"  (\d+)\. With (.*?)(?: \(unusual for this model\))?\.", line
            ):
                assert int(one[1]) == len(found) + 1
                found.append(self.instead(one[2]))
            elif item := re.fullmatch(r"     - (.*)", line):
                found[-1] += self.instead(item[1])
        return found

    def instead(self, text: str) -> list[Change]:
        """Read "the a being 2 instead of 3, and the b being y instead of x"."""
        changes: list[Change] = []
        rest = text
        while rest:
            if changes:
                between = BETWEEN.match(rest)
                assert between, f"cannot read {rest!r} in {text!r}"
                rest = rest[between.end() :]
            column, rest = self._named(rest, text)
            shape = rf" being (?P<after>{VALUE}) instead of (?P<before>{VALUE}){ENDS_HERE}"
            values = re.match(shape, rest)
            assert values, f"cannot read {rest!r} in {text!r}"
            changes.append(Change(None, column, values["before"], values["after"]))
            rest = rest[values.end() :]
        return changes

    def _named(self, rest: str, text: str) -> tuple[Column, str]:
        """Return the feature that a text begins with, and what follows it."""
        for column in sorted(self.columns, key=lambda each: -len(self.label(each))):
            name = re.match(rf'(?:the )?("?){re.escape(self.label(column))}\1(?![\w])', rest, re.I)
            if name:
                return column, rest[name.end() :]
        raise AssertionError(f"{rest!r} in {text!r} begins with no feature")

    def names(self, text: str) -> list[Column]:
        """Read "the a, the b and the c"."""
        columns: list[Column] = []
        rest = text
        while rest:
            if columns:
                between = BETWEEN.match(rest)
                assert between, f"cannot read {rest!r} in {text!r}"
                rest = rest[between.end() :]
            column, rest = self._named(rest, text)
            columns.append(column)
        return columns

    # --- Values --------------------------------------------------------------------------------

    def typed(self, column: Column, text: str, like: Any) -> Any:
        """Return what a person types in who reads a value, in the form of a cell of the column."""
        for value, declared in self.texts.get(column.name, {}).items():
            if text == declared:
                return value
        for unit in self.units.get(column.name, ()):
            pattern = re.escape(unit).replace(r"\{\}", "(.*)")
            bare = re.fullmatch(pattern if "{}" in unit else rf"(.*?) ?{pattern}", text)
            if bare:
                text = bare[1]
                break
        return as_cell(text.strip('"'), like)

    def own_is_close(self, column: Column, text: str, cell: Any) -> bool:
        """Return whether a person's own value is told: exactly, or to four digits."""
        if is_missing(cell):
            return is_missing(self.typed(column, text, cell))
        told = self.typed(column, text.removeprefix("about "), cell)
        if same(told, cell):
            return True
        if column.switches or column.order is not None or column.is_one_hot:
            return False
        told, exact = amount_of(told), amount_of(cell)
        return abs(told - exact) <= Fraction(1, 1000) * abs(exact)

    def apply(self, changes: Sequence[Change], x: Row, like: Row) -> dict[Any, Any]:
        """Return the row that comes of typing changes into an input.

        Parameters
        ----------
        like
            A row whose cells have the types of the table's, for those that the input misses.
        """
        row = dict(x)
        for change in changes:
            column = change.column
            if column.is_one_hot:
                assert change.after in (*column.columns, "none of them"), change
                row |= {name: type(x[name])(name == change.after) for name in column.columns}
                continue
            name = column.columns[0]
            row[name] = self.typed(column, change.after, like[name])
        return row


def as_cell(text: str, like: Any) -> Any:
    """Return a printed value as a cell of the same type as another."""
    number = text.replace(",", "")
    if text == "not stated":
        return None
    if isinstance(like, bool | np.bool_):
        return {"yes": True, "no": False, "True": True, "False": False}[text]
    if isinstance(like, pd.Timestamp):
        return pd.Timestamp(text)
    if isinstance(like, str) and not re.fullmatch(r"-?\d+(\.\d+)?", like):
        return text
    if isinstance(like, str):
        decimals = len(like.partition(".")[2])
        assert len(number.partition(".")[2]) <= decimals, f"{text} has more digits than {like}"
        return f"{Decimal(number):.{decimals}f}"
    types: dict[Any, Any] = {Decimal: Decimal, np.float32: np.float32, np.int64: int, int: int}
    return types.get(type(like), float)(number)


# --- What is said about changes ------------------------------------------------------------------


def false_verbs(reader: Reader, changes: Sequence[Change], x: Row, c: Row) -> list[str]:
    """Return which changes are told with a verb, or a value of the person's own, that is false."""
    found = []
    for change in changes:
        column = change.column
        cell = column.cell(x)
        if change.before is None:
            if not is_missing(cell):
                found.append(f"{column.name} is stated, but was known: {change}")
            continue
        if not reader.own_is_close(column, change.before, cell):
            found.append(f"{column.name} was {cell!r}: {change}")
        if change.verb in ("reduce", "raise"):
            sign = -1 if change.verb == "reduce" else 1
            told = [
                amount_of(reader.typed(column, text.removeprefix("about "), column.cell(c)))
                for text in (change.before, change.after)
            ]
            if not sign * (told[1] - told[0]) > 0:
                found.append(f"as printed, it is no {change.verb}: {change}")
    return found


# --- What is said about limits -------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A sentence about what was kept, and the rows for which it is false."""

    sentence: str
    kind: str
    false_for: list[int]


def kept_sentences(
    reader: Reader, sentences: Sequence[str], training: Sequence[Row], x: Row, rows: Sequence[Row]
) -> list[Said]:
    """Read sentences about what stays and which limits hold, and compare them with the options."""
    return [_judge(reader, sentence, training, x, rows) for sentence in sentences]


def _judge(
    reader: Reader, sentence: str, training: Sequence[Row], x: Row, rows: Sequence[Row]
) -> Said:
    for kind, pattern in KEPT.items():
        match = re.fullmatch(pattern, sentence)
        if match:
            parts = match.groupdict()
            wrong = [
                i for i, c in enumerate(rows) if not _is_true(kind, parts, reader, training, x, c)
            ]
            return Said(sentence, kind, wrong)
    raise AssertionError(f"cannot read {sentence!r}")


ENDS = (
    r"(?:at least (?P<a>.+)|(?P<b>.+) or later|at most (?P<c>.+)|(?P<d>.+) or earlier|"
    r"between (?P<e>.+) and (?P<f>.+))"
)
#: From kinds of limits to the sentences about them.
KEPT = {
    "only": r"Only (?P<names>.+) may change; everything else stays as it is\.",
    "nothing": r"Nothing may change\.",
    "stays": r"(?P<names>.+) (?:stays? as (?:it is|they are)|may not change)\.",
    "increase_only": r"(?P<names>.+) may only (?:rise|become later)\.",
    "decrease_only": r"(?P<names>.+) may only (?:fall|become earlier)\.",
    "allowed": r"(?P<names>.+) (?:is|must be) one of these: (?P<values>.+)\.",
    "ranges": rf"(?P<names>.+?) (?:stays|must be) {ENDS}\.",
    "max_increase": r"(?P<names>.+?) (?:rises|may rise|may become) (?:by )?at most "
    r"(?P<amount>(?:(?! earlier).)+?)(?: later)?\.",
    "max_decrease": r"(?P<names>.+?) (?:falls|may fall|may become) (?:by )?at most "
    r"(?P<amount>.+?)(?: earlier)?\.",
    "all_or_none": r"(?P<names>.+) change together or not at all\.",
    "together": r"(?P<names>.+) may only change to values that occur together in the data\.",
    "relations": r"These relations hold: (?P<relations>.+)\.",
    "conditions": r"This condition holds: (?P<condition>.+)\.",
    "forbidden_changes": r"(?P<names>.+) may not change(?: from (?P<before>.+?))? "
    r"to (?P<after>.+)\.",
}


def _is_true(
    kind: str,
    parts: Mapping[str, str],
    reader: Reader,
    training: Sequence[Row],
    x: Row,
    c: Row,
) -> bool:
    if kind == "relations":
        limits: dict[str, Any] = {"relations": parts["relations"].split(", ")}
        return not _broken(limits, reader, training, x, c)
    if kind == "conditions":
        return not _broken({"conditions": [parts["condition"]]}, reader, training, x, c)
    if kind == "nothing":
        return all(kept(column, x, c) for column in reader.columns)
    columns = reader.names(parts["names"])
    names = [column.name for column in columns]
    if kind == "only":
        return all(kept(each, x, c) for each in reader.columns if each not in columns)
    if kind == "all_or_none":
        return len({kept(column, x, c) for column in columns}) == 1
    if kind == "stays":
        limits = {"immutable": names}
    elif kind in ("increase_only", "decrease_only"):
        limits = {kind: names}
    elif kind == "together":
        limits = {"together": [names]}
    else:
        (column,) = columns
        like = next(column.cell(row) for row in (c, x, *training) if column.is_known(row))
        limits = {kind: {column.name: _limit(kind, parts, reader, column, like)}}
    return not _broken(limits, reader, training, x, c)


def _limit(kind: str, parts: Mapping[str, str], reader: Reader, column: Column, like: Any) -> Any:
    if kind == "ranges":
        texts = [parts["a"] or parts["b"] or parts["e"], parts["c"] or parts["d"] or parts["f"]]
        return tuple(None if text is None else reader.typed(column, text, like) for text in texts)
    if kind == "forbidden_changes":
        values = [text and text.strip('"') for text in (parts["before"], parts["after"])]
        return [tuple(None if text in (None, "anything else") else text for text in values)]
    if kind == "allowed":
        found = re.findall(r'"([^"]*)"|((?:[^,"]|,(?! ))+)(?:, |$)', parts["values"])
        values = [quoted or bare for quoted, bare in found]
        return values if column.is_one_hot else [reader.typed(column, v, like) for v in values]
    if isinstance(like, pd.Timestamp):
        return pd.Timedelta(parts["amount"])
    if column.order is not None:
        return float(re.match(r"[\d.]+", parts["amount"])[0])  # type: ignore[index]
    return reader.typed(column, parts["amount"], float(like))


def _broken(
    limits: Mapping[str, Any], reader: Reader, training: Sequence[Row], x: Row, c: Row
) -> list[str]:
    lost = {f"{column.name} was lost" for column in reader.columns}
    return [text for text in broken(limits, reader.columns, training, x, c) if text not in lost]


# --- Shares --------------------------------------------------------------------------------------

SHARE = re.compile(r"(?P<bound>less than |more than )?(?P<number>\d+(?:\.\d+)?)%")


def share_is_true(text: str, share: float) -> bool:
    """Return whether a share in percent says what a number is: rounded, and 0 and 1 exactly."""
    match = SHARE.fullmatch(text)
    assert match, f"cannot read the share {text!r}"
    told = float(match["number"]) / 100
    if match["bound"] is not None:
        return share < told if match["bound"] == "less than " else share > told
    if told in (0.0, 1.0):
        return share == told
    half = 0.5 * 10.0 ** -(2 + len(match["number"].partition(".")[2]))
    return abs(told - share) <= half * (1 + 1e-9)
