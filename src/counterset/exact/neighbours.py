"""The classifier with one nearest neighbour, by enumeration of its cells.

The cell of a stored row p of a wanted class is where p is nearer than every stored row that is not
wanted: a polyhedron. Its nearest point is found by a programme, to which the borders with rows that
are not wanted are added only as they are needed. The border with a single row often proves already
that a cell is too far away, and then it is left out.

The model rounds the distances that it compares, so near a border its answer may differ from the
true one. Each cell is widened by as much as rounding can move its borders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from counterset._base.arrays import Indices, Labels, Matrix, Vector
from counterset.exact.linear import HalfSpaces
from counterset.exact.milp import Moves
from counterset.exact.norms import Norm
from counterset.exact.problem import OUT_OF_TIME, Problem, SolverResult
from counterset.exact.sampling import OVERSIZE_FACTOR, Incumbent, covering_radius, past_boundary

__all__ = ["NearestNeighbour", "read_neighbours", "solve_neighbours"]

METHOD = "enumeration of nearest-neighbour cells"
#: At most the 8 nearest borders that a point crosses are added to a programme at once: most of the
#: farther ones are no longer crossed then.
MOST_NEW_BORDERS = 8


@dataclass(frozen=True, eq=False)
class NearestNeighbour:
    """Stored rows ``(n, d)`` and their labels ``(n,)``; the Euclidean distance is compared.

    Attributes
    ----------
    method
        How scikit-learn compares: ``"brute"`` subtracts products of whole rows, ``"kd_tree"``
        adds up squares of differences, and ``"ball_tree"`` also compares with the radii of balls
        of stored rows.
    """

    rows: Matrix
    labels: Labels
    method: str = "kd_tree"

    @cached_property
    def _corners(self) -> Matrix:
        """The lowest and the highest corner of the box around all rows, ``(2, d)``."""
        return np.array([self.rows.min(axis=0), self.rows.max(axis=0)])

    def error(self, ends: Matrix, row: Vector, own: Matrix, roundoff: float) -> Vector:
        """Bound how far off the model's comparison of a row with own rows may be, ``(n,)``.

        In squared distance, for every point between the two ends of a box, ``(2, d)``.
        """
        if self.method == "brute":
            size = np.abs(ends).max(axis=0) + np.maximum(np.abs(row), np.abs(own))
        else:
            size = np.abs(ends[:, None] - own).max(axis=0)
            others = row[None, :] if self.method == "kd_tree" else self._corners
            size = np.maximum(size, np.abs(ends[:, None] - others).max(axis=(0, 1)))
        # Four times the bound on two sums of d products: that of a ball tree is the largest.
        errors: Vector = 8 * (len(row) + 8) * roundoff * (size**2).sum(axis=1)
        return errors


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
    labels = model.classes_[model._y]
    return NearestNeighbour(np.asarray(rows, dtype=np.float64), labels, model._fit_method)


def solve_neighbours(
    model: NearestNeighbour, problem: Problem, norm: Norm, start: Vector | None
) -> SolverResult:
    """Find the distance, or bounds on it if the time limit is reached."""
    wanted = problem.wants(model.labels)
    others = model.rows[wanted]
    search = _CellSearch(model, problem, norm, model.rows[~wanted])
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
    """Finds nearest points of the cells of wanted rows.

    At least one row is not wanted, ``own``: the input's nearest neighbour, as the model rounds.
    """

    def __init__(self, model: NearestNeighbour, problem: Problem, norm: Norm, own: Matrix) -> None:
        self.incumbent = Incumbent(problem)
        self._model, self._problem, self._norm = model, problem, norm
        near = np.argsort(((own - problem.x) ** 2).sum(axis=1), kind="stable")
        self._own = own[near]

    def single_bounds(self, others: Matrix) -> Vector:
        """Bound the distance to each cell by its border with one own row, the nearest.

        Only what is nearer than the incumbent matters.
        """
        problem, bounds = self._problem, np.zeros(len(others))
        if self._norm.kind == "l0" or not problem.holds_input:
            return bounds
        for i, row in enumerate(others):
            gradient, need, error = self._borders(row, self._own[:1], self.incumbent.upper)
            half_space = HalfSpaces.around(
                problem.x[None, :], gradient[0], problem.low, problem.high, self._norm
            )
            if np.isfinite(error[0]):
                length = self._norm.of(half_space.moves(need - error))[0]
                bounds[i] = np.inf if np.isnan(length) else length * (1 - 1e-9)
        return bounds

    def _borders(self, row: Vector, own: Matrix, radius: float) -> tuple[Matrix, Vector, Vector]:
        """Return the half-spaces that are nearer to a row than to own rows.

        Returns
        -------
        gradient, need
            A half-space is ``gradient @ move >= need``; ``(n, d)`` and ``(n,)``.
        error
            How much less is enough for the model, by rounding, within a ball, ``(n,)``.
        """
        x, reach = self._problem.x, self._norm.reach(radius)
        # In differences: the squares of rows far from 0 would cancel.
        need = ((row - own) * ((row - x) + (own - x))).sum(axis=1)
        ends = np.clip([x - reach, x + reach], self._problem.low, self._problem.high)
        error = self._model.error(ends, row, own, self._problem.roundoff)
        return 2 * (row - own), need, error

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
        borders = self._borders(row, self._own, radius)
        self._add_border(moves, borders, 0)
        added = {0}
        lower = 0.0
        while not self._problem.clock.over:
            solution = moves.solve()
            if solution.empty:
                return np.inf if radius >= covering else solution.lower
            lower = max(lower, solution.lower)
            if solution.point is None:
                break
            missing = self._crossed(solution.point, borders) - added
            if not missing:
                directions = [row - solution.point]
                self.incumbent.offer(past_boundary(self._problem, solution.point, directions))
                break
            for i in missing:
                self._add_border(moves, borders, i)
            added |= missing
        return lower

    def _add_border(self, moves: Moves, borders: tuple[Matrix, Vector, Vector], i: int) -> None:
        gradient, need, error = (each[i] for each in borders)
        point = moves.point()
        coefficients = point.coefficients @ gradient
        size = max(float(np.abs(coefficients).max(initial=0.0)), 1e-300)
        least = float(need - error) / size
        moves.programme.add_row(point.columns, coefficients / size, least, np.inf)

    def _crossed(self, point: Vector, borders: tuple[Matrix, Vector, Vector]) -> set[int]:
        """Return the nearest of the rows that are not wanted whose border the point crosses."""
        gradient, need, error = borders
        beyond: Indices = np.flatnonzero(gradient @ (point - self._problem.x) < need - error)
        squares = ((self._own[beyond] - point) ** 2).sum(axis=1)
        return {int(i) for i in beyond[np.argsort(squares)][:MOST_NEW_BORDERS]}
