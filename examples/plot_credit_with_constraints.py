"""
A declined loan, and what may change
====================================

Jonas asked his bank for a loan, and a model said no. He wants to know what would have
led to a yes, in steps that he can really take: nobody can become younger, and savings
do not appear overnight. This example is for everybody who has to answer such a question.
"""

# %%
# The model of the bank
# ---------------------
#
# The German credit data ships with the package: 1,000 loans, 20 features, and whether
# each loan was paid back. The bank trains a usual pipeline on the first 800.

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import datasets

credit = datasets.load("german_credit")
X_train, y_train = credit.X[:800], credit.y[:800]
encode = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")), remainder="passthrough"
)
model = make_pipeline(encode, GradientBoostingClassifier(random_state=0)).fit(X_train, y_train)
jonas = credit.X.loc[[805]]
print("The model says:", model.predict(jonas)[0])

# %%
# Without constraints
# -------------------
#
# The explainer reads the training rows and asks the model. Nothing has been ruled out
# yet, so an option may be about what nobody can change.

import matplotlib.pyplot as plt

from counterset import DiverseExplainer
from counterset.plots import ChangesDisplay

names = {"good": "approved", "bad": "declined"}
explainer = DiverseExplainer(model, schema=credit.schema).fit(X_train)
free = explainer.explain(jonas, target="good")
for option in free.options:
    print(option.rank, option.sentence)

# %%
# With constraints
# ----------------
#
# Jonas's age and personal status are facts. His savings and his checking account can only
# grow, and by one step at most in the time that he has. The loan itself is up to him, but
# he needs 5,000 DM at least.

from counterset import Constraints

possible = Constraints(
    immutable=[
        "age",
        "personal_status",
        "foreign_worker",
        "credit_history",
        "purpose",
        "existing_credits",
    ],
    increase_only=["savings_status", "checking_status"],
    max_increase={"savings_status": 1, "checking_status": 1},
    ranges={"credit_amount": (5000, None)},
)
explanation = explainer.explain(jonas, target="good", constraints=possible)
print(explanation.describe(outcomes=names))

# %%
# The picture has a row for each feature that changes. The ring is Jonas now, and a number
# is the value of that option.

ChangesDisplay.from_explanation(explanation, outcomes=names).plot()
plt.show()

# %%
# Every option keeps every constraint, and the model itself was asked about each. That can
# be checked on the rows:

rows = explanation.counterfactuals
assert (rows["age"] == jonas["age"].iloc[0]).all()
assert (rows["credit_amount"] >= 5000).all()
assert (model.predict(rows) == "good").all()
print(rows[["duration", "credit_amount", "savings_status", "employment"]])
