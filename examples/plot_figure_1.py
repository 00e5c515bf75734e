"""
Figure 1 of the paper: close people, far answers
================================================

Three people stand close together, and their nearest counterfactuals lie far apart. That is
the picture with which "Promoting Counterfactual Robustness through Diversity" (AAAI 2024)
begins. This example draws it with distances that are computed, for everybody who reads the
paper.
"""

# %%
# Two models
# ----------
#
# A ball, as a function of rows, and a diamond, as a network with ReLU: both say ``Y`` inside
# and ``B`` outside. The three inputs stand around the centre.

import numpy as np

from counterset.exact import ReluNetwork

inputs = {"x": (-0.2, 0.2), "x_1": (0.2, 0.2), "x_2": (0.2, -0.2)}


def ball(rows):
    return np.where((np.asarray(rows) ** 2).sum(axis=1) <= 1, "Y", "B")


corners = 1.3 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
diamond = ReluNetwork(
    [([[1, -1, 0, 0], [0, 0, 1, -1]], [0, 0, 0, 0]), ([[1], [1], [1], [1]], [-1.3])], ["Y", "B"]
)

# %%
# The nearest counterfactual of each
# ----------------------------------
#
# The network is solved on the whole square. The ball can be asked only point by point, so
# 2,880 points just outside it are tried.

from counterset import counterfactual_distance
from counterset.exact import Box, Points

turns = np.linspace(0, 2 * np.pi, 2881)
circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
models = {"a ball": (ball, circle), "a diamond (a network)": (diamond, corners)}
domains = {"a ball": Points(1.0001 * circle[:-1]), "a diamond (a network)": Box(-1.5, 1.5)}

nearest = {}
for title, (model, _) in models.items():
    for name, x in inputs.items():
        bounds = counterfactual_distance(model, x, "l2", domains[title])
        nearest[title, name] = bounds.witness
        print(f"{title}, {name}: distance {bounds.upper:.3f}")

# %%
# How far apart?
# --------------
#
# The inputs differ by 0.4 or a little more. Their nearest counterfactuals differ by more than
# three times as much: who is given only the nearest one may be told to go the other way than
# a neighbour.

for title in models:
    x, c = inputs["x_1"], nearest[title, "x_1"]
    for other in ("x", "x_2"):
        people = np.linalg.norm(np.subtract(x, inputs[other]))
        answers = np.linalg.norm(np.subtract(c, nearest[title, other]))
        print(f"{title}: x_1 and {other} are {people:.2f} apart, their answers {answers:.2f}")
        assert answers > 2 * people

# %%
# The picture
# -----------

import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for axes, (title, (_, border)) in zip(panels, models.items(), strict=True):
    axes.set_facecolor("#cfe5f5")
    axes.fill(*border.T, facecolor="#fdf0d5", edgecolor="black")
    for name, x in inputs.items():
        c = nearest[title, name]
        axes.plot(*zip(x, c, strict=True), "k--", lw=1)
        axes.plot(*x, "o", mfc="white", mec="black", ms=9)
        axes.plot(*c, "o", color="#D55E00", ms=9)
        inwards = (-5, -18 if x[1] > 0 else 9)
        axes.annotate(f"${name}$", x, inwards, textcoords="offset points", fontsize=13)
        outwards = 16 * np.sign(x) - (6, 4)
        label = f"${name.replace('x', 'c')}$"
        axes.annotate(label, c, outwards, textcoords="offset points", fontsize=13)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[], title=title)
plt.show()
