"""Which rows of a file are explained: those for which an expression holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Mask
from counterset.batch.isolation import isolate
from counterset.exceptions import InvalidInputError, ModelError
from counterset.explainer import DiverseExplainer
from counterset.models.adapter import ModelAdapter

__all__ = ["Where"]

#: What an expression calls the class that the model gives a row.
DECISION = "decision"


@dataclass(frozen=True)
class Where:
    """An expression about the columns of a file, such as ``age > 30 and town == 'Ulm'``.

    ``decision`` stands for the class that the model gives the row, unless a column is called so.

    Attributes
    ----------
    expression
        As ``DataFrame.eval`` of pandas takes it; None: all rows are explained.
    explainer
        What holds the model and knows its columns.
    kept_as_text
        Columns that were read as text, whatever they are, to be returned as they stand.
    """

    expression: str | None
    explainer: DiverseExplainer
    kept_as_text: Sequence[str] = ()

    def mask(self, rows: pd.DataFrame) -> Mask:
        """Return for which rows the expression holds, or the decision is not known.

        Rows on which the model fails are explained too: then their status says so.
        """
        everything = np.ones(len(rows), dtype=bool)
        if self.expression is None or not len(rows):
            return everything
        unknown = ~everything
        known = rows.copy(deep=False)
        for name in self.kept_as_text:
            known[name] = _numbers_if_all_are(rows[name])
        if DECISION not in rows and re.search(rf"\b{DECISION}\b", self.expression):
            known[DECISION], unknown = self._decisions(rows)
        return _holds(self.expression, known) | unknown

    def _decisions(self, rows: pd.DataFrame) -> tuple[pd.Series, Mask]:
        """Return the class of each row, and for which rows the model fails."""
        table = self.explainer.schema_
        model = ModelAdapter(self.explainer.model, table)
        features = rows[list(table.columns)]
        found = isolate(
            np.arange(len(rows)),
            lambda some: model.labels(table.encode(features.iloc[some])[0]),
            (InvalidInputError, ModelError),
        )
        decisions = pd.Series(None, index=rows.index, dtype=object)
        for some, labels in found.pieces:
            decisions.iloc[some] = labels
        unknown = np.zeros(len(rows), dtype=bool)
        unknown[list(found.errors)] = True
        return decisions.infer_objects(), unknown


def _numbers_if_all_are(column: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(column, errors="coerce")
    return column if (numbers.isna() & column.notna()).any() else numbers


def _holds(expression: str, rows: pd.DataFrame) -> Mask:
    """Return for which rows an expression holds."""
    try:
        holds: Any = rows.eval(expression, engine="python", local_dict={}, global_dict={})
    except Exception as error:  # an expression can fail in any way
        raise InvalidInputError(
            f"--where cannot be evaluated: {type(error).__name__}: {error}. The columns are "
            f"{list(rows)}. Put texts in quotes: \"town == 'Ulm'\"."
        ) from error
    # What is asked of a missing value is missing too, or an object, and does not hold.
    values = np.array(holds, dtype=object) if isinstance(holds, pd.Series) else np.array([holds])
    values[pd.isna(values)] = False
    if len(values) != len(rows) or not all(isinstance(each, bool | np.bool_) for each in values):
        raise InvalidInputError(
            f'--where must be true or false for each row, as "income > 50" is, got {expression!r}.'
        )
    return values.astype(bool)
