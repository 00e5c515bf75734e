"""Where the input, its options and training rows stand in a map, and what row a point is.

Two layouts share one interface:

- :class:`Plane`, where all that the options change are numbers, in at most two directions. The map
  is a true plane of the scaled space through the input: positions are exact, and each point is the
  row that stands there, with everything else as in the input. If the options change two features,
  these are the axes.
- :class:`Fan`, for everything else: more than two directions do not fit into a plane, and
  categories have nothing between two values. The input stands in the middle, every option at its
  true distance from it, and the directions are spread evenly. On the line from the input to an
  option, numbers move evenly, and everything else switches where step 4 switches it; behind the
  option, numbers move on within the training range. Between two lines, the changes of both are
  added up; everything else is as on the nearer line. Training rows stand at their true distance,
  towards the options whose direction they share.

Lines can go on behind the options, to the rows that step 4 searched towards.

Points are rows that the columns can hold, but not only those that are proposed: a boundary that is
straight for the model would be a staircase on the steps of the features.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from counterset._base.arrays import Indices, Matrix, Vector
from counterset.constraints.rules import Rules
from counterset.plots.style import value_text
from counterset.strategies.line_search import Paths
from counterset.tables.features.feature import Feature
from counterset.tables.features.time import DAY
from counterset.tables.space import TableDistance
from counterset.tables.table import Table

__all__ = ["Fan", "Layout", "Plane", "is_number", "lay_out"]

#: A map ends 25 % beyond the farthest option; or 5 % beyond the usual ranges, where its axes are
#: features, but it is at most 4 times as wide as the input and the options need.
MARGIN, EDGE, WIDEST = 0.25, 0.05, 4.0
#: An axis that is a feature has at most 5 marks: more would run into each other.
MOST_TICKS = 5
#: Singular values below this share of the largest are rounding, and no direction.
NEGLIGIBLE = 1e-9


class Layout(Protocol):
    """Where rows stand in a map, and which row a point of it stands for."""

    is_exact: bool

    @property
    def features(self) -> tuple[int, ...]:
        """The positions of the features that are the axes of the map; empty if none are."""
        ...

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
        """Return the row that each point stands for, before it is rounded to what columns hold."""
        ...

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return how far the map reaches, to the right and upwards."""
        ...

    def ticks(self, axis: int) -> list[tuple[float, str]]:
        """Return marks for an axis that is a feature: where each stands, and its text."""
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
    axes = _plane_through(distance, x, np.vstack([options, ends]))
    if axes is not None:
        return Plane(distance, x, axes, options, ends)
    origin = distance.embed(x[None, :]).directions
    near, far = (distance.embed(rows).directions - origin for rows in (options, ends))
    main, _ = _main_directions(_unit(np.vstack([near, far])))
    return Fan(distance, x, options, ends, far @ main.T, rules)


def _plane_through(distance: TableDistance, x: Vector, rows: Matrix) -> Matrix | None:
    """Return two directions in which rows differ from an input, ``(2, d)``, if these are enough.

    They are those of two features, if no more change; None if rows differ in more directions, or
    in more than numbers.
    """
    table = distance.table
    known = ~np.isnan(table.without_special(np.vstack([x, rows]))).any(axis=0)
    are_numbers = np.array([is_number(feature) for feature in table.features]) & known
    differ = ~((rows == x) | (np.isnan(rows) & np.isnan(x))).all(axis=0)
    if (differ & ~are_numbers).any():
        return None
    unit = np.eye(len(x))
    named = np.flatnonzero(differ)
    if len(named) < 2:  # another number is the second axis, if there is one
        others = np.flatnonzero(are_numbers & ~differ)
        named = np.sort(np.append(named, others[: 2 - len(named)]))
    if len(named) < 2:
        return np.vstack([unit[named], np.zeros((2 - len(named), len(x)))])
    if len(named) == 2:
        return unit[named]
    moves = np.where(differ, (rows - x) * distance.space.factor, 0.0)
    main, shares = _main_directions(_unit(moves))
    return main if shares[2:].sum() < NEGLIGIBLE else None


def is_number(feature: Feature) -> bool:
    """Whether a feature has values between its values: it is no category and has no ranks."""
    return not feature.is_category and feature.values is None


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


class Plane:
    """A true plane of the scaled space through the input.

    Parameters
    ----------
    axes
        Two orthonormal directions, ``(2, d)``.
    options, ends
        The options, and the rows where the lines through them end: the same, or beyond.
    """

    is_exact = True

    def __init__(
        self, distance: TableDistance, x: Vector, axes: Matrix, options: Matrix, ends: Matrix
    ) -> None:
        self._table, self._x, self._axes = distance.table, x, axes
        self._factor = distance.space.factor
        self.options: Matrix = self.place(options)
        self.ends: Matrix = self.place(ends)

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are the axes."""
        are_named = np.count_nonzero(self._axes, axis=1) == 1
        return tuple(map(int, self._axes.argmax(axis=1))) if are_named.all() else ()

    def at(self, axis: int, codes: Vector) -> Vector:
        """Return where values of the feature of an axis stand on it."""
        i = self.features[axis]
        positions: Vector = (codes - self._x[i]) * self._factor[i]
        return positions

    def place(self, matrix: Matrix) -> Matrix:
        """Return the positions of rows: the nearest points of the plane."""
        moving = np.flatnonzero(self._axes.any(axis=0))
        known = self._table.without_special(matrix)[:, moving]
        placed: Matrix = (known - self._x[moving]) * self._factor[moving] @ self._axes[:, moving].T
        return placed

    def rows(self, points: Matrix) -> Matrix:
        """Return the row that each point stands for: the scaling backwards."""
        moved = self._x + points @ self._axes / self._factor
        # A small type of whole numbers has no room for what lies at the edge of a map.
        moved = np.clip(moved, *np.array([each.dtype_range for each in self._table.features]).T)
        rows: Matrix = np.where(self._axes.any(axis=0), moved, self._x)
        return rows

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return how far the map reaches: over the usual ranges of the axes, and to all options."""
        marks = np.vstack([self.options, self.ends, np.zeros(2)])
        least, most = marks.min(axis=0), marks.max(axis=0)
        middle, span = (least + most) / 2, np.ptp(marks, axis=0).max()
        start, end = middle - (0.5 + MARGIN) * span, middle + (0.5 + MARGIN) * span
        if self.features:
            usual = [self._table.features[i].usual for i in self.features]
            places = [self.at(axis, np.array(ends)) for axis, ends in enumerate(usual)]
            low, high = np.array(places).T
            edge = EDGE * np.maximum(high - low, span)
            # Options that are close together are not to run into each other.
            start = np.maximum(np.minimum(low, least) - edge, middle - WIDEST / 2 * span)
            end = np.minimum(np.maximum(high, most) + edge, middle + WIDEST / 2 * span)
        return (float(start[0]), float(end[0])), (float(start[1]), float(end[1]))

    def ticks(self, axis: int) -> list[tuple[float, str]]:
        """Return marks for an axis that is a feature: where each stands, and its text."""
        i = self.features[axis]
        feature, (start, end) = self._table.features[i], self.limits()[axis]
        low, high = (self._x[i] + each / self._factor[i] for each in (start, end))
        values = _times(low, high) if feature.is_time else _numbers(low, high, feature)
        values = values[(values >= low) & (values <= high)]
        places = self.at(axis, values)
        return [
            (float(at), value_text(feature, float(code)))
            for at, code in zip(places, values, strict=True)
        ]


def _numbers(low: float, high: float, feature: Feature) -> Vector:
    """Return some round numbers from about ``low`` to about ``high``."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an extra

    locator = MaxNLocator(MOST_TICKS, integer=feature.resolution == 1)
    return np.array(locator.tick_values(low, high))


def _times(low: float, high: float) -> Vector:
    """Return the beginnings of some years, months or days, as codes."""
    from matplotlib import dates  # noqa: PLC0415 - an extra

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=3, maxticks=MOST_TICKS)
    ends = (untyped.num2date(end / DAY) for end in (low, high))
    return DAY * np.array(locator.tick_values(*ends))


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
    features: tuple[int, ...] = ()

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
        own = np.vstack([x, options, ends])
        with np.errstate(invalid="ignore"):
            self._low = np.fmin([each.low for each in self._table.features], np.fmin.reduce(own))
            self._high = np.fmax([each.high for each in self._table.features], np.fmax.reduce(own))

    @property
    def _table(self) -> Table:
        return self._distance.table

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
        share = np.round(turns - np.floor(turns), 9)
        if len(self._ends) == 1:
            share = np.zeros_like(share)
        here = self._order[first]
        there = self._order[(first + 1) % len(self._ends)]
        along_a, along_b = self._lengths(radius, share)
        a, b = self._on_line(here, along_a), self._on_line(there, along_b)
        nearer = np.where(share[:, None] < 0.5, a, b)
        # What only one line changes is not rounded by adding nothing to it.
        added = np.where(b == self._x, a, np.where(a == self._x, b, a + b - self._x))
        moves = np.array([not each.is_category for each in self._table.features])
        known = ~np.isnan(self._table.without_special(a))
        known &= ~np.isnan(self._table.without_special(b))
        known &= ~np.isnan(self._table.without_special(self._x[None, :]))
        return np.where(moves & known, np.clip(added, self._low, self._high), nearer)

    def _lengths(self, radius: Vector, share: Vector) -> tuple[Vector, Vector]:
        """Return how far points lie along the lines on their two sides.

        A point is the sum of two arrows along the lines, so that straight stays straight. Opposite
        lines span no plane: there, lengths go by the angle.
        """
        if len(self._ends) <= 2:
            return radius * (1 - share), radius * share
        here, there = np.sin((1 - share) * self._gap), np.sin(share * self._gap)
        return radius * (here / np.sin(self._gap)), radius * (there / np.sin(self._gap))

    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of a square with the input in the middle."""
        reach = (1 + MARGIN) * float(self._reach.max())
        return (-reach, reach), (-reach, reach)

    def ticks(self, axis: int) -> list[tuple[float, str]]:
        """Return no marks: no axis is a feature."""
        return []

    def _on_line(self, which: Indices, length: Vector) -> Matrix:
        """Return the rows on the lines: up to the options, up to the ends, and beyond."""
        near, far = self._radii[which], self._reach[which]
        rows = _on_paths(self._to_options, which, length / _or_1(near))
        behind = (length > near * (1 + NEGLIGIBLE)) & (far > near)
        if behind.any():
            share = (length - near) / _or_1(far - near)
            rows[behind] = _on_paths(self._to_ends, which[behind], share[behind])
        return rows


def _paths(distance: TableDistance, starts: Matrix, ends: Matrix, rules: Rules) -> Paths:
    coordinates = distance.coordinates(starts), distance.coordinates(ends)
    return Paths(distance, starts, ends, coordinates, rules)


def _on_paths(paths: Paths, which: Indices, share: Vector) -> Matrix:
    """Return the rows at shares of some paths, without rounding."""
    starts, ends = paths.starts[which], paths.ends[which]
    at = np.where(np.abs(share - 1) < NEGLIGIBLE, 1.0, share)[:, None]
    with np.errstate(invalid="ignore"):
        points = np.where(starts == ends, starts, starts + at * (ends - starts))
        points = np.where(at == 1, ends, points)
    return paths.between(points, which)


def _unit(directions: Matrix) -> Matrix:
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    unit: Matrix = directions / np.where(lengths > 0, lengths, 1.0)
    return unit


def _or_1(factor: Vector) -> Vector:
    return np.where(factor > 0, factor, 1.0)
