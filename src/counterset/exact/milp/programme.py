"""A mixed-integer linear programme that grows row by row, solved by HiGHS."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset.exact.milp.quiet import quiet_solver

__all__ = ["Programme", "Result"]

_OPTIMAL, _INFEASIBLE, _FAILED = 0, 2, 4
#: Before SciPy 1.15, the presolve of its HiGHS can lose the optimum, and what it calls optimal is
#: not (a test has an example). Proofs do without it there.
PRESOLVE_IS_SOUND = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 15)


@dataclass(frozen=True, eq=False)
class Result:
    """The best values found, a lower bound on the objective, and whether no values are feasible."""

    values: Vector | None
    bound: float
    infeasible: bool


class Programme:
    """Minimise ``cost @ v`` over ``low <= v <= high`` with rows ``lower <= row @ v <= upper``.

    Examples
    --------
    >>> programme = Programme()
    >>> columns = programme.add_variables(0.0, np.array([9.0, 9.0]), whole=True)
    >>> row = programme.add_row(columns, np.array([2.0, 3.0]), 5.0, np.inf)
    >>> programme.cost.update({0: 1.0, 1: 1.2})
    >>> programme.minimise(seconds=10.0).values
    array([1., 1.])
    """

    def __init__(self) -> None:
        self.cost: dict[int, float] = {}
        self._low: list[float] = []
        self._high: list[float] = []
        self._whole: list[bool] = []
        self._columns: list[Indices] = []
        self._rows: list[Vector] = []
        self._lower: list[float] = []
        self._upper: list[float] = []

    def add_variables(self, low: ArrayLike, high: Vector, whole: bool = False) -> Indices:
        """Add a variable for each entry of ``high``; return their columns."""
        first = len(self._low)
        self._low.extend(np.broadcast_to(np.asarray(low, dtype=np.float64), high.shape))
        self._high.extend(high)
        self._whole.extend([whole] * len(high))
        return np.arange(first, len(self._low))

    def add_row(self, columns: Indices, row: Vector, lower: float, upper: float) -> int:
        """Add a constraint on some columns; return its position among the rows."""
        self._columns.append(columns)
        self._rows.append(row)
        self._lower.append(lower)
        self._upper.append(upper)
        return len(self._rows) - 1

    def raise_lower(self, row: int, by: float) -> None:
        """Raise the lower bound of a row."""
        self._lower[row] += by

    def intervals(self, columns: Indices, coefficients: Matrix) -> tuple[Vector, Vector]:
        """Bound ``coefficients.T @ v[columns]`` by the bounds of the variables alone."""
        low, high = np.array(self._low)[columns], np.array(self._high)[columns]
        positive, negative = np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)
        return low @ positive + high @ negative, high @ positive + low @ negative

    def most(self, columns: Indices, row: Vector, seconds: float) -> float:
        """Bound ``row @ v[columns]`` from above, with whole numbers relaxed to any numbers."""
        objective = np.zeros(len(self._low))
        objective[columns] = -row
        result = self._solve(objective, np.zeros(len(self._low), dtype=bool), seconds)
        if result.infeasible:
            return -np.inf
        return -result.bound

    def minimise(self, seconds: float, like: Vector | None = None) -> Result:
        """Minimise the cost; with ``like``, every whole number is fixed at its value there."""
        objective = np.zeros(len(self._low))
        for column, cost in self.cost.items():
            objective[column] = cost
        return self._solve(objective, np.array(self._whole, dtype=bool), seconds, like)

    def _solve(
        self, objective: Vector, whole: Mask, seconds: float, like: Vector | None = None
    ) -> Result:
        low, high = np.array(self._low), np.array(self._high)
        if like is not None:
            low[whole] = high[whole] = np.rint(like[whole])
            whole = np.zeros_like(whole)
        if (low > high).any():
            return Result(None, np.inf, infeasible=True)
        constraints = None
        if self._rows:
            constraints = LinearConstraint(self._matrix(), self._lower, self._upper)
        # Only programmes with whole numbers make HiGHS write.
        options = {"time_limit": max(seconds, 1e-3), "mip_rel_gap": 1e-7}
        with quiet_solver() if whole.any() else nullcontext():
            for presolve in (True, False) if PRESOLVE_IS_SOUND else (False,):
                result = milp(
                    objective,
                    integrality=whole.astype(np.intp),
                    bounds=Bounds(low, high),
                    constraints=constraints,
                    options={**options, "presolve": presolve},
                )
                if result.status != _FAILED:  # HiGHS 1.12 may fail on what its presolve makes
                    break
        if result.status == _INFEASIBLE:
            return Result(None, np.inf, infeasible=True)
        bound = result.mip_dual_bound
        if bound is None or not np.isfinite(bound):
            # A plain linear programme has no gap; one that ran out of time has no bound.
            bound = float(result.fun) if result.status == _OPTIMAL else -np.inf
        return Result(result.x, float(bound), infeasible=False)

    def _matrix(self) -> csr_array:
        # HiGHS counts in 32 bits, and scipy before 1.15 hands it the indices as they are.
        starts = np.cumsum([0, *map(len, self._columns)], dtype=np.int32)
        data, columns = np.concatenate(self._rows), np.concatenate(self._columns, dtype=np.int32)
        return csr_array((data, columns, starts), shape=(len(self._rows), len(self._low)))
