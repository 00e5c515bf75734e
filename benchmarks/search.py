"""Which search for the nearest candidates makes the choice fastest, by rows, features and inputs.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/search.py [--largest 1000000]

Made-up candidates and inputs, uniform in [0, 1]; steps 1 to 3 of the paper with its settings: the
nearest 1000 candidates, and five of them that differ. "All" ranks every candidate. "Scan" and
"tree" find the nearest first, see `counterset.strategies.ranking`; a tree is measured up to 8
features.
"scikit-learn" is the brute force of its `NearestNeighbors` for the nearest 1000, and chooses
nothing. Processor times, the best of 2, in one run. Prints a Markdown table of milliseconds for
each input.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

import numpy as np
from common import best
from sklearn.neighbors import NearestNeighbors

from counterset import AngleDiversity, NearestCandidates
from counterset.distances import L1, L2, Distance
from counterset.strategies import ranking as nearest
from counterset.strategies.selection import Selector
from counterset.strategies.training import CandidatePool
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

COUNT, NEVER = 1000, 10**12
#: Larger cells are left out: this many differences take about two seconds.
MOST_DIFFERENCES = 2 * 10**9


def select(points: np.ndarray, x: np.ndarray, distance: Distance, many: int, by: str) -> float:
    """Return the time of steps 1 to 3 with a search among so many rows, by a tree or a scan."""
    rows = np.arange(len(points))
    table = Table.learn(points[:10], Schema(step=0))[0]
    measure = TableDistance(table, Space.learn(points[:10], table, None), distance)
    pool = CandidatePool(points, rows, np.zeros_like(rows), measure)
    selector = Selector(pool, None, NearestCandidates(COUNT), AngleDiversity(0.5), 5)
    inputs, eligible = measure.embed(x), np.ones(len(points), dtype=bool)
    with (
        patch.object(nearest, "VERY_MANY", many),
        patch.object(nearest, "LEVELS_EACH", 0 if by == "tree" else np.inf),
    ):
        selector.select(inputs.take(slice(1)), eligible)  # a tree is built when first needed
        return best(lambda: selector.select(inputs, eligible))


def measure(points: np.ndarray, batch: int, distance: Distance, metric: str) -> None:
    rows, features = points.shape
    if batch * points.size > MOST_DIFFERENCES:
        return
    x = np.random.default_rng(1).random((batch, features))
    others = NearestNeighbors(algorithm="brute", metric=metric).fit(points)
    times = {
        "all": select(points, x, distance, NEVER, "scan") if rows <= 10**6 else np.nan,
        "scan": select(points, x, distance, 1, "scan"),
        "tree": select(points, x, distance, 1, "tree") if features <= 8 else np.nan,
    }
    fastest = min((time, name) for name, time in times.items() if not np.isnan(time))[1]
    times["scikit-learn"] = best(lambda: others.kneighbors(x, COUNT))
    shown = " | ".join("" if np.isnan(t) else f"{1e3 * t / batch:.3g}" for t in times.values())
    name = type(distance).__name__.lower()
    print(f"| {rows:,} | {features} | {batch:,} | {name} | {shown} | {fastest} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10**6)
    largest = parser.parse_args().largest
    print("| candidates | features | inputs | distance | all | scan | tree | scikit-learn | best |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rows in (10_000, 30_000, 50_000, 100_000, 10**6, 10**7):
        for features in (5, 8, 20, 100, 500):
            if rows > largest or rows * features > 10**8:
                continue
            points = np.random.default_rng(0).random((rows, features))
            for batch in (1, 100, 10_000):
                for distance, metric in ((L1(), "manhattan"), (L2(), "euclidean")):
                    measure(points, batch, distance, metric)


if __name__ == "__main__":
    main()
