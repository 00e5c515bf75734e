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

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.plots.style import GREY, INPUT, PAPER, axes_or_new, check_one, option_style
from counterset.strategies.line_search import Paths
from counterset.tables.space import TableDistance
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


#: At most 500 training rows are drawn: more hide the boundary.
MOST_DOTS = 500
#: Where the decision stays, and where it is another: both light, the second hatched too.
STAYS, CHANGES = "#FFF3D6", "#D6EAF6"
HATCH, LINES = "///", "#9DBDD1"


@dataclass(frozen=True)
class Background:
    """What the model says at points of a map.

    Attributes
    ----------
    right, up
        The coordinates of the points, ``(n, m)``.
    reached
        Where the decision is what was asked for, as the options have it, of the same shape.
    labels
        The classes on the two sides: where it is not what was asked for, and where it is; none for
        predicted numbers.
    limits
        How far the map reaches, to the right and upwards.
    """

    right: Matrix
    up: Matrix
    reached: Mask
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
    at, reached = (background.right, background.up), background.reached.astype(float)
    ax.contourf(*at, reached, levels=[-0.5, 0.5, 1.5], colors=[STAYS, CHANGES], zorder=0)
    # Clear of the fill, lines at an angle show the other side in grey too.
    if 0 < reached.mean() < 1:
        lines = ax.contourf(
            *at, reached, levels=[0.5, 1.5], colors="none", hatches=[HATCH], zorder=0
        )
        lines.set_edgecolor(LINES)
        lines.set_linewidth(0)
        ax.contour(*at, reached, levels=[0.5], colors=INPUT, linewidths=1, zorder=1)
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
    layout: Layout,
    explanation: Explanation,
    explainer: DiverseExplainer,
    mesh: tuple[Matrix, Matrix] | None = None,
) -> Background:
    """Ask the model about the points of a map, in one call.

    The point nearest to an option, and that nearest to the input, are asked about as what they are:
    an option may be so near to the boundary that a point beside it lies on the other side.

    Parameters
    ----------
    mesh
        The points to ask about: two coordinates, each ``(n, m)``; None: those of the layout.
    """
    right, up = layout.mesh() if mesh is None else mesh
    points = np.column_stack([right.ravel(), up.ravel()])
    rows = layout.rows(points)
    # The input last: it counts where an option is nearest to the same point.
    coded = explanation.coded
    marks = [*zip(layout.options, coded.matrix, strict=True), (0.0, coded.input)]
    for position, row in marks:
        rows[np.square(points - position).sum(axis=1).argmin()] = row
    labels = ModelAdapter(explainer.model, coded.table).labels(rows)
    reached = is_reached_as(explanation, labels)
    sides: tuple[tuple[Any, ...], tuple[Any, ...]] = (), ()  # predicted numbers are no classes
    if not explanation.context.is_regression:
        sides = _distinct(labels[~reached], explainer), _distinct(labels[reached], explainer)
    return Background(right, up, reached.reshape(right.shape), sides, layout.limits())


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
