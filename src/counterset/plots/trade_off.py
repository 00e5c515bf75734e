"""Plot the trade-off between closeness, diversity and stability that a tuning found."""

from __future__ import annotations

from pathlib import Path

from counterset.evaluation.tuning import Tuning
from counterset.plots.style import COLOURS, pyplot

__all__ = ["draw_trade_off"]


def draw_trade_off(tuning: Tuning, file: str | Path) -> None:
    """Draw all settings of a tuning into a file: the Pareto front and the recommended one marked.

    Parameters
    ----------
    tuning
        What :func:`counterset.evaluation.tune` returned.
    file
        The picture to write; its ending chooses the format.
    """
    plt, table = pyplot(), tuning.table
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    front = table["pareto"].to_numpy(dtype=bool)
    for axis, metric in zip(axes, ("set_distance_max", "k_diversity"), strict=True):
        for i, (label, chosen) in enumerate((("dominated", ~front), ("Pareto-optimal", front))):
            rows = table[chosen]
            axis.scatter(
                rows["k_distance"], rows[metric], color=("#BBBBBB", COLOURS[0])[i], label=label
            )
        best = tuning.recommended
        axis.scatter(
            best["k_distance"], best[metric], s=160, facecolor="none", edgecolor=COLOURS[1],
            linewidth=2, label="recommended",
        )  # fmt: skip
        axis.set(xlabel="k-distance (less is better)")
    axes[0].set_ylabel("set-distance, max (less is better)")
    axes[1].set_ylabel("k-diversity (more is better)")
    axes[0].legend()
    figure.savefig(file, dpi=120)
    plt.close(figure)
