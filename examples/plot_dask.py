"""
A batch on Dask
===============

Every night, Chen's bank scores its applications on Dask, and in the morning each declined
applicant must have options. One broken row must not stop the night. This example is for
tables that do not fit one machine, or that a cluster already holds.
"""

# %%
# An explainer for frames
# -----------------------
#
# A ``FrameExplainer`` takes a frame and returns a frame, always with the same columns. That
# is what Dask, Spark and Ray map over the parts of a table.

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import Constraints, DiverseExplainer, datasets
from counterset.batch import FrameExplainer

credit = datasets.load("german_credit")
encode = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder=StandardScaler()
)
model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(credit.X, credit.y)
explainer = DiverseExplainer(
    model, constraints=Constraints(immutable=["age", "personal_status"]), max_counterfactuals=2
).fit(credit.X)
explain = FrameExplainer(explainer, keep=["case"], target="good")

# %%
# Tonight's applications
# ----------------------
#
# 240 applications in four parts, each with its case number. In one of them somebody forgot
# to type the duration.

import dask.dataframe as dd

tonight = credit.X[:240].assign(case=[f"A-{i:03}" for i in range(240)])
tonight["duration"] = tonight["duration"].astype("float64")
tonight.loc[7, "duration"] = None
table = dd.from_pandas(tonight, npartitions=4)

lazy = explain.explain_dask(table)
print(f"{lazy.npartitions} parts, {len(lazy.columns)} columns, nothing computed yet")

# %%
# The scheduler decides where the parts run. Here they run in this process; with
# ``distributed.Client("tcp://...")`` they run on a cluster, and the lines stay the same.

options = lazy.compute(scheduler="synchronous")
people = options.drop_duplicates("case")
print(people["status"].value_counts().to_string())
print(people.loc[people["status"] == "invalid_input", "message"].item())

# %%
# Who waits for an answer?
# ------------------------
#
# Each row carries its case number, so the options go back to where the cases are kept.

print(options[options["rank"] == 1][["case", "duration", "credit_amount", "distance"]].head(4))

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for rank, rows in options.dropna(subset="rank").groupby("rank"):
    axes.hist(rows["distance"].astype(float), bins=20, alpha=0.6, label=f"option {rank}")
axes.set(xlabel="distance from the applicant", ylabel="applicants")
axes.legend()
plt.show()
