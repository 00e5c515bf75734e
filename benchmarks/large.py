"""What ten million training rows take of memory and time.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/large.py [--rows 10000000]

Made-up rows of 50 features in single precision, in a file of numpy that is mapped into memory, and
a linear model; the paper's settings, l2. The peak counts all pages of the process, also those of
the file. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterset import DiverseExplainer

FEATURES, AT_ONCE = 50, 500_000


def write_rows(path: Path, count: int) -> None:
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (count, FEATURES))
    random = np.random.default_rng(0)
    for start in range(0, count, AT_ONCE):
        part = rows[start : start + AT_ONCE]
        part[:] = random.random(part.shape, dtype=np.float32)
    rows.flush()


def measure(what: str, function: Callable[[], Any]) -> None:
    start = time.process_time()
    function()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| {what} | {seconds:.2f} | {peak:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    count = parser.parse_args().rows
    weights = np.random.default_rng(1).normal(size=FEATURES).astype(np.float32)
    explainer = DiverseExplainer.paper(
        lambda rows: rows @ weights > weights.sum() / 2, distance="l2"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        write_rows(path, count)
        rows = np.load(path, mmap_mode="r")
        print(f"| {count:,} rows, {FEATURES} features | processor time, s | peak memory, GB |")
        print("|---|---|---|")
        measure("`fit`", lambda: explainer.fit(rows))
        measure("the first row", lambda: explainer.explain(rows[0]))
        measure("another row", lambda: explainer.explain(rows[1]))
        measure("100 rows", lambda: explainer.explain_many(rows[2:102]))


if __name__ == "__main__":
    main()
