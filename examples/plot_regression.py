"""
A regression: ask for a range of predictions
============================================

Mr Sato has diabetes. A model predicts how far the disease will have moved on in a year, as a
number. His doctor asks what would have to be different for a prediction below 150. This
example is for models that predict numbers: prices, scores, risks, times.
"""

# %%
# The model
# ---------
#
# Scikit-learn brings the data: 442 patients, ten measurements, and a measure of the
# disease one year later, from 25 to 346.

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

data = load_diabetes(as_frame=True, scaled=False)
X = data.data.rename(
    columns={"bp": "blood_pressure", "s1": "cholesterol", "s2": "ldl", "s3": "hdl"}
).rename(columns={"s4": "cholesterol_ratio", "s5": "log_triglycerides", "s6": "blood_sugar"})
X = X.astype({"age": int, "sex": int, "cholesterol": int, "blood_sugar": int})
model = HistGradientBoostingRegressor(max_depth=3, max_iter=80, random_state=0)
model.fit(X, data.target)

predicted = model.predict(X)
patient = X[(predicted > 190) & (predicted < 210)].iloc[[0]]
print(f"The prediction for Mr Sato is {model.predict(patient)[0]:.0f}.")

# %%
# The question
# ------------
#
# A regression has no other class to move to. ``interval`` says which predictions are
# wanted, both ends included; here, no more than 150. Age and sex stay.

from counterset import Constraints, DiverseExplainer, Schema

schema = Schema(
    labels={"bmi": "body mass index", "ldl": "LDL", "hdl": "HDL"},
    units={"blood_pressure": "mmHg", "blood_sugar": "mg/dl", "cholesterol": "mg/dl"},
)
kept = Constraints(immutable=["age", "sex"])
explainer = DiverseExplainer(
    model,
    schema=schema,
    constraints=kept,
    max_counterfactuals=3,
).fit(X)
explanation = explainer.explain(patient, interval=(0, 150))
print(explanation.describe())

# %%
# How much harder is a better prediction?
# ---------------------------------------
#
# Each goal gets a question of its own, with one option. A distance of 1 is the usual range
# of one measurement. The lower the prediction, the farther the nearest option that is found.

import matplotlib.pyplot as plt
import numpy as np

goals = np.arange(190, 99, -10)
single = DiverseExplainer(model, constraints=kept, max_counterfactuals=1).fit(X)
nearest = [single.explain(patient, interval=(0, goal)).distances[0] for goal in goals]
assert (np.diff(nearest) >= 0).all()

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(goals, nearest, "o-")
axes.invert_xaxis()
axes.set(xlabel="prediction of at most", ylabel="distance of the nearest option")
axes.set_title("A better prediction needs a larger change", loc="left")
plt.show()
