"""
A network, and a proof of how near its border is
================================================

Lea filters mail with a neural network. A message was held back as spam, and its sender asks
why. Lea also wants to know whether her answer is the nearest there is: for a network with
ReLU, a solver can prove that. This example is for everybody who has to defend a distance.
"""

# %%
# The network
# -----------
#
# Spambase counts words and signs in 4,601 messages. The network reads six of the counts, in
# percent of the words or signs of a message.

from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from counterset import datasets

spam = datasets.load("spambase")
columns = ["word_freq_free", "word_freq_remove", "word_freq_your", "word_freq_hp"]
columns += ["char_freq_exclamation", "char_freq_dollar"]
X_train, X_test, y_train, y_test = train_test_split(
    spam.X[columns], spam.y, stratify=spam.y, random_state=0
)
network = MLPClassifier(
    (8,), max_iter=60, learning_rate_init=0.01, early_stopping=True, random_state=0
)
model = make_pipeline(StandardScaler(), network).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.0%} of the other messages are sorted correctly")
held_back = X_test[model.predict(X_test) == "spam"]

# %%
# What would have let the message through?
# ----------------------------------------
#
# The sender cannot write about hp, the company where the mail was collected, so that count
# stays.

from counterset import Constraints, DiverseExplainer, Schema

labels = {name: f"share of “{name.split('_')[-1]}”" for name in columns}
labels |= {"char_freq_exclamation": "share of “!”", "char_freq_dollar": "share of “$”"}
explainer = DiverseExplainer(
    model,
    schema=Schema(labels=labels, units=dict.fromkeys(columns, "{} %")),
    constraints=Constraints(immutable=["word_freq_hp"]),
    max_counterfactuals=1,
).fit(X_train)
explanation = explainer.explain(held_back.iloc[[0]], target="nonspam")
print(explanation.describe())

# %%
# Is there anything nearer?
# -------------------------
#
# ``counterfactual_distance`` hands the network to a solver. ``lower`` is proved: within the
# range of the training data, no message that gets through is nearer than that.

from counterset import counterfactual_distance

asked = {"domain": explainer, "target": "nonspam", "constraints": explainer.constraints}
bounds = counterfactual_distance(model, held_back.iloc[0], explainer.distance_, **asked)
print(f"proved: at least {bounds.lower:.4f} away")
print(f"found: {explanation.distances[0]:.4f} away")

# %%
# Twelve messages
# ---------------
#
# A dot on the line is an option as near as any can be. The height above it is what the
# search missed, together with what rounding to whole steps costs.

import matplotlib.pyplot as plt

found = [each.distances[0] for each in explainer.explain_many(held_back[:12], target="nonspam")]
least = [
    counterfactual_distance(model, message, explainer.distance_, **asked).lower
    for _, message in held_back[:12].iterrows()
]
assert all(low <= length for low, length in zip(least, found, strict=True))

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
axes.axline((0, 0), slope=1, color="grey", lw=1)
axes.plot(least, found, "o")
axes.set(xlabel="proved: no option is nearer than this", ylabel="distance of the option found")
plt.show()
