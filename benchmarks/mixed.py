"""Explain declined cases of mixed tables under constraints, and check every answer.

    python benchmarks/mixed.py                          # German credit, bundled
    COUNTERSET_DATA=folder python benchmarks/mixed.py   # and adult.csv.gz from that folder

Rows: each dataset with few changes (`Nearest`) and with the paper's strategy. Everything is checked
on the raw frames.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    Nearest,
    Paper,
    Schema,
    datasets,
)
from counterset.strategies import Strategy

WANTED = 5


def german_credit() -> tuple[pd.DataFrame, pd.Series, str, list[str]]:
    data = datasets.load("german_credit")
    return data.X, data.y, "bad", ["age", "personal_status"]


def adult(folder: str) -> tuple[pd.DataFrame, pd.Series, str, list[str]]:
    table = pd.read_csv(Path(folder) / "adult.csv.gz", na_values="?")
    return table.drop(columns="income"), table["income"], "<=50K", ["age", "sex", "race"]


def fit_model(X: pd.DataFrame, y: pd.Series) -> Pipeline:
    # Categories by name: one that is missing is a category of its own to the encoder.
    words = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    prepare = make_column_transformer(words, remainder="passthrough")
    return make_pipeline(prepare, GradientBoostingClassifier(random_state=0)).fit(X, y)


def measure(
    model: Pipeline,
    train: pd.DataFrame,
    inputs: pd.DataFrame,
    bad: str,
    fixed: list[str],
    strategy: Strategy,
) -> dict[str, object]:
    explainer = DiverseExplainer(
        model,
        strategy=strategy,
        constraints=Constraints(immutable=fixed),
        scale="range",
        schema=Schema(step=0),
        max_counterfactuals=WANTED,
    ).fit(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        start, cpu = time.perf_counter(), time.process_time()
        explanations = explainer.explain_many(inputs, if_none="warn")
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    found = explanations.to_frame()[list(train.columns)].reset_index(drop=True)
    own = inputs.iloc[np.repeat(np.arange(len(inputs)), explanations.counts)].reset_index(drop=True)
    differs = (found != own) & ~(found.isna() & own.isna())
    known = [found[name].isin(train[name]).all() for name in train.select_dtypes(exclude="number")]
    lost = found.isna() & own.notna()
    return {
        "strategy": type(strategy).__name__,
        "inputs": len(inputs),
        "answers": len(found),
        "valid": f"{(model.predict(found) != bad).mean():.1%}",
        "violations": int(differs[fixed].any(axis=1).sum()),
        "dtypes intact": "yes" if (found.dtypes == train.dtypes).all() else "NO",
        "categories known": "yes" if all(known) else "NO",
        "became missing": int(lost.any(axis=1).sum()),
        "changed, median": float(differs.sum(axis=1).median()),
        "ms each": round(1000 * seconds / len(inputs), 1),
        "CPU ms each": round(1000 * cpu / len(inputs), 1),
        "fewer than 5": int((explanations.counts < WANTED).sum()),
        "none": int((explanations.counts == 0).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=200, help="the most inputs of each dataset")
    most = parser.parse_args().inputs
    sources = {"german_credit": german_credit}
    folder = os.environ.get("COUNTERSET_DATA")
    if folder:
        sources["adult"] = lambda: adult(folder)
    rows = []
    for name, load in sources.items():
        X, y, bad, fixed = load()
        train, test, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
        model = fit_model(train, y_train)
        inputs = test[model.predict(test) == bad].head(most)
        for strategy in (Nearest(search=LineSearch(0.1)), Paper()):
            rows.append({"data": name, "training rows": len(train)})
            rows[-1] |= measure(model, train, inputs, bad, fixed, strategy)
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(map(str, row.values())) + " |")


if __name__ == "__main__":
    main()
