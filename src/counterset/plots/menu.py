"""MenuDisplay: which features which option uses."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from counterset._base.arrays import Mask
from counterset.explanations.explanation import Explanation
from counterset.plots.style import (
    GREY,
    axes_or_new,
    check_one,
    most_changed,
    name_of,
    option_style,
    value_text,
    wrapped,
)

__all__ = ["MenuDisplay"]

#: A menu lists the 20 features that change most often: one line each, a page in all.
LISTED = 20


class MenuDisplay:
    """Which features which option uses: a row a feature, a column an option.

    A cell that changes shows the new value, and whether it is more (▲), less (▼) or another
    category (≠). What stays as it is has a dot.

    Parameters
    ----------
    names
        The features, those that change most often first.
    uses
        Which option changes which of them, ``(n_features, n_options)``.
    texts
        What each cell shows, of the same shape.
    headings
        The heading of each option.
    n_more
        How many features change that are not shown.

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
    >>> MenuDisplay.from_explanation(explainer.explain([0.25, 0.5])).uses
    array([[False,  True],
           [ True, False]])
    """

    def __init__(
        self,
        names: list[str],
        uses: Mask,
        texts: list[list[str]],
        headings: list[str],
        n_more: int = 0,
    ) -> None:
        self.names = names
        self.uses = uses
        self.texts = texts
        self.headings = headings
        self.n_more = n_more

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_features: int = LISTED) -> Self:
        """Prepare the plot of one explanation.

        Parameters
        ----------
        max_features
            How many features to show; those that change most often come first.
        """
        check_one(explanation)
        order = most_changed(explanation)
        shown = order[:max_features]
        coded = explanation.coded
        features, changed = coded.table.features, coded.changed
        texts = []
        for i in shown:
            own, cells = coded.input[i], coded.matrix[:, i]
            feature = features[i]
            # A category, a missing or a special value is neither above nor below another.
            ordered = feature.is_known(cells) & (
                not feature.is_category and feature.is_known(np.array([own]))[0]
            )
            texts.append([
                f"{_sign(own, code, has_order)} {value_text(feature, code, 15, [own])}"
                if change
                else ""
                for code, change, has_order in zip(cells, changed[:, i], ordered, strict=True)
            ])  # fmt: skip
        return cls(
            [name_of(features[i]) for i in shown],
            changed[:, shown].T,
            texts,
            [f"option {each.rank}\n{each.distance:.3g} away" for each in explanation.options],
            len(order) - len(shown),
        )

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height that suit the plot, in inches."""
        return 2.6 + 1.35 * len(self.headings), 0.9 + 0.4 * len(self.names)

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra

        for i, j in np.ndindex(self.uses.shape):
            if self.uses[i, j]:
                colour = option_style(j)["color"]
                self.ax_.add_patch(
                    Rectangle((j - 0.46, i - 0.4), 0.92, 0.8, facecolor=f"{colour}26",
                              edgecolor=colour, linewidth=1.2)
                )  # fmt: skip
                self.ax_.text(j, i, self.texts[i][j], ha="center", va="center", fontsize=8.5)
            else:
                self.ax_.text(j, i, "·", ha="center", va="center", color=GREY)
        self.ax_.set_xticks(range(len(self.headings)), self.headings, fontsize=8.5)
        self.ax_.set_yticks(range(len(self.names)), [wrapped(name, 24) for name in self.names])
        self.ax_.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        self.ax_.set(
            xlim=(-0.5, max(len(self.headings), 1) - 0.5),
            ylim=(max(len(self.names), 1) - 0.5, -0.5),
        )
        self.ax_.spines[:].set_visible(False)
        if self.n_more:
            self.ax_.set_xlabel(
                f"and {self.n_more} more feature{'s' if self.n_more > 1 else ''}", loc="left"
            )
        return self


def _sign(own: float, code: float, ordered: bool) -> str:
    if not ordered:
        return "≠"
    return "▲" if code > own else "▼"
