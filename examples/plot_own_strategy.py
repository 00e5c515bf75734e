"""
A strategy of one's own
=======================

The lawyers of a bank say: every option must be a customer whom we really approved, and not
a row that a program made up. Yuki writes that as a strategy of her own, in twenty lines.
This example is for everybody who wants another search, with the same checks and texts.
"""

# %%
# What a strategy is
# ------------------
#
# A strategy has ``learn``, which reads the training rows and returns a finder. The finder's
# ``find`` takes a batch of people. It says which rows to try for whom, and
# ``Chosen.accepted`` asks the model about them, with the goal and the constraints.
# ``verified`` drops repeats and asks the model once more.

from dataclasses import dataclass

import numpy as np

from counterset.strategies import Chosen, verified


@dataclass(frozen=True)
class RealCustomers:
    """Offer the nearest training rows that reach the goal and keep the constraints."""

    count: int = 3

    def learn(self, training, recipes, requirements, advance):
        return RealCustomersFinder(training.pool.matrix, self.count)


@dataclass(frozen=True)
class RealCustomersFinder:
    """Tries all training rows for everybody."""

    rows: np.ndarray
    count: int

    def prepare(self, requirements):
        """Nothing is left to learn."""

    def find(self, batch):
        people, customers = len(batch.inputs), len(self.rows)
        rows = np.tile(self.rows, (people, 1))
        owners = np.repeat(np.arange(people), customers)
        which = np.tile(np.arange(customers), people)
        chosen = Chosen.accepted(batch, rows, owners, pool_index=which, most=self.count)
        return verified(chosen, batch, chosen.counts)

    def numbers_held(self, batch):
        return self.rows.size


# %%
# Use it
# ------
#
# The explainer takes it in place of its own strategies.

from sklearn.ensemble import HistGradientBoostingClassifier

from counterset import Constraints, DiverseExplainer, datasets

credit = datasets.load("german_credit")
model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
model.fit(credit.X, credit.y)
declined = credit.X[model.predict(credit.X) == "bad"]

explainer = DiverseExplainer(
    model,
    strategy=RealCustomers(),
    schema=credit.schema,
    constraints=Constraints(immutable=["personal_status", "foreign_worker"]),
    max_counterfactuals=3,
).fit(credit.X)
explanation = explainer.explain(declined.iloc[[0]], target="good")
print(explanation)

# %%
# The lawyers can check it: every option names the customer it is.

for option in explanation.options:
    assert credit.X.iloc[option.example].tolist() == option.row.tolist()
print("Customers", [option.example for option in explanation.options])

# %%
# What does the rule cost?
# ------------------------
#
# Real customers differ in many features at once. ``with_strategy`` compares with the default
# on the same people: its nearest options are nearer, and change fewer features.

import matplotlib.pyplot as plt

from counterset import Nearest

several = declined[:20]
answers = {
    "real customers": explainer.explain_many(several, target="good"),
    "Nearest()": explainer.with_strategy(Nearest()).explain_many(several, target="good"),
}
for real, free in zip(*answers.values(), strict=True):
    assert free.distances[0] <= real.distances[0]
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, explained in answers.items():
    axes.plot(sorted(each.distances[0] for each in explained), label=name)
axes.set(xlabel="people, sorted", ylabel="distance of the nearest option", ylim=(0, None))
axes.legend()
plt.show()
for name, explained in answers.items():
    print(f"{name}: {np.mean([each.changed[0].sum() for each in explained]):.1f} features changed")
