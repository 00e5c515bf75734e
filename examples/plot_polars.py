"""
polars in, polars out
=====================

Priya keeps her tables in polars, and her pipelines check their schema. She wants options as
rows of the same schema, with no detour that changes a dtype. This example is for everybody
whose tables are polars or pyarrow.
"""

# %%
# A polars table
# --------------
#
# An ``Enum`` is an ordered category: the explainer knows that savings of 100 to 499 DM lie
# between its neighbours. Other texts have no order.

import polars as pl

from counterset import datasets

credit = datasets.load("german_credit")
numbers = ["duration", "credit_amount", "age"]
people = pl.DataFrame({name: credit.X[name].tolist() for name in [*numbers, "purpose"]})
levels = list(credit.X["savings_status"].cat.categories)
savings = pl.Series("savings_status", credit.X["savings_status"].tolist(), pl.Enum(levels))
people = people.with_columns(savings)
print(people.head(3))

# %%
# The model
# ---------
#
# Scikit-learn takes polars tables. A function of the table would do as well.

from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

encode = make_column_transformer(
    (OneHotEncoder(sparse_output=False), ["purpose"]),
    (OrdinalEncoder(categories=[levels]), ["savings_status"]),
    remainder="passthrough",
)
forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
model = make_pipeline(encode, forest).fit(people, credit.y)
declined = people.filter(model.predict(people) == "bad")

# %%
# Explain many people
# -------------------
#
# What comes back is a polars table with exactly the columns and dtypes of the training
# rows. Each row of ``to_frame()`` says which input it belongs to.

from counterset import Constraints, DiverseExplainer

explainer = DiverseExplainer(
    model,
    constraints=Constraints(immutable=["age", "purpose"]),
    max_counterfactuals=2,
).fit(people)
explanations = explainer.explain_many(declined.head(50), target="good", if_none="ignore")
assert explanations[0].counterfactuals.schema == people.schema
options = explanations.to_frame()
print(options.select("input", "rank", *numbers, "savings_status", "distance").head(4))

# %%
# Count what the options change
# -----------------------------
#
# The result is a table like any other: an expression of polars says how often each column
# changes.

asked = declined.head(50).with_columns(input=pl.int_range(pl.len()))
changed = (
    options.drop_nulls("rank")
    .join(asked, on="input")
    .select((pl.col(name) != pl.col(f"{name}_right")).sum() for name in people.columns)
)
print(changed)

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.barh(changed.columns, changed.row(0))
axes.set(xlabel="number of options that change it")
plt.show()
