"""ChangesDisplay: what each option changes, one row a feature, in the feature's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from counterset.explanations.explanation import Explanation
from counterset.plots.style import (
    GREY,
    INPUT,
    PAPER,
    SHOWN,
    axes_or_new,
    check_one,
    most_changed,
    name_of,
    option_style,
    value_text,
    wrapped,
)
from counterset.tables.features.feature import Feature

__all__ = ["ChangesDisplay", "Dumbbell", "FeatureRow"]

#: Values that are missing or special have no place in the range: they stand left of it.
ASIDE = -0.14
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
        Where the input's and the option's value stand, from 0 to 1 over the training range.
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


@dataclass(frozen=True)
class FeatureRow:
    """One row of the plot: a feature, its range, and the options that change it.

    Attributes
    ----------
    name
        How the feature is called.
    ends
        The ends of its range as text; None for a category, which has none.
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

    Each feature has a row with an axis of its own: the range of the training data, in its own
    units, widened where the input or an option lies outside. Values of categories have no order;
    they are drawn as a switch, dashed. Values that are missing or special stand left of the range,
    with a cross.

    Parameters
    ----------
    rows
        The rows, see :class:`FeatureRow`.
    n_more
        How many features change that are not shown.
    n_options
        How many options there are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> display = ChangesDisplay.from_explanation(explainer.explain([0.25, 0.5]))
    >>> [row.name for row in display.rows]
    ['x0', 'x1']
    """

    def __init__(self, rows: tuple[FeatureRow, ...], n_more: int, n_options: int) -> None:
        self.rows = rows
        self.n_more = n_more
        self.n_options = n_options

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_features: int = SHOWN) -> Self:
        """Prepare the plot of one explanation.

        Parameters
        ----------
        max_features
            How many features to show; those that change most often come first.
        """
        check_one(explanation)
        order = most_changed(explanation)
        rows = tuple(_row(explanation, int(i)) for i in order[:max_features])
        return cls(rows, max(0, len(order) - max_features), len(explanation))

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height that suit the plot, in inches."""
        return 8.0, 0.7 + self._height * LANE

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        top = 0.0
        ticks = []
        for row in self.rows:
            lanes = len(row.changes)
            ticks.append(top + (lanes - 1) / 2)
            self._draw_row(row, top)
            top += lanes + GAP / LANE
        labels = [wrapped(row.name, 24) for row in self.rows]
        self.ax_.set_yticks(ticks, labels)
        self.ax_.tick_params(left=False, bottom=False, labelbottom=False)
        self.ax_.set(xlim=(-0.2, 1.62), ylim=(max(top, 1.0) - GAP / LANE / 3, -1))
        self.ax_.spines[:].set_visible(False)
        self._draw_legend()
        if self.n_more:
            self.ax_.set_xlabel(
                f"and {self.n_more} more feature{'s' if self.n_more > 1 else ''}", loc="left"
            )
        return self

    @property
    def _height(self) -> float:
        """The height of the rows, in lanes."""
        return sum(len(row.changes) + GAP / LANE for row in self.rows)

    def _draw_row(self, row: FeatureRow, top: float) -> None:
        ax, lanes = self.ax_, len(row.changes)
        base = top + lanes - 0.25
        if row.ends is not None:
            ax.plot([0, 1], [base, base], color=GREY, linewidth=1, marker="|", zorder=1)
            for at, text, side in ((0, row.ends[0], "left"), (1, row.ends[1], "right")):
                ax.annotate(
                    text, (at, base), (0, -2), textcoords="offset points",
                    ha=side, va="top", fontsize=7, color=GREY,
                )  # fmt: skip
        start = row.changes[0].start
        ax.plot([start, start], [top - 0.4, base], color=INPUT, linewidth=0.8, zorder=1)
        for lane, change in enumerate(row.changes):
            y, style = top + lane, option_style(change.option - 1)
            line = "-" if row.ends is not None and change.is_known else (0, (2, 2))
            ax.plot(
                [change.start, change.end], [y, y], color=style["color"], linestyle=line,
                linewidth=2, zorder=2,
            )  # fmt: skip
            shape = style["marker"] if change.is_known else "x"
            ax.plot(change.end, y, marker=shape, color=style["color"], markersize=7, zorder=4)
            ax.text(1.06, y, change.text, va="center", fontsize=8.5)
        known = {"marker": "o", "markerfacecolor": PAPER} if row.input_is_known else {"marker": "x"}
        for lane in range(lanes):
            ax.plot(start, top + lane, color=INPUT, markersize=7, zorder=3, **known)

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D  # noqa: PLC0415 - an extra

        handles = [
            Line2D([], [], linestyle="", color=INPUT, marker="o", markerfacecolor=PAPER,
                   label="input")
        ]  # fmt: skip
        handles += [
            Line2D([], [], linewidth=2, **option_style(i), label=f"option {i + 1}")
            for i in range(self.n_options)
        ]
        # To the right, so that it has the width of the names too.
        self.ax_.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=min(6, len(handles)),
            frameon=False, fontsize=8.5, borderaxespad=0, columnspacing=1.4, handletextpad=0.5,
        )  # fmt: skip


def _row(explanation: Explanation, i: int) -> FeatureRow:
    """Return the row of a feature, from its position."""
    coded = explanation.coded
    feature: Feature = coded.table.features[i]
    own, codes = float(coded.input[i]), coded.matrix[:, i]
    changing = np.flatnonzero(coded.changed[:, i])
    known = feature.is_known(np.array([own, *codes]))
    inside = np.array([own, *codes])[known]
    low = min([feature.low, *inside])
    high = max([feature.high, *inside])
    spread = high - low or 1.0

    def at(code: float, is_known: bool, category_at: float) -> float:
        if not is_known:
            return ASIDE
        return category_at if feature.is_category else (code - low) / spread

    changes = tuple(
        Dumbbell(
            int(rank) + 1,
            at(own, bool(known[0]), FROM),
            at(codes[rank], bool(known[rank + 1]), TO),
            value_text(feature, own, apart_from=[codes[rank]]),
            value_text(feature, codes[rank], apart_from=[own]),
            bool(known[rank + 1]),
        )
        for rank in changing
    )
    ends = None if feature.is_category else (value_text(feature, low), value_text(feature, high))
    return FeatureRow(name_of(feature), ends, changes, bool(known[0]))
