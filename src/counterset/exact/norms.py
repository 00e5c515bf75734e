"""Distances as the solvers see them: one cost per feature, added up or maximised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from counterset._base.arrays import Mask, Matrix
from counterset.distances import L0, L1, L2, Distance, Gower, LInf
from counterset.exceptions import InvalidInputError
from counterset.tables.space import TableDistance

__all__ = ["Norm", "read_norm"]

Kind: TypeAlias = Literal["l0", "l1", "l2", "linf"]

_KINDS: dict[type[Distance], Kind] = {L0: "l0", L1: "l1", L2: "l2", LInf: "linf", Gower: "l1"}


@dataclass(frozen=True, eq=False)
class Norm:
    """A weighted norm of the difference in the model's own units.

    A length is made in two steps: each feature has a cost (the square of its part, for ``l2``),
    and the costs are combined into a total, whose root is the length for ``l2``.

    Attributes
    ----------
    categories
        The features where every change counts the same; None: there are none.
    """

    kind: Kind
    weights: Matrix
    categories: Mask | None = None

    def costs(self, differences: Matrix) -> Matrix:
        """Give the cost of each feature, for differences of shape ``(..., d)``."""
        if self.categories is not None and self.kind != "l0":
            plain = Norm(self.kind, self.weights).costs(differences)
            return np.where(self.categories, self.weights * (differences != 0), plain)
        if self.kind == "l0":
            changed: Matrix = self.weights * (differences != 0)
            return changed
        if self.kind == "l2":
            return self.weights * differences**2
        return self.weights * np.abs(differences)

    def total(self, costs: Matrix) -> Matrix:
        """Combine the costs over the last axis."""
        combined = costs.max(axis=-1) if self.kind == "linf" else costs.sum(axis=-1)
        return np.asarray(combined)

    def length(self, total: Matrix | float) -> Matrix:
        """Turn totals into lengths."""
        return np.asarray(np.sqrt(total) if self.kind == "l2" else total, dtype=np.float64)

    def to_total(self, length: float) -> float:
        """Turn a length into the total that it stands for."""
        return length**2 if self.kind == "l2" else length

    def of(self, differences: Matrix) -> Matrix:
        """Give the length of differences."""
        return self.length(self.total(self.costs(differences)))

    def reach(self, length: float) -> Matrix:
        """Give how far each feature may move if the length may be no more than this."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.categories is not None and self.kind != "l0":
                plain = Norm(self.kind, self.weights).reach(length)
                switched = np.where(self.weights <= self.to_total(length), np.inf, 0.0)
                return np.where(self.categories, switched, plain)
            if self.kind == "l0":
                return np.where(self.weights <= length, np.inf, 0.0)
            rates = np.sqrt(self.weights) if self.kind == "l2" else self.weights
            return np.where(rates > 0, length / rates, np.inf)


def read_norm(distance: Distance, n_features: int) -> Norm | None:
    """Read a distance as a weighted norm; None where it is not one.

    Gower's distance is a norm of scaled features, so it is read in the space of a table only.
    """
    factor, categories = np.ones(n_features), None
    if isinstance(distance, TableDistance):
        switches = np.array([feature.is_category for feature in distance.table.features])
        categories = switches if switches.any() else None
        factor, distance = distance.space.factor, distance.inner
    elif isinstance(distance, Gower):
        return None
    kind = _KINDS.get(type(distance))
    if kind is None:
        return None
    given = getattr(distance, "weights", None)
    weights = np.ones(n_features) if given is None else np.asarray(given, dtype=np.float64)
    if len(weights) != n_features:
        raise InvalidInputError(
            f"{type(distance).__name__} has {len(weights)} weights, but the input has "
            f"{n_features} features. Give one weight per feature."
        )
    if isinstance(distance, Gower):
        weights = weights / weights.sum()
    # Scaling folds into the weights: the norm of f * (a - b) is a weighted norm of a - b. A
    # category's coordinates are so sized that a change counts 1, times its factor.
    power = {"l0": 0, "l1": 1, "l2": 2, "linf": 1}[kind]
    return Norm(kind, weights * factor**power, categories)
