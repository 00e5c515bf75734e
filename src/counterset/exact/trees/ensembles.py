"""Tree ensembles as the solvers see them, every split as "left if the value is at most the cut".

Libraries compare in single or double precision, with ``<=`` or ``<``. Each threshold becomes the
largest double that the library sends to the left. So the solvers compare as the model does, to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Matrix, Vector

__all__ = ["LEAF", "Tree", "TreeEnsemble", "calibrated", "in_column", "last_left", "rounding_of"]

#: The child of a node that has none, as in scikit-learn.
LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree: node 0 is the root; a node with ``left == LEAF`` is a leaf.

    Attributes
    ----------
    feature, cut
        A value of the feature of at most ``cut`` goes to the left, ``(nodes,)``.
    left, right
        The nodes below, ``(nodes,)``.
    values
        What a leaf adds to the score of each class, ``(nodes, classes)``.
    left_values
        For a node that splits a category: the values that go to the left, as an integer whose bit
        ``j`` stands for value ``j``. The ``cut`` of such a node has no meaning.
    """

    feature: Indices
    cut: Vector
    left: Indices
    right: Indices
    values: Matrix
    left_values: Mapping[int, int] = field(default_factory=dict)

    def leaf_of(self, row: Vector) -> int:
        """Return the leaf that a row falls into."""
        node = 0
        while self.left[node] != LEAF:
            node = int(self.left[node] if self._goes_left(row, node) else self.right[node])
        return node

    def _goes_left(self, row: Vector, node: int) -> bool:
        value = row[self.feature[node]]
        if node in self.left_values:
            return bool(self.left_values[node] >> int(value) & 1)
        return bool(value <= self.cut[node])


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Trees whose leaves add up to a score per class; the class with the highest is predicted.

    A regression has one score: its prediction.

    Attributes
    ----------
    base
        The scores before the leaves are added, ``(classes,)``.
    labels
        The label of each class; None for a regression.
    rounding
        A bound on the error of the model's own sum.
    model
        What was read.
    averaged
        Whether the model's probabilities are the scores, divided by the number of trees.
    """

    trees: list[Tree]
    base: Vector
    labels: Labels | None
    rounding: float
    model: Any = None
    averaged: bool = False

    def scores(self, row: Vector) -> Vector:
        """Return the score of each class for one row."""
        leaves = [tree.values[tree.leaf_of(row)] for tree in self.trees]
        total: Vector = self.base + np.sum(leaves, axis=0)
        return total


def last_left(thresholds: Vector, single: bool = False, strict: bool = False) -> Vector:
    """Return the largest doubles with ``value <= threshold`` (``<`` if strict).

    Parameters
    ----------
    single
        Whether the value is rounded to single precision before it is compared.

    Examples
    --------
    >>> cut = last_left(np.array([0.1]), single=True)
    >>> [float(np.float32(value)) <= 0.1 for value in (cut[0], np.nextafter(cut[0], 1))]
    [True, False]
    """
    cuts = np.asarray(thresholds, dtype=np.float64)
    if not single:
        return np.nextafter(cuts, -np.inf) if strict else cuts
    last = cuts.astype(np.float32)
    beyond = (last >= cuts) if strict else (last > cuts)
    last = np.where(beyond, np.nextafter(last, np.float32(-np.inf)), last)
    after = np.nextafter(last, np.float32(np.inf))
    middle = (last.astype(np.float64) + after.astype(np.float64)) / 2
    stays = middle.astype(np.float32) == last  # halfway rounds to the even neighbour
    return np.where(stays, middle, np.nextafter(middle, -np.inf))


def rounding_of(trees: list[Tree], base: Vector, unit: float) -> float:
    """Bound the error of adding up leaves; ``unit`` is the last place of the precision used.

    A model's own probabilities are rounded too, so those of nearly equal scores may tie.
    """
    leaves = (np.abs(tree.values[tree.left == LEAF]).max() for tree in trees)
    sizes = sum(leaves, float(np.abs(base).max()))
    return float(unit * ((len(trees) + 8) * sizes + 8))


def in_column(values: Vector, column: int, n_classes: int) -> Matrix:
    """Return leaves' values as scores of one class, ``(nodes, classes)``.

    With two classes there is a single score, which is that of the second.
    """
    column = 1 if n_classes == 2 else column
    columns = np.zeros((len(values), n_classes))
    columns[:, column] = values
    return columns


def calibrated(
    trees: list[Tree],
    model: Any,
    unit: float,
    margins: Callable[[Any], Any] | None = None,
) -> TreeEnsemble:
    """Return the ensemble with base scores computed from the model's scores of one row.

    ``margins`` returns the model's raw scores; by default its decision function, or the prediction
    of a regression.
    """
    row = np.zeros(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    asked = row[None, :] if names is None else pd.DataFrame(row[None, :], columns=names)
    labels = getattr(model, "classes_", None)
    scores_of = margins or (model.predict if labels is None else model.decision_function)
    raw = np.asarray(scores_of(asked), dtype=np.float64).ravel()
    given = np.append(0.0, raw) if labels is not None and len(labels) == 2 else raw
    added = TreeEnsemble(trees, np.zeros(len(given)), labels, 0.0).scores(row)
    base = given - added
    return TreeEnsemble(trees, base, labels, rounding_of(trees, base, unit), model)
