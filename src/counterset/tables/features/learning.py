"""Learn the features of the training data, and choose the class of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Matrix
from counterset.exceptions import InvalidInputError
from counterset.tables.features.category import Category, Ordinal
from counterset.tables.features.feature import Feature, TrainingColumns
from counterset.tables.features.number import Number
from counterset.tables.features.one_hot import OneHotGroup
from counterset.tables.features.time import Time
from counterset.tables.names import find_name, positions_by_name
from counterset.tables.schema import Kind, Schema

__all__ = ["FEATURE_CLASSES", "learn_features"]

#: The classes of features. The first that takes the training columns learns them: a one-hot
#: group is a category too, and a time is continuous.
FEATURE_CLASSES: tuple[type[Feature], ...] = (OneHotGroup, Time, Number, Ordinal, Category)


def learn_features(frame: pd.DataFrame, schema: Schema) -> tuple[tuple[Feature, ...], Matrix]:
    """Learn the features of the training data; also return their codes, ``(n, n_features)``.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [31, 52], "home": ["rent", "own"]})
    >>> features, codes = learn_features(frame, Schema(categorical=["age"]))
    >>> [type(feature).__name__ for feature in features]
    ['Category', 'Category']
    >>> codes
    array([[0., 1.],
           [1., 0.]])
    """
    schema = _by_text(schema, frame)
    learned = [
        next(each for each in FEATURE_CLASSES if each.takes(training)).learn(training)
        for training in _training_columns(frame, schema)
    ]
    return (
        tuple(feature for feature, _ in learned),
        np.column_stack([codes for _, codes in learned]),
    )


def _training_columns(frame: pd.DataFrame, schema: Schema) -> Iterator[TrainingColumns]:
    """Yield the columns of each feature; a one-hot group stands where its first column does."""
    names, dtypes = [str(name) for name in frame.columns], list(frame.dtypes)
    group_of = {column: group for group, columns in schema.one_hot.items() for column in columns}
    done: set[str] = set()
    for position, name in enumerate(names):
        group = group_of.get(name)
        if group is None:
            kind = schema.kind_of(name) or _kind_of(dtypes[position], name)
            order = schema.ordinal.get(name)
            values = None if order is None else tuple(order)
            yield TrainingColumns(name, frame, (position,), kind, values)
        elif group not in done:
            done.add(group)
            members = tuple(names.index(column) for column in schema.one_hot[group])
            yield TrainingColumns(group, frame, members, "categorical", is_one_hot=True)


def _by_text(schema: Schema, frame: pd.DataFrame) -> Schema:
    """Return the schema with the columns' labels as text; check its names."""
    names, positions = [str(name) for name in frame.columns], positions_by_name(frame.columns)
    unknown = [name for name in schema.declared if find_name(name, positions) is None]
    if unknown:
        raise InvalidInputError(f"The schema names unknown columns {unknown}. Known: {names}.")

    def texts(labels: Iterable[Any]) -> list[str]:
        return [names[positions[label]] for label in labels]

    schema = Schema(
        ordinal=dict(zip(texts(schema.ordinal), schema.ordinal.values(), strict=True)),
        categorical=texts(schema.categorical),
        continuous=texts(schema.continuous),
        integer=texts(schema.integer),
        binary=texts(schema.binary),
        one_hot={group: texts(columns) for group, columns in schema.one_hot.items()},
    )
    grouped = {column for columns in schema.one_hot.values() for column in columns}
    clashing = sorted(set(schema.one_hot) & {name for name in names if name not in grouped})
    if clashing:
        raise InvalidInputError(
            f"The one-hot groups {clashing} are named like columns outside of them. Choose other "
            f"names."
        )
    return schema


def _kind_of(dtype: Any, name: str) -> Kind:
    """Return the kind of a column that the user did not declare."""
    if types.is_bool_dtype(dtype):
        return "binary"
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if types.is_integer_dtype(dtype):
        return "integer"
    if types.is_complex_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        what = "Complex data" if types.is_complex_dtype(dtype) else "Time span"
        raise InvalidInputError(
            f"{what} not supported: feature {name!r} has dtype {dtype}. "
            f"Turn it into numbers, or leave it out."
        )
    if types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype):
        return "continuous"
    return "categorical"
