"""How long fitting takes, with and without anchors.

    COUNTERSET_DATA=folder python benchmarks/fit_times.py [--datasets diabetes,german_credit]

Gradient boosting, behind encoders for tables with categories (`common.py` makes it). Adult has
about 39,000 training rows here, credit 86,645 (from the folder). Processor times of `fit`, of the
first explanation, in which recipes are learned, and of `fit` with `anchors="auto"`, with its first
explanation. What the model needs to predict the training rows once stands beside it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
from common import fit_model
from sklearn.model_selection import train_test_split

from counterset import DiverseExplainer, FewerCounterfactualsWarning, datasets
from counterset.paper.setups import prepare

#: What is wanted at most: seconds for recipes (None: not said), and for anchors.
WANTED = {
    "diabetes": (None, 10),
    "german_credit": (5, 10),
    "spambase": (None, 10),
    "adult": (15, 60),
    "credit": (None, 30),
}


def load(name: str) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Return training rows, their classes, and test rows."""
    if name == "credit":
        split = prepare("credit")
        rows = [pd.DataFrame(each).add_prefix("x") for each in (split.X_train, split.X_test)]
        return rows[0], pd.Series(split.y_train), rows[1]
    data = datasets.load(name)
    whole = data.X.notna().all(axis=1)
    # Of adult 39,000 rows: as many as a service would hold.
    size = 39_000 if name == "adult" else 0.8
    train, test, y_train, _ = train_test_split(
        data.X[whole], data.y[whole], train_size=size, random_state=0, stratify=data.y[whole]
    )
    return train, y_train, test


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    answer = function()
    return time.process_time() - start, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=",".join(WANTED))
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    print(
        "| data | rows | model once, s | fit, s | recipes, s | wanted | fit with anchors, s | "
        "first explanation, s | wanted |\n|" + "---|" * 9
    )
    for name in given.datasets.split(","):
        train, y, test = load(name)
        model = fit_model("boosting", train, y)
        x = test.head(1)
        once, _ = seconds(lambda: model.predict(train))  # noqa: B023
        fit, plain = seconds(lambda: DiverseExplainer(model).fit(train))  # noqa: B023
        recipes, _ = seconds(lambda: plain.explain_many(x, if_none="warn"))  # noqa: B023
        anchors, lists = seconds(
            lambda: DiverseExplainer(model, anchors="auto").fit(train)  # noqa: B023
        )
        first, _ = seconds(lambda: lists.explain_many(x, if_none="warn"))  # noqa: B023
        for_recipes, for_anchors = WANTED[name]
        print(
            f"| {name} | {len(train):,} | {once:.2f} | {fit:.2f} | {recipes:.1f} | "
            f"{for_recipes or ''} | {anchors:.1f} | {first:.2f} | {for_anchors} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
