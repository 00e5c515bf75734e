"""The classifier with one nearest neighbour, by enumeration of its cells.

The cell of a stored row p of another class is where p is nearer than every stored row of the
input's class: a polyhedron. Its nearest point is found by a programme, to which the borders with
rows of the input's class are added only as they are needed. The border with a single row often
proves already that a cell is too far away, and then it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from counterset._base.arrays import Indices, Labels, Matrix, Vector
from counterset.exact.boundary import past_boundary
from counterset.exact.growing_balls import OVERSIZE_FACTOR, Incumbent, covering_radius
from counterset.exact.linear.half_spaces import HalfSpaces
from counterset.exact.milp.moves import Moves
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult

__all__ = ["NearestNeighbour", "read_neighbours", "solve_neighbours"]

METHOD = "enumeration of nearest-neighbour cells"
#: At most the 8 nearest borders that a point crosses are added to a programme at once: most of the
#: farther ones are no longer crossed then.
MOST_NEW_BORDERS = 8


@dataclass(frozen=True, eq=False)
class NearestNeighbour:
    """Stored rows ``(n, d)`` and their labels ``(n,)``; the Euclidean distance is compared."""

    rows: Matrix
    labels: Labels


def read_neighbours(model: Any) -> NearestNeighbour | None:
    """Read a classifier with one Euclidean neighbour; None if the model is not one."""
    if not isinstance(model, KNeighborsClassifier) or not hasattr(model, "_fit_X"):
        return None
    euclidean = model.effective_metric_ == "euclidean"
    if model.n_neighbors != 1 or not euclidean or model.outputs_2d_:
        return None
    rows = model._fit_X
    if hasattr(rows, "toarray"):
        return None
    return NearestNeighbour(np.asarray(rows, dtype=np.float64), model.classes_[model._y])


def solve_neighbours(
    model: NearestNeighbour, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    """Find the distance, or bounds on it if the time limit is reached."""
    own = model.rows[model.labels == problem.label]
    others = model.rows[model.labels != problem.label]
    search = _CellSearch(problem, norm, own)
    search.incumbent.offer(start)
    search.incumbent.offer(problem.nearest_flip(others))
    bounds = search.single_bounds(others)
    lower = np.inf
    for i in np.argsort(bounds, kind="stable"):
        if bounds[i] >= min(search.incumbent.upper, lower):
            break
        if problem.clock.over:
            lower = min(lower, float(bounds[i]))
            break
        lower = min(lower, max(float(bounds[i]), search.lower_bound(others[i])))
    lower = min(lower, search.incumbent.upper)
    none_exists = search.incumbent.witness is None and np.isinf(lower)
    reason = OUT_OF_TIME if problem.clock.over else "no nearer point was confirmed"
    return SolverResult(lower, search.incumbent.witness, METHOD, reason, bool(none_exists))


class _CellSearch:
    """Finds nearest points of the cells of rows of other classes.

    ``own`` are the rows of the input's class: at least its nearest neighbour is one.
    """

    def __init__(self, problem: Problem, norm: Norm, own: Matrix) -> None:
        self.incumbent = Incumbent(problem)
        self._problem, self._norm = problem, norm
        near = np.argsort(((own - problem.x) ** 2).sum(axis=1), kind="stable")
        self._own = own[near]

    def single_bounds(self, others: Matrix) -> Vector:
        """Bound the distance to each cell by its border with one own row, the nearest."""
        problem = self._problem
        bounds = np.zeros(len(others))
        for i, row in enumerate(others):
            gradient, need = self._border(row, self._own[0])
            half_space = HalfSpaces.around(
                problem.x[None, :],
                gradient,
                problem.low,
                problem.high,
                self._norm,
            )
            if self._norm.kind != "l0":
                length = self._norm.of(half_space.moves(np.array([need])))[0]
                bounds[i] = np.inf if np.isnan(length) else length * (1 - 1e-9)
        return bounds

    def _border(self, row: Vector, own: Vector) -> tuple[Vector, float]:
        """Return the half-space ``gradient @ move >= need`` that is nearer to the row."""
        gradient = 2 * (row - own)
        need = (row**2).sum() - (own**2).sum() - gradient @ self._problem.x
        return gradient, float(need)

    def lower_bound(self, row: Vector) -> float:
        """Bound the distance to the cell of a row; offer its nearest point to the incumbent."""
        radius = min(self.incumbent.upper, covering_radius(self._problem, self._norm))
        if not np.isfinite(radius):
            radius = float(self._norm.of(row - self._problem.x))
        lower = self._search_ball(row, radius)
        while lower < self.incumbent.upper and OVERSIZE_FACTOR * self.incumbent.upper < radius:
            if self._problem.clock.over:
                break
            radius = self.incumbent.upper
            lower = max(lower, self._search_ball(row, radius))
        return lower

    def _search_ball(self, row: Vector, radius: float) -> float:
        """Bound the distance to the part of a cell within a ball."""
        covering = covering_radius(self._problem, self._norm)
        moves = Moves(self._problem, self._norm, radius)
        self._add_border(moves, row, 0)
        added = {0}
        lower = 0.0
        while not self._problem.clock.over:
            solution = moves.solve()
            if solution.empty:
                return np.inf if radius >= covering else solution.lower
            lower = max(lower, solution.lower)
            if solution.point is None:
                break
            missing = self._crossed(solution.point, row) - added
            if not missing:
                directions = [row - solution.point]
                self.incumbent.offer(past_boundary(self._problem, solution.point, directions))
                break
            for i in missing:
                self._add_border(moves, row, i)
            added |= missing
        return lower

    def _add_border(self, moves: Moves, row: Vector, i: int) -> None:
        gradient, need = self._border(row, self._own[i])
        point = moves.point()
        coefficients = point.coefficients @ gradient
        size = max(float(np.abs(coefficients).max(initial=0.0)), 1e-300)
        moves.programme.add_row(point.columns, coefficients / size, need / size, np.inf)

    def _crossed(self, point: Vector, row: Vector) -> set[int]:
        """Return the nearest of the rows of the input's class whose border the point crosses."""
        squares = ((self._own - point) ** 2).sum(axis=1)
        nearer: Indices = np.flatnonzero(squares < ((row - point) ** 2).sum())
        return {int(i) for i in nearer[np.argsort(squares[nearer])][:MOST_NEW_BORDERS]}
