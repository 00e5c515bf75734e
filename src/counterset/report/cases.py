"""The decisions on many people in a record: written without their rows, and checked with them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Vector, to_python
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import Fingerprint
from counterset.explanations.explanations import Explanations
from counterset.explanations.json_values import (
    from_json_value,
    to_json_value,
    value_from_json,
    value_to_json,
)
from counterset.models.adapter import ModelAdapter
from counterset.report.texts import TEXTS, counted
from counterset.tables.table import Table

__all__ = ["Cases", "Check", "cases_of"]

#: The first 5 people about whom something differs are named.
MOST_NAMED = 5


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes
    ----------
    holds
        Whether it is as the report says.
    text
        What was found, in one line.
    """

    holds: bool
    text: str


def cases_of(explanations: Explanations) -> list[dict[str, Any]]:
    """Return each decision: who it is about, and the options by what they change.

    A digest stands for the row, so that another row is noticed without one being held.
    """
    coded = explanations.coded
    features, moved = coded.table.features, coded.changed
    ends = explanations.counts.cumsum()
    cases = []
    for i, codes in enumerate(coded.inputs):
        options = [
            {
                "label": to_json_value(to_python(coded.labels[at])),
                "changes": {
                    features[j].name: value_to_json(features[j], float(coded.matrix[at, j]))
                    for j in np.flatnonzero(moved[at])
                },
            }
            for at in range(ends[i] - explanations.counts[i], ends[i])
        ]
        label = to_json_value(to_python(explanations.labels[i]))
        cases.append({
            "case": str(to_python(explanations.index[i])), "row": _row_digest(codes),
            "label": label, "options": options,
        })  # fmt: skip
    return cases


def _row_digest(codes: Vector) -> str:
    """Return 16 hexadecimal digits that differ from those of other rows."""
    cells = np.where(np.isnan(codes), np.nan, codes + 0.0)  # one NaN, and one 0
    return hashlib.sha256(np.ascontiguousarray(cells, dtype="<f8").tobytes()).hexdigest()[:16]


@dataclass(frozen=True)
class _Option:
    """A recorded option: its label, and the codes of what it changes by position."""

    label: Any
    changes: Mapping[int, float]


@dataclass(frozen=True)
class _Case:
    """A recorded decision: whom it is about, the digest of their row, its label, their options."""

    name: str
    digest: str
    label: Any
    options: tuple[_Option, ...]


@dataclass(frozen=True)
class Cases:
    """The recorded decisions on many people."""

    cases: tuple[_Case, ...]
    table: Table

    @classmethod
    def read(cls, given: Sequence[Mapping[str, Any]], table: Table) -> Cases:
        """Read what :func:`cases_of` returned."""

        def option(each: Mapping[str, Any]) -> _Option:
            at = {table.position(name): cell for name, cell in each["changes"].items()}
            codes = {i: value_from_json(table.features[i], cell) for i, cell in at.items()}
            return _Option(from_json_value(each["label"]), codes)

        cases = tuple(
            _Case(
                each["case"],
                each["row"],
                from_json_value(each["label"]),
                tuple(map(option, each["options"])),
            )
            for each in given
        )
        return cls(cases, table)

    def checks(self, data: Any, model: Any, sample: int | None) -> list[Callable[[], Check]]:
        """Return the checks of the rows, and of what the model says about them."""
        count = len(self.cases) if sample is None else min(sample, len(self.cases))
        which = np.arange(count) * len(self.cases) // max(count, 1)
        chosen = [self.cases[i] for i in which.tolist()]
        rows = self._rows(data, chosen)
        there = [case for case in chosen if rows.get(case.name) is not None]
        same = [case for case in there if _row_digest(rows[case.name]) == case.digest]
        others = [case.name for case in chosen if case not in same]
        people = self._people(len(chosen))
        text = TEXTS["same_rows"].format(people=people)
        if others:
            text = TEXTS["other_rows"].format(
                differ=len(others), people=people, which=_first(others)
            )
        found: list[Callable[[], Check]] = [lambda: Check(not others, text)]
        if same:
            found.append(lambda: self._asked(same, rows, model))
        return found

    def _people(self, count: int) -> str:
        """Return how many of the people were checked."""
        people = counted(len(self.cases), "person", "people")
        if count == len(self.cases):
            return people
        return TEXTS["people_of"].format(count=f"{count:,}", people=people)

    def _rows(self, data: Any, cases: Sequence[_Case]) -> dict[str, Vector]:
        """Return the codes of the rows of some cases, by their names."""
        if isinstance(data, pd.DataFrame):
            missing = [name for name in self.table.columns if name not in data.columns]
            if missing:
                raise InvalidInputError(
                    f"The data lacks columns of the report: {', '.join(map(str, missing))}. Pass "
                    f"the table that the report was made from."
                )
            wanted = {case.name for case in cases}
            names = [str(to_python(label)) for label in data.index]
            data = data.loc[[name in wanted for name in names], list(self.table.columns)]
        if not len(data):
            return {}
        matrix, index = self.table.encode(data)
        names = [str(to_python(label)) for label in index]
        if len(set(names)) < len(names):
            raise InvalidInputError(
                "The index of the data has labels twice, so that nobody can be found by theirs. "
                "Pass a table with a unique index."
            )
        return dict(zip(names, matrix, strict=True))

    def _asked(self, cases: Sequence[_Case], rows: Mapping[str, Vector], model: Any) -> Check:
        """Check what the model says about people and their options."""
        asked, then = [], []
        where: list[tuple[_Case, int]] = []
        for case in cases:
            own = rows[case.name]
            for rank, option in enumerate((_Option(case.label, {}), *case.options)):
                row = own.copy()
                row[list(option.changes)] = list(option.changes.values())
                asked.append(row)
                then.append(option.label)
                where.append((case, rank))
        now = [
            to_python(label) for label in ModelAdapter(model, self.table).labels(np.array(asked))
        ]
        differ: dict[str, str] = {}  # the first difference of each person
        for (case, rank), after, before in zip(where, now, then, strict=True):
            if not Fingerprint((before,)).agrees(Fingerprint((after,))):
                name = "on_option" if rank else "on_person"
                text = TEXTS[name].format(
                    case=case.name, rank=rank, now=_short(after), then=_short(before)
                )
                differ.setdefault(case.name, text)
        people, n_options = self._people(len(cases)), len(asked) - len(cases)
        if not differ:
            options = counted(n_options, "option")
            return Check(True, TEXTS["same_cases"].format(people=people, options=options))
        which = _first(list(differ.values()))
        text = TEXTS["other_cases"].format(differ=len(differ), people=people, which=which)
        return Check(False, text)


def _short(label: Any) -> str:
    """Return a label as a message shows it: a number with a few digits."""
    return f"{label:.6g}" if isinstance(label, float) else repr(label)


def _first(names: Sequence[str]) -> str:
    """Return names as an enumeration, the first of many."""
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return TEXTS["and_others"].format(names=shown, count=more) if more > 0 else shown
