"""Costs: how hard each feature is to change, as users write it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from counterset._base.arrays import Vector
from counterset._base.checks import numbers
from counterset.constraints.rules import Fixed
from counterset.distances import L0, Distance
from counterset.exceptions import InvalidInputError
from counterset.tables.scaling import by_position
from counterset.tables.table import Table

__all__ = ["Costs"]

#: Sums of distances are kept to about 16 digits. With a cost above 1e12, or below 1e-12, most of
#: what the other features count would be lost in them.
LARGEST = 1e12


@dataclass(frozen=True)
class Costs:
    """How hard each feature is to change.

    Attributes
    ----------
    factors
        What the difference in each feature is multiplied by, ``(d,)``.
    fixed
        The features whose cost is infinite: they stay as they are. Their factor is 1.
    """

    factors: Vector
    fixed: tuple[Fixed, ...] = ()

    @classmethod
    def read(cls, costs: Mapping[Any, float] | None, table: Table) -> Costs:
        """Check what a user passed as ``costs=``; None: all features cost 1.

        Examples
        --------
        >>> table, _ = Table.learn([[1.0, 2.0], [3.0, 4.0]])
        >>> Costs.read({"x0": 2.0, "x1": float("inf")}, table)
        Costs(factors=array([2., 1.]), fixed=(Fixed(at=1, text="costs['x1'] = inf"),))
        """
        given = {} if costs is None else costs
        factors, fixed = np.ones(len(table.features)), []
        for (at, cost), name in zip(by_position(given, table, "costs").items(), given, strict=True):
            _check(cost, name)
            if math.isinf(cost):
                fixed.append(Fixed(at, f"costs[{name!r}] = inf"))
            else:
                factors[at] = cost
        return cls(factors, tuple(fixed))

    def weigh(self, distance: Distance) -> Distance:
        """Return the distance that counts the costs, where scaled coordinates do not.

        That is the number of changes: a change counts 1 there, however large it is.
        """
        if not isinstance(distance, L0) or (self.factors == 1).all():
            return distance
        own = 1.0 if distance.weights is None else np.asarray(distance.weights)
        return replace(distance, weights=own * self.factors)


def _check(cost: Any, name: Any) -> None:
    """Check that a cost is a number above 0, or infinite."""
    known = isinstance(cost, Real) and not isinstance(cost, bool)
    value = float(numbers(cost)) if known and numbers(cost).ndim == 0 else math.nan
    if value == math.inf:
        return
    if not 1 / LARGEST <= value <= LARGEST:
        raise InvalidInputError(
            f"costs[{name!r}] must be a number above 0, from {1 / LARGEST:g} to {LARGEST:g}, got "
            f"{cost!r}. Pass float('inf') for a feature that cannot change."
        )
