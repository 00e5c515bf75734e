"""How fast other explainers are beside ours: the same models, the same inputs, one run.

    COUNTERSET_DATA=folder python benchmarks/speed_peers.py
    COUNTERSET_DATA=folder python benchmarks/speed_peers.py --methods counterset,nice-sparsity

Spambase as an array, German credit and adult (6,000 rows) as frames; a network, a forest and
gradient boosting, fitted once for all. Everything may change. Times are processor times without
fitting, the mean over the inputs: one row a call, and all in one call. What takes tenths of seconds
has no faster call for many rows, so there the batch is the loop. Model calls and rows asked are
those of an explanation of one row; treecf reads the trees and asks nothing.

- counterset: `DiverseExplainer(model)`, few changes; paper: `DiverseExplainer.paper(model)`
- all others: names of peers, see `counterset.paper.peers`; literal (the paper read literally)
  takes arrays only, and a forest, asked one row at a time, takes it too long

Inputs: 50 for what takes milliseconds, 5 for literal, treecf and DiCE's random method, 2 for the
other methods of DiCE (--inputs 50,5,2).
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from common import TREES, fit_model, load, print_row

from counterset import DiverseExplainer, FewerCounterfactualsWarning, Schema, evaluate
from counterset.paper.peers import find_peer

#: How slow each method is: 0 fast, 1 tenths of seconds, 2 seconds.
METHODS = {
    "counterset": 0,
    "paper": 0,
    "nearest-rows": 0,
    "nice-none": 0,
    "nice-sparsity": 0,
    "nice": 0,
    "literal": 1,
    "treecf": 1,
    "dice-random-binary": 1,
    "dice-genetic-binary": 2,
    "dice-kdtree-binary": 2,
}
ARRAYS = ("spambase",)


class Counted:
    """A model that counts its calls and the rows that it is asked about."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.classes_ = model.classes_
        self.calls = self.rows = 0

    def predict(self, X: Any) -> Any:
        return self._count(X, self.model.predict)

    def predict_proba(self, X: Any) -> Any:
        return self._count(X, self.model.predict_proba)

    def _count(self, X: Any, ask: Any) -> Any:
        self.calls += 1
        self.rows += len(X)
        return ask(X)


class Ours:
    """An explainer of this library as a peer."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def fit(self, model: Any, X: Any) -> None:
        self.explainer = self.make(model).fit(X)

    def explain_many(self, X: Any) -> Any:
        return self.explainer.explain_many(X)


def new(method: str, as_array: bool) -> Any:
    """Return an unfitted peer."""
    if method == "paper":
        scale = None if as_array else "robust"
        return Ours(lambda model: DiverseExplainer.paper(model, scale=scale))
    return Ours(DiverseExplainer) if method == "counterset" else find_peer(method, norm=1)


def cut(X: Any, i: int) -> Any:
    """Return one row as a table."""
    return X.iloc[[i]] if isinstance(X, pd.DataFrame) else X[[i]]


def measure(method: str, model: Any, train: Any, inputs: Any) -> dict[str, Any]:
    """Return the figures of a method."""
    as_array = isinstance(train, np.ndarray)
    slow = METHODS[method] > 0
    # Counting costs microseconds a call, so what is slow is timed and counted in the same pass.
    counted = Counted(model)
    peer = new(method, as_array)
    start = time.process_time()
    peer.fit(counted if slow and not method.startswith("treecf") else model, train)
    if not slow:
        peer.explain_many(cut(inputs, 0))  # what is learned when first needed
    fit = time.process_time() - start
    counted.calls = counted.rows = 0
    start = time.process_time()
    sets = [peer.explain_many(cut(inputs, i))[0] for i in range(len(inputs))]
    batch = one = (time.process_time() - start) / len(inputs)
    asked_of = len(inputs)
    if not slow:
        start = time.process_time()
        peer.explain_many(inputs)
        batch = (time.process_time() - start) / len(inputs)
        counting, asked_of = new(method, as_array), min(len(inputs), 10)
        counting.fit(counted, train)
        counting.explain_many(cut(inputs, 0))
        counted.calls = counted.rows = 0
        for i in range(asked_of):
            counting.explain_many(cut(inputs, i))
    options = [len(getattr(each, "counterfactuals", each)) for each in sets]
    distance = DiverseExplainer(model, schema=Schema(step=0)).fit(train).distance_
    known = type("Known", (), {"explain_many": lambda _, rows: sets[: len(rows)]})()
    table = evaluate(known, inputs, repeats=1, model=model, distance=distance)
    return {
        "inputs": len(inputs),
        "options": f"{np.mean(options):.1f}",
        "valid": f"{table['validity'].mean():.0%}",
        "k-distance": f"{table['k_distance'].mean():.3g}",
        "one row, ms": f"{1000 * one:.3g}",
        "ms a counterfactual": f"{1000 * one * len(inputs) / max(sum(options), 1):.3g}",
        "batch, ms each": f"{1000 * batch:.3g}",
        "calls": f"{counted.calls / asked_of:.0f}",
        "rows asked": f"{counted.rows / asked_of:.0f}",
        "fit s": f"{fit:.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="spambase,german_credit,adult")
    parser.add_argument("--models", default="network,forest,boosting")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--inputs", default="50,5,2", help="fast, slow and slowest methods")
    given = parser.parse_args()
    counts = [int(each) for each in given.inputs.split(",")]
    # Warnings of fewer options than wanted; and other libraries' use of pandas.
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    heading = True
    for name in given.datasets.split(","):
        train, y, test = load(name)
        if name in ARRAYS:
            train, test = train.to_numpy(np.float64), test.to_numpy(np.float64)
            low, high = train.min(axis=0), train.max(axis=0)
            train, test = (train - low) / (high - low), (test - low) / (high - low)
            y = pd.Categorical(y).codes
        for kind in given.models.split(","):
            model = fit_model(kind, train, y)
            for method in given.methods.split(","):
                if method.startswith("treecf") and kind not in TREES:
                    continue
                if method == "literal" and (name not in ARRAYS or kind == "forest"):
                    continue
                inputs = test[100 : 100 + counts[METHODS[method]]]
                row = {"data": name, "model": kind, "explainer": method}
                row |= measure(method, model, train, inputs)
                print_row(row, heading=heading)
                heading = False


if __name__ == "__main__":
    main()
