"""How many of the different options that exist are offered: compared with brute force.

    COUNTERSET_DATA=folder python benchmarks/options.py [--inputs 40] [--models boosting,logistic]

An option is a set of features whose change leads to the other class, such that no part of the set
does. Tables have eight features, so all sets of up to four of them can be tried: every feature
takes each value of its category, or seven values over its usual range (the ends and quantiles of
the training rows), in all combinations, within the constraints. Inputs are test rows.

A search is finer than a grid, so what any setting offers counts as existing too, and makes options
with more features needless. Options of more than four features count only where they are offered.

- exist: the options that exist, for each person
- offered: those of them that are offered, for each person
- share: offered options over those that exist, up to the number asked for, over all persons;
  wanted: 90 %
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
from common import behind_encoders, load
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from counterset import (
    Constraints,
    DiverseExplainer,
    FeatureDiversity,
    FewerCounterfactualsWarning,
    Nearest,
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
    "features, 5": {"strategy": Nearest(FeatureDiversity())},
    "features, 20": {"strategy": Nearest(FeatureDiversity()), "max_counterfactuals": 20},
}
#: Sets of up to 4 features are tried, and 5 quantiles of a number beside its ends.
LARGEST, QUANTILES = 4, (0.1, 0.3, 0.5, 0.7, 0.9)
#: Adult has 4000 training rows here, for time. Brute force asks about 200,000 rows at once.
ROWS_OF_ADULT, AT_ONCE = 4000, 200_000


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

    def options(self, x: np.ndarray, label: Any) -> list[frozenset[int]]:
        """Return the inclusion-minimal sets of features that lead to the other class."""
        found: list[frozenset[int]] = []
        for size in range(1, LARGEST + 1):
            sets = [
                frozenset(each)
                for each in itertools.combinations(self.free, size)
                if not any(option <= set(each) for option in found)
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
    kept = [options & sets for options, sets in zip(exist, offered, strict=True)]
    wanted = [min(len(options), asked) for options in exist]
    got = [min(len(options), asked) for options in kept]
    return {
        "exist": f"{np.mean([len(options) for options in exist]):.2f}",
        "offered": f"{np.mean([len(options) for options in kept]):.2f}",
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
        train, y, test = load(name, TABLES[name][0], ROWS_OF_ADULT)
        model, fixed, inputs = (
            behind_encoders(MODELS[kind](), scaled=True).fit(train, y),
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
            exist.append(minimal(set(force.options(x, labels[i])).union(*seen)))
        for setting, sets in offered.items():
            asked = SETTINGS[setting].get("max_counterfactuals", 5)
            told = compare(exist, sets, asked)
            cells = [f"{name}, {kind}", setting, *told.values(), f"{1000 * seconds[setting]:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
