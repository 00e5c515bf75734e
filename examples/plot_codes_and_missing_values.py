"""
Raw data: a 0 that is no number, and empty cells
================================================

Dr Okafor reads a table from a clinic. Where nobody measured the insulin or the skin
thickness, the table says 0. Where nobody wrote down the blood pressure, the cell is empty.
This example is for everybody whose numbers hold codes (0, -9, 999) or gaps.
"""

# %%
# The table as it came
# --------------------
#
# The diabetes data ships with the package. In it, 0 stands for "not measured" in five
# columns. Here the clinic left three of them empty, and kept the 0 in the other two.

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from counterset import datasets

diabetes = datasets.load("diabetes")
measured = ["Glucose", "BloodPressure", "BMI"]
X = diabetes.X.copy()
X[measured] = X[measured].astype(float).replace(0, np.nan)
y = diabetes.y.map({0: "no diabetes", 1: "diabetes"})
print("0 as a code:", (X[["Insulin", "SkinThickness"]] == 0).sum().to_dict())
print("empty cells:", X[measured].isna().sum().to_dict())

model = HistGradientBoostingClassifier(max_depth=4, max_iter=60, random_state=0).fit(X, y)
patient = X.loc[[15]]
print(patient.T)

# %%
# If nobody says what 0 means
# ---------------------------
#
# The explainer takes the 0 for a number, and tells the patient to raise her insulin from 0.
# That is nonsense: nobody measured it.

from counterset import Constraints, DiverseExplainer

fixed = Constraints(immutable=["Age", "Pregnancies", "DiabetesPedigreeFunction"])
settings = {"constraints": fixed, "max_counterfactuals": 4}
naive = DiverseExplainer(model, schema=diabetes.schema, **settings).fit(X)
for option in naive.explain(patient, target="no diabetes").options:
    print(option.rank, option.sentence)

# %%
# Declare the codes
# -----------------
#
# ``special`` names the codes, and ``texts`` says what they mean. Now a code is a state of
# its own: no number becomes a code, and no distance takes the code for a number. Empty
# cells need no declaration.

from dataclasses import replace

not_measured = {0: "not measured"}
schema = replace(
    diabetes.schema,
    special={"Insulin": [0], "SkinThickness": [0]},
    texts={"Insulin": not_measured, "SkinThickness": not_measured},
)
explainer = DiverseExplainer(model, schema=schema, **settings).fit(X)
explanation = explainer.explain(patient, target="no diabetes")
print(explanation.describe())

# %%
# Two of the options tell Dr Okafor what to measure: the result depends on a blood pressure
# and on an insulin level that nobody knows. What is known never becomes "not measured". In
# the picture, a cross is a value that is missing or a code.

import matplotlib.pyplot as plt

from counterset.plots import ChangesDisplay

ChangesDisplay.from_explanation(explanation).plot()
plt.show()

# %%
# The same rule holds for all patients that the model classifies as ``diabetes``: whoever
# has a measured insulin keeps a measured insulin.

ill = X[model.predict(X) == "diabetes"]
nearest = DiverseExplainer(model, schema=schema, constraints=fixed, max_counterfactuals=1).fit(X)
found = nearest.explain_many(ill, target="no diabetes").to_frame().droplevel("rank")
was_measured = ill["Insulin"] > 0
assert (found["Insulin"][was_measured] > 0).all()
print(f"{len(found)} patients have an option, {was_measured.sum()} of them a measured insulin.")
