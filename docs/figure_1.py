"""Draw Figure 1 of the paper with distances and sets that the library computes.

``python docs/pictures.py docs`` draws it with all other pictures; needs matplotlib.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Polygon, Rectangle

from counterset import ExhaustiveExplainer, counterfactual_distance
from counterset.exact import Box, Points, ReluNetwork
from counterset.plots.style import Ink, draw_input

INPUTS = {"x": (-0.2, 0.2), "x_1": (0.2, 0.2), "x_2": (0.2, -0.2)}
EPSILON = 0.05
NOTE = (
    "Rings: inputs, close together. Discs: their nearest counterfactuals, far apart. "
    f"Bands: the border within {EPSILON} of an optimum."
)
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
    ink = Ink.of(axes)
    around = Rectangle((-1.5, -1.5), 3, 3, facecolor=ink.changes, edgecolor=ink.hatch, lw=0)
    around.set(hatch="///", zorder=0)
    patch.set(facecolor=ink.stays, edgecolor=ink.text, lw=1.2, zorder=1)
    axes.add_patch(around)
    axes.add_patch(patch)
    for name, x in INPUTS.items():
        exhaustive = ExhaustiveExplainer(model, EPSILON, "l2", Points(border)).explain(x)
        members = {tuple(c) for c in exhaustive.values}
        band = np.array([point for point in border if tuple(point) in members])
        axes.plot(
            *band.T, color=ink.area(ink.colour(1), 0.65), lw=9, solid_capstyle="round", zorder=2
        )
        # The network is solved on the whole box; the ball on its border, point by point.
        domain = Box(-1.5, 1.5) if isinstance(model, ReluNetwork) else Points(border)
        c = counterfactual_distance(model, x, "l2", domain).witness
        axes.plot(*zip(x, c, strict=True), color=ink.text, lw=1.2, ls=(0, (2, 2)), zorder=3)
        draw_input(axes, x, ink)
        axes.plot(*c, "o", color=ink.colour(1), ms=9, mec=ink.paper, zorder=4)
        outwards = np.sign(x)
        style = {"ha": "center", "va": "center", "fontsize": 15, "zorder": 6, "color": ink.text}
        axes.text(*(x + outwards * (0.15, -0.02)), f"${name}$", **style)
        axes.text(*(c + 0.15 * outwards), f"${name.replace('x', 'c')}$", **style, bbox=label(ink))
    for name, at in (("B", (-1.33, -1.33)), ("Y", (-0.5, -0.5))):
        axes.text(*at, name, fontsize=14, weight="bold", color=ink.text, zorder=6, bbox=label(ink))
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[])
    axes.set_title(title, fontsize=13)


def label(ink: Ink) -> dict[str, object]:
    """The box behind a text on a hatched area."""
    return {"boxstyle": "round,pad=0.15", "facecolor": ink.paper, "edgecolor": "none"}


def figure_1() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5.3))
    figure.subplots_adjust(left=0.015, right=0.985, top=0.93, bottom=0.1, wspace=0.04)
    draw(left, ball, circle(), Circle((0, 0), 1), "a ball")
    corners = 1.3 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    draw(right, DIAMOND, edges(), Polygon(corners), "a diamond (a ReLU network)")
    figure.text(0.5, 0.035, NOTE, ha="center", fontsize=10)
    return figure
