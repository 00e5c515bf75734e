"""StabilityDisplay: how much sets change when their inputs hardly do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.stability import asked_for
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.plots.style import (
    Ink,
    axes_or_new,
    check_one,
    draw_note,
    draw_title,
    title_of,
)

__all__ = ["StabilityDisplay"]

#: The stability of one explanation is measured on 20 noisy copies of its input.
COPIES = 20
NEEDED = ("input_distance", "set_distance_mean", "set_distance_max")


class StabilityDisplay:
    """Stability under noise: how far inputs were moved, and how far their sets moved then.

    Each copy of an input is two marks above each other: the mean and the largest set-distance. On
    the line, a set changes as much as its input; below it, less.

    Parameters
    ----------
    table
        One row per (input, copy), as :func:`counterset.evaluate` returns it.
    title
        What was found: for how many copies the set changes less than the input. For one
        explanation, the decision too.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last.

    See Also
    --------
    counterset.evaluate : What is drawn.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> approve = lambda rows: rows.sum(axis=1) > 1
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
    >>> display = StabilityDisplay.from_evaluation(evaluate(explainer, X[:5], repeats=2))
    >>> len(display.table)
    10
    """

    size = (5.8, 5.2)

    def __init__(self, table: pd.DataFrame, *, title: str = "") -> None:
        self.title = title
        self.table = table

    @classmethod
    def from_evaluation(cls, table: pd.DataFrame) -> Self:
        """Prepare the plot of what :func:`counterset.evaluate` returned."""
        known = _known(table)
        return cls(known, title=_found(known, ""))

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        explainer: DiverseExplainer,
        *,
        repeats: int = COPIES,
        random_state: int = 0,
        outcomes: Mapping[Any, str] | None = None,
    ) -> Self:
        """Explain noisy copies of an input, asked for the same, and prepare the plot.

        Parameters
        ----------
        explainer
            The fitted explainer that made the explanation.
        repeats, random_state
            How many copies, and the seed of the noise, as in :func:`counterset.evaluate`.
        outcomes
            From labels to how people call them, for the title.
        """
        check_one(explanation)
        coded = explanation.coded
        row = coded.table.decode(coded.input[None, :], pd.Index([explanation.index]))
        asked = asked_for(explanation.context)
        known = _known(
            evaluate(explainer, row, repeats=repeats, random_state=random_state, **asked)
        )
        return cls(known, title=_found(known, f"{title_of(explanation, outcomes)}. "))

    def plot(self, ax: Any = None) -> Self:
        """Draw into axes, or into a new figure."""
        (self.ax_,) = axes_or_new(ax, self.size)
        self.figure_ = self.ax_.figure
        ink = Ink.of(self.ax_)
        moved = self.table["input_distance"].to_numpy()
        far = float(np.max(self.table[list(NEEDED)].to_numpy()))
        end = far or 1.0
        for low, high, x in zip(
            self.table["set_distance_mean"], self.table["set_distance_max"], moved, strict=True
        ):
            self.ax_.plot([x, x], [low, high], color=ink.muted, linewidth=0.8, alpha=0.6, zorder=1)
        self.ax_.scatter(
            moved, self.table["set_distance_max"], marker="^", facecolor="none",
            edgecolor=ink.colour(2), zorder=3,
        )  # fmt: skip
        self.ax_.scatter(
            moved, self.table["set_distance_mean"], marker="o", color=ink.colour(1), s=18,
            zorder=3,
        )  # fmt: skip
        self.ax_.plot([0, end], [0, end], color=ink.text, linestyle="--", linewidth=1, zorder=2)
        self.ax_.set(
            xlabel="how far the input was moved",
            ylabel="how far its options moved (set-distance)",
            xlim=(0, 1.08 * float(moved.max()) or 1.0),
            ylim=(-0.02 * end, 1.08 * end),
        )
        self.ax_.spines[["top", "right"]].set_visible(False)
        draw_title(self.ax_, self.title, 58)
        note = (
            "Each copy: a dot for the mean, a triangle for the largest distance of its options.\n"
            "On the dashed line, the options change as much as the input."
        )
        draw_note(self.ax_, note, 46)
        return self


def _known(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of an evaluation in which both sets are known; it is an error if none is."""
    missing = [name for name in NEEDED if name not in table]
    if missing:
        raise InvalidInputError(
            f"The table has no columns {missing}. Pass what counterset.evaluate returned."
        )
    known = table[list(NEEDED)].notna().all(axis=1)
    if not known.any():
        raise InvalidInputError(
            "The table holds no input with a set for itself and for a copy of it, so there is "
            "nothing to draw. Evaluate other inputs."
        )
    return table[known]


def _found(table: pd.DataFrame, decision: str) -> str:
    """Return for how many copies the set changes less than the input, as a sentence."""
    less = int((table["set_distance_mean"] < table["input_distance"]).sum())
    return (
        f"{decision}For {less:,} of {len(table):,} slightly changed copies, the options change "
        f"less than the input"
    )
