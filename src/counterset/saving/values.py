"""What an explainer holds, as values of JSON and a list of arrays, and back.

Only the classes below are made when a file is read, without calling any of their functions, and
nothing is looked up by a name in the file. So a file from anyone can hold wrong numbers, but run no
code.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterset._base.lazy import Lazy, Memo
from counterset._base.row_counts import RowCounts
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import DataSupport, NearData
from counterset.distances import L0, L1, L2, Gower, LInf
from counterset.exceptions import InvalidInputError
from counterset.models.answers import Answers
from counterset.models.goals import Classes
from counterset.models.margin import Margin
from counterset.strategies.batch import Chosen
from counterset.strategies.diversity import AngleDiversity, DistanceDiversity, FeatureDiversity
from counterset.strategies.line_search import LineSearch
from counterset.strategies.nearest import Nearest, NearestFinder
from counterset.strategies.paper import Paper, PaperFinder
from counterset.strategies.ranking import CandidatesWithin, NearestCandidates
from counterset.strategies.recipes import RecipeBook, Recipes
from counterset.strategies.regions import Regions
from counterset.strategies.safe import Safe
from counterset.strategies.shared import OptionList, Shared, SharedFinder
from counterset.strategies.training import CandidatePool, TrainingData
from counterset.tables.features.learning import FEATURE_CLASSES
from counterset.tables.frames import ArrowTypes, Container, PolarsTypes
from counterset.tables.schema import Schema
from counterset.tables.space import Embedded, Space, TableDistance
from counterset.tables.table import Table
from counterset.tables.wording import Wording

__all__ = ["Reader", "Writer"]

#: The classes that a file can hold.
CLASSES: dict[str, type] = {
    each.__name__: each
    for each in (
        *(AngleDiversity, Answers, CandidatePool, CandidatesWithin, Chosen, Classes, Constraints),
        *(Container, DataSupport, DistanceDiversity, Embedded, FeatureDiversity, Gower, L0, L1, L2),
        *(LInf, Lazy, LineSearch, Margin, Memo, NearData, Nearest, NearestCandidates),
        *(NearestFinder, OptionList, Paper, PaperFinder, RecipeBook, Recipes, Regions, RowCounts),
        *(Safe, Schema, Shared, SharedFinder, Space, Table, TableDistance, TrainingData, Wording),
        *FEATURE_CLASSES,
    )
}
SEQUENCES: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}
#: What is computed when first needed, and takes long or much memory, is saved if it is there: the
#: answers about training rows, and the points, which workers then share.
KEPT: dict[type, tuple[str, ...]] = {
    CandidatePool: ("embedded",),
    TrainingData: ("_answers", "_plausible", "_row_counts"),
}
#: Classes that say themselves what they hold.
HOLD: dict[type, tuple[str, ...]] = {Lazy: ("value",), Memo: ("_most", "_values")}


def _names_of(cls: type) -> tuple[str, ...]:
    """Return the names of what an object of a class must have."""
    return HOLD[cls] if cls in HOLD else tuple(each.name for each in fields(cls))


class Writer:
    """Turns what an explainer holds into values of JSON.

    Parameters
    ----------
    model
        The model, which is left out.

    Attributes
    ----------
    objects
        The objects, each once: several may hold the same.
    arrays
        The arrays, in the order of their numbers.

    Examples
    --------
    >>> writer = Writer(model=None)
    >>> saved = writer.value({"gamma": (0.1, np.arange(3))}, "")
    >>> Reader(None, writer.objects, writer.arrays).value(saved)
    {'gamma': (0.1, array([0, 1, 2]))}
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.objects: list[Any] = []
        self.arrays: list[NDArray[Any]] = []
        self._places: dict[int, int] = {}
        self._known: list[Any] = []  # so that no other object gets the id of one of these

    def value(self, value: Any, path: str) -> Any:
        """Return a value as JSON has it.

        Parameters
        ----------
        path
            How a message says where the value is.
        """
        if value is None or type(value) in (bool, int, float, str):
            return value
        if value is self._model:
            return {"model": None}
        if type(value) in (list, tuple, set, frozenset):
            items = [self.value(each, f"{path}[{i}]") for i, each in enumerate(value)]
            return items if type(value) is list else {type(value).__name__: items}
        if isinstance(value, dict):
            pairs = [
                [self.value(key, f"a key of {path}"), self.value(each, f"{path}[{key!r}]")]
                for key, each in value.items()
            ]
            return {"dict": pairs}
        if isinstance(value, np.ndarray) or type(value) in CLASSES.values():
            return {"object": self._place(value, path)}
        return self._scalar(value, path)

    def _place(self, value: Any, path: str) -> int:
        """Return the number of an object or an array, and keep it if it is new."""
        if id(value) not in self._places:
            place = self._places[id(value)] = len(self.objects)
            self._known.append(value)
            self.objects.append(None)
            made = self._array if isinstance(value, np.ndarray) else self._object
            self.objects[place] = made(value, path)
        return self._places[id(value)]

    def _object(self, value: Any, path: str) -> Any:
        cls = type(value)
        names = list(_names_of(cls))
        names += [name for name in KEPT.get(cls, ()) if name in value.__dict__]
        state = {name: getattr(value, name) for name in names}
        where = f"{path}." if path else ""
        return [
            cls.__name__,
            {name: self.value(each, f"{where}{name}") for name, each in state.items()},
        ]

    def _array(self, value: NDArray[Any], path: str) -> Any:
        if value.dtype == object:
            cells = [self.value(each, f"{path}[{i}]") for i, each in enumerate(value.ravel())]
            return ["objects", list(value.shape), cells]
        if value.dtype.hasobject:
            raise self._refused(value, path)
        return ["array", self._raw(value)]

    def _raw(self, value: NDArray[Any]) -> int:
        self.arrays.append(value)
        return len(self.arrays) - 1

    def _scalar(self, value: Any, path: str) -> Any:
        """Return what is neither a container nor an object of counterset."""
        for name, (takes, write, read) in SCALARS.items():
            if takes(value):
                written = {name: self.value(write(value), path)}
                try:
                    back = read(*write(value))
                except Exception as error:
                    raise self._refused(value, path) from error
                if type(back) is not type(value) or not _is_same(back, value):
                    raise self._refused(value, path)
                return written
        raise self._refused(value, path)

    def _refused(self, value: Any, path: str) -> InvalidInputError:
        return InvalidInputError(
            f"This explainer cannot be saved, because {path} is {value!r:.200}, of type "
            f"{type(value).__module__}.{type(value).__qualname__}. A file holds what counterset "
            f"defines, and numbers, texts and times; not functions, models or objects of your "
            f"own. Leave it out, or fit where it is needed."
        )


class Reader:
    """Turns values of JSON back into what an explainer holds.

    Parameters
    ----------
    model
        What stands in the place of the model.
    objects, arrays
        As the writer made them.
    """

    def __init__(self, model: Any, objects: Sequence[Any], arrays: Sequence[NDArray[Any]]) -> None:
        self._model, self._objects, self._arrays = model, objects, arrays
        self._made: dict[int, Any] = {}

    def value(self, saved: Any) -> Any:
        """Return the value that was saved."""
        if isinstance(saved, list):
            return [self.value(each) for each in saved]
        if not isinstance(saved, dict):
            return saved
        ((name, content),) = saved.items()
        if name == "model":
            return self._model
        if name == "object":
            return self._object(content)
        if name == "dict":
            return {self.value(key): self.value(each) for key, each in content}
        items = self.value(content)
        return SEQUENCES[name](items) if name in SEQUENCES else SCALARS[name][2](*items)

    def _object(self, place: int) -> Any:
        if place in self._made:
            return self._made[place]
        name, *content = self._objects[place]
        if name == "array":
            self._made[place] = self._arrays[content[0]]
        elif name == "objects":
            shape, cells = content
            made = np.empty(len(cells), dtype=object)
            made[:] = [self.value(each) for each in cells]
            self._made[place] = made.reshape(shape)
        else:
            self._made[place] = object.__new__(CLASSES[name])  # it may hold itself
            self._fill(self._made[place], content[0])
        return self._made[place]

    def _fill(self, made: Any, saved: dict[str, Any]) -> None:
        cls = type(made)
        names = set(_names_of(cls))
        if not names <= set(saved) <= names.union(KEPT.get(cls, ())):
            raise ValueError(f"{cls.__name__} has other parts")
        state = {name: self.value(each) for name, each in saved.items()}
        if isinstance(made, Memo):
            made.__setstate__(state)  # which adds a lock
        else:
            made.__dict__.update(state)  # no function of the class runs


def _is_same(a: Any, b: Any) -> bool:
    """Whether what was read is what was written; missing values are equal too."""
    if isinstance(a, pd.Index):
        return a.equals(b) and a.dtype == b.dtype and a.names == b.names
    if PolarsTypes.has_series(a):
        return bool(a.dtype == b.dtype and a.equals(b))
    return a is b or repr(a) == repr(b)


def _read_numpy(dtype: str, content: bytes) -> Any:
    return np.frombuffer(content, dtype=_plain_dtype(dtype))[0]


def _plain_dtype(text: str) -> np.dtype[Any]:
    dtype = np.dtype(text)
    if dtype.hasobject:
        raise ValueError(f"{text} is no dtype of plain numbers")
    return dtype


def _write_dtype(dtype: Any) -> tuple[Any, ...]:
    if isinstance(dtype, pd.CategoricalDtype):
        return None, dtype.categories, dtype.ordered
    return (str(dtype),)


def _read_dtype(
    text: str | None, categories: pd.Index | None = None, ordered: bool | None = None
) -> Any:
    if text is None:
        return pd.CategoricalDtype(categories, ordered)
    return pd.api.types.pandas_dtype(text)


def _write_index(index: pd.Index) -> tuple[Any, ...]:
    if isinstance(index, pd.RangeIndex):
        return index.start, index.stop, index.name, index.step
    numbers = isinstance(index.dtype, np.dtype) and index.dtype.kind in "iufb"
    values = index.to_numpy() if numbers else index.tolist()
    return values, index.dtype, index.name


def _read_index(values: Any, dtype: Any, name: Any, step: int | None = None) -> pd.Index:
    if step is not None:
        return pd.RangeIndex(values, dtype, step, name=name)
    index: pd.Index = pd.Index(values, dtype=dtype, name=name)
    return index


def _write_time(value: pd.Timestamp) -> tuple[int, str, str | None]:
    zone = None if value.tz is None else str(value.tz)
    return int(value.to_datetime64().astype(np.int64)), value.unit, zone


def _read_time(count: int, unit: str, zone: str | None) -> pd.Timestamp:
    value = pd.Timestamp(np.datetime64(count, unit))  # type: ignore[call-overload]
    return value if zone is None else value.tz_localize("UTC").tz_convert(zone)


def _write_duration(value: pd.Timedelta) -> tuple[int, str]:
    return int(value.to_timedelta64().astype(np.int64)), value.unit


def _read_duration(count: int, unit: str) -> pd.Timedelta:
    return pd.Timedelta(np.timedelta64(count, unit))  # type: ignore[call-overload]


#: Whether a value is of a kind, what is written of it, and how that is read.
SCALARS: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Any], Callable[..., Any]]] = {
    "bytes": (
        lambda value: type(value) is bytes,
        lambda value: (value.hex(),),
        bytes.fromhex,
    ),
    "number": (
        lambda value: isinstance(value, np.generic) and not value.dtype.hasobject,
        lambda value: (value.dtype.str, value.tobytes()),
        _read_numpy,
    ),
    "numpy dtype": (
        lambda value: isinstance(value, np.dtype),
        lambda value: (value.str,),
        np.dtype,
    ),
    "pandas dtype": (
        lambda value: isinstance(value, pd.api.extensions.ExtensionDtype),
        _write_dtype,
        _read_dtype,
    ),
    "index": (lambda value: isinstance(value, pd.Index), _write_index, _read_index),
    "not a time": (lambda value: value is pd.NaT, lambda _: (), lambda: pd.NaT),
    "missing": (lambda value: value is pd.NA, lambda _: (), lambda: pd.NA),
    "timestamp": (lambda value: isinstance(value, pd.Timestamp), _write_time, _read_time),
    "time": (
        lambda value: type(value) is datetime.datetime and value.tzinfo is None,
        lambda value: (value.isoformat(), value.fold),
        lambda text, fold: datetime.datetime.fromisoformat(text).replace(fold=fold),
    ),
    "timedelta": (lambda value: isinstance(value, pd.Timedelta), _write_duration, _read_duration),
    "duration": (
        lambda value: type(value) is datetime.timedelta,
        lambda value: (value.days, value.seconds, value.microseconds),
        datetime.timedelta,
    ),
    "date": (
        lambda value: type(value) is datetime.date,
        lambda value: (value.isoformat(),),
        datetime.date.fromisoformat,
    ),
    "interval": (
        lambda value: isinstance(value, pd.Interval),
        lambda value: (value.left, value.right, value.closed),
        pd.Interval,
    ),
    "decimal": (
        lambda value: type(value) is Decimal,
        lambda value: (str(value),),
        Decimal,
    ),
    "polars series": (
        PolarsTypes.has_series,
        lambda value: (value.name, value.to_list(), value.dtype),
        PolarsTypes.read_series,
    ),
    "polars dtype": (PolarsTypes.has, PolarsTypes.parts, PolarsTypes.read),
    "arrow dtype": (ArrowTypes.has, ArrowTypes.parts, ArrowTypes.read),
}
