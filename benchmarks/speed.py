"""How fast explaining is, as ratios in one run.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed.py [--quick | --skip-large]

Times are processor times; waiting threads of a BLAS would count, so it gets one.

Uses spambase from the folder in COUNTERSET_DATA where that is set, and always made-up data of the
same size. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from counterset import DiverseExplainer, FewerCounterfactualsWarning, LineSearch
from counterset.paper.peers.literal import PAIR_DISTANCES, LiteralMethod

ALPHA, BATCH = 1000, 500
Rows = np.ndarray[Any, np.dtype[np.float64]]


def best_times(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Run the functions in turn, several rounds, and return the best processor time of each.

    Processor time, because other work on the machine stretches the clock on the wall.
    """
    best = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best


def network(X: Rows, y: np.ndarray[Any, Any]) -> Callable[[Rows], np.ndarray[Any, Any]]:
    """Train the paper's d-20-10-2 network and return it as plain numpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained = MLPClassifier((20, 10), max_iter=30, random_state=0).fit(X, y)
    (w0, w1, w2), (b0, b1, b2) = trained.coefs_, trained.intercepts_

    def predict(rows: Rows) -> np.ndarray[Any, Any]:
        hidden = np.maximum(rows @ w0 + b0, 0)
        hidden = np.maximum(hidden @ w1 + b1, 0)
        return (hidden @ w2 + b2)[:, 0] > 0

    return predict


def spambase(folder: str) -> tuple[Rows, np.ndarray[Any, Any]]:
    frame = pd.read_csv(Path(folder) / "spambase.csv")
    y = frame.pop("Outcome").to_numpy()
    X = frame.to_numpy(dtype=float)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y


def made_up() -> tuple[Rows, np.ndarray[Any, Any]]:
    """Make sparse, skewed features like word frequencies, and a rule that depends on many."""
    rng = np.random.default_rng(0)
    X = rng.exponential(0.1, (4600, 57)) * (rng.random((4600, 57)) < 0.4)
    X = X / X.max(axis=0)
    score = X @ rng.normal(size=57) + 0.5 * np.sin(7 * X[:, :10]).sum(axis=1)
    return X, (score > np.median(score)).astype(int)


def explain_rows(name: str, X: Rows, y: np.ndarray[Any, Any], rounds: int) -> list[list[str]]:
    train, test, y_train, _ = train_test_split(
        X, y, test_size=0.2, stratify=y, shuffle=True, random_state=0
    )
    model = network(train, y_train)
    inputs = test[:BATCH]
    table = []
    for distance in ("l2", "l1"):
        explainer = DiverseExplainer.paper(model, distance=distance, scale=None).fit(train)
        asked = explainer.explain_many(inputs)
        rows = np.resize(train, (asked.model_rows // asked.model_calls, train.shape[1]))

        def necessities(distance: str = distance, rows: Rows = rows) -> None:
            if distance == "l2":
                scores = inputs @ train.T
                scores *= -2
                scores += np.einsum("nd,nd->n", train, train)
            else:
                scores = explainer.distance_.inner(inputs, train)  # noqa: B023
            np.argpartition(scores, ALPHA, axis=1)
            for _ in range(asked.model_calls):  # noqa: B023
                model(rows)

        cached = functools.cache(lambda row: bool(model(np.array([row]))[0]))
        oracle = LiteralMethod(
            cached,
            [tuple(row) for row in train],
            PAIR_DISTANCES[distance],
            tuple(np.zeros(57)),
            tuple(np.ones(57)),
            explainer.candidates,  # type: ignore[arg-type]
            explainer.diversity,  # type: ignore[arg-type]
            explainer.search,
            explainer.max_counterfactuals,
        )
        oracle.explain(tuple(inputs[0]))  # the labels of the training rows are cached from here on
        for i in range(5):
            literal = oracle.explain(tuple(inputs[i]))
            assert np.array_equal(np.array(literal), asked[i].values), "differs from the oracle"
        times = best_times(
            {
                "one": lambda: explainer.explain(inputs[0]),  # noqa: B023
                "batch": lambda: explainer.explain_many(inputs),  # noqa: B023
                "necessities": necessities,
            },
            rounds,
        ) | best_times({"oracle": lambda: oracle.explain(tuple(inputs[0]))}, 3)  # noqa: B023
        one, batch, oracle_time = times["one"], times["batch"] / BATCH, times["oracle"]
        label = f"{name}, {distance}"
        table += [
            [
                f"{label}: one explanation against the literal oracle",
                f"{one * 1e3:.2f} ms",
                f"{oracle_time / one:.0f}x faster",
                "3x",
            ],
            [
                f"{label}: one of a batch of {BATCH} against the literal oracle",
                f"{batch * 1e3:.3f} ms",
                f"{oracle_time / batch:.0f}x faster",
                "10x",
            ],
            [
                f"{label}: the batch against the bare necessities",
                f"{times['batch'] * 1e3:.0f} ms",
                f"{times['batch'] / times['necessities']:.2f}x the time",
                "at most 2x",
            ],
        ]
        for gamma, most in ((0.1, 4), (0.001, 6)):
            searching = explainer.with_strategy(
                replace(explainer.strategy, search=LineSearch(gamma))
            )
            calls = max(searching.explain_many(x[None]).model_calls for x in inputs[:100])
            table.append(
                [
                    f"{label}: model calls for one explanation, gamma {gamma} (the most of 100)",
                    str(calls),
                    "",
                    f"at most {most}",
                ]
            )
    return table


def forest_rows(name: str, X: Rows, y: np.ndarray[Any, Any], rounds: int) -> list[list[str]]:
    train, test, y_train, _ = train_test_split(
        X, y, test_size=0.2, stratify=y, shuffle=True, random_state=0
    )
    forest = RandomForestClassifier(100, random_state=0).fit(train, y_train)
    asked: list[Rows] = []

    def recording(rows: Rows) -> Any:
        asked.append(rows)
        return forest.predict(rows)

    explainer = DiverseExplainer.paper(forest, scale=None).fit(train)
    DiverseExplainer.paper(recording, scale=None).fit(train).explain_many(test[:BATCH])
    times = best_times(
        {
            "batch": lambda: explainer.explain_many(test[:BATCH]),
            "model": lambda: [forest.predict(rows) for rows in asked[1:]],  # not fit's own call
        },
        rounds,
    )
    return [
        [
            f"{name}, l1, forest of 100 trees: a batch of {BATCH} against the model's own time",
            f"{times['batch'] * 1e3:.0f} ms",
            f"{times['batch'] / times['model']:.2f}x the time",
            "at most 1.5x",
        ]
    ]


def large_row() -> list[list[str]]:
    """Measure a million rows in a process of its own, because memory is counted per process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        gigabytes, fit, explain = pool.apply(_large)
    return [
        [
            "1,000,000 x 50 rows, l1, 1,000 inputs: peak memory, the data included",
            f"{gigabytes:.2f} GB",
            f"fit {fit:.0f} s, explain {explain:.0f} s",
            "under 4 GB",
        ]
    ]


def _large() -> tuple[float, float, float]:
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    rng = np.random.default_rng(0)
    X = rng.random((1_000_000, 50))
    weights = rng.normal(size=50)
    explainer = DiverseExplainer.paper(lambda rows: rows @ weights > weights.sum() / 2)
    start = time.perf_counter()
    explainer.fit(X)
    fitted = time.perf_counter()
    explainer.explain_many(rng.random((1_000, 50)))
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return peak, fitted - start, done - fitted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no million rows")
    parser.add_argument("--skip-large", action="store_true", help="no million rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    rounds = 3 if options.quick else 15
    sets = {"made-up": made_up()}
    if folder := os.environ.get("COUNTERSET_DATA"):
        sets = {"spambase": spambase(folder)} | sets
    rows = []
    for name, (X, y) in sets.items():
        rows += explain_rows(name, X, y, rounds)
        rows += forest_rows(name, X, y, 3)
    if not (options.quick or options.skip_large):
        rows += large_row()
    print("| what | measured | ratio | wanted |\n|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
