"""Draw Figure 1 of the paper with distances and sets that the library computes.

Run as ``python docs/figure_1.py docs/figure_1.png``; needs matplotlib.
"""

import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon

from counterset import Box, ExhaustiveExplainer, Points, counterfactual_distance
from counterset.exact import ReluNetwork

INPUTS = {"x": (-0.2, 0.2), "x_1": (0.2, 0.2), "x_2": (0.2, -0.2)}
YELLOW, BLUE, ORANGE = "#ffd771", "#4473ba", "#e8590c"
EPSILON = 0.05
DIAMOND = ReluNetwork(
    [([[1, -1, 0, 0], [0, 0, 1, -1]], [0, 0, 0, 0]), ([[1], [1], [1], [1]], [-1.3])], ["Y", "B"]
)


def ball(rows: np.ndarray) -> np.ndarray:
    return np.where((np.asarray(rows) ** 2).sum(axis=1) <= 1, "Y", "B")


def rings() -> Points:
    """Give points around the ball and diamond: the boundary, as a finite domain."""
    turns = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return Points(1.0001 * circle)


def edges() -> Points:
    """Give points along the diamond's edge, just outside."""
    corners = 1.3001 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    shares = np.linspace(0, 1, 180, endpoint=False)[:, None]
    return Points(np.concatenate([a + shares * (b - a) for a, b in itertools.pairwise(corners)]))


def draw(axes: Axes, model: object, border: Points, patch: Polygon | Circle, title: str) -> None:
    axes.set_facecolor("#dde6f3")
    axes.add_patch(patch)
    beside = {"x": (-8, -12), "x_1": (8, -12), "x_2": (8, 4)}
    beyond = {"x": (-7, 6), "x_1": (7, 6), "x_2": (7, -12)}
    for i, (name, x) in enumerate(INPUTS.items()):
        exhaustive = ExhaustiveExplainer(model, EPSILON, "l2", border).explain(x)
        axes.plot(*exhaustive.values.T, ".", ms=6, color=BLUE, alpha=0.35, zorder=2)
        domain = Box(-1.5, 1.5) if isinstance(model, ReluNetwork) else border
        c = counterfactual_distance(model, x, "l2", domain).witness
        axes.plot(*zip(x, c, strict=True), ":", color="0.3", lw=1.2, zorder=3)
        axes.plot(*x, "o", color=ORANGE, ms=7, zorder=4)
        axes.plot(*c, "o", color=BLUE, ms=7, zorder=4)
        side = "right" if name == "x" else "left"
        style = {"textcoords": "offset points", "ha": side, "fontsize": 12, "zorder": 5}
        axes.annotate(f"${name}$", x, xytext=beside[name], **style)
        label = "$c$" if i == 0 else f"$c_{i}$"
        axes.annotate(label, c, xytext=beyond[name], **style)
    axes.text(-1.4, -1.4, "B", fontsize=13)
    axes.text(-0.35, -0.75, "Y", fontsize=13)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[])
    axes.set_title(title, fontsize=11)


def main(path: str) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.6))
    figure.subplots_adjust(left=0.02, right=0.98, top=0.92, bottom=0.1, wspace=0.05)
    style = {"facecolor": YELLOW, "edgecolor": "black", "zorder": 1}
    draw(left, ball, rings(), Circle((0, 0), 1, **style), "the ball")
    corners = 1.3 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    draw(right, DIAMOND, edges(), Polygon(corners, **style), "the diamond, as a ReLU network")
    figure.supxlabel(
        f"nearest counterfactuals (dots), and all boundary points within {EPSILON} of an "
        f"input's optimum (pale)",
        fontsize=9.5,
    )
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1])
