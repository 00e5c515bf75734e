"""Explain rows of wide tables: rows asked of the model and seconds, by the number of features.

    OMP_NUM_THREADS=1 python benchmarks/wide.py

The model is a sum with a weight for each feature, so that its own time hardly counts. The first row
of a class pays for what is learned once for all rows of it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from counterset import DiverseExplainer, FewerCounterfactualsWarning

FEATURES = (10, 20, 40, 80, 150, 300, 500, 1000)
TRAINING_ROWS, INPUTS = 2000, 10


class Sum:
    """A model that counts the rows it is asked about."""

    def __init__(self, weights: Any) -> None:
        self.weights, self.rows = weights, 0

    def predict(self, rows: Any) -> Any:
        self.rows += len(rows)
        return np.asarray(rows) @ self.weights > 0


def measure(features: int) -> dict[str, object]:
    random = np.random.default_rng(0)
    data, model = random.normal(size=(TRAINING_ROWS, features)), Sum(random.normal(size=features))
    explainer = DiverseExplainer(model).fit(data)
    declined = data[~model.predict(data)][: INPUTS + 1]

    def explained(rows: Any) -> tuple[Any, float, float]:
        before, start = model.rows, time.process_time()
        found = explainer.explain_many(rows, if_none="ignore")
        each = len(rows)
        return found, (model.rows - before) / each, (time.process_time() - start) / each

    _, first_rows, first_seconds = explained(declined[:1])
    found, rows, seconds = explained(declined[1:])
    return {
        "features": features,
        "first row: rows asked": f"{first_rows:,.0f}",
        "s": f"{first_seconds:.2f}",
        "another row: rows asked": f"{rows:,.0f}",
        "s ": f"{seconds:.3f}",
        "options, mean": f"{found.counts.mean():.1f}",
        "changed, median": f"{np.median(np.concatenate([e.changed.sum(axis=1) for e in found])):g}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    for i, features in enumerate(parser.parse_args().features):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerCounterfactualsWarning)
            record = measure(features)
        if i == 0:
            print("|".join(["", *record, ""]))
            print("|".join(["", *["---"] * len(record), ""]))
        print("|".join(["", *map(str, record.values()), ""]), flush=True)


if __name__ == "__main__":
    main()
