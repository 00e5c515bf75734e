"""Every explainer on the same inputs, of the paper's networks and of models trained here.

    COUNTERSET_DATA=folder python benchmarks/compare.py --weights FOLDER --output FOLDER
    python benchmarks/compare.py --output FOLDER --print --plot benchmarks/compare.png

It is `counterset compare` on several tables and models, one after the other. What is finished is
kept in the folder: a run that was stopped continues there. `--print` prints what is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from common import IMMUTABLE

from counterset.paper.comparison import OPTIMUM, Comparer, Comparison, Entry, draw
from counterset.paper.reproduce import ResultsFolder
from counterset.paper.setups import PAPER_DATASETS
from counterset.paper.tasks import named_task

#: Tables and models, in the order in which they are run.
TASKS = (
    ("diabetes", "network"),
    ("german_credit", "boosting"),
    ("no2", "network"),
    ("german_credit", "logistic"),
    ("diabetes", "boosting"),
    ("credit", "network"),
    ("spambase", "network"),
    ("adult", "boosting"),
    ("news", "network"),
    ("no2", "boosting"),
    ("diabetes", "forest"),
    ("german_credit", "forest"),
    ("diabetes", "logistic"),
    ("spambase", "boosting"),
    ("credit", "boosting"),
    ("adult", "logistic"),
    ("adult", "forest"),
    ("news", "boosting"),
)
#: The explainers that every task is given to, in the order of the tables.
EXPLAINERS = (
    "counterset-nearest", "counterset-shared", "counterset", "nearest-rows", "constant", "face",
    "wachter", "roar", "milp", "cp-sat", "nice", "nice-sparsity", "treecf", "treecf-exact",
    "dice-random", "dice-random-binary", "dice-genetic-binary", "dice-kdtree-binary",
    "dice-gradient-binary",
)  # fmt: skip


def run(given: argparse.Namespace, tasks: list[tuple[str, str]]) -> None:
    comparer = Comparer(
        repeats=given.repeats,
        time_limit=given.time_limit,
        proof_limit=given.proof_limit,
        retrainings=given.retrainings,
    )
    for name, kind in tasks:
        paper = kind == "network" and name in PAPER_DATASETS
        task = named_task(
            name,
            kind,
            inputs=given.inputs,
            immutable=IMMUTABLE.get(name, ()),
            weights=given.weights if paper else None,
        )
        comparer.run([task], given.peers, given.output, retry=given.retry, progress=True)


def kept(folder: Path, tasks: list[tuple[str, str]], peers: list[str]) -> Comparison:
    """Return what is finished."""
    results = ResultsFolder(folder / "results", {})
    entries = [Entry(*task, peer) for task in tasks for peer in (OPTIMUM, *peers)]
    tables = {entry: results.read(entry) for entry in entries}
    return Comparison({entry: table for entry, table in tables.items() if table is not None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [f"{name}/{kind}" for name, kind in TASKS]
    parser.add_argument("--tasks", nargs="+", default=names, choices=names, metavar="DATA/KIND")
    parser.add_argument("--peers", nargs="+", default=list(EXPLAINERS), metavar="PEER")
    parser.add_argument("--weights", type=Path, help="the networks of the paper")
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--retrainings", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--proof-limit", type=float, default=5.0)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--print", action="store_true", help="print what is kept, and run nothing")
    parser.add_argument("--plot", type=Path, help="draw what is kept")
    given = parser.parse_args()
    tasks: list[Any] = [tuple(each.split("/")) for each in given.tasks]
    if not given.print:
        run(given, tasks)
    comparison = kept(given.output, tasks, given.peers)
    print(comparison.to_markdown())
    if given.plot:
        draw(comparison.summary, given.plot)


if __name__ == "__main__":
    main()
