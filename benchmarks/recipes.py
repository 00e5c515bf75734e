"""How near and how steady options with few changes are: from recipes, and from anchors.

    COUNTERSET_DATA=folder python benchmarks/recipes.py [--inputs 80] [--models boosting,forest]
    COUNTERSET_DATA=folder python benchmarks/recipes.py --exact 30

German credit (bundled) and adult (from the folder), with and without immutable features, one
setting for all. Inputs are test rows from position 100 on: the settings were chosen on others. Each
input is explained with three noisy copies (`GaussianNoise()`). With --exact: how far the nearest
option is, over the exact counterfactual distance, without constraints.

- rows: options on the way to training rows only, as before recipes
- recipes: the defaults
- anchors: `anchors="auto"`
- one list: `anchors=1`, the same list for the whole class
- nearest rows: the five nearest training rows of another class
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
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import counterset.explainer
from counterset import (
    Box,
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    Schema,
    counterfactual_distance,
    datasets,
    evaluate,
)

MODELS: dict[str, Any] = {
    "boosting": lambda: GradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((20, 10), max_iter=500, random_state=0),
}
IMMUTABLE = {"german_credit": ["age", "personal_status"], "adult": ["age", "sex", "race"]}
METHODS: dict[str, dict[str, Any]] = {
    "rows": {},
    "recipes": {},
    "anchors": {"anchors": "auto"},
    "one list": {"anchors": 1},
    "nearest rows": {"sparsify": False, "search": None, "diversity": None},
}
#: Adult has 6000 training rows here, for time; the most seconds for one exact distance is 20.
ROWS_OF_ADULT, SECONDS = 6000, 20.0


def load(name: str) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """Return training rows, their classes, and test rows."""
    data = datasets.load(name)
    whole = data.X.notna().all(axis=1)
    X, y = data.X[whole], data.y[whole]
    if name == "adult":
        X, y = X.head(2 * ROWS_OF_ADULT), y.head(2 * ROWS_OF_ADULT)
    size = ROWS_OF_ADULT if name == "adult" else 0.8
    train, test, y_train, _ = train_test_split(X, y, train_size=size, random_state=0, stratify=y)
    return train, y_train, test.sort_index()


def fit_model(kind: str, X: pd.DataFrame, y: pd.Series) -> Any:
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    return make_pipeline(prepare, MODELS[kind]()).fit(X, y)


@contextlib.contextmanager
def rows_only(wanted: bool) -> Iterator[None]:
    """Leave recipes out, as they were before there were any."""
    kept = counterset.explainer.with_recipes
    if wanted:
        counterset.explainer.with_recipes = lambda paper, *_: paper
    try:
        yield
    finally:
        counterset.explainer.with_recipes = kept


def share_of_needless(model: Any, found: Any) -> float:
    """Return the share of options in which a single change can be undone."""
    needless = []
    for explanation in found:
        for row, changed in zip(explanation._matrix, explanation.changed, strict=True):
            undone = np.repeat(row[None], changed.sum(), axis=0)
            features = np.flatnonzero(changed)
            undone[np.arange(len(features)), features] = explanation._input[features]
            labels = model.predict(explanation._table.decode(undone))
            needless.append(len(features) > 1 and bool((labels != explanation.label).any()))
    return float(np.mean(needless))


def measure(method: str, model: Any, train: pd.DataFrame, inputs: Any, fixed: list[str]) -> Any:
    constraints = Constraints(immutable=fixed) if fixed else None
    explainer = DiverseExplainer(model, constraints=constraints, **METHODS[method])
    with rows_only(method == "rows"):
        start = time.process_time()
        explainer.fit(train)
        explainer.explain_many(inputs.head(1), if_none="warn")  # recipes are learned once
        fit = time.process_time() - start
        start = time.process_time()
        found = explainer.explain_many(inputs, if_none="warn")
        each = (time.process_time() - start) / len(inputs)
        table = evaluate(explainer, inputs, repeats=3, random_state=0)
    table = table[table["same_class"]]
    ratio = table["set_distance_mean"] / table["input_distance"]
    rows = found.to_frame()
    own = inputs.loc[rows.index.get_level_values(0), fixed] if fixed else inputs.iloc[:0, :0]
    broken = (rows[fixed].to_numpy() != own.to_numpy()).any(axis=1).sum() if fixed else 0
    return {
        "options": f"{found.counts.mean():.2f}",
        "k-distance": f"{table['k_distance'].mean():.2f}",
        "k-diversity": f"{table['k_diversity'].mean():.2f}",
        "set mean": f"{table['set_distance_mean'].mean():.3f}",
        "set max": f"{table['set_distance_max'].mean():.3f}",
        "set mean / move": f"{ratio.median():.2f}",
        "needless": f"{share_of_needless(model, found):.0%}",
        "valid": f"{table['validity'].mean():.0%}",
        "violations": int(broken),
        "fit s": f"{fit:.1f}",
        "ms each": f"{1000 * each:.0f}",
    }


def exact_ratios(model: Any, train: pd.DataFrame, inputs: pd.DataFrame) -> dict[str, Any]:
    """Return how far the nearest option is, over the exact distance."""
    record: dict[str, Any] = {}
    best: list[float] = []
    for method in ("rows", "recipes"):
        with rows_only(method == "rows"):
            explainer = DiverseExplainer(model, schema=Schema(step=0)).fit(train)
            found = explainer.explain_many(inputs)
        if not best:
            for each in found:
                box = Box.of(explainer).holding(each.input)
                bounds = counterfactual_distance(
                    model, each.input, explainer.distance_, box, time_limit=SECONDS
                )
                best.append(bounds.lower)
        ratios = np.array([each.distances[0] for each in found]) / np.array(best)
        record[f"{method}, mean"] = f"{ratios.mean():.2f}"
        record[f"{method}, median"] = f"{np.median(ratios):.2f}"
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=80)
    parser.add_argument("--datasets", default="german_credit,adult")
    parser.add_argument("--models", default="boosting,forest,logistic")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--free", action="store_true", help="without immutable features")
    parser.add_argument("--exact", type=int, default=0, help="inputs with exact distances")
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    heading = True
    for name in given.datasets.split(","):
        train, y, test = load(name)
        for kind in given.models.split(","):
            model = fit_model(kind, train, y)
            inputs = test.iloc[100 : 100 + (given.exact or given.inputs)]
            methods = ["exact"] if given.exact else given.methods.split(",")
            for method in methods:
                row = {"data": name, "model": kind}
                if given.exact:
                    row |= exact_ratios(model, train, inputs)
                else:
                    fixed = [] if given.free else IMMUTABLE[name]
                    row |= {"options from": method, **measure(method, model, train, inputs, fixed)}
                if heading:
                    print("| " + " | ".join(row) + " |\n|" + "---|" * len(row))
                heading = False
                print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
