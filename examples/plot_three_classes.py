"""
Three classes: why this one, and not that one
=============================================

Ana buys wine. A laboratory measured 13 quantities in a bottle, and a model names the grape.
Ana asks two questions about the same bottle: what would a Barolo have had, and what would a
Barbera? This example is for models with more than two classes.
"""

# %%
# The model
# ---------
#
# Scikit-learn brings the data: 178 wines of three grapes from one region of Italy.

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

wine = load_wine(as_frame=True)
X = wine.data.rename(columns={"od280/od315_of_diluted_wines": "absorbance"})
y = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.0%} of the other wines are named correctly")

bottle = X_test.loc[[102]]
print("This bottle is a", model.predict(bottle)[0])

# %%
# Any other class
# ---------------
#
# Without a target, every class but the bottle's own counts. ``labels`` says which class
# each option has.

import textwrap

from counterset import DiverseExplainer

explainer = DiverseExplainer(model, max_counterfactuals=3).fit(X_train)
print(explainer.explain(bottle).labels)

# %%
# One class at a time
# -------------------
#
# ``target`` asks for one class. Two questions about one bottle have two answers. Here are
# the two nearest options of each.

for grape in ("Barolo", "Barbera"):
    asked = explainer.explain(bottle, target=grape)
    print(grape)
    for option in asked.options[:2]:
        print(textwrap.fill(f"{option.rank}. {option.sentence}", 80, subsequent_indent="   "))

# %%
# More than one class can be welcome: a list means any of them.

either = explainer.explain(bottle, target=["Barolo", "Barbera"])
assert set(model.predict(either.counterfactuals)) <= {"Barolo", "Barbera"}
print(f"Nearest of both: {either.distances[0]:.2f}, which is {either.labels[0]}")

# %%
# A picture with all three
# ------------------------
#
# If only the alcohol and the colour may differ, all answers lie in one plane. The ring is
# the bottle, and each dot is the nearest option for a grape: it lies just inside its area.

import matplotlib.pyplot as plt
import numpy as np

from counterset import Constraints

plane = ["alcohol", "color_intensity"]
kept = Constraints(immutable=[name for name in X if name not in plane])
nearest = DiverseExplainer(model, constraints=kept, max_counterfactuals=1).fit(X_train)
across, up = np.meshgrid(np.linspace(11, 16, 200), np.linspace(1, 14, 200))
points = bottle.loc[bottle.index.repeat(across.size)]
points = points.assign(alcohol=across.ravel(), color_intensity=up.ravel())
grapes = list(model.classes_)
area = np.array([grapes.index(label) for label in model.predict(points)]).reshape(across.shape)

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
colours = ["#E69F00", "#56B4E9", "#CC79A7"]
axes.contourf(across, up, area, levels=[-0.5, 0.5, 1.5, 2.5], colors=colours, alpha=0.4)
for i, grape in enumerate(grapes):
    row, column = np.argwhere(area == i).mean(axis=0).astype(int)
    axes.text(across[row, column] + 0.15, up[row, column], grape, weight="bold")
for grape in ("Barolo", "Barbera"):
    option = nearest.explain(bottle, target=grape).counterfactuals.iloc[0]
    axes.plot(*zip(bottle[plane].iloc[0], option[plane], strict=True), "k--", lw=1)
    axes.plot(*option[plane], "ko")
axes.plot(*bottle[plane].iloc[0], "o", mfc="white", mec="black", ms=9)
axes.set(xlabel="alcohol", ylabel="colour intensity")
plt.show()
