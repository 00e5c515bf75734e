"""Learning: which columns of the training data become which features.

The kind of a column follows from the schema, its dtype and its values, in that order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from pandas.api import types

from counterset._base.arrays import Matrix
from counterset.exceptions import CountersetWarning, InvalidInputError
from counterset.tables.features.category import Category, OneHotGroup, Ordinal
from counterset.tables.features.feature import Feature, TrainingColumns
from counterset.tables.features.number import LARGEST_EXACT, Number
from counterset.tables.features.time import Time
from counterset.tables.features.written import WrittenNumber, form_of, is_written
from counterset.tables.schema import Kind, Schema, find_name, positions_by_name
from counterset.tables.wording import Wording, check_unit, readable

__all__ = ["FEATURE_CLASSES", "learn_features", "with_wording"]


def with_wording(feature: Feature, schema: Schema) -> Feature:
    """Return a feature with the wording that a schema declares; its names are texts.

    Examples
    --------
    >>> from counterset.tables.table import Table
    >>> schema = Schema(labels={"x0": "age"}, units={"x0": "years"})
    >>> feature = Table.learn([[31.0], [52.0]], schema)[0].features[0]
    >>> feature.label, feature.unit, feature.text_of(31.0)
    ('age', 'years', '31')
    """
    name = feature.name
    if name not in {*schema.labels, *schema.units, *schema.texts}:
        return feature
    many = one = ""
    if name in schema.units:
        if not isinstance(feature, Number):
            raise InvalidInputError(
                f"units[{name!r}] is for numbers, but {name!r} is {feature.kind}. Leave it out, or "
                f"name the unit in texts[{name!r}]."
            )
        many, one = check_unit(name, schema.units[name])
    texts = dict(schema.texts.get(name, {}))
    of_missing = texts.pop(None, None)
    codes = tuple((feature.code_of(value), text) for value, text in texts.items())
    if any(np.isinf(code) for code, _ in codes):
        raise InvalidInputError(f"texts[{name!r}] names an infinite value. Leave it out.")
    label = schema.labels.get(name, readable(name))
    return replace(feature, wording=Wording(label, many, one, codes, of_missing))


#: The classes of features. The first that takes the training columns learns them: a one-hot
#: group is a category too, a time is continuous, and a written number is a number.
FEATURE_CLASSES: tuple[type[Feature], ...] = (
    OneHotGroup,
    Time,
    WrittenNumber,
    Number,
    Ordinal,
    Category,
)


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
    columns = list(_training_columns(frame, schema))
    matrix = np.empty((len(frame), len(columns)))
    features = []
    for i, training in enumerate(columns):
        kind = next(each for each in FEATURE_CLASSES if each.takes(training))
        feature, matrix[:, i] = kind.learn(training)
        features.append(with_wording(feature, schema))
    return tuple(features), matrix


def _training_columns(frame: pd.DataFrame, schema: Schema) -> Iterator[TrainingColumns]:
    """Yield the columns of each feature; a one-hot group stands where its first column does."""
    names = [str(name) for name in frame.columns]
    group_of = {column: group for group, columns in schema.one_hot.items() for column in columns}
    done: set[str] = set()
    for position, name in enumerate(names):
        group = group_of.get(name)
        if group is None:
            yield _one_column(frame, position, name, schema)
        elif group not in done:
            done.add(group)
            members = tuple(names.index(column) for column in schema.one_hot[group])
            yield TrainingColumns(group, frame, members, "categorical", is_one_hot=True)


def _one_column(frame: pd.DataFrame, position: int, name: str, schema: Schema) -> TrainingColumns:
    """Return what is known of a feature of one column before its values are learned."""
    column, order = frame.iloc[:, position], schema.ordinal.get(name)
    step = 0.0 if schema.step == 0 else schema.steps.get(name)
    special = schema.special_of(name)
    declared = schema.kind_of(name)
    kind = declared or _kind_of_dtype(column.dtype, name)
    if declared is None and step is None:  # look at the values
        if kind == "categorical" and _is_written_number(column, name):
            kind = "continuous"
        if kind == "continuous":
            kind = _kind_of_numbers(column, special)
    training = TrainingColumns(
        name,
        frame,
        (position,),
        kind,
        None if order is None else tuple(order),
        is_flag=declared is None and kind == "binary" and not types.is_bool_dtype(column.dtype),
        step=step,
        special=special,
    )
    _check_is_number(training, schema)
    return training


def _check_is_number(training: TrainingColumns, schema: Schema) -> None:
    """Check that only numbers have a declared step or special codes."""
    name = training.name
    for parameter, declared in (("step", schema.steps), ("special", schema.special_by_name)):
        is_number = Number.takes(training) and not Time.takes(training)
        if name in declared and not is_number:
            kind = "a time" if Time.takes(training) else training.kind
            raise InvalidInputError(
                f"{parameter}[{name!r}] is for numbers, but {name!r} is {kind}. Leave it out."
            )


def _by_text(schema: Schema, frame: pd.DataFrame) -> Schema:
    """Return the schema with the columns' labels as text; check its names."""
    names, positions = [str(name) for name in frame.columns], positions_by_name(frame.columns)
    named = [*schema.declared, *schema.steps, *schema.special_by_name]
    worded = [*schema.labels, *schema.units, *schema.texts]
    named += [name for name in worded if name not in schema.one_hot]
    unknown = [name for name in named if find_name(name, positions) is None]
    if unknown:
        raise InvalidInputError(
            f"The schema names unknown columns {unknown}. The columns are {names}."
        )

    def texts(labels: Iterable[Any]) -> list[str]:
        return [label if label in schema.one_hot else names[positions[label]] for label in labels]

    def by_text(mapping: Mapping[Any, _Value]) -> dict[str, _Value]:
        return dict(zip(texts(mapping), mapping.values(), strict=True))

    schema = replace(
        schema,
        ordinal=by_text(schema.ordinal),
        categorical=texts(schema.categorical),
        continuous=texts(schema.continuous),
        integer=texts(schema.integer),
        binary=texts(schema.binary),
        one_hot={group: texts(columns) for group, columns in schema.one_hot.items()},
        step=by_text(schema.steps) or schema.step,
        special=by_text(schema.special_by_name) or schema.special,
        labels=by_text(schema.labels),
        units=by_text(schema.units),
        texts=by_text(schema.texts),
    )
    grouped = {column for columns in schema.one_hot.values() for column in columns}
    clashing = sorted(set(schema.one_hot) & {name for name in names if name not in grouped})
    if clashing:
        raise InvalidInputError(
            f"The one-hot groups {clashing} are named like columns outside of them. Choose other "
            f"names."
        )
    return schema


_Value = TypeVar("_Value")


def _kind_of_dtype(dtype: Any, name: str) -> Kind:
    """Return the kind that follows from the dtype of a column."""
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


def _kind_of_numbers(column: pd.Series, special: tuple[float, ...]) -> Kind:
    """Return the kind of a column of numbers or times, from its values.

    Counts become floats when one of them is missing, and flags when a table is made an array.
    """
    if types.is_datetime64_any_dtype(column.dtype):
        return "continuous"
    try:
        known = column.dropna().to_numpy(dtype=np.float64)
    except OverflowError:  # refused when the column is read
        return "continuous"
    known = known[~np.isin(known, special)]
    whole = len(known) > 0 and bool((known == np.rint(known)).all())
    if not whole or np.abs(known).max() >= LARGEST_EXACT:
        return "continuous"
    is_flag = types.is_float_dtype(column.dtype) and set(known.tolist()) == {0.0, 1.0}
    return "binary" if is_flag else "integer"


def _is_written_number(column: pd.Series, name: str) -> bool:
    """Return whether a column of objects or text holds numbers; warn where that is a guess."""
    if isinstance(column.dtype, pd.CategoricalDtype) or not is_written(column.dtype):
        return False
    form = form_of(column)
    if form == "text":
        if column.nunique() <= 2:  # as good as a category
            return False
        warnings.warn(
            f"Feature {name!r} holds text of digits, such as {column.dropna().iloc[0]!r}, and is "
            f"taken for numbers. If its values are codes, declare "
            f"Schema(categorical=[{name!r}]); if not, Schema(continuous=[{name!r}]).",
            CountersetWarning,
            stacklevel=2,
        )
    return form is not None
