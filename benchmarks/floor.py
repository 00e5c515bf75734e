"""How far explaining is from the least work that is needed, and how often the model is asked.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 COUNTERSET_DATA=folder python benchmarks/floor.py

Followed by a part of their names, such as "spambase", only those rows are measured.

The least work: the model's own time for the rows that it was asked about, the distances to the
training rows of other classes, and a partial sort. Times are processor times, the best of a few
rounds, in one run. Prints a Markdown table.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import common
import numpy as np
import speed
from sklearn.model_selection import train_test_split

from counterset import Constraints, DiverseExplainer, FewerCounterfactualsWarning, datasets

ALPHA, BATCH = 1000, 80


class Recording:
    """A model that keeps what it is asked."""

    def __init__(self, predict: Callable[[Any], Any]) -> None:
        self.inner, self.asked = predict, list[Any]()

    def predict(self, rows: Any) -> Any:
        self.asked.append(rows)
        return self.inner(rows)


def floor(explainer: DiverseExplainer, inputs: Any, asked: list[Any], rounds: int) -> float:
    """Return the time of the least work for these inputs."""
    pool, distance = explainer.training_.pool, explainer.distance_
    x = distance.coordinates(explainer.distance_.table.encode(inputs)[0])
    codes = explainer.explain_many(inputs, if_none="ignore").labels
    predict = explainer.model.inner

    def work() -> None:
        for label in np.unique(codes):
            others = pool.embedded.coordinates[explainer.classes_[pool.codes] != label]
            scores, _ = distance.in_space.scores(x[codes == label], others)
            np.argpartition(scores, min(ALPHA, len(others) - 1), axis=1)
        for rows in asked:
            predict(rows)

    return common.best(work, rounds)


def measure(name: str, predict: Any, train: Any, inputs: Any, **how: Any) -> None:
    if not all(each in name for each in sys.argv[1:]):
        return
    model = Recording(predict)
    explainer = how.pop("make", DiverseExplainer)(model, **how).fit(train)
    explainer.explain_many(inputs, if_none="ignore")  # recipes are learned once
    for what, rows, rounds in (("one row", inputs[:1], 50), ("batch", inputs, 15)):
        model.asked.clear()
        explainer.explain_many(rows, if_none="ignore")
        asked = list(model.asked)
        least = floor(explainer, rows, asked, rounds)
        taken = common.best(
            lambda rows=rows: explainer.explain_many(rows, if_none="ignore"), rounds
        )
        n = len(rows)
        print(
            f"| {name} | {what} | {1e3 * taken / n:.2f} | {1e3 * least / n:.2f} | "
            f"{taken / least:.1f}x | {len(asked)} | {sum(map(len, asked)) / n:.0f} |",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    print("| what | inputs | ms each | floor, ms | ratio | model calls | rows asked each |")
    print("|---|---|---|---|---|---|---|")
    X, y = speed.spambase(os.environ["COUNTERSET_DATA"])
    split = {"test_size": 0.2, "stratify": y, "random_state": 0}
    train, test, y_train, _ = train_test_split(X, y, **split)
    network = speed.network(train, y_train)
    for distance in ("l1", "l2"):
        paper = {"make": DiverseExplainer.paper, "distance": distance, "scale": None}
        measure(f"spambase, network, {distance}", network, train, test[:500], **paper)
    for name in ("german_credit", "adult"):
        rows, labels, others = common.load(name)
        predict = common.fit_model("boosting", rows, labels).predict
        inputs, kept = (
            others.iloc[100 : 100 + BATCH],
            Constraints(immutable=common.IMMUTABLE[name]),
        )
        measure(f"{name}, boosting, plain", predict, rows, inputs, make=DiverseExplainer.paper)
        measure(
            f"{name}, boosting, constraints + few changes", predict, rows, inputs, constraints=kept
        )
    data = datasets.load("adult")
    X, y = data.X.head(12_000), data.y.head(12_000)
    rows, others, labels, _ = train_test_split(X, y, train_size=6000, random_state=0, stratify=y)
    predict = common.fit_model("boosting", rows, labels).predict
    inputs = others.sort_index().iloc[100 : 100 + BATCH]
    name = "adult with missing values, boosting, plain"
    measure(name, predict, rows, inputs, make=DiverseExplainer.paper)


if __name__ == "__main__":
    main()
