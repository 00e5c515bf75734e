"""
A letter to the applicant
=========================

A law, a rule of the house or plain courtesy asks the bank to state its reasons. Jane Lee
has to write to an applicant whom the model declined, in words that both understand. This
example is for everybody who turns a decision into a letter.
"""

# %%
# The decision
# ------------

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import Constraints, DiverseExplainer, datasets

credit = datasets.load("german_credit")
X_train, y_train, rest = credit.X[:800], credit.y[:800], credit.X[800:]
encode = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")), remainder="passthrough"
)
model = make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X_train, y_train)

explainer = DiverseExplainer(
    model,
    schema=credit.schema,
    constraints=Constraints(
        immutable=["age", "personal_status", "foreign_worker", "credit_history"]
    ),
    max_counterfactuals=3,
).fit(X_train)
declined = rest[model.predict(rest) == "bad"]
explanation = explainer.explain(declined.iloc[[1]], target="good")

# %%
# The letter
# ----------
#
# The reasons say what counted against the applicant. The options say what would have led
# to another result. What the bank has to add stands in ``details``; what is missing there
# is left in brackets, to be filled in.

details = {
    "institution": "Example Bank",
    "date": "18 November 2026",
    "contact": "Jane Lee, 555-0100",
    "deadline": "18 December 2026",
    "signature": "Jane Lee, consumer credit",
}
names = {"good": "approved", "bad": "declined"}
print(explanation.letter(details=details, outcomes=names))

# %%
# How sure are the reasons?
# -------------------------
#
# A reason's contribution is what it takes away from the probability of a yes, compared with
# 32 people who were approved. The lines are two standard errors long on each side: where
# those of two reasons overlap widely, their order could be the other one.

import matplotlib.pyplot as plt

reasons = explanation.reasons()[::-1]
texts = [f"{reason.label}:\n{reason.text}" for reason in reasons]
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.errorbar(
    [reason.contribution for reason in reasons],
    range(len(reasons)),
    xerr=[2 * reason.standard_error for reason in reasons],
    fmt="o",
)
axes.set_yticks(range(len(reasons)), texts)
axes.set(xlabel="contribution to the decision", xlim=(0, None))
plt.show()

# %%
# For the file
# ------------
#
# ``format="html"`` writes a page that prints on A4, and ``audience="reviewer"`` adds what
# somebody needs who checks the decision. A list of options in JSON can be read by programs.

page = explanation.letter(details=details, outcomes=names, format="html")
review = explanation.letter(details=details, outcomes=names, audience="reviewer")
print(len(review.splitlines()), "lines for the reviewer; the JSON begins with")
print(explanation.to_json()[:60])
