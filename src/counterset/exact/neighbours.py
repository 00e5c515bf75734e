"""The nearest-neighbour classifier with one neighbour, by enumeration of its cells.

A point is decided as a stored row p decides if p is nearer to it than every row of the input's
class: a polyhedron. The nearest point of each is a programme whose rows are added only as they are
needed, and only the polyhedra that a single row does not put too far away are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from counterset._base.arrays import Codes, Matrix
from counterset.exact.boundary import past_boundary
from counterset.exact.growing_balls import MUCH_TOO_LARGE, Best, farthest
from counterset.exact.linear.half_spaces import HalfSpaces
from counterset.exact.networks.moves import Moves
from counterset.exact.norms import Norm
from counterset.exact.problem import Answer, Problem

__all__ = ["NearestNeighbour", "read_neighbours", "solve_neighbours"]

METHOD = "enumeration of nearest-neighbour cells"


@dataclass(frozen=True, eq=False)
class NearestNeighbour:
    """Stored rows and their labels; the nearest in the Euclidean distance decides."""

    rows: Matrix
    labels: Any


def read_neighbours(model: Any) -> NearestNeighbour | None:
    """Read a classifier with one Euclidean neighbour; None where it is not one."""
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
    model: NearestNeighbour, problem: Problem, norm: Norm, start: Matrix | None
) -> Answer:
    """Give the distance, or bounds on it when the time is up."""
    own = model.rows[model.labels == problem.label]
    others = model.rows[model.labels != problem.label]
    search = _Search(problem, norm, own)
    search.best.offer(start)
    search.best.offer(problem.nearest_flip(others))
    bounds = search.single_bounds(others)
    lower = np.inf
    for place in np.argsort(bounds, kind="stable"):
        if bounds[place] >= min(search.best.upper, lower):
            break
        if problem.clock.over:
            lower = min(lower, float(bounds[place]))
            break
        lower = min(lower, max(float(bounds[place]), search.at_least(others[place])))
    lower = min(lower, search.best.upper)
    none_exists = search.best.witness is None and np.isinf(lower)
    reason = "the time was up" if problem.clock.over else "no nearer point was confirmed"
    return Answer(lower, search.best.witness, METHOD, reason, bool(none_exists))


class _Search:
    """Nearest points of the cells of rows of other classes.

    There is at least one row of the own class: the one that decided the input.
    """

    def __init__(self, problem: Problem, norm: Norm, own: Matrix) -> None:
        self.best = Best(problem)
        self._problem, self._norm = problem, norm
        near = np.argsort(((own - problem.x) ** 2).sum(axis=1), kind="stable")
        self._own = own[near]

    def single_bounds(self, others: Matrix) -> Matrix:
        """Bound the distance to each cell by its border with the input's nearest row alone."""
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

    def _border(self, row: Matrix, own: Matrix) -> tuple[Matrix, float]:
        """Give the half-space ``gradient @ move >= need`` of what is nearer to the row."""
        gradient = 2 * (row - own)
        need = (row**2).sum() - (own**2).sum() - gradient @ self._problem.x
        return gradient, float(need)

    def at_least(self, row: Matrix) -> float:
        """Bound the distance to the cell of a row; better the best by its nearest point."""
        radius = min(self.best.upper, farthest(self._problem, self._norm))
        if not np.isfinite(radius):
            radius = float(self._norm.of(row - self._problem.x))
        lower = self._look(row, radius)
        while lower < self.best.upper and MUCH_TOO_LARGE * self.best.upper < radius:
            if self._problem.clock.over:
                break
            radius = self.best.upper
            lower = max(lower, self._look(row, radius))
        return lower

    def _look(self, row: Matrix, radius: float) -> float:
        """Bound the distance to the part of a cell within a ball."""
        far = farthest(self._problem, self._norm)
        moves = Moves(self._problem, self._norm, radius)
        self._add_border(moves, row, 0)
        added = {0}
        lower = 0.0
        while not self._problem.clock.over:
            solution = moves.solve()
            if solution.empty:
                return np.inf if radius >= far else solution.lower
            lower = max(lower, solution.lower)
            if solution.point is None:
                break
            missing = self._crossed(solution.point, row) - added
            if not missing:
                ways = [row - solution.point]
                self.best.offer(past_boundary(self._problem, solution.point, ways))
                break
            for place in missing:
                self._add_border(moves, row, place)
            added |= missing
        return lower

    def _add_border(self, moves: Moves, row: Matrix, place: int) -> None:
        gradient, need = self._border(row, self._own[place])
        point = moves.point()
        coefficients = point.coefficients @ gradient
        size = max(float(np.abs(coefficients).max(initial=0.0)), 1e-300)
        moves.programme.add_row(point.columns, coefficients / size, need / size, np.inf)

    def _crossed(self, point: Matrix, row: Matrix) -> set[int]:
        """Give the rows of the input's class that are nearer to the point, the nearest few."""
        squares = ((self._own - point) ** 2).sum(axis=1)
        nearer: Codes = np.flatnonzero(squares < ((row - point) ** 2).sum())
        return {int(i) for i in nearer[np.argsort(squares[nearer])][:8]}
