"""How long it takes to tell which training rows are plausible: `NearData` against all distances.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/near_data.py

60,000 rows of even random numbers, L1. All distances to the 5000 rows compared with; a few training
rows at a time, until enough are near, as `NearData` does; and a k-d tree. Processor times in
seconds, one run. All give the same answers. Prints a Markdown table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import print_row
from scipy.spatial import KDTree

from counterset import NearData
from counterset.distances import L1

ROWS, COLUMNS = 60_000, (2, 4, 8, 20)


def main() -> None:
    for columns in COLUMNS:
        points = np.random.default_rng(0).random((ROWS, columns))
        support = NearData().learn(points, L1())

        def tree(support: Any = support, points: Any = points) -> Any:
            limit = support.threshold * (1 + 1e-9)
            found = KDTree(support.points).query(
                points, support.neighbours, p=1, distance_upper_bound=limit
            )
            return found[0][:, -1] <= support.threshold

        ways: dict[str, Callable[[], Any]] = {
            "all distances": lambda s=support, p=points: s.scores(p) <= s.threshold,
            "as now": lambda s=support, p=points: s.has(p),
            "k-d tree": tree,
        }
        line: dict[str, Any] = {"columns": columns}
        answers = []
        for name, way in ways.items():
            start = time.process_time()
            answers.append(way())
            line[name] = f"{time.process_time() - start:.2f}"
        assert all(np.array_equal(each, answers[0]) for each in answers), "the answers differ"
        print_row(line, heading=columns == COLUMNS[0])


if __name__ == "__main__":
    main()
