"""MapDisplay: an explanation as a map, with the decision boundary between input and options."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from counterset._base.arrays import Labels, Mask, Matrix
from counterset.constraints.constraints import Constraints
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.models.adapter import ModelAdapter
from counterset.plots.layouts import Layout, lay_out
from counterset.plots.style import GREY, INPUT, PAPER, axes_or_new, check_one, option_style
from counterset.results.explanation import Explanation
from counterset.words.outcomes import Outcomes
from counterset.words.templates import Templates

__all__ = ["Background", "MapDisplay", "ask_background", "draw_background", "is_reached_as"]
__all__ += ["map_of", "sides_of"]

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
    """The set as a map: the input, the ways to its options, and the decision boundary.

    Where the options span a plane of numbers, the map is that plane of the scaled space, and every
    position in it is exact. Otherwise the input stands in the middle and each option at its true
    distance; between the lines to the options, a row is a mixture of theirs. ``is_exact`` and the
    note below the map say which. See :mod:`counterset.plots.layouts`.

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
        dots = layout.place(explainer.pool_.matrix)
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
    training = explainer._training
    given = explanation.context.constraints
    rules = training.rules(Constraints(**given) if given else None)
    return lay_out(training.distance, explanation._input, explanation._matrix, rules, beyond)


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
    marks = [*zip(layout.options, explanation._matrix, strict=True), (0.0, explanation._input)]
    for position, row in marks:
        rows[np.square(points - position).sum(axis=1).argmin()] = row
    labels = ModelAdapter(explainer.model, explanation._table).labels(rows)
    reached = is_reached_as(explanation, labels)
    sides = _distinct(labels[~reached], explainer), _distinct(labels[reached], explainer)
    return Background(right, up, reached.reshape(right.shape), sides, layout.limits())


def _distinct(labels: Labels, explainer: DiverseExplainer) -> tuple[Any, ...]:
    """Return each class once, in the order of the classes; predicted numbers are no classes."""
    if explainer._training.classes.are_measurements:
        return ()
    known = explainer.classes_.tolist()
    found = set(labels.tolist())
    return (*(label for label in known if label in found), *sorted(found - {*known}, key=str))


def sides_of(
    explanation: Explanation, background: Background, told: Callable[[Any], str] = str
) -> tuple[str, str]:
    """Return all decisions on the two sides of a map as text; for a regression, what was asked for.

    Parameters
    ----------
    told
        Returns how a class is called.
    """
    if explanation.context.is_regression:
        wanted = Outcomes(explanation, Templates.read(), {}).goal()
        return f"not {wanted}", wanted
    stays, changes = (" or ".join(map(told, labels)) for labels in background.labels)
    return stays, changes
