"""Which search finds the nearest 1000 candidates fastest, by rows, features and batch size.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/search.py [--largest 1000000]

Made-up candidates and inputs, uniform in [0, 1]. "All" ranks every candidate, "scan" and "tree"
are the two searches of `counterset.steps.nearest`, "scikit-learn" is the brute force of its
`NearestNeighbors`. A tree is measured up to 20 features. Processor times, the best of 2, in one
run. Prints a Markdown table of milliseconds for each input.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.neighbors import NearestNeighbors

from counterset.distances import L1, L2, Distance
from counterset.steps import nearest
from counterset.steps.nearest import NearestSearch
from counterset.steps.ranking import Ranking

COUNT = 1000
#: What the longest cells may take: so many differences of numbers, about a minute.
MOST_DIFFERENCES = 10**11


def best(function: Callable[[], Any]) -> float:
    times = []
    for _ in range(2):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def rank_all(x: np.ndarray, points: np.ndarray, distance: Distance) -> None:
    rows, at_once = np.arange(len(points)), max(16, 500_000 // len(points))
    for start in range(0, len(x), at_once):
        Ranking(x[start : start + at_once], points, rows, distance).keep_nearest(COUNT)


def find(x: np.ndarray, points: np.ndarray, distance: Distance, few: int) -> float:
    """Return the time of a search that takes a tree up to so many features."""
    with (
        patch.object(nearest, "FEW_COORDINATES", few),
        patch.object(nearest, "ENOUGH_FOR_TREE", 1),
    ):
        search = NearestSearch(points, distance)
        list(search.find(x[:1], COUNT))  # the tree is built when it is first needed
        return best(lambda: list(search.find(x, COUNT)))


def measure(points: np.ndarray, batch: int, distance: Distance, metric: str) -> None:
    rows, features = points.shape
    if batch * points.size > MOST_DIFFERENCES or (batch > 100 and rows > 10**6):
        return
    x = np.random.default_rng(1).random((batch, features))
    others = NearestNeighbors(algorithm="brute", metric=metric).fit(points)
    times = {
        "all": best(lambda: rank_all(x, points, distance)) if rows <= 10**6 else np.nan,
        "scan": find(x, points, distance, 0),
        "tree": find(x, points, distance, 20) if features <= 20 else np.nan,
        "scikit-learn": best(lambda: others.kneighbors(x, COUNT)),
    }
    shown = " | ".join("" if np.isnan(t) else f"{1e3 * t / batch:.3g}" for t in times.values())
    fastest = min((time, name) for name, time in times.items() if not np.isnan(time))[1]
    name = type(distance).__name__.lower()
    print(f"| {rows:,} | {features} | {batch:,} | {name} | {shown} | {fastest} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10**6)
    largest = parser.parse_args().largest
    print("| candidates | features | inputs | distance | all | scan | tree | scikit-learn | best |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rows in (2_000, 10_000, 30_000, 100_000, 10**6, 10**7):
        for features in (5, 8, 20, 100, 500):
            if rows > largest or rows * features > 10**8:
                continue
            points = np.random.default_rng(0).random((rows, features))
            for batch in (1, 100, 10_000):
                for distance, metric in ((L1(), "manhattan"), (L2(), "euclidean")):
                    measure(points, batch, distance, metric)


if __name__ == "__main__":
    main()
