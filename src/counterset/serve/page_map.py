"""The map of a case: where its ways lie, and what the model says between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset._base.arrays import Matrix
from counterset.explainer import DiverseExplainer
from counterset.plots.layouts import Layout
from counterset.plots.map import ask_background, map_of, sides_of
from counterset.results.explanation import Explanation
from counterset.serve.cards import Cards, label_text
from counterset.serve.served import Served

__all__ = ["draw_map"]

#: The model is asked about 72 x 72 points: more are not seen on a page, and cost time.
POINTS = 72
#: At most 300 training rows are drawn: more hide the boundary.
MOST_DOTS = 300
#: Positions have 4 digits that count, a tenth of a pixel on any screen.
DIGITS = 4

ASKED = "Each cell shows what the model says about its middle, or about the case or the way in it."
NOTES = {
    True: f"A plane through the case and its ways. {ASKED}",
    False: (
        f"The case is in the middle, each way at its true distance. {ASKED} Between the lines, "
        "cases are mixtures of the two ways beside them."
    ),
}


def draw_map(
    explanation: Explanation, explainer: DiverseExplainer, served: Served
) -> dict[str, Any]:
    """Return the positions of ways and training rows, and a grid of the model's answers.

    Returns
    -------
    dict
        ``cells``: rows of the grid from below, a text of 0 and 1 each, 1 where the goal is
        reached; ``limits``: how far the grid reaches; ``options``, ``dots``: positions; ``ways``:
        the cards of the options; ``sides``: what 0 and 1 mean; ``note``: how exact it is.
    """
    layout = map_of(explanation, explainer)
    background = ask_background(layout, explanation, explainer, _grid(layout))
    dots = layout.place(explainer.pool_.matrix)
    dots = dots[background.holds(dots)]
    sides = sides_of(explanation, background, lambda label: label_text(label, served))
    return {
        "cells": ["".join("1" if each else "0" for each in row) for row in background.reached],
        "limits": [_rounded(np.array(ends)) for ends in background.limits],
        "options": [_rounded(at) for at in layout.options],
        "dots": [_rounded(at) for at in dots[:: max(1, -(-len(dots) // MOST_DOTS))]],
        "ways": Cards(explanation, served).ways(),
        "sides": list(sides),
        "note": NOTES[layout.is_exact],
    }


def _grid(layout: Layout) -> tuple[Matrix, Matrix]:
    """Return the middles of the cells of a square grid."""
    middles = [
        low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS for low, high in layout.limits()
    ]
    right, up = np.meshgrid(*middles)
    return right, up


def _rounded(position: Matrix) -> list[float]:
    return [float(f"{each:.{DIGITS}g}") for each in position]
