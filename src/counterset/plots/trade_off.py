"""TradeOffDisplay: the trade-off between closeness, diversity and stability that a tuning found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from counterset.evaluation.tuning import Tuning
from counterset.plots.style import Ink, axes_or_new, draw_note, draw_title, save

__all__ = ["TradeOffDisplay", "draw_trade_off"]

#: What each panel shows against the k-distance.
PANELS = {
    "set_distance_max": "set-distance, max (less is better)",
    "k_diversity": "k-diversity (more is better)",
}


class TradeOffDisplay:
    """All settings of a tuning, in two panels: closeness against stability and diversity.

    Settings that no other dominates are filled, and the recommended one has a ring.

    Parameters
    ----------
    tuning
        What :func:`counterset.evaluation.tune` returned.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn last: two Axes, and their figure.

    See Also
    --------
    counterset.evaluation.tune : What is drawn.
    """

    size = (10.0, 4.8)

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning

    @classmethod
    def from_tuning(cls, tuning: Tuning) -> Self:
        """Prepare the plot of a tuning."""
        return cls(tuning)

    def plot(self, ax: Any = None) -> Self:
        """Draw into two axes, or into a new figure."""
        self.ax_ = axes_or_new(ax, self.size, len(PANELS))
        self.figure_ = self.ax_[0].figure
        ink = Ink.of(self.ax_[0])
        draw_title(self.ax_[0], self.title)
        table, best = self.tuning.table, self.tuning.recommended
        front = table["pareto"].to_numpy(dtype=bool)
        for axis, (metric, heading) in zip(self.ax_, PANELS.items(), strict=True):
            axis.scatter(
                table["k_distance"][~front], table[metric][~front], marker="x", color=ink.muted
            )  # fmt: skip
            axis.scatter(
                table["k_distance"][front], table[metric][front], marker="o", color=ink.colour(1)
            )  # fmt: skip
            axis.scatter(
                best["k_distance"], best[metric], s=160, facecolor="none", edgecolor=ink.colour(2),
                linewidth=2,
            )  # fmt: skip
            axis.set(xlabel="k-distance (less is better)", ylabel=heading)
            axis.locator_params(nbins=5)
            axis.spines[["top", "right"]].set_visible(False)
        note = (
            "Ring: the recommended setting. Dots: no other setting is better in everything.\n"
            "Crosses: another one is."
        )
        draw_note(self.ax_[0], note, 42)
        return self

    @property
    def title(self) -> str:
        """The recommended setting."""
        best = self.tuning.recommended
        gamma = "no line search" if np.isnan(best["gamma"]) else f"gamma {best['gamma']:g}"
        words = [f"filter {best['filter']}", f"beta {best['beta']:g}", gamma]
        if self.tuning.table["max_counterfactuals"].nunique() > 1:
            words.insert(0, f"{best['max_counterfactuals']} options")
        if "candidates" in best and self.tuning.table["candidates"].nunique() > 1:
            words.insert(0, best["candidates"])
        return f"Recommended: {', '.join(words)}"


def draw_trade_off(tuning: Tuning, file: str | Path) -> None:
    """Draw all settings of a tuning into a file: the Pareto front and the recommended one marked.

    Parameters
    ----------
    tuning
        What :func:`counterset.evaluation.tune` returned.
    file
        The picture to write; its ending chooses the format.
    """
    save(TradeOffDisplay.from_tuning(tuning), file, TradeOffDisplay.size, len(PANELS))
