"""How the time for an explanation grows with training rows, features and inputs.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/growth.py [--largest 1000000]

Made-up rows, uniform in [0, 1], and a linear model; the paper's settings, without and with 16
regions for each class. Processor times, the best of 3. Prints Markdown tables, and draws
`benchmarks/growth.png` on two logarithmic axes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from counterset import DiverseExplainer, FewerCounterfactualsWarning


def measure(rows: int, features: int, inputs: int, **settings: Any) -> tuple[float, float]:
    """Return the seconds that ``fit`` takes, and that one explanation takes."""
    rng = np.random.default_rng(0)
    X, weights = rng.random((rows, features)), rng.normal(size=features)
    asked = rng.random((inputs, features))
    explainer = DiverseExplainer.paper(lambda rows: rows @ weights > weights.sum() / 2, **settings)
    start = time.process_time()
    explainer.fit(X)
    fit = time.process_time() - start
    explainer.explain(asked[0])  # points are computed when first needed
    times = []
    for _ in range(3):
        start = time.process_time()
        explainer.explain_many(asked, if_none="ignore")
        times.append(time.process_time() - start)
    return fit, min(times) / inputs


def table(name: str, sizes: list[int], settings: dict[str, Any]) -> dict[str, list[float]]:
    """Measure one direction of growth, and print it."""
    print(f"\n| {name} | fit, s | l1, ms each | l2, ms each | 16 regions, ms each |")
    print("|---|---|---|---|---|")
    found: dict[str, list[float]] = {"l1": [], "l2": [], "16 regions": []}
    for size in sizes:
        given = settings | {name: size}
        fit, l1 = measure(**given)
        _, l2 = measure(**given, distance="l2")
        _, by_region = measure(**given, regions=16)
        for each, seconds in zip(found, (l1, l2, by_region), strict=True):
            found[each].append(1e3 * seconds)
        shown = " | ".join(f"{1e3 * s:.3g}" for s in (l1, l2, by_region))
        print(f"| {size:,} | {fit:.2f} | {shown} |", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000, help="training rows")
    largest = parser.parse_args().largest
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    plans = {
        "rows": (
            [n for n in (10**3, 10**4, 10**5, 10**6, 10**7) if n <= largest],
            {"features": 20, "inputs": 1},
        ),
        "features": ([5, 20, 50, 150, 500], {"rows": 10_000, "inputs": 1}),
        "inputs": ([1, 10, 100, 1000, 10_000], {"rows": 10_000, "features": 20}),
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
    for axis, (name, (sizes, settings)) in zip(axes, plans.items(), strict=True):
        for label, values in table(name, sizes, settings).items():
            axis.loglog(sizes, values, marker="o", label=label)
        axis.set_xlabel("training rows" if name == "rows" else name)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("ms for one explanation")
    axes[0].legend()
    figure.savefig(Path(__file__).with_name("growth.png"), dpi=110)


if __name__ == "__main__":
    main()
