"""Where the input, its options and training rows stand in a map, and what the model says there.

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

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from scipy.ndimage import binary_dilation, map_coordinates
from scipy.spatial import KDTree

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.plots.style import GREY, INPUT, PAPER, axes_or_new, check_one, option_style
from counterset.strategies.line_search import Paths
from counterset.tables.features.feature import Feature
from counterset.tables.space import TableDistance
from counterset.tables.table import Table
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

__all__ = [
    "Background",
    "Fan",
    "Layout",
    "MapDisplay",
    "Plane",
    "ask_background",
    "draw_background",
    "is_reached_as",
    "lay_out",
    "map_of",
    "sides_of",
]

#: A map ends 25 % beyond the farthest option.
MARGIN = 0.25
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
    are_numbers = np.array([_is_number(feature) for feature in table.features]) & known
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


def _is_number(feature: Feature) -> bool:
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
        rows: Matrix = np.where(self._axes.any(axis=0), moved, self._x)
        return rows

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


#: At most 500 training rows are drawn: more hide the boundary.
MOST_DOTS = 500
#: Where the decision stays, and where it is another: both light, the second hatched too.
STAYS, CHANGES = "#FFF3D6", "#D6EAF6"
HATCH, LINES = "///", "#9DBDD1"


#: The model is asked about the middles of 81 x 81 cells of a map.
CELLS = 81
#: Five halvings find where an edge between two middles crosses the boundary, to 1/32 of a cell.
HALVINGS = 5
#: A step of a whole number that is up to 8 cells wide is smoothed: its corners are no part of the
#: boundary. Wider ones are shown as they are.
WIDEST_STEP = 8
#: At most 3 whole numbers are smoothed, those with the widest steps: each takes 3 times the rows.
MOST_SMOOTHED = 3
#: Cells are not told apart by how far they are from the boundary beyond 2 of them.
DEEPEST = 2.0


@dataclass(frozen=True)
class Background:
    """What the model says at the cells of a map.

    Attributes
    ----------
    right, up
        The middles of the cells, ``(n, n)``.
    reached
        Where the decision is what was asked for, as the options have it, of the same shape. The
        cell of an option has the option's decision, and that of the input the input's.
    depth
        How many cells each middle is from the boundary, at most 2: above 0 where the decision is
        what was asked for. The boundary is where this, interpolated, is 0.
    labels
        The classes on the two sides: where it is not what was asked for, and where it is; none for
        predicted numbers.
    limits
        How far the map reaches, to the right and upwards.
    """

    right: Matrix
    up: Matrix
    reached: Mask
    depth: Matrix
    labels: tuple[tuple[Any, ...], tuple[Any, ...]]
    limits: tuple[tuple[float, float], tuple[float, float]]

    def holds(self, points: Matrix) -> Mask:
        """Return which points the map holds; none that has no place."""
        (left, right), (low, high) = self.limits
        inside = (points >= (left, low)) & (points <= (right, high))
        return np.asarray(inside.all(axis=1))


class MapDisplay:
    """The set as a map: the input, the lines to its options, and the decision boundary.

    Where the options span a plane of numbers, the map is that plane of the scaled space, and every
    position in it is exact. Otherwise the input stands in the middle and each option at its true
    distance; between the lines to the options, a row is a mixture of theirs. ``is_exact`` and the
    note below the map say which. See :mod:`counterset.plots.map`.

    The model is asked about the input, the options and a grid of points; between two points that
    differ, the boundary is drawn in the middle.

    Parameters
    ----------
    options
        The positions of the options, ``(n, 2)``; the input stands at (0, 0).
    dots
        The positions of training rows, ``(m, 2)``.
    background
        What the model says.
    labels
        The decisions on both sides, as text: all that are not what was asked for, and all that are.
    is_exact
        Whether the map is a true plane.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> display = MapDisplay.from_explanation(explainer.explain([0.25, 0.5]), explainer)
    >>> display.is_exact, display.options.shape
    (True, (2, 2))
    """

    size = (6.0, 5.4)

    def __init__(
        self,
        options: Matrix,
        dots: Matrix,
        background: Background,
        labels: tuple[str, str],
        *,
        is_exact: bool,
    ) -> None:
        self.options = options
        self.dots = dots
        self.background = background
        self.labels = labels
        self.is_exact = is_exact

    @classmethod
    def from_explanation(cls, explanation: Explanation, explainer: DiverseExplainer) -> Self:
        """Prepare the map of one explanation; the model is asked about a grid of points, once.

        Parameters
        ----------
        explanation
            An explanation with at least one option.
        explainer
            The fitted explainer that made it.
        """
        check_one(explanation)
        layout = map_of(explanation, explainer)
        background = ask_background(layout, explanation, explainer)
        dots = layout.place(explainer.training_.pool.matrix)
        dots = dots[background.holds(dots)]
        step = max(1, -(-len(dots) // MOST_DOTS))
        return cls(
            layout.options,
            dots[::step],
            background,
            sides_of(explanation, background),
            is_exact=layout.is_exact,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        sides = draw_background(self.ax_, self.background, self.labels)
        self.ax_.plot(*self.dots.T, ".", color=GREY, markersize=2.5, alpha=0.6, zorder=2)
        for i, option in enumerate(self.options):
            style = option_style(i)
            self.ax_.plot(*zip((0, 0), option, strict=True), color=style["color"], zorder=3)
            self.ax_.plot(
                *option, linestyle="", markersize=9, markeredgecolor=PAPER, zorder=4,
                label=f"option {i + 1}", **style,
            )  # fmt: skip
        self.ax_.plot(
            0, 0, "o", color=INPUT, markerfacecolor=PAPER, markersize=9, markeredgewidth=2,
            zorder=5, label="input",
        )  # fmt: skip
        how = "distances from the input are true;\nbetween the lines, rows are mixtures of theirs"
        if self.is_exact:
            how = f"a plane of the scaled space,\nasked at {self.background.right.size:,} points"
        self.ax_.set_xlabel(how, fontsize=8)
        marks, _ = self.ax_.get_legend_handles_labels()
        self.ax_.legend(
            handles=[*marks[-1:], *marks[:-1], *sides],
            loc="upper left",
            bbox_to_anchor=(1.01, 1),
            frameon=False,
            fontsize=8.5,
            borderaxespad=0,
        )
        return self


def map_of(
    explanation: Explanation, explainer: DiverseExplainer, beyond: Matrix | None = None
) -> Layout:
    """Return where an explanation's input and options stand.

    Parameters
    ----------
    beyond
        The rows behind the options where the lines end; None: at the options.
    """
    if not len(explanation):
        raise InvalidInputError(
            "A map needs at least one option, and this explanation has none. Its status is "
            f"{explanation.status!r}."
        )
    given, coded = explanation.context.constraints, explanation.coded
    rules = explainer.training_.rules(Constraints(**given) if given else None)
    return lay_out(explainer.distance_, coded.input, coded.matrix, rules, beyond)


def draw_background(ax: Any, background: Background, labels: tuple[str, str]) -> list[Any]:
    """Draw where the decision is another one, with a line between; return handles for a legend."""
    at, depth = (background.right, background.up), background.depth
    levels = (-2 * DEEPEST, 0.0, 2 * DEEPEST)
    ax.contourf(*at, depth, levels=levels, colors=[STAYS, CHANGES], zorder=0)
    # Clear of the fill, lines at an angle show the other side in grey too.
    if depth.min() < 0 < depth.max():
        lines = ax.contourf(*at, depth, levels=levels[1:], colors="none", hatches=[HATCH], zorder=0)
        lines.set_edgecolor(LINES)
        lines.set_linewidth(0)
        ax.contour(*at, depth, levels=[0.0], colors=INPUT, linewidths=1, zorder=1)
    ax.set(xlim=background.limits[0], ylim=background.limits[1], aspect="equal")
    ax.set(xticks=[], yticks=[])
    from matplotlib.patches import Patch  # noqa: PLC0415 - an extra

    return [
        Patch(facecolor=colour, hatch=hatch, edgecolor=LINES, label=textwrap.fill(label, 24))
        for colour, hatch, label in zip((STAYS, CHANGES), ("", HATCH), labels, strict=True)
    ]


def is_reached_as(explanation: Explanation, labels: Labels) -> Mask:
    """Return which labels are what the explanation was asked for."""
    own = np.repeat(np.array([explanation.label]), len(labels))
    return np.asarray(explanation.context.goal.accepts(labels, own))


def ask_background(
    layout: Layout, explanation: Explanation, explainer: DiverseExplainer, cells: int = CELLS
) -> Background:
    """Ask the model about the cells of a map, and find the boundary between them.

    Parameters
    ----------
    cells
        How many cells a side of the map has.
    """
    limits = layout.limits()
    middles = [low + (high - low) * (np.arange(cells) + 0.5) / cells for low, high in limits]
    right, up = np.meshgrid(*middles)
    coded = explanation.coded
    asked = _Asked(layout, ModelAdapter(explainer.model, coded.table), explanation, cells)
    marks = np.vstack([layout.options, np.zeros(2)])  # the input last: it counts in its cell
    rows = np.vstack([asked.rows, coded.matrix, coded.input])
    labels = asked.adapter.labels(rows)
    reached = is_reached_as(explanation, labels)
    sides: tuple[tuple[Any, ...], tuple[Any, ...]] = (), ()  # predicted numbers are no classes
    if not explanation.context.is_regression:
        sides = _distinct(labels[~reached], explainer), _distinct(labels[reached], explainer)
    inside = asked.smoothed(reached[: cells**2].reshape(cells, cells))
    depth = asked.depth(inside)
    here = asked.cells_at(marks)
    _show_marks(depth, here, reached[cells**2 :])
    for (i, j), mark in zip(np.rint(here).astype(int), reached[cells**2 :], strict=True):
        inside[i, j] = mark
    return Background(right, up, inside, depth, sides, limits)


class _Asked:
    """What the model says at points of a map.

    Points are counted in cells: ``(i, j)`` is the middle of cell ``j`` of row ``i``, from below.
    """

    def __init__(
        self, layout: Layout, adapter: ModelAdapter, explanation: Explanation, cells: int
    ) -> None:
        self.adapter, self.cells = adapter, cells
        self._layout, self._explanation = layout, explanation
        self._start = np.array([low for low, _ in layout.limits()][::-1])
        self._size = np.array([high - low for low, high in layout.limits()][::-1]) / cells

    @cached_property
    def rows(self) -> Matrix:
        """The rows at the middles of all cells."""
        return self._held(
            self._values(np.indices((self.cells, self.cells), float).reshape(2, -1).T)
        )

    def _values(self, at: Matrix) -> Matrix:
        """Return the rows at points, before rounding."""
        points = ((at + 0.5) * self._size + self._start)[:, ::-1]
        return self._layout.rows(points)

    def _held(self, rows: Matrix) -> Matrix:
        coded = self._explanation.coded
        return coded.table.hold(rows, np.broadcast_to(coded.input, rows.shape))

    def cells_at(self, points: Matrix) -> Matrix:
        """Return in which cells points lie, with fractions, within the map."""
        at = (points[:, ::-1] - self._start) / self._size - 0.5
        clipped: Matrix = np.clip(at, 0, self.cells - 1)
        return clipped

    @cached_property
    def _coarse(self) -> list[tuple[int, float]]:
        """The features to smooth, and the step of each."""
        table = self._explanation.coded.table
        low, high = np.fmin.reduce(self.rows), np.fmax.reduce(self.rows)
        found = []
        for i in np.argsort(high - low, kind="stable"):
            step = table.features[i].resolution if _is_number(table.features[i]) else 0.0
            width = self.cells * step / (high[i] - low[i]) if high[i] > low[i] else 0.0
            if 1 / 2 < width < WIDEST_STEP:
                found.append((width, int(i), step))
        return [(i, step) for _, i, step in sorted(found)[-MOST_SMOOTHED:]]

    def _reached(self, at: Matrix) -> Mask:
        """Whether the decision at points is what was asked for, with steps smoothed.

        Between whole numbers, it is that of most of the rows around, weighted as a quadratic
        spline weighs them.
        """
        values = self._values(at)
        held = self._held(values)
        parts = [(held, np.ones(len(at)))]
        for i, step in self._coarse:
            moves = self._explanation.coded.input[i] != values[:, i]
            off = np.where(moves, (values[:, i] - held[:, i]) / step, 0.0)
            weights = (0.5 - off) ** 2 / 2, 0.75 - off**2, (0.5 + off) ** 2 / 2
            parts = [
                (_moved(rows, i, np.where(moves, side * step, 0.0)), weight * share)
                for rows, weight in parts
                for side, share in zip((-1, 0, 1), weights, strict=True)
            ]
        share = sum(np.where(self._says(rows), weight, 0.0) for rows, weight in parts)
        return np.asarray(share >= 0.5)

    def _says(self, rows: Matrix) -> Mask:
        return is_reached_as(self._explanation, self.adapter.labels(rows))

    def smoothed(self, reached: Mask) -> Mask:
        """Return which middles are on which side, without the corners of small steps."""
        if not self._coarse:
            return reached.copy()
        near = binary_dilation(_edges(reached), iterations=WIDEST_STEP)
        smooth = reached.copy()
        if near.any():
            smooth[near] = self._reached(np.argwhere(near).astype(float))
        return smooth

    def depth(self, inside: Mask) -> Matrix:
        """Return how many cells each middle is from the boundary, below 0 if not inside."""
        up = np.argwhere(inside[:-1] != inside[1:])
        right = np.argwhere(inside[:, :-1] != inside[:, 1:])
        starts = np.concatenate([up, right])
        far = np.full(inside.shape, DEEPEST)
        if len(starts):
            first = inside[tuple(starts.T)]
            low = starts.astype(float)
            high = low + np.repeat([[1, 0], [0, 1]], [len(up), len(right)], axis=0)
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                same = (self._reached(middle) == first)[:, None]
                low, high = np.where(same, middle, low), np.where(same, high, middle)
            every = np.indices(inside.shape).reshape(2, -1).T
            apart, _ = KDTree((low + high) / 2).query(every)
            far = np.minimum(apart.reshape(inside.shape), DEEPEST)
        return np.where(inside, far, -far)


def _moved(rows: Matrix, i: int, by: Vector) -> Matrix:
    moved = rows.copy()
    moved[:, i] += by
    return moved


def _edges(inside: Mask) -> Mask:
    """Return the cells that have a neighbour on the other side."""
    found = np.zeros_like(inside)
    for axis in (0, 1):
        differ = np.diff(inside, axis=axis)
        found |= np.pad(differ, [(0, 1), (0, 0)] if axis == 0 else [(0, 0), (0, 1)])
        found |= np.pad(differ, [(1, 0), (0, 0)] if axis == 0 else [(0, 0), (1, 0)])
    return found


#: A mark that lies this far on the wrong side, in cells, gets an island of its own side around it.
VISIBLE = 0.1


def _show_marks(depth: Matrix, at: Matrix, sides: Mask) -> None:
    """Make the area around each mark the colour of the mark's decision, where it is not yet.

    An area may be narrower than a cell, so that no middle lies in it.
    """
    for position, side in zip(at, sides, strict=True):
        sign = 1.0 if side else -1.0
        shown = float(map_coordinates(depth, position[:, None], order=1)[0])
        if sign * shown < -VISIBLE:
            nearest = tuple(np.rint(position).astype(int))
            weight = float(np.prod(1 - np.abs(position - nearest)))
            depth[nearest] += (sign * VISIBLE - shown) / weight


def _distinct(labels: Labels, explainer: DiverseExplainer) -> tuple[Any, ...]:
    """Return each class once, in the order of the classes."""
    known = explainer.classes_.tolist()
    found = set(labels.tolist())
    return (*(label for label in known if label in found), *sorted(found - {*known}, key=str))


def sides_of(
    explanation: Explanation, background: Background, label_text: Callable[[Any], str] = str
) -> tuple[str, str]:
    """Return all decisions on the two sides of a map as text; for a regression, what was asked for.

    Parameters
    ----------
    label_text
        Returns how a class is called.
    """
    if explanation.context.is_regression:
        wanted = Outcomes(explanation, Templates.read(), {}).goal()
        return f"not {wanted}", wanted
    stays, changes = (" or ".join(map(label_text, labels)) for labels in background.labels)
    return stays, changes
