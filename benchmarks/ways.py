"""How many of the different ways that exist are offered: compared with brute force.

    COUNTERSET_DATA=folder python benchmarks/ways.py [--inputs 40] [--models boosting,logistic]

A way is a set of features whose change leads to the other class, such that no part of the set does.
Tables have eight features, so all sets of up to four of them can be tried: every feature takes each
value of its category, or seven values over its usual range (the ends and quantiles of the training
rows), in all combinations, within the constraints. Inputs are test rows.

A search is finer than a grid, so what any setting offers counts as existing too, and makes ways
that hold more needless. Ways of more than four features count only where they are offered.

- exist: the ways that exist, for each person
- offered: those of them that are offered, for each person
- share: offered ways over those that exist, up to the number asked for, over all persons; wanted:
  90 %
- too few: persons who get fewer than they could, up to the number asked for
- ms: processor time of one explanation in this batch, without learning
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import (
    Constraints,
    DiverseExplainer,
    FeatureDiversity,
    FewerCounterfactualsWarning,
    datasets,
)

#: The columns of each table (None: all), and those that may not change.
TABLES: dict[str, tuple[list[str] | None, list[str]]] = {
    "diabetes": (None, ["Age", "Pregnancies"]),
    "german_credit": (
        [
            "checking_status", "duration", "credit_amount", "savings_status", "employment",
            "installment_commitment", "property_magnitude", "age",
        ],
        ["age"],
    ),
    "adult": (
        [
            "age", "workclass", "education-num", "marital-status", "occupation", "sex",
            "capital-gain", "hours-per-week",
        ],
        ["age", "sex"],
    ),
}  # fmt: skip
MODELS: dict[str, Any] = {
    "boosting": lambda: GradientBoostingClassifier(n_estimators=50, random_state=0),
    "forest": lambda: RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=2000),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default, 5": {},
    "features, 5": {"diversity": FeatureDiversity()},
    "features, 20": {"diversity": FeatureDiversity(), "max_counterfactuals": 20},
    "features, 5, anchors": {"diversity": FeatureDiversity(), "anchors": "auto"},
}
#: Sets of up to 4 features are tried, and 5 quantiles of a number beside its ends.
LARGEST, QUANTILES = 4, (0.1, 0.3, 0.5, 0.7, 0.9)
#: Adult has 4000 training rows here, for time. Brute force asks about 200,000 rows at once.
ROWS_OF_ADULT, AT_ONCE = 4000, 200_000


def load(name: str) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Return training rows, their classes, and test rows."""
    data = datasets.load(name)
    columns = TABLES[name][0]
    X = data.X if columns is None else data.X[columns]
    whole = X.notna().all(axis=1)
    X, y = X[whole], data.y[whole]
    size: float = 0.8
    if name == "adult":
        X, y, size = X.head(2 * ROWS_OF_ADULT), y.head(2 * ROWS_OF_ADULT), ROWS_OF_ADULT
    train, test, y_train, _ = train_test_split(X, y, train_size=size, random_state=0, stratify=y)
    return train, y_train, test.sort_index()


def fit_model(kind: str, X: pd.DataFrame, y: pd.Series) -> Any:
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    return make_pipeline(prepare, MODELS[kind]()).fit(X, y)


class BruteForce:
    """Tries all sets of up to four features, on a grid."""

    def __init__(self, explainer: DiverseExplainer, train: pd.DataFrame, fixed: list[str]) -> None:
        self.model, self.table = explainer.model, explainer.distance_.table
        matrix = self.table.encode(train)[0]
        self.grids = []
        for i, feature in enumerate(self.table.features):
            if feature.values is not None:
                grid = np.unique(matrix[:, i])
            else:
                low, high = feature.usual
                inner = np.clip(np.quantile(matrix[:, i], QUANTILES), low, high)
                grid = np.unique(feature.snap(np.concatenate([[low], inner, [high]])))
            self.grids.append(grid)
        names = [feature.name for feature in self.table.features]
        self.free = [i for i, name in enumerate(names) if name not in fixed]

    def ways(self, x: np.ndarray, label: Any) -> list[frozenset[int]]:
        """Return the inclusion-minimal sets of features that lead to the other class."""
        found: list[frozenset[int]] = []
        for size in range(1, LARGEST + 1):
            sets = [
                frozenset(each)
                for each in itertools.combinations(self.free, size)
                if not any(way <= set(each) for way in found)
            ]
            found += [each for each in sets if self._flips(x, label, sorted(each))]
        return found

    def _flips(self, x: np.ndarray, label: Any, features: list[int]) -> bool:
        values = [self.grids[i][self.grids[i] != x[i]] for i in features]
        combinations = np.array(list(itertools.product(*values))).reshape(-1, len(features))
        rows = np.tile(x, (len(combinations), 1))
        rows[:, features] = combinations
        for start in range(0, len(rows), AT_ONCE):
            part = self.table.decode(rows[start : start + AT_ONCE])
            if (self.model.predict(part) != label).any():
                return True
        return False


def offered_sets(explanation: Any) -> set[frozenset[int]]:
    """Return the different sets of features that counterfactuals change."""
    return {frozenset(np.flatnonzero(row).tolist()) for row in explanation.changed}


def minimal(sets: set[frozenset[int]]) -> set[frozenset[int]]:
    """Return the sets of which no part is among them."""
    return {each for each in sets if not any(other < each for other in sets)}


def compare(exist: list[Any], offered: list[Any], asked: int) -> dict[str, str]:
    kept = [ways & sets for ways, sets in zip(exist, offered, strict=True)]
    wanted = [min(len(ways), asked) for ways in exist]
    got = [min(len(ways), asked) for ways in kept]
    return {
        "exist": f"{np.mean([len(ways) for ways in exist]):.2f}",
        "offered": f"{np.mean([len(ways) for ways in kept]):.2f}",
        "share": f"{sum(got) / max(sum(wanted), 1):.0%}",
        "too few": f"{sum(a < b for a, b in zip(got, wanted, strict=True))}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=40)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--data", default=",".join(TABLES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    count = arguments.inputs
    print(f"| table, model | asked for | exist | offered | share | too few of {count} | ms |")
    print("|---|---|---|---|---|---|---|")
    for name, kind in itertools.product(arguments.data.split(","), arguments.models.split(",")):
        train, y, test = load(name)
        model, fixed, inputs = (
            fit_model(kind, train, y),
            TABLES[name][1],
            test.head(arguments.inputs),
        )
        offered, seconds, exist = {}, {}, []
        for setting, parameters in SETTINGS.items():
            explainer = DiverseExplainer(
                model, constraints=Constraints(immutable=fixed), **parameters
            ).fit(train)
            explainer.explain_many(inputs, if_none="ignore")  # recipes are learned once
            start = time.process_time()
            found = explainer.explain_many(inputs, if_none="ignore")
            seconds[setting] = (time.process_time() - start) / len(inputs)
            offered[setting] = [offered_sets(explanation) for explanation in found]
        force, labels = BruteForce(explainer, train, fixed), model.predict(inputs)
        for i, x in enumerate(explainer.distance_.table.encode(inputs)[0]):
            seen = [sets[i] for sets in offered.values()]
            exist.append(minimal(set(force.ways(x, labels[i])).union(*seen)))
        for setting, sets in offered.items():
            asked = SETTINGS[setting].get("max_counterfactuals", 5)
            told = compare(exist, sets, asked)
            cells = [f"{name}, {kind}", setting, *told.values(), f"{1000 * seconds[setting]:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
