"""MenuDisplay: which features which option uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from counterset._base.arrays import Mask
from counterset._base.bidi import isolated
from counterset.explanations.explanation import Explanation
from counterset.plots.style import (
    Ink,
    axes_or_new,
    check_one,
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
        What stands below the number of each option.
    n_more
        How many features change that are not shown.
    title
        The decision and how many options there are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    See Also
    --------
    ChangesDisplay : What changes, in its own units.

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
        *,
        title: str = "",
    ) -> None:
        self.title = title
        self.names = names
        self.uses = uses
        self.texts = texts
        self.headings = headings
        self.n_more = n_more

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        outcomes: Mapping[Any, str] | None = None,
        max_features: int = LISTED,
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
                f"{_sign(own, code, has_order)} {isolated(value_text(feature, code, 15, [own]))}"
                if change
                else ""
                for code, change, has_order in zip(cells, changed[:, i], ordered, strict=True)
            ])  # fmt: skip
        return cls(
            [name_of(features[i]) for i in shown],
            changed[:, shown].T,
            texts,
            [f"{each.distance:.3g} away" for each in explanation.options],
            len(order) - len(shown),
            title=title_of(explanation, outcomes),
        )

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height that suit the plot, in inches."""
        return max(5.0, 2.6 + 1.35 * len(self.headings)), 1.7 + 0.4 * len(self.names)

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - an extra

        ink = Ink.of(self.ax_)
        for i, j in np.ndindex(self.uses.shape):
            if self.uses[i, j]:
                colour = ink.colour(j + 1)
                self.ax_.add_patch(
                    Rectangle((j - 0.46, i - 0.4), 0.92, 0.8, facecolor=ink.area(colour),
                              edgecolor=colour, linewidth=1.2)
                )  # fmt: skip
                text = without_signs(self.texts[i][j])
                self.ax_.text(j, i, text, ha="center", va="center", fontsize=8.5, color=ink.text)
            else:
                self.ax_.text(j, i, "·", ha="center", va="center", color=ink.muted)
        for j in range(len(self.headings)):
            draw_number(self.ax_, (j, -1.1), j + 1, ink, 13)
        names = [wrapped(name, 24) for name in self.names]
        for j, heading in enumerate(self.headings):
            self.ax_.text(j, -0.66, heading, ha="center", va="center", fontsize=8, color=ink.text)
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.set_xticks([])
        self.ax_.tick_params(length=0)
        self.ax_.grid(visible=False)
        self.ax_.set(
            xlim=(-0.5, max(len(self.headings), 1) - 0.5),
            ylim=(max(len(self.names), 1) - 0.5, -1.45),
        )
        self.ax_.spines[:].set_visible(False)
        draw_title(self.ax_, self.title, int(9 * self.size[0]))
        if self.names:
            signs = "▲ more, ▼ less, ≠ something else, · as it is."
            draw_note(self.ax_, f"{signs} {more_features(self.n_more)}".strip(), 4)
        return self


def _sign(own: float, code: float, ordered: bool) -> str:
    if not ordered:
        return "≠"
    return "▲" if code > own else "▼"
