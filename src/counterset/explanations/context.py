"""Context: how an explanation was made, and fingerprints of the model and the training data.

A model that was saved and loaded again is another object with other bytes, so that no hash of the
object recognises it. Its answers are the same, and a retrained model's are not. So the fingerprint
of a model is what it answers about some fixed rows. They are made up from the ranges of the
features: a report that is handed out must not contain the rows of other people.
"""

from __future__ import annotations

import hashlib
import math
import platform
import re
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Labels, Matrix, Vector, row_blocks, to_python
from counterset._base.lazy import Lazy
from counterset.exceptions import InvalidInputError
from counterset.explanations.reasons import Background, Contributions, find_contributions
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import Classes, Goal
from counterset.models.margin import Margin
from counterset.tables.schema import Schema
from counterset.tables.space import TableDistance
from counterset.tables.table import Table

__all__ = [
    "PROBES",
    "Context",
    "Fingerprint",
    "TrainingSummary",
    "as_written",
    "hash_rows",
    "probe_rows",
    "settings_of",
    "versions",
]

#: A model is asked about 256 made-up rows: that a retrained model answers all of them alike is
#: improbable, and they take one call.
PROBES = 256
#: Numbers that a model predicts agree if they differ by at most 1e-4 of their size: ONNX computes
#: in single precision.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Fingerprint:
    """What a model answers about fixed rows.

    Attributes
    ----------
    labels
        Its label of each row.
    probabilities
        The probability of each row's label, to 6 digits, if the model has ``predict_proba``.

    Examples
    --------
    >>> table, _ = Table.learn([[0.0], [0.5], [1.0]])
    >>> first, second = (Fingerprint.of(lambda X, t=t: X[:, 0] > t, table) for t in (0.5, 0.6))
    >>> first.agrees(first), first.agrees(second)
    (True, False)
    """

    labels: tuple[Any, ...]
    probabilities: tuple[float, ...] | None = None

    @classmethod
    def of(cls, model: Any, table: Table) -> Fingerprint:
        """Ask a model about the rows that follow from a table."""
        has_probabilities = callable(getattr(model, "predict_proba", None)) and hasattr(
            model, "classes_"
        )
        adapter = ModelAdapter(model, table, with_confidence=has_probabilities)
        answers = adapter.answers(probe_rows(table))
        labels = tuple(to_python(label) for label in answers.labels)
        if answers.confidence is None:
            return cls(labels)
        return cls(labels, tuple(round(float(each), 6) for each in answers.confidence))

    def agrees(self, other: Fingerprint) -> bool:
        """Whether two models answer alike; numbers may differ by rounding."""
        pairs = [*zip(self.labels, other.labels, strict=True)]
        if self.probabilities is not None and other.probabilities is not None:
            pairs += zip(self.probabilities, other.probabilities, strict=True)
        return all(_agree(first, second) for first, second in pairs)

    @property
    def digest(self) -> str:
        """A hash of the labels, to compare by eye."""
        return hashlib.sha256(repr(self.labels).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint as values of JSON; labels that JSON has not become text."""
        return {
            "digest": self.digest,
            "labels": [_json_label(label) for label in self.labels],
            "probabilities": None if self.probabilities is None else list(self.probabilities),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fingerprint:
        """Read what ``to_dict`` returned."""
        try:
            probabilities = data["probabilities"]
            return cls(
                tuple(data["labels"]), None if probabilities is None else tuple(probabilities)
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(f"This is no fingerprint of a model: {error!r}.") from error


def probe_rows(table: Table, count: int = PROBES) -> Matrix:
    """Return rows within the ranges of the features, the same whenever asked, ``(count, d)``.

    The values of feature j are the fractional parts of multiples of the square root of the j-th
    prime, stretched to its range: spread evenly, different in every feature, and free of any
    generator of random numbers, which may change from release to release.
    """
    steps = np.arange(1, count + 1)[:, None]
    shares = np.modf(steps * np.sqrt(_primes(len(table.features))))[0]
    matrix = np.empty((count, len(table.features)))
    for j, feature in enumerate(table.features):
        if feature.seen is not None:
            seen = np.array(feature.seen or (np.nan,))  # a column may have no value at all
            matrix[:, j] = seen[(shares[:, j] * len(seen)).astype(np.intp)]
        else:
            matrix[:, j] = feature.low + shares[:, j] * (feature.high - feature.low)
    return table.snap(matrix)


def hash_rows(table: Table, matrix: Matrix, order: Indices | None = None) -> str:
    """Return the SHA-256 hash of rows: of their columns and of all cells.

    Two tables have the same hash if they hold the same rows in the same order.

    Parameters
    ----------
    order
        The positions of the rows in the order to hash them in; None: as they stand.
    """
    digest = hashlib.sha256()
    for feature in table.features:
        described = (feature.name, feature.kind, str(feature.dtype), feature.values)
        digest.update(repr(described).encode())
    digest.update(repr([str(column) for column in table.columns]).encode())
    for block in row_blocks(len(matrix)):
        rows = matrix[block if order is None else order[block]]
        cells = np.where(np.isnan(rows), np.nan, rows + 0.0)  # one NaN, and one 0
        digest.update(np.ascontiguousarray(cells, dtype="<f8").tobytes())
    return digest.hexdigest()


def _primes(count: int) -> Vector:
    """Return the first primes."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        number += 1
    return np.array(found, dtype=np.float64)


def _agree(first: Any, second: Any) -> bool:
    if isinstance(first, float) or isinstance(second, float):
        numbers = isinstance(first, float | int) and isinstance(second, float | int)
        return numbers and math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(_json_label(first) == _json_label(second))


def _json_label(label: Any) -> Any:
    return label if isinstance(label, bool | int | float | str) else str(label)


#: A place in memory, which the repr of many objects names.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: The packages whose releases can change an answer.
PACKAGES = ("counterset", "numpy", "pandas", "scikit-learn", "scipy")


@dataclass(frozen=True)
class TrainingSummary:
    """What an explanation records of the training rows.

    Attributes
    ----------
    rows
        How many there are.
    labels
        From each label that the model predicts for them to how many have it; None for a
        regression, whose labels are numbers.
    low, high
        For a regression, the range of the predictions, else None.
    hash
        A SHA-256 hash of the rows, see :func:`~counterset.explanations.context.hash_rows`.
    """

    rows: int
    labels: Mapping[Any, int] | None
    low: float | None
    high: float | None
    hash: str


@dataclass(frozen=True, eq=False)
class Context:
    """How an explanation was made: by which model, for which goal, within which constraints.

    A pickle holds neither the model nor the distance: ``model`` and ``distance`` are None after
    unpickling. ``with_model`` puts the model back.

    Attributes
    ----------
    model
        The model that was asked; None in an explanation that was unpickled or loaded.
    table
        The columns.
    distance
        How rows are compared; None in an explanation that was unpickled or loaded.
    classes
        The labels of the training rows; None if there are none.
    goal
        Which labels were acceptable.
    probability
        How probable the label of a counterfactual had to be, or None.
    constraints
        What may change, as users write it, from parameters of ``Constraints`` to what was passed.
    costs
        From names to what a change costs, as users write it.
    settings
        The explainer's parameters beside the model: numbers, texts, True, False and None as they
        are, all else as its repr; computed when first read.
    training
        What is recorded of the training rows, computed when first read; None if there are none.
    background
        Training rows to compare inputs with, to find reasons, drawn when first read; None in an
        explanation that was loaded, and without training rows. A pickle holds them.
    explainer
        The name of the explainer's class.
    margin
        How near to an option people may land; None: they land on it.
    """

    model: Any
    table: Table
    distance: TableDistance | None
    classes: Classes | None
    goal: Goal
    probability: float | None
    constraints: Mapping[str, Any]
    costs: Mapping[Any, float]
    settings: Lazy[Mapping[str, Any]]
    training: Lazy[TrainingSummary] | None
    background: Lazy[Background] | None
    explainer: str = "DiverseExplainer"
    margin: Margin | None = None

    @property
    def is_regression(self) -> bool:
        """Whether the model predicts numbers with fractions, not classes."""
        return self.classes is not None and self.classes.are_measurements

    @property
    def wanted_count(self) -> int | None:
        """How many counterfactuals were asked for, if that is a setting."""
        count = self.settings.value.get("max_counterfactuals")
        return count if isinstance(count, int) else None

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the model, which is asked about made-up rows."""
        return Fingerprint.of(self.model_to_ask(), self.table)

    def model_to_ask(self) -> Any:
        """Return the model to ask; it is an error if it was lost."""
        if self.model is None:
            raise InvalidInputError(
                "This explanation was unpickled or loaded, and holds no model to ask. Put it back: "
                "explanation.with_model(model)."
            )
        return self.model

    @property
    def can_compare(self) -> bool:
        """Whether there are a model and training rows to find reasons with."""
        return self.model is not None and self.background is not None

    def contributions(self, inputs: Matrix, labels: Labels) -> Contributions:
        """Find what every value of some inputs contributes; the model is asked.

        Parameters
        ----------
        inputs, labels
            The inputs, ``(n, d)``, and their labels.
        """
        if self.background is None:
            raise InvalidInputError(
                "There are no training rows to compare with, which reasons need: this explanation "
                "was loaded from a file without reasons, or its explainer has no training data. "
                "Explain the input with a DiverseExplainer; to_json then writes its reasons."
            )
        return find_contributions(
            self.table,
            inputs,
            labels,
            model=self.model_to_ask(),
            goal=self.goal,
            background=self.background.value,
        )

    def with_model(self, model: Any) -> Context:
        """Return the same context with a model to ask."""
        return replace(self, model=model)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None, "distance": None}


def versions() -> dict[str, str]:
    """Return the releases of Python and of the packages that can change an answer.

    Examples
    --------
    >>> sorted(versions())
    ['counterset', 'numpy', 'pandas', 'python', 'scikit-learn', 'scipy']
    """
    return dict(_versions())


@cache  # looking them up takes longer than all else that the JSON form of an explanation holds
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version()} | {
        package: metadata.version(package) for package in PACKAGES
    }


def as_written(value: Any) -> Any:
    """Return what a user passed as values that can be kept: no functions, no views.

    Objects with fields become dicts of the fields that are not empty, mappings dicts, collections
    lists, numpy's scalars numbers. Numbers, texts, True, False, None and all else stay.

    Examples
    --------
    >>> as_written({"age": np.int64(3), "sex": {"m", "f"}}), as_written((1, None))
    ({'age': 3, 'sex': ['f', 'm']}, [1, None])
    """
    if is_dataclass(value) and not isinstance(value, type):
        shown = {each.name: as_written(getattr(value, each.name)) for each in fields(value)}
        return {name: each for name, each in shown.items() if each not in ([], {})}
    if isinstance(value, Mapping):
        return {to_python(name): as_written(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Set):  # it has another order in each run
        return sorted((as_written(each) for each in value), key=repr)
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return [as_written(each) for each in value]
    return to_python(value)


def settings_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as values that can be kept: simple ones as they are, others as text.

    Examples
    --------
    >>> settings_of({"scale": "robust", "distance": settings_of})
    {'scale': 'robust', 'distance': 'counterset.explanations.context.settings_of'}
    """
    return {name: _setting(value) for name, value in parameters.items()}


def _setting(value: Any) -> Any:
    value = to_python(value)
    if isinstance(value, Schema):  # how features are called changes no answer
        value = value.without_wording()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    name = getattr(value, "__qualname__", None)
    if name is not None:
        return f"{value.__module__}.{name}"
    return ADDRESS.sub("", repr(value))
