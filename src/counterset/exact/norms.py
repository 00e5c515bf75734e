"""Distances as the solvers see them: one cost for each feature, added up or maximised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from counterset._base.arrays import Mask, Matrix, Vector
from counterset.distances import L0, L1, L2, Distance, Gower, LInf
from counterset.exceptions import InvalidInputError
from counterset.tables.space import TableDistance

__all__ = ["Norm", "read_norm"]

Kind: TypeAlias = Literal["l0", "l1", "l2", "linf"]

_KINDS: dict[type[Distance], Kind] = {L0: "l0", L1: "l1", L2: "l2", LInf: "linf", Gower: "l1"}


@dataclass(frozen=True, eq=False)
class Norm:
    """A weighted norm of differences in the model's own units.

    The length of a difference is computed in three steps. Each feature has a cost (for ``l2`` the
    square of its part); the costs are combined into a total; the total gives the length (for
    ``l2`` its root).

    Attributes
    ----------
    kind
        Which norm it is.
    weights
        The weight of each feature, ``(d,)``.
    categories
        Which features are categories, where every change costs the same, ``(d,)``; None if there
        are none.
    """

    kind: Kind
    weights: Vector
    categories: Mask | None = None

    def costs(self, differences: Matrix) -> Matrix:
        """Return the cost of each feature, for differences of shape ``(..., d)``."""
        if self.categories is not None and self.kind != "l0":
            of_numbers = Norm(self.kind, self.weights).costs(differences)
            return np.where(self.categories, self.weights * (differences != 0), of_numbers)
        if self.kind == "l0":
            changed: Matrix = self.weights * (differences != 0)
            return changed
        if self.kind == "l2":
            return self.weights * differences**2
        return self.weights * np.abs(differences)

    def total(self, costs: Matrix) -> Vector:
        """Combine the costs over the last axis."""
        combined = costs.max(axis=-1) if self.kind == "linf" else costs.sum(axis=-1)
        return np.asarray(combined)

    def length(self, total: Vector | float) -> Vector:
        """Convert totals to lengths."""
        return np.asarray(np.sqrt(total) if self.kind == "l2" else total, dtype=np.float64)

    def to_total(self, length: float) -> float:
        """Convert a length to its total."""
        return length**2 if self.kind == "l2" else length

    def of(self, differences: Matrix) -> Vector:
        """Return the lengths of differences of shape ``(..., d)``."""
        return self.length(self.total(self.costs(differences)))

    def reach(self, length: float) -> Vector:
        """Return how far each feature may move if the length is at most this, ``(d,)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.categories is not None and self.kind != "l0":
                of_numbers = Norm(self.kind, self.weights).reach(length)
                of_categories = np.where(self.weights <= self.to_total(length), np.inf, 0.0)
                return np.where(self.categories, of_categories, of_numbers)
            if self.kind == "l0":
                return np.where(self.weights <= length, np.inf, 0.0)
            return np.where(self.rates > 0, length / self.rates, np.inf)

    @property
    def rates(self) -> Vector:
        """The length of a move by 1 in each feature alone, ``(d,)``; not for ``l0``."""
        return np.sqrt(self.weights) if self.kind == "l2" else self.weights


def read_norm(distance: Distance, n_features: int) -> Norm | None:
    """Read a distance as a weighted norm; None where it is not one.

    Gower's distance is a norm of scaled features, so it is read in the space of a table only.
    """
    factor, categories = np.ones(n_features), None
    if isinstance(distance, TableDistance):
        is_category = np.array([feature.is_category for feature in distance.table.features])
        categories = is_category if is_category.any() else None
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
    # Scaling goes into the weights: the norm of f * (a - b) is a weighted norm of a - b. The
    # coordinates of a category are sized so that a change counts 1, times its factor.
    power = {"l0": 0, "l1": 1, "l2": 2, "linf": 1}[kind]
    return Norm(kind, weights * factor**power, categories)
