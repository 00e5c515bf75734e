"""Which input column each column made by scalers and encoders comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils import check_array

from counterset.exact.category_codes import CategoryCodes
from counterset.exact.scalers import SCALERS, read_scaler

__all__ = ["Source", "does_nothing", "sources_of"]


class Source(NamedTuple):
    """The input column that a column is made from.

    Attributes
    ----------
    column
        The input column.
    rises
        Whether the made column rises with it.
    centre, factor, shift
        A number that rises becomes ``(number - centre) * factor + shift``; ``factor`` is NaN where
        the made column rises in another way.
    rounds
        The size of what is rounded on the way, besides the made number itself.
    """

    column: int
    rises: bool
    centre: float = 0.0
    factor: float = 1.0
    shift: float = 0.0
    rounds: float = 0.0


def does_nothing(step: Any) -> bool:
    """Return whether a step of a pipeline leaves rows as they are."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def sources_of(step: Any, n_columns: int) -> list[Source] | None:
    """Return the source of each column that a step makes; None if the step is not known.

    Examples
    --------
    >>> encoder = OneHotEncoder().fit([["a", "x"], ["b", "x"]])
    >>> [source.column for source in sources_of(encoder, 2)]
    [0, 0, 1]
    """
    for kinds, read in _STEPS:
        if isinstance(step, kinds):
            return read(step, n_columns)
    return _each(step, n_columns) if does_nothing(step) else None


def _each(step: Any, n_columns: int) -> list[Source] | None:
    del step
    return [Source(column, rises=True) for column in range(n_columns)]


def _of_scaler(step: Any, n_columns: int) -> list[Source] | None:
    read = read_scaler(step)
    if read is None:  # it rises to an end, and stays there
        return [Source(column, rises=True, factor=np.nan) for column in range(n_columns)]
    return [
        Source(column, True, float(centre), float(factor), float(shift), abs(float(shift)))
        for column, (centre, factor, shift) in enumerate(
            zip(read.centre, read.factor, read.shift, strict=True)
        )
    ]


def _of_function(step: FunctionTransformer, n_columns: int) -> list[Source] | None:
    checks = isinstance(step.func, partial) and step.func.func is check_array
    return _each(step, n_columns) if step.func is None or checks else None


def _of_imputer(step: SimpleImputer, n_columns: int) -> list[Source] | None:
    dropped = pd.isna(np.asarray(step.statistics_, dtype=object)).any()
    if step.add_indicator or dropped:
        return None
    # A number that stands for a missing value becomes another one.
    rises = bool(pd.isna(step.missing_values))
    return [Source(column, rises) for column in range(n_columns)]


def _of_ordinal(step: OrdinalEncoder, n_columns: int) -> list[Source] | None:
    del step
    return [Source(column, rises=False) for column in range(n_columns)]


def _of_one_hot(step: OneHotEncoder, n_columns: int) -> list[Source] | None:
    del n_columns
    sources = []
    rare = getattr(step, "infrequent_categories_", [None] * len(step.categories_))
    dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(step.categories_)
    for column, values in enumerate(step.categories_):
        grouped = 0 if rare[column] is None else len(rare[column]) - 1
        count = len(values) - grouped - (dropped[column] is not None)
        sources += [Source(column, rises=False)] * count
    return sources


def _of_pipeline(step: Pipeline, n_columns: int) -> list[Source] | None:
    sources = _each(step, n_columns)
    for _, inner in step.steps:
        made = None if sources is None else sources_of(inner, len(sources))
        sources = None if sources is None or made is None else _through(sources, made)
    return sources


def _through(sources: list[Source], made: list[Source]) -> list[Source]:
    """Trace columns that are made from made columns back to the input."""
    return [_one_after(sources[each.column], each) for each in made]


def _one_after(first: Source, second: Source) -> Source:
    """Return the source of a column that is made from a made column."""
    if first[1:] == (True, 0.0, 1.0, 0.0, 0.0):  # the input's column itself
        return second._replace(column=first.column)
    moved = second.centre * second.factor  # what the second subtracts, in the units that it makes
    return Source(
        first.column,
        first.rises and second.rises,
        first.centre,
        first.factor * second.factor,
        first.shift * second.factor - moved + second.shift,
        first.rounds * abs(second.factor) + abs(moved) + second.rounds,
    )


def _of_columns(step: ColumnTransformer, n_columns: int) -> list[Source] | None:
    del n_columns
    found: dict[int, Source] = {}
    for name, inner, _ in step.transformers_:
        given = step._transformer_to_input_indices[name]
        if len(given) == 0 or (isinstance(inner, str) and inner == "drop"):
            continue
        made = sources_of(inner, len(given))
        if made is None:
            return None
        from_input = [Source(int(column), rises=True) for column in given]
        made_columns = step.output_indices_[name]
        positions = range(made_columns.start, made_columns.stop)
        if len(positions) != len(made):
            return None
        found |= zip(positions, _through(from_input, made), strict=True)
    return [found[position] for position in range(len(found))]


_STEPS: tuple[tuple[Any, Callable[[Any, int], list[Source] | None]], ...] = (
    (SCALERS, _of_scaler),
    (FunctionTransformer, _of_function),
    (SimpleImputer, _of_imputer),
    (CategoryCodes, _each),
    (OrdinalEncoder, _of_ordinal),
    (OneHotEncoder, _of_one_hot),
    (Pipeline, _of_pipeline),
    (ColumnTransformer, _of_columns),
)
