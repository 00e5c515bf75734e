"""How long fitting takes, and the first explanation beside a later one, by strategy.

    COUNTERSET_DATA=folder python benchmarks/fit_times.py [--datasets diabetes,german_credit]

Gradient boosting, behind encoders for tables with categories (`common.py` makes it). Adult has
about 39,000 training rows here, credit 86,645 (from the folder). Processor times. "First" is the
first explanation after `fit`, "later" the mean of the next five inputs. What the model needs to
predict the training rows once stands beside it.
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

from counterset import (
    DiverseExplainer,
    FewerCounterfactualsWarning,
    Nearest,
    Paper,
    Shared,
    datasets,
)
from counterset.paper.setups import prepare

DATASETS = ("diabetes", "german_credit", "spambase", "adult", "credit")
STRATEGIES = {"Nearest": Nearest(), "Shared": Shared(), "Paper": Paper()}
#: A later explanation is the mean of 5.
LATER = 5


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
    parser.add_argument("--datasets", default=",".join(DATASETS))
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    print("| data | rows | model once, s | strategy | fit, s | first, s | later, s |")
    print("|---|---|---|---|---|---|---|")
    for name in given.datasets.split(","):
        train, y, test = load(name)
        model = fit_model("boosting", train, y)
        once, _ = seconds(lambda: model.predict(train))  # noqa: B023
        for strategy, chosen in STRATEGIES.items():
            explainer = DiverseExplainer(model, strategy=chosen)
            fit, _ = seconds(lambda: explainer.fit(train))  # noqa: B023
            times = [
                seconds(lambda: explainer.explain_many(test.iloc[[i]], if_none="warn"))[0]  # noqa: B023
                for i in range(LATER + 1)
            ]
            later = sum(times[1:]) / LATER
            print(
                f"| {name} | {len(train):,} | {once:.2f} | {strategy} | {fit:.2f} | "
                f"{times[0]:.3f} | {later:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
