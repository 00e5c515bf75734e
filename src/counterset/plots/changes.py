"""ChangesDisplay: what each option changes, one row a feature, in the feature's own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from counterset._base.arrays import Vector
from counterset._base.bidi import isolated
from counterset.explanations.explanation import Explanation
from counterset.plots.style import (
    SHOWN,
    Ink,
    axes_or_new,
    check_one,
    draw_input,
    draw_note,
    draw_number,
    draw_title,
    more_features,
    most_changed,
    name_of,
    title_of,
    value_text,
    without_signs,
    wrapped,
)
from counterset.tables.features.feature import Feature

__all__ = ["ChangesDisplay", "Dumbbell", "FeatureRow"]

#: Values outside the usual range stand this far beyond its end, the farthest of a row at the end.
BEYOND = (0.045, 0.11)
#: Values that are missing or special have no place in the range: they stand left of it.
ASIDE = -0.2
#: Where the changes are written, beside the range.
VALUES = 1.17
#: Categories have no order: the input's stands left, an option's right.
FROM, TO = 0.12, 0.88
#: The heights of a lane, and of the space for the ends of a row's range, in inches.
LANE, GAP = 0.21, 0.32


@dataclass(frozen=True)
class Dumbbell:
    """One line of the plot: what one option does to one feature.

    Attributes
    ----------
    option
        The rank of the option, from 1.
    start, end
        Where the input's and the option's value stand: from 0 to 1 over the usual range, below 0 or
        above 1 outside it, and left of all that if it is missing or special.
    before, after
        The input's and the option's value in words.
    is_known
        Whether the option's value is neither missing nor special.
    """

    option: int
    start: float
    end: float
    before: str
    after: str
    is_known: bool

    @property
    def text(self) -> str:
        """The change in words, such as ``48 → 26``."""
        return f"{self.before} → {self.after}"

    @property
    def isolated(self) -> str:
        """The same, with signs around values that are written from right to left."""
        return f"{isolated(self.before)} → {isolated(self.after)}"


@dataclass(frozen=True)
class FeatureRow:
    """One row of the plot: a feature, its range, and the options that change it.

    Attributes
    ----------
    name
        How the feature is called.
    ends
        The ends of its usual range as text; None for a category, which has none.
    changes
        The changes, by option.
    input_is_known
        Whether the input's value is neither missing nor special.
    """

    name: str
    ends: tuple[str, str] | None
    changes: tuple[Dumbbell, ...]
    input_is_known: bool


class ChangesDisplay:
    """What each option changes: dumbbells from the input's value to the option's.

    Each feature has a row with an axis of its own: the usual range of the training data, without
    its most extreme values, in its own units. What lies outside stands beyond the end of the axis,
    on a dotted line. Values of categories have no order; they are drawn as a switch, dashed. Values
    that are missing or special stand left of the range, with a cross.

    Parameters
    ----------
    rows
        The rows, see ``FeatureRow``.
    n_more
        How many features change that are not shown.
    n_options
        How many options there are.
    title
        The decision and how many options there are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    See Also
    --------
    MapDisplay : How far, and in which directions.
    MenuDisplay : Which option changes what.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> display = ChangesDisplay.from_explanation(explainer.explain([0.25, 0.5]))
    >>> [row.name for row in display.rows], display.title
    (['x0', 'x1'], 'Classified as False: 2 options lead to True')
    """

    def __init__(
        self, rows: tuple[FeatureRow, ...], n_more: int, n_options: int, *, title: str = ""
    ) -> None:
        self.title = title
        self.rows = rows
        self.n_more = n_more
        self.n_options = n_options

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        outcomes: Mapping[Any, str] | None = None,
        max_features: int = SHOWN,
    ) -> Self:
        """Prepare the plot of one explanation.

        Parameters
        ----------
        outcomes
            From labels to how people call them, for the title.
        max_features
            How many features to show; those that change most often come first.
        """
        check_one(explanation)
        order = most_changed(explanation)
        rows = tuple(_row(explanation, int(i)) for i in order[:max_features])
        more = max(0, len(order) - max_features)
        return cls(rows, more, len(explanation), title=title_of(explanation, outcomes))

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height that suit the plot, in inches."""
        return 8.0, 1.2 + self._height * LANE

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        ink = Ink.of(self.ax_)
        top = 0.0
        ticks = []
        for row in self.rows:
            lanes = len(row.changes)
            ticks.append(top + (lanes - 1) / 2)
            self._draw_row(row, top, ink)
            top += lanes + GAP / LANE
        labels = [wrapped(row.name, 24) for row in self.rows]
        self.ax_.set_yticks(ticks, labels)
        self.ax_.tick_params(left=False, bottom=False, labelbottom=False)
        self.ax_.grid(visible=False)
        self.ax_.set(xlim=(-0.24, 1.72), ylim=(max(top, 1.0) - GAP / LANE / 3, -0.8))
        self.ax_.spines[:].set_visible(False)
        draw_title(self.ax_, self.title, 72)
        draw_note(self.ax_, self._note(), 2)
        return self

    def _note(self) -> str:
        if not self.rows:
            return ""
        note = "Ring: the value now. Numbers: the options. Lines: the usual range of each feature."
        return f"{note} {more_features(self.n_more)}".strip()

    @property
    def _height(self) -> float:
        """The height of the rows, in lanes."""
        return sum(len(row.changes) + GAP / LANE for row in self.rows)

    def _draw_row(self, row: FeatureRow, top: float, ink: Ink) -> None:
        ax, lanes = self.ax_, len(row.changes)
        base = top + lanes - 0.25
        start = row.changes[0].start
        if row.ends is not None:
            ax.plot([0, 1], [base, base], color=ink.muted, linewidth=1, marker="|", zorder=1)
            for at, text, side in ((0, row.ends[0], "left"), (1, row.ends[1], "right")):
                ax.annotate(
                    text, (at, base), (0, -2), textcoords="offset points",
                    ha=side, va="top", fontsize=7, color=ink.muted,
                )  # fmt: skip
            places = [start, *(change.end for change in row.changes)]
            for end, far in ((1, max(places)), (0, min([1, *(p for p in places if p > ASIDE)]))):
                if (far - end) * (1 if end else -1) > 0:
                    ax.plot([end, far], [base, base], ":", color=ink.muted, linewidth=1, zorder=1)
        ax.plot([start, start], [top - 0.4, base], color=ink.text, linewidth=0.8, zorder=1)
        for lane, change in enumerate(row.changes):
            y, colour = top + lane, ink.colour(change.option)
            line = "-" if row.ends is not None and change.is_known else (0, (2, 2))
            ax.plot(
                [change.start, change.end], [y, y], color=colour, linestyle=line, linewidth=2,
                zorder=2,
            )  # fmt: skip
            if row.input_is_known:
                draw_input(ax, (start, y), ink, 7)
            else:
                ax.plot(start, y, "x", color=ink.text, markersize=7, zorder=3)
            if not change.is_known:
                # Beside the number, on the way to it.
                aside = change.end + (0.045 if change.start > change.end else -0.045)
                ax.plot(aside, y, "x", color=colour, markersize=7, zorder=3)
            draw_number(ax, (change.end, y), change.option, ink)
            ax.text(VALUES, y, without_signs(change.isolated), va="center", fontsize=8.5,
                    color=ink.text)  # fmt: skip


def _row(explanation: Explanation, i: int) -> FeatureRow:
    """Return the row of a feature, from its position."""
    coded = explanation.coded
    feature: Feature = coded.table.features[i]
    own, codes = float(coded.input[i]), coded.matrix[:, i]
    changing = np.flatnonzero(coded.changed[:, i])
    every = np.array([own, *codes])
    known = feature.is_known(every)
    low, high = feature.usual
    places = _places(every, low, high)
    places[~known] = ASIDE
    if feature.is_category:
        places = np.where(known, [FROM, *[TO] * len(codes)], ASIDE)
    changes = tuple(
        Dumbbell(
            int(rank) + 1,
            float(places[0]),
            float(places[rank + 1]),
            value_text(feature, own, apart_from=[codes[rank]]),
            value_text(feature, codes[rank], apart_from=[own]),
            bool(known[rank + 1]),
        )
        for rank in changing
    )
    ends = None if feature.is_category else (value_text(feature, low), value_text(feature, high))
    return FeatureRow(name_of(feature), ends, changes, bool(known[0]))


def _places(codes: Vector, low: float, high: float) -> Vector:
    """Return where values stand on an axis from ``low`` to ``high``, see :class:`Dumbbell`."""
    spread = high - low or 1.0
    places: Vector = (codes - low) / spread
    near, far = BEYOND
    for out, end, sign in ((places - 1, 1.0, 1.0), (-places, 0.0, -1.0)):
        beyond = out > 0
        if beyond.any():
            share = out[beyond] / out[beyond].max()
            places[beyond] = end + sign * (near + (far - near) * share)
    return places
