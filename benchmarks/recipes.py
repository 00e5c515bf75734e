"""How near and how stable options with few changes are: from recipes, and of peers.

    COUNTERSET_DATA=folder python benchmarks/recipes.py [--free] [--models boosting,forest]
    COUNTERSET_DATA=folder python benchmarks/recipes.py --methods constant,nice-sparsity
    COUNTERSET_DATA=folder python benchmarks/recipes.py --methods treecf --inputs 20

German credit (bundled) and adult (from the folder), with immutable features or (--free) without,
one setting for all. Inputs are test rows from position 100 on: the settings were chosen on others.
Each input is explained with three noisy copies (`GaussianNoise()`). How far the nearest option is
from the nearest possible is measured by `nearest.py`.

- rows: options on the way to training rows only, as before recipes
- recipes: the defaults
- nearest rows: the five nearest training rows of another class
- all others: names of peers, see `counterset.paper.peers`; NICE knows no constraints
"""

from __future__ import annotations

import argparse
import contextlib
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from common import IMMUTABLE, TREES, fit_model, load, print_row

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    Paper,
    evaluate,
)
from counterset.paper.peers import find_peer
from counterset.strategies.batch import Chosen
from counterset.strategies.nearest import NearestFinder

METHODS: dict[str, dict[str, Any]] = {
    "rows": {},
    "recipes": {},
    "nearest rows": {"strategy": Paper(diversity=None, search=None)},
}
#: Each input has 3 noisy copies.
COPIES = 3
#: NICE finds its one counterfactual without constraints.
WITHOUT_CONSTRAINTS = ("nice", "nice-none", "nice-sparsity", "nearest-rows")


@contextlib.contextmanager
def rows_only(wanted: bool) -> Iterator[None]:
    """Leave recipes out, as they were before there were any."""
    kept = NearestFinder._options
    if wanted:
        NearestFinder._options = lambda self, batch: Chosen.empty(batch)  # type: ignore[method-assign]
    try:
        yield
    finally:
        NearestFinder._options = kept  # type: ignore[method-assign]


class Recorded:
    """An explainer that keeps its answers to the first call, and the processor time of it."""

    def __init__(self, explainer: Any) -> None:
        self.explainer = explainer
        self.answers: list[Any] = []
        self.seconds = 0.0

    def explain_many(self, X: pd.DataFrame) -> Any:
        start = time.process_time()
        answers = self.explainer.explain_many(X)
        if not self.answers:
            self.answers = [getattr(each, "counterfactuals", each) for each in answers]
            self.seconds = time.process_time() - start
        return answers


class Ours:
    """An explainer of this library, to which no answer is an empty one."""

    def __init__(self, explainer: DiverseExplainer) -> None:
        self.explainer = explainer

    def explain_many(self, X: pd.DataFrame) -> Any:
        return self.explainer.explain_many(X, if_none="warn")


def share_of_needless(model: Any, table: Any, inputs: pd.DataFrame, sets: list[Any]) -> float:
    """Return the share of options in which a single change can be undone."""
    rows, labels = table.encode(inputs)[0], np.asarray(model.predict(inputs))
    undone, options, wanted = [], [], []
    for x, label, found in zip(rows, labels, sets, strict=True):
        for row in table.encode(found)[0] if len(found) else []:
            features = np.flatnonzero(row != x)
            each = np.repeat(row[None], len(features), axis=0)
            each[np.arange(len(features)), features] = x[features]
            undone.append(each if len(features) > 1 else each[:0])
            wanted += [label] * len(undone[-1])
            options += [len(undone) - 1] * len(undone[-1])
    if not options:
        return 0.0
    works = np.asarray(model.predict(table.decode(np.concatenate(undone)))) != np.array(wanted)
    return len(np.unique(np.array(options)[works])) / len(undone)


def violations(inputs: pd.DataFrame, sets: list[Any], fixed: list[str]) -> int:
    """Return the number of options that change what may not change."""
    return sum(
        int((options[fixed].astype(str) != inputs[fixed].iloc[i].astype(str)).any(axis=1).sum())
        for i, options in enumerate(sets)
        if len(options)
    )


def fitted(method: str, model: Any, train: pd.DataFrame, inputs: Any, fixed: list[str]) -> Any:
    """Return the fitted explainer of a method, or peer of this name."""
    if method in METHODS:
        constraints = Constraints(immutable=fixed) if fixed else None
        explainer = DiverseExplainer(model, constraints=constraints, **METHODS[method]).fit(train)
        explainer.explain_many(inputs.head(1), if_none="warn")  # recipes are learned once
        return Ours(explainer)
    peer = find_peer(method, norm=1, immutable=[] if method in WITHOUT_CONSTRAINTS else fixed)
    peer.fit(model, train)
    return peer


def measure(method: str, model: Any, train: pd.DataFrame, inputs: Any, fixed: list[str]) -> Any:
    """Return the figures of a method. All are measured in the distance of the defaults."""
    distance = DiverseExplainer(model).fit(train).distance_
    with rows_only(method == "rows"):
        start = time.process_time()
        explainer = Recorded(fitted(method, model, train, inputs, fixed))
        fit = time.process_time() - start
        table = evaluate(
            explainer, inputs, repeats=COPIES, random_state=0, model=model, distance=distance
        )
    sets = explainer.answers
    valid = table.groupby("input")["validity"].first().mean()
    table = table[table["same_class"]]
    ratio = table["set_distance_mean"] / table["input_distance"]
    return {
        "inputs": len(inputs),
        "options": f"{np.mean([len(each) for each in sets]):.2f}",
        "k-distance": f"{table['k_distance'].mean():.2f}",
        "k-diversity": f"{table['k_diversity'].mean():.2f}",
        "set mean": f"{table['set_distance_mean'].mean():.3f}",
        "set max": f"{table['set_distance_max'].mean():.3f}",
        "set mean / move": f"{ratio.median():.2f}",
        "needless": f"{share_of_needless(model, distance.table, inputs, sets):.0%}",
        "valid": f"{valid:.0%}",
        "violations": violations(inputs, sets, fixed),
        "fit s": f"{fit:.1f}",
        "ms each": f"{1000 * explainer.seconds / len(inputs):.0f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=80)
    parser.add_argument("--datasets", default="german_credit,adult")
    parser.add_argument("--models", default="boosting,forest,logistic")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--free", action="store_true", help="without immutable features")
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    heading = True
    for name in given.datasets.split(","):
        train, y, test = load(name)
        for kind in given.models.split(","):
            model = fit_model(kind, train, y)
            inputs = test.iloc[100 : 100 + given.inputs]
            for method in given.methods.split(","):
                if method.startswith("treecf") and kind not in TREES:
                    continue
                fixed = [] if given.free else IMMUTABLE[name]
                row = {"data": name, "model": kind, "options from": method}
                row |= measure(method, model, train, inputs, fixed)
                print_row(row, heading=heading)
                heading = False


if __name__ == "__main__":
    main()
