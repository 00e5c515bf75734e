"""
Constraints for each person
===========================

A branch answers 40 declined applicants at once. A pensioner cannot change jobs, a tenant
can buy no house this year, and Mr Weber told the branch what he can afford. Malik writes
a rule for everybody, and an exception for one. This example is for batches of people who
cannot all do the same.
"""

# %%
# The applicants
# --------------

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import datasets

credit = datasets.load("german_credit")
X_train, y_train, rest = credit.X[:800], credit.y[:800], credit.X[800:]
encode = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")), remainder="passthrough"
)
model = make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X_train, y_train)
declined = rest[model.predict(rest) == "bad"]
print(f"{len(declined)} applicants were declined: {(declined['age'] >= 60).sum()} of 60 or older,")
print(f"{(declined['housing'] == 'rent').sum()} tenants.")

# %%
# A rule: a function of the row
# -----------------------------
#
# The function is called once for each applicant. It returns what that applicant can change,
# or None for the explainer's own constraints.

from counterset import Constraints, DiverseExplainer

facts = ["age", "personal_status", "foreign_worker", "credit_history", "existing_credits"]


def possible(row):
    """Say what may change for one applicant."""
    fixed = list(facts)
    if row["age"] >= 60:
        fixed += ["job", "employment"]
    if row["housing"] == "rent":
        fixed += ["housing", "property_magnitude"]
    return Constraints(immutable=fixed, max_decrease={"credit_amount": row["credit_amount"] // 2})


explainer = DiverseExplainer(model, schema=credit.schema, max_counterfactuals=2).fit(X_train)
same = explainer.explain_many(declined, target="good", constraints=Constraints(immutable=facts))
each = explainer.explain_many(declined, target="good", constraints=possible, if_none="ignore")

for before, after in zip(declined.itertuples(), each, strict=True):
    if before.housing == "rent" and len(after):
        assert (after.counterfactuals["housing"] == "rent").all()

# %%
# An exception: a list
# --------------------
#
# One entry for each row works as well. Mr Weber is the first applicant. He can pay for 24
# months at most, and keeps the amount.

rules = [possible(row) for _, row in declined.iterrows()]
rules[0] = Constraints(
    immutable=[*facts, "credit_amount", "savings_status"], ranges={"duration": (None, 24)}
)
listed = explainer.explain_many(declined, target="good", constraints=rules, if_none="ignore")
print(listed[0].describe(outcomes={"good": "approved", "bad": "declined"}))

# %%
# What do the rules cost?
# -----------------------
#
# Each dot is an applicant, and a distance of 1 is the usual range of a feature. Above the
# line are those whose nearest option is farther under their own rule than if only the facts
# were kept.

import matplotlib.pyplot as plt

pairs = [(a.distances[0], b.distances[0]) for a, b in zip(same, each, strict=True) if len(b)]
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
axes.axline((0, 0), slope=1, color="grey", lw=1)
axes.plot(*zip(*pairs, strict=True), "o", alpha=0.6)
axes.set(xlabel="nearest option, facts kept", ylabel="nearest option, the person's own constraints")
plt.show()
print(len(declined) - len(pairs), "applicants have no option under the rules for them.")
