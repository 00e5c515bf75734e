"""Draw Figure 2 of the paper and the figure of its proposition 1, with computed distances.

``python docs/pictures.py docs`` draws them with all other pictures; needs matplotlib.
"""

import matplotlib.pyplot as plt
import numpy as np
from figure_1 import DIAMOND, edges, label
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

from counterset import ExhaustiveExplainer, counterfactual_distance
from counterset.exact import Box, Points
from counterset.plots.style import Ink, draw_input

#: The order of each norm.
NORMS = {"l1": ("Manhattan", 1), "l2": ("Euclidean", 2), "linf": ("Chebyshev", np.inf)}
INPUTS = {"x_1": (-0.12, 0.0), "x_2": (0.12, 0.0)}
#: The width of the bands of almost nearest points.
EPSILON = 0.01
BALLS_NOTE = (
    "Rings: two inputs, close together. Bands: the points outside that are nearest to each, or "
    f"farther by at most {EPSILON}, on opposite sides."
)
STEP = ((-0.15, 0.1), (0.02, -0.02))
STEP_EPSILON = 0.5
STEP_NOTE = (
    "The strong counterfactual $c_1$ of $x_1$ lies between the two circles around $x_2$: farther "
    "than the\nnearest one, $c_2$, by less than $\\epsilon$. So the exhaustive explainer reports "
    "it for $x_2$ too."
)


def figure_2() -> Figure:
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.4))
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.1, wspace=0.04)
    turns = np.linspace(0, 2 * np.pi, 2880, endpoint=False)
    rays = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for ax, (norm, (title, order)) in zip(axes, NORMS.items(), strict=True):
        border = rays / np.linalg.norm(rays, order, axis=1)[:, None]
        draw_ball(ax, norm, border, order)
        ax.set_title(title, fontsize=13)
    figure.text(0.5, 0.035, BALLS_NOTE, ha="center", fontsize=10)
    return figure


def draw_ball(ax: Axes, norm: str, border: np.ndarray, order: float) -> None:
    ink = draw_classes(ax, border, 1.3)
    outside = 1.0001 * border

    def model(rows: np.ndarray) -> np.ndarray:
        return np.where(np.linalg.norm(rows, order, axis=1) <= 1, "Y", "B")

    for i, (name, x) in enumerate(INPUTS.items()):
        explainer = ExhaustiveExplainer(model, EPSILON, norm, Points(outside))
        for c in explainer.explain(x).values:
            ax.plot(*c, "o", color=ink.colour(1), ms=5, zorder=2)
        draw_input(ax, x, ink)
        sign = 2 * i - 1
        style = {"ha": "center", "va": "center", "fontsize": 14, "color": ink.text, "zorder": 6}
        ax.text(x[0] + 0.16 * sign, x[1] + 0.1, f"${name}$", **style)


def draw_classes(ax: Axes, border: np.ndarray, end: float) -> Ink:
    """Draw the yellow class inside a border, and the blue one around it."""
    ink = Ink.of(ax)
    around = Rectangle((-end, -end), 2 * end, 2 * end, facecolor=ink.changes, edgecolor=ink.hatch)
    around.set(hatch="///", zorder=0, lw=0)
    ax.add_patch(around)
    ax.add_patch(Polygon(border, facecolor=ink.stays, edgecolor=ink.text, lw=1.2, zorder=1))
    ax.set(xlim=(-end, end), ylim=(-end, end), aspect="equal", xticks=[], yticks=[])
    return ink


def proposition_1() -> Figure:
    figure, ax = plt.subplots(figsize=(6, 6.4))
    figure.subplots_adjust(left=0.02, right=0.98, top=0.98, bottom=0.11)
    ink = draw_classes(ax, edges(), 1.5)
    first, second = (np.array(x) for x in STEP)
    assert np.linalg.norm(first - second) < STEP_EPSILON / 2
    bounds = [counterfactual_distance(DIAMOND, x, "l2", Box(-1.5, 1.5)) for x in (first, second)]
    cfd_1, cfd_2 = (each.upper for each in bounds)
    assert np.linalg.norm(second - bounds[0].witness) < cfd_2 + STEP_EPSILON
    for centre, radius, colour in (
        (first, cfd_1, 0),
        (second, cfd_2, 1),
        (second, cfd_2 + STEP_EPSILON, 1),
    ):
        line = (0, (4, 3)) if radius > max(cfd_1, cfd_2) else "-"
        edge = ink.colour(colour) if colour else ink.text
        ax.add_patch(Circle(centre, radius, fill=False, edgecolor=edge, ls=line, lw=1.4, zorder=3))
    style = {"ha": "center", "va": "center", "fontsize": 14, "color": ink.text, "zorder": 7}
    for i, (x, each) in enumerate(zip((first, second), bounds, strict=True)):
        c = each.witness
        ax.plot(*zip(x, c, strict=True), color=ink.text, lw=1.2, ls=(0, (2, 2)), zorder=4)
        draw_input(ax, x, ink)
        ax.plot(*c, "o", color=ink.colour(1), ms=9, mec=ink.paper, zorder=6)
        away = (c - x) / np.linalg.norm(c - x)
        ax.text(*(x + (2 * i - 1) * np.array([0.15, 0.09])), f"$x_{i + 1}$", **style)
        ax.text(*(c + 0.16 * away), f"$c_{i + 1}$", **style, bbox=label(ink))
    ax.plot(*zip(second, bounds[0].witness, strict=True), color=ink.text, lw=1.2, zorder=4)
    rim = second + (cfd_2 + STEP_EPSILON) * np.array([np.cos(-0.9), np.sin(-0.9)])
    ax.text(*rim, r"$cfd(x_2)+\epsilon$", **style, bbox=label(ink))
    figure.text(0.5, 0.03, STEP_NOTE, ha="center", fontsize=10)
    return figure
