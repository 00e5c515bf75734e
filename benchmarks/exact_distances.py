"""Exact counterfactual distances: how far, how fast.

Networks are read from ``NAME.npz`` files (``W0, b0, W1, b1, ...``), data from ``NAME.csv`` in the
folder that ``COUNTERSET_DATA`` names.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from counterset import counterfactual_distance
from counterset.exact import Box, counterfactual_distances
from counterset.paper.setups import Network

HEADING = (
    "| model | distance | inputs | mean cfd | exact | median s | max s | median CPU s |\n"
    "|---|---|---|---|---|---|---|---|"
)

LINEAR_HEADING = (
    "| linear model, 8 features, 100,000 inputs | bounds | exact | inputs a second "
    "| inputs a CPU second |\n|---|---|---|---|---|"
)


def load(folder: Path, name: str) -> tuple[Any, Any, Any]:
    frame = pd.read_csv(folder / f"{name}.csv")
    X, y = frame.iloc[:, :-1].to_numpy(dtype=np.float64), frame.iloc[:, -1].to_numpy()
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    train, test, y_train, _ = train_test_split(
        X, y, test_size=0.2, stratify=y, shuffle=True, random_state=0
    )
    return train, test, y_train


def row(title: str, model: Any, train: Any, inputs: Any, distance: str, seconds: float) -> str:
    found, busy = [], []
    for x in inputs:
        box = Box(np.minimum(train.min(axis=0), x), np.maximum(train.max(axis=0), x))
        started = time.process_time()  # a busy machine stretches the wall clock, not this
        found.append(counterfactual_distance(model, x, distance, box, time_limit=seconds))
        busy.append(time.process_time() - started)
    times = [bounds.seconds for bounds in found]
    exact = sum(bounds.exact for bounds in found)
    mean = np.mean([bounds.upper for bounds in found])
    return (
        f"| {title} | {distance} | {len(found)} | {mean:.5f} | {exact} of {len(found)} | "
        f"{np.median(times):.2f} | {max(times):.2f} | {np.median(busy):.2f} |"
    )


def networks(data: Path, weights: Path, distances: list[str], seconds: float) -> Iterator[str]:
    for name in ("diabetes", "no2", "spambase"):
        train, test, _ = load(data, name)
        network = Network.load(weights / f"{name}.npz")
        sizes = "-".join(str(len(bias)) for _, bias in network.layers)
        for distance in distances:
            title = f"{name}, network {train.shape[1]}-{sizes}"
            yield row(title, network, train, test[50:60], distance, seconds)


def forests(data: Path, distances: list[str], seconds: float) -> Iterator[str]:
    train, test, y = load(data, "diabetes")
    for depth in (4, None):
        forest = RandomForestClassifier(100, max_depth=depth, random_state=0).fit(train, y)
        for distance in distances:
            title = f"diabetes, 100 trees, depth {depth or 'unlimited'}"
            yield row(title, forest, train, test[50:60], distance, seconds)


def linear(distances: list[str]) -> Iterator[str]:
    X = np.random.default_rng(0).random((100_000, 8))
    model = LogisticRegression().fit(X[:1000], X[:1000] @ np.arange(8) > 14)
    for distance in distances:
        for title, domain in (("a box", Box(0, 1)), ("none", None)):
            started, busy = time.perf_counter(), time.process_time()
            many = counterfactual_distances(model, X, distance, domain)
            busy, spent = time.process_time() - busy, time.perf_counter() - started
            yield (
                f"| {distance} | {title} | {many.exact.mean():.0%} | {len(X) / spent:,.0f} | "
                f"{len(X) / busy:,.0f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path(), help="folder of NAME.npz files")
    parser.add_argument("--distances", nargs="+", default=["l1", "linf", "l2"])
    parser.add_argument("--only", nargs="+", default=["networks", "forests", "linear"])
    parser.add_argument("--seconds", type=float, default=30.0, help="limit for each input")
    given = parser.parse_args()
    data = Path(os.environ.get("COUNTERSET_DATA", "."))
    parts = {
        "networks": (HEADING, networks(data, given.weights, given.distances, given.seconds)),
        "forests": (HEADING, forests(data, given.distances, given.seconds)),
        "linear": (LINEAR_HEADING, linear([*given.distances, "l0"])),
    }
    for name in given.only:
        heading, lines = parts[name]
        print(f"\n{heading}")
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
