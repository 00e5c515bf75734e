"""Draw Figure 1 of the paper with distances and sets that the library computes.

Run as ``python docs/figure_1.py docs/figure_1.png``; needs matplotlib.
"""

import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon

from counterset import ExhaustiveExplainer, counterfactual_distance
from counterset.exact import Box, Points, ReluNetwork

INPUTS = {"x": (-0.2, 0.2), "x_1": (0.2, 0.2), "x_2": (0.2, -0.2)}
YELLOW, BLUE, ORANGE, SKY, BAND = "#ffe08a", "#1f4e9c", "#d9480f", "#e7eef8", "#7ba7e0"
EPSILON = 0.05
DIAMOND = ReluNetwork(
    [([[1, -1, 0, 0], [0, 0, 1, -1]], [0, 0, 0, 0]), ([[1], [1], [1], [1]], [-1.3])], ["Y", "B"]
)


def ball(rows: np.ndarray) -> np.ndarray:
    return np.where((np.asarray(rows) ** 2).sum(axis=1) <= 1, "Y", "B")


def circle() -> np.ndarray:
    """Give points around the ball, just outside, in their order."""
    turns = np.linspace(0, 2 * np.pi, 2880, endpoint=False)
    return 1.0001 * np.stack([np.cos(turns), np.sin(turns)], axis=1)


def edges() -> np.ndarray:
    """Give points along the diamond's edge, just outside, in their order."""
    corners = 1.3001 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    shares = np.linspace(0, 1, 720, endpoint=False)[:, None]
    return np.concatenate([a + shares * (b - a) for a, b in itertools.pairwise(corners)])


def draw(axes: Axes, model: object, border: np.ndarray, patch: Patch, title: str) -> None:
    axes.set_facecolor(SKY)
    axes.add_patch(patch)
    for name, x in INPUTS.items():
        exhaustive = ExhaustiveExplainer(model, EPSILON, "l2", Points(border)).explain(x)
        members = {tuple(c) for c in exhaustive.values}
        band = np.array([point for point in border if tuple(point) in members])
        axes.plot(*band.T, color=BAND, lw=9, solid_capstyle="round", zorder=2)
        # The network is solved on the whole box; the ball on its border, point by point.
        domain = Box(-1.5, 1.5) if isinstance(model, ReluNetwork) else Points(border)
        c = counterfactual_distance(model, x, "l2", domain).witness
        axes.plot(*zip(x, c, strict=True), color="0.25", lw=1.2, ls=(0, (2, 2)), zorder=3)
        axes.plot(*x, "o", color=ORANGE, ms=8, mec="white", zorder=4)
        axes.plot(*c, "o", color=BLUE, ms=8, mec="white", zorder=4)
        outwards = np.sign(x)
        style = {"ha": "center", "va": "center", "fontsize": 15, "zorder": 5}
        axes.text(*(x + outwards * (0.15, -0.02)), f"${name}$", **style)
        axes.text(*(c + 0.15 * outwards), f"${name.replace('x', 'c')}$", **style)
    axes.text(-1.38, -1.38, "B", fontsize=16, color=BLUE, weight="bold")
    axes.text(-0.55, -0.55, "Y", fontsize=16, color="#8a6100", weight="bold")
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[])
    axes.set_title(title, fontsize=13)
    axes.spines[:].set_color("0.7")


def main(path: str) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5.3))
    figure.subplots_adjust(left=0.015, right=0.985, top=0.93, bottom=0.13, wspace=0.04)
    style = {"facecolor": YELLOW, "edgecolor": "0.2", "lw": 1.2, "zorder": 1}
    draw(left, ball, circle(), Circle((0, 0), 1, **style), "a ball")
    corners = 1.3 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    draw(right, DIAMOND, edges(), Polygon(corners, **style), "a diamond (a ReLU network)")
    dot = {"marker": "o", "ms": 8, "ls": "", "mec": "white"}
    figure.legend(
        handles=[
            Line2D([], [], color=ORANGE, label="inputs, close together", **dot),
            Line2D([], [], color=BLUE, label="nearest counterfactuals, far apart", **dot),
            Line2D([], [], color=BAND, lw=7, label=f"border within {EPSILON} of an optimum"),
        ],
        loc="lower center",
        ncols=3,
        frameon=False,
        fontsize=10.5,
    )
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1])
