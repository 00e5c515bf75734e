"""
An audit: who has no option, and who has farther to go?
=======================================================

Ines audits a lender. She does not ask who is declined, but what the declined can do about
it: is there a group whose members have no option, or only far ones? This example is for
auditors, and for teams who would like to know before an auditor does.
"""

# %%
# Everybody whom the model declines
# ---------------------------------
#
# Ines allows only what a declined applicant can change before asking again: the loan itself,
# a guarantor, savings and other payment plans.

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import Constraints, DiverseExplainer, datasets

credit = datasets.load("german_credit")
encode = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")), remainder=StandardScaler()
)
model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(credit.X, credit.y)
declined = credit.X[model.predict(credit.X) == "bad"]

free = ["duration", "credit_amount", "installment_commitment", "other_parties"]
free += ["savings_status", "other_payment_plans"]
allowed = Constraints(
    immutable=[name for name in credit.X if name not in free],
    decrease_only=["duration", "credit_amount", "installment_commitment"],
    max_increase={"savings_status": 1},
    max_decrease={"credit_amount": 2000, "duration": 12, "savings_status": 0},
)
explainer = DiverseExplainer(
    model, schema=credit.schema, constraints=allowed, max_counterfactuals=3
).fit(credit.X)
explanations = explainer.explain_many(declined, target="good", if_none="ignore")
print(len(declined), "are declined,", (explanations.counts == 0).sum(), "of them have no option")

# %%
# By group
# --------
#
# ``recourse`` counts by group. Every figure has an interval that holds with 95 % for people
# like these; groups of fewer than ten are not shown.

from counterset.evaluation import recourse

table = recourse(explanations, by="personal_status")
print(table[["people", "without", "share_without"]].round(2).to_string())
print(table[["distance", "distance_low", "distance_high"]].round(2).to_string())

# %%
# Intervals that overlap prove no difference. Intervals that do not overlap prove no
# unfairness either: then look at what the groups differ in first.

import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
labels = {"share_without": "share without an option", "distance": "nearest option (median)"}
for axes, (name, label) in zip(panels, labels.items(), strict=True):
    ends = [table[name] - table[f"{name}_low"], table[f"{name}_high"] - table[name]]
    axes.errorbar(table[name], table.index, xerr=ends, fmt="o", capsize=3)
    axes.set(xlabel=label, xlim=(0, None))
plt.show()

# %%
# One page for the file
# ---------------------
#
# ``to_html`` writes a report about all of them: one file, which needs no network.

import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "audit.html"
    explanations.to_html(page, outcomes={"good": "approved", "bad": "declined"})
    print(f"audit.html: {page.stat().st_size / 1000:.0f} kB")

# %%
# Few options that help many
# --------------------------
#
# The lender asks what it could offer to all. ``Shared`` makes lists that similar people
# share, and ``few_options`` chooses the options that together help most of them.

from counterset import Shared
from counterset.evaluation import few_options

shared = explainer.with_strategy(Shared())
for row in few_options(shared, declined, most=3, target="good").itertuples():
    print(f"{row.together:.0%} with: {row.option}")
