"""The map of a set: what the model says around an input and its options, and where they stand.

Where rows stand, and what row a point stands for, is in :mod:`counterset.plots.layouts`. The model
is asked about the middles of the cells of a grid, about the input and the options as what they are,
and on between two middles that differ, to find where the boundary crosses.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.ndimage import binary_dilation, distance_transform_edt, map_coordinates
from scipy.spatial import KDTree

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Vector
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.models.adapter import ModelAdapter
from counterset.plots.layouts import Layout, is_number, lay_out
from counterset.plots.style import (
    Ink,
    axes_or_new,
    check_one,
    draw_input,
    draw_note,
    draw_number,
    draw_title,
    name_of,
    title_of,
    without_signs,
    wrapped,
)
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

__all__ = [
    "Background",
    "MapDisplay",
    "ask_background",
    "draw_background",
    "is_reached_as",
    "map_of",
    "name_areas",
    "sides_of",
]

#: The width of the disc of an option, as a share of the map's.
DISC = 0.045
#: The name of an area needs so much room above and below its middle, as a share of the map.
ROOM = 0.035
#: At most 500 training rows are drawn: more hide the boundary.
MOST_DOTS = 500
#: How the area is hatched where the decision is what was asked for.
HATCH = "///"
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
    position in it is exact; if they change two features, these are the axes, over their usual
    ranges. Otherwise the input stands in the middle and each option at its true distance; between
    two lines, the changes of both options are added up. ``is_exact`` and the note below the map say
    which.

    The model is asked about the input, the options and a grid of points, and on between two
    points that differ, to find the boundary between them. Steps of whole numbers are smoothed.

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
    title
        The decision and how many options there are.
    axes
        For each axis that is a feature: its name, and where which values stand; else empty.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    See Also
    --------
    ChangesDisplay : What changes, in its own units.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> display = MapDisplay.from_explanation(explainer.explain([0.25, 0.5]), explainer)
    >>> display.is_exact, display.options.shape
    (True, (2, 2))
    """

    size = (5.8, 7.1)

    def __init__(
        self,
        options: Matrix,
        dots: Matrix,
        background: Background,
        labels: tuple[str, str],
        *,
        is_exact: bool,
        title: str = "",
        axes: tuple[tuple[str, list[tuple[float, str]]], ...] = (),
    ) -> None:
        self.title = title
        self.axes = axes
        self.options = options
        self.dots = dots
        self.background = background
        self.labels = labels
        self.is_exact = is_exact

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        explainer: DiverseExplainer,
        *,
        outcomes: Mapping[Any, str] | None = None,
    ) -> Self:
        """Prepare the map of one explanation; the model is asked about a grid of points.

        Parameters
        ----------
        explanation
            An explanation with at least one option.
        explainer
            The fitted explainer that made it.
        outcomes
            From labels to how people call them, for the title and the areas.
        """
        check_one(explanation)
        layout = map_of(explanation, explainer)
        background = ask_background(layout, explanation, explainer)
        dots = layout.place(explainer.training_.pool.matrix)
        dots = dots[background.holds(dots)]
        step = max(1, -(-len(dots) // MOST_DOTS))
        features = explanation.coded.table.features
        names = Outcomes(explanation, Templates.read(), outcomes or {}, quoted=False)
        return cls(
            layout.options,
            dots[::step],
            background,
            sides_of(explanation, background, names.text),
            is_exact=layout.is_exact,
            title=title_of(explanation, outcomes),
            axes=tuple(
                (name_of(features[i]), layout.ticks(axis)) for axis, i in enumerate(layout.features)
            ),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        ink = Ink.of(self.ax_)
        draw_background(self.ax_, self.background, ink)
        self.ax_.plot(*self.dots.T, ".", color=ink.muted, markersize=2.5, alpha=0.6, zorder=2)
        for i, option in enumerate(self.options):
            colour = ink.colour(i + 1)
            self.ax_.plot(*zip((0, 0), option, strict=True), color=colour, linewidth=2, zorder=3)
        draw_input(self.ax_, (0, 0), ink, 9)
        # The nearest on top.
        for i, at in reversed(list(enumerate(self._discs()))):
            if (at != self.options[i]).any():
                line = zip(self.options[i], at, strict=True)
                self.ax_.plot(*line, color=ink.text, linewidth=0.8, zorder=4)
                self.ax_.plot(*self.options[i], ".", color=ink.text, markersize=5, zorder=4)
            draw_number(self.ax_, at, i + 1, ink, 13)
        unnamed = name_areas(self.ax_, self.background, self.labels, ink, self.options)
        self._name_axes()
        draw_title(self.ax_, self.title, 52)
        draw_note(self.ax_, self._note(unnamed), 46 if self.axes else 8)
        return self

    def _discs(self) -> Matrix:
        """Return where the numbers stand: at the options, or beside others if these are near."""
        (left, right), (low, high) = self.background.limits
        size = np.array([right - left, high - low])
        placed: list[Vector] = []
        for option in self.options:
            at = option
            outwards = option / (np.linalg.norm(option / size) or 1.0)
            for step in range(1, len(self.options) + 1):
                if all(np.linalg.norm((at - other) / size) >= DISC for other in placed):
                    break
                at = option + step * DISC * outwards
            placed.append(at)
        return np.array(placed)

    def _name_axes(self) -> None:
        axes = (self.ax_.xaxis, self.ax_.yaxis)
        for axis, (name, ticks) in zip(axes, self.axes, strict=False):
            axis.set_ticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=8)
            axis.set_label_text(wrapped(name, 44))

    def _note(self, unnamed: list[str]) -> str:
        marks = "Ring: the input. Numbers: its options."
        if len(self.dots):
            marks += " Dots: training rows."
        how = (
            "Their distances from the input are true. Between two lines, the area says what the\n"
            "model decides if the changes of both options are added up."
        )
        if self.is_exact:
            how = "The area says what the model decides there, with all else as in the input."
        return "\n".join([marks, how, *unnamed])


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


def draw_background(ax: Any, background: Background, ink: Ink) -> None:
    """Draw where the decision is what was asked for, with a line around it."""
    at, depth = (background.right, background.up), background.depth
    levels = (-2 * DEEPEST, 0.0, 2 * DEEPEST)
    ax.contourf(*at, depth, levels=levels, colors=[ink.stays, ink.changes], zorder=0)
    # Clear of the fill, lines at an angle show the other side in grey too.
    if depth.min() < 0 < depth.max():
        lines = ax.contourf(*at, depth, levels=levels[1:], colors="none", hatches=[HATCH], zorder=0)
        lines.set_edgecolor(ink.hatch)
        lines.set_linewidth(0)
        ax.contour(*at, depth, levels=[0.0], colors=ink.text, linewidths=1, zorder=1)
    (left, right), (low, high) = background.limits
    ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[])
    ax.set_aspect((right - left) / (high - low), adjustable="box")
    ax.grid(visible=False)


def name_areas(
    ax: Any, background: Background, labels: tuple[str, str], ink: Ink, options: Matrix
) -> list[str]:
    """Write the decisions into their areas; return a sentence for each that has no room.

    Parameters
    ----------
    options
        Where something stands that is not to be written over; so does the input.
    """
    unnamed = []
    cells = len(background.reached)
    kinds = ("The plain area", "The hatched area")
    for side, (label, kind) in enumerate(zip(labels, kinds, strict=True)):
        free = background.reached == bool(side)
        if not label or not free.any():
            continue
        for share in np.linspace(0, 1, cells):
            for column, row in _cells_of(share * options, background):
                free[row, column] = False
        # Texts are wider than high, so that there has to be more room beside them.
        room = distance_transform_edt(np.pad(free, 1), sampling=(1.0, 0.4))[1:-1, 1:-1]
        row, column = np.unravel_index(room.argmax(), room.shape)
        if room[row, column] < ROOM * cells:
            unnamed.append(f"{kind}: {label}.")
            continue
        at = background.right[row, column], background.up[row, column]
        ax.annotate(
            without_signs(textwrap.fill(label, 18)), at, ha="center", va="center", fontsize=10,
            fontweight="bold", color=ink.text, zorder=4,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": ink.paper, "edgecolor": "none"},
        )  # fmt: skip
    return unnamed


def _cells_of(points: Matrix, background: Background) -> Indices:
    """Return the column and the row of the cell of each point."""
    (left, right), (low, high) = background.limits
    size = np.array([right - left, high - low]) / len(background.reached)
    found: Indices = ((points - (left, low)) / size).astype(np.intp)
    return np.clip(found, 0, len(background.reached) - 1)


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
            step = table.features[i].resolution if is_number(table.features[i]) else 0.0
            width = self.cells * step / (high[i] - low[i]) if high[i] > low[i] else 0.0
            if 1 / 2 < width < WIDEST_STEP:
                found.append((width, int(i), step))
        return [(i, step) for _, i, step in sorted(found)[-MOST_SMOOTHED:]]

    def _reached(self, at: Matrix) -> Mask:
        """Whether the decision at points is what was asked for, with steps smoothed.

        Between whole numbers, it is that of most of the rows around, weighted as a quadratic
        spline weighs them.
        """
        table, values = self._explanation.coded.table, self._values(at)
        held = self._held(values)
        parts = [(held, np.ones(len(at)))]
        for i, step in self._coarse:
            moves = self._explanation.coded.input[i] != values[:, i]
            off = np.where(moves, (values[:, i] - held[:, i]) / step, 0.0)
            weights = (0.5 - off) ** 2 / 2, 0.75 - off**2, (0.5 + off) ** 2 / 2
            least, most = table.features[i].dtype_range
            parts = [
                (_with(rows, i, np.clip(rows[:, i] + moves * side * step, least, most)), w * share)
                for rows, w in parts
                for side, share in zip((-1, 0, 1), weights, strict=True)
            ]
        labels = self.adapter.labels(np.vstack([rows for rows, _ in parts]))
        says = is_reached_as(self._explanation, labels).reshape(len(parts), len(at))
        share = np.where(says, [weight for _, weight in parts], 0.0).sum(axis=0)
        return np.asarray(share >= 0.5)

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


def _with(rows: Matrix, i: int, codes: Vector) -> Matrix:
    changed = rows.copy()
    changed[:, i] = codes
    return changed


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
