"""Layouts: where inputs, options and training rows stand in a map, and what row a point is.

Two layouts share one interface:

- :class:`Plane`, for numbers without gaps whose options span at most two directions. The map is a
  true plane of the scaled space: positions are exact, and so is the row that each point stands for,
  up to the steps of the features.
- :class:`Fan`, for everything else: more than two directions do not fit into a plane, and
  categories have nothing between two values. The input stands in the middle, every option at its
  true distance from it, and the directions are spread evenly. On the line from the input to an
  option, the rows are those that step 4 searches. Between two lines, a row is a mixture of theirs:
  numbers are interpolated, and everything else is as on the nearer line. Training rows stand at
  their true distance, towards the options whose direction they share.

Lines can go on behind the options, to the rows that step 4 searched towards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.constraints.rules import Rules
from counterset.steps.paths import Paths
from counterset.tables.space import TableDistance

__all__ = ["Fan", "Layout", "Plane", "lay_out"]

#: The model is asked about some 81 x 81 points of a map, in one call.
POINTS = 81
#: A map ends 25 % beyond the farthest option.
MARGIN = 0.25
#: Singular values below this share of the largest are rounding, and no direction.
NEGLIGIBLE = 1e-9


class Layout(Protocol):
    """Where rows stand in a map, and which row a point of it stands for."""

    is_exact: bool

    @property
    def options(self) -> Matrix:
        """The positions of the options, ``(n, 2)``; the input stands at (0, 0)."""
        ...

    @property
    def ends(self) -> Matrix:
        """The positions of the rows where the lines end, ``(n, 2)``: the options, or beyond."""
        ...

    def place(self, matrix: Matrix) -> Matrix:
        """Return the positions of rows, ``(m, 2)``; NaN for a row that has none."""
        ...

    def rows(self, points: Matrix) -> Matrix:
        """Return the row that each point stands for."""
        ...

    def mesh(self) -> tuple[Matrix, Matrix]:
        """Return the points to ask the model about: two coordinates, each ``(n, m)``.

        The input, the options and the ends of the lines are among them, up to rounding.
        """
        ...

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return how far the map reaches, to the right and upwards."""
        ...


def lay_out(
    distance: TableDistance,
    x: Vector,
    options: Matrix,
    rules: Rules,
    beyond: Matrix | None = None,
) -> Layout:
    """Return the layout that suits an explanation.

    Parameters
    ----------
    distance
        How rows are compared; it holds the table.
    x, options
        The input, ``(d,)``, and at least one option, ``(n, d)``.
    rules
        The constraints: values that belong together switch together.
    beyond
        The rows behind the options where the lines end, ``(n, d)``; None: at the options.
    """
    ends = options if beyond is None else beyond
    origin = distance.embed(x[None, :]).directions
    near, far = (distance.embed(rows).directions - origin for rows in (options, ends))
    offsets = np.vstack([near, far])
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    main, shares = _main_directions(offsets / np.where(lengths > 0, lengths, 1.0))
    if distance.table.is_numeric and distance.space.is_plain and shares[2:].sum() < NEGLIGIBLE:
        return Plane(distance, x, main, near @ main.T, far @ main.T)
    return Fan(distance, x, options, ends, far @ main.T, rules)


def _main_directions(directions: Matrix) -> tuple[Matrix, Vector]:
    """Return two orthonormal main directions, ``(2, k)``, and the share of each direction.

    They are the principal components through the input, each turned towards the nearest option
    that has a part in it, so that the same explanation gives the same map.
    """
    _, sizes, axes = np.linalg.svd(directions, full_matrices=True)
    if len(axes) == 1:  # one number: the other axis of the map stands for nothing
        axes = np.vstack([axes, np.zeros_like(axes)])
    main = axes[:2].copy()
    parts = directions @ main.T
    first = (np.abs(parts) > NEGLIGIBLE).argmax(axis=0)
    main *= np.where(parts[first, [0, 1]] < 0, -1.0, 1.0)[:, None]
    return main, sizes**2 / max(float((sizes**2).sum()), NEGLIGIBLE)


@dataclass(frozen=True)
class Plane:
    """A true plane of the scaled space through the input.

    Attributes
    ----------
    axes
        Two orthonormal directions, ``(2, d)``.
    """

    distance: TableDistance
    x: Vector
    axes: Matrix
    options: Matrix
    ends: Matrix

    is_exact = True

    def place(self, matrix: Matrix) -> Matrix:
        """Return the positions of rows: the nearest points of the plane."""
        origin = self.distance.embed(self.x[None, :]).directions
        placed: Matrix = (self.distance.embed(matrix).directions - origin) @ self.axes.T
        return placed

    def rows(self, points: Matrix) -> Matrix:
        """Return the row that each point stands for: the scaling backwards."""
        factor = self.distance.space.factor
        moves = points @ self.axes
        return self.distance.table.snap(self.x + np.where(factor > 0, moves / _or_1(factor), 0.0))

    def mesh(self) -> tuple[Matrix, Matrix]:
        """Return a grid of points."""
        marks = np.vstack([self.options, self.ends, np.zeros(2)])
        right, up = (
            np.unique([*np.linspace(*limits, POINTS), *marks[:, axis]])
            for axis, limits in enumerate(self.limits())
        )
        grid = np.meshgrid(right, up)
        return grid[0], grid[1]

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of a square around the input and the options."""
        marks = np.vstack([self.options, self.ends, np.zeros(2)])
        middle = (marks.min(axis=0) + marks.max(axis=0)) / 2
        half = (0.5 + MARGIN) * np.ptp(marks, axis=0).max()
        (left, low), (right, high) = middle - half, middle + half
        return (left, right), (low, high)


class Fan:
    """The options around the input, each at its true distance.

    Parameters
    ----------
    options, ends
        The options, and the rows where the lines through them end: the same, or beyond.
    projected
        The ends in the plane of their main directions, ``(n, 2)``: that is the order in which
        they stand around the input, so that options in similar directions are neighbours.
    """

    is_exact = False

    def __init__(
        self,
        distance: TableDistance,
        x: Vector,
        options: Matrix,
        ends: Matrix,
        projected: Matrix,
        rules: Rules,
    ) -> None:
        self._distance, self._x, self._ends = distance, x, ends
        starts = np.repeat(x[None, :], len(ends), axis=0)
        self._to_options = _paths(distance, starts, options, rules)
        self._to_ends = _paths(distance, options, ends, rules)
        self._radii = distance.pairwise(x[None, :], options)[0]
        #: How far the lines reach: an end that is nearer than its option is passed by.
        self._reach = np.maximum(self._radii, distance.pairwise(x[None, :], ends)[0])
        order = np.argsort(np.arctan2(projected[:, 1], projected[:, 0]), kind="stable")
        #: The options by their angle, beginning with the nearest, which points to the right.
        self._order: Indices = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
        angles = np.empty(len(ends))
        angles[self._order] = np.arange(len(ends)) * self._gap
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        self.options: Matrix = self._radii[:, None] * directions
        self.ends: Matrix = self._reach[:, None] * directions

    @property
    def _gap(self) -> float:
        """The angle between neighbours."""
        return 2 * np.pi / len(self._ends)

    def place(self, matrix: Matrix) -> Matrix:
        """Return the positions of rows; a row that shares no option's direction has none."""
        origin = self._distance.embed(self._x[None, :]).directions
        own, theirs = (self._distance.embed(r).directions - origin for r in (self._ends, matrix))
        cosines = np.clip(_unit(theirs) @ _unit(own).T, 0.0, 1.0)[:, self._order]
        which = np.arange(len(matrix))
        best = cosines.argmax(axis=1)
        left, right = cosines[which, best - 1], cosines[which, (best + 1) % len(own)]
        top, beside = cosines[which, best], np.maximum(left, right)
        # Towards the better neighbour, in proportion to the angles from the two.
        near, far = np.arccos(top), np.arccos(beside)
        share = np.where(far > 0, near / np.where(far > 0, near + far, 1.0), 0.0)
        if len(own) == 1:
            share = np.zeros_like(top)
        angle = (best + np.where(right >= left, share, -share)) * self._gap
        radius = self._distance.pairwise(self._x[None, :], matrix)[0]
        placed = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.where(top[:, None] > 0, placed, np.nan)

    def rows(self, points: Matrix) -> Matrix:
        """Return the row that each point stands for, see the module."""
        radius = np.hypot(points[:, 0], points[:, 1])
        turns = np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi) / self._gap
        first = np.floor(turns).astype(np.intp) % len(self._ends)
        # Rounding must not put a point on a line just beside it.
        share = np.round(turns - np.floor(turns), 9)[:, None]
        here = self._order[first]
        there = self._order[(first + 1) % len(self._ends)]
        a, b = self._on_line(here, radius), self._on_line(there, radius)
        nearer = np.where(share < 0.5, a, b)
        # Rounding must not move a value that both lines have, which may be off the steps.
        mixed = np.where(a == b, a, (1 - share) * a + share * b)
        moves = np.array([not each.is_category for each in self._distance.table.features])
        known = ~np.isnan(self._distance.table.without_special(a))
        known &= ~np.isnan(self._distance.table.without_special(b))
        return self._distance.table.snap(np.where(moves & known, mixed, nearer), a, b)

    def mesh(self) -> tuple[Matrix, Matrix]:
        """Return points on circles around the input and on lines, those to the options too."""
        around = np.arange(len(self._ends) * -(-POINTS // len(self._ends)) + 1)
        angles = around * (self._gap / -(-POINTS // len(self._ends)))
        # The corners of the map are farther than its sides.
        evenly = np.linspace(0, np.sqrt(2) * self.limits()[0][1], POINTS)
        radii = np.unique([*evenly, *self._radii, *self._reach])[:, None]
        return radii * np.cos(angles), radii * np.sin(angles)

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of a square with the input in the middle."""
        reach = (1 + MARGIN) * float(self._reach.max())
        return (-reach, reach), (-reach, reach)

    def _on_line(self, which: Indices, radius: Vector) -> Matrix:
        """Return the rows on the lines, at most their ends."""
        near, far = self._radii[which], self._reach[which]
        rows = _on_paths(self._to_options, which, _share(radius, near))
        behind = (radius > near) & (far > near)
        if behind.any():
            share = _share(radius - near, far - near)[behind]
            rows[behind] = _on_paths(self._to_ends, which[behind], share)
        return rows


def _paths(distance: TableDistance, starts: Matrix, ends: Matrix, rules: Rules) -> Paths:
    coordinates = distance.coordinates(starts), distance.coordinates(ends)
    return Paths(distance, starts, ends, coordinates, rules)


def _share(part: Vector, whole: Vector) -> Vector:
    """Return what share of the whole a part is, at most 1."""
    return np.minimum(part / _or_1(whole), 1.0)


def _on_paths(paths: Paths, which: Indices, share: Vector) -> Matrix:
    """Return the rows at shares of some paths."""
    starts, ends = paths.starts[which], paths.ends[which]
    with np.errstate(invalid="ignore"):
        points = np.where(share[:, None] == 1, ends, starts + share[:, None] * (ends - starts))
    return paths.rows(points, which)


def _unit(directions: Matrix) -> Matrix:
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    unit: Matrix = directions / np.where(lengths > 0, lengths, 1.0)
    return unit


def _or_1(factor: Vector) -> Vector:
    return np.where(factor > 0, factor, 1.0)
