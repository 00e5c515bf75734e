"""
xgboost and lightgbm on the same applicant
==========================================

A bank changes from xgboost to lightgbm. Before it does, Tomas asks: does an applicant whom
both decline hear the same from both? This example is for boosted trees that read categories
without an encoder.
"""

# %%
# Two models of one table
# -----------------------
#
# Both libraries read columns of dtype ``category`` as they are, so a row of the raw table
# is a row of the model. xgboost wants its classes as numbers, lightgbm takes the texts.

from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from counterset import datasets

credit = datasets.load("german_credit")
X_train, y_train, X_test = credit.X[:800], credit.y[:800], credit.X[800:]
old = XGBClassifier(n_estimators=60, max_depth=3, enable_categorical=True, random_state=0)
old.fit(X_train, (y_train == "good").astype(int))
new = LGBMClassifier(n_estimators=60, max_depth=3, random_state=0, verbose=-1, n_jobs=1)
new.fit(X_train, y_train)

declined = X_test[(old.predict(X_test) == 0) & (new.predict(X_test) == "bad")]
print(f"Both decline {len(declined)} of {len(X_test)} applicants.")
applicant = declined.iloc[[0]]

# %%
# The options of each
# -------------------
#
# Nothing else differs between the two explainers but the model and the name of the class.

from counterset import Constraints, DiverseExplainer

settings = {
    "schema": credit.schema,
    "constraints": Constraints(immutable=["age", "personal_status", "foreign_worker"]),
    "max_counterfactuals": 3,
}
answers = {}
for name, model, wanted in (("xgboost", old, 1), ("lightgbm", new, "good")):
    explainer = DiverseExplainer(model, **settings).fit(X_train)
    answers[name] = explainer.explain(applicant, target=wanted)
    print(name)
    for option in answers[name].options:
        print(f"  {option.sentence} (distance {option.distance:.2f})")

# %%
# Does the other model agree?
# ---------------------------
#
# An option of the old model is worth little if the new model declines it too. So each model
# is asked about the options of the other. If it approves fewer than three, somebody who acts
# on an old answer may be declined again: tell people which model an answer is about.

from_old = (new.predict(answers["xgboost"].counterfactuals) == "good").sum()
from_new = (old.predict(answers["lightgbm"].counterfactuals) == 1).sum()
print(f"The new model approves {from_old} of the old one's options.")
print(f"The old model approves {from_new} of the new one's options.")

# %%
# One picture for each. The number of an option is the same as in the sentences.

import matplotlib.pyplot as plt

from counterset.plots import ChangesDisplay

for name, outcomes in (
    ("xgboost", {0: "declined (xgboost)", 1: "approved"}),
    ("lightgbm", {"bad": "declined (lightgbm)", "good": "approved"}),
):
    ChangesDisplay.from_explanation(answers[name], outcomes=outcomes).plot()
plt.show()
