"""Fingerprints: how a model and training data are recognised again later.

A model that was saved and loaded again is another object with other bytes, so that no hash of the
object recognises it. Its answers are the same, and a retrained model's are not. So the fingerprint
of a model is what it answers about some fixed rows. They are made up from the ranges of the
features: a report that is handed out must not contain the rows of other people.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector, row_blocks, to_python
from counterset.exceptions import InvalidInputError
from counterset.models.adapter import ModelAdapter
from counterset.tables.table import Table

__all__ = ["PROBES", "Fingerprint", "hash_rows", "probe_rows"]

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
        told = (feature.name, feature.kind, str(feature.dtype), feature.values)
        digest.update(repr(told).encode())
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
