r"""Every explainer on the same inputs, of the paper's networks and of models trained here.

    COUNTERSET_DATA=folder python benchmarks/compare.py --weights FOLDER --output FOLDER
    python benchmarks/compare.py --output FOLDER --print --tables benchmarks/compare-tables.md \
        --plot benchmarks/compare.png

It is `counterset compare` on several tables and models, one after the other. What is finished is
kept in the folder: a run that was stopped continues there. `--print` prints what is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd
from common import IMMUTABLE, print_row

from counterset.paper.comparison import FIGURES, OPTIMUM, Comparer, Comparison, Entry, draw
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
    "alibi-proto", "alibi-counterfactual", "cfnow", "ellice", "ellice-rows", "recourse", "globe-ce",
    "ares", "t-crex", "glance", "cemsp", "dice-random", "dice-random-binary", "dice-genetic-binary",
    "dice-kdtree-binary", "dice-gradient", "dice-gradient-binary",
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


#: What the summary shows of each explainer: the median over the tasks that it has figures for.
SHOWN = {
    "options": "{:.1f}", "validity": "{:.0%}", "violations": "{:.0%}", "nearest": "{:.2f}",
    "k_distance": "{:.2f}", "ratio": "{:.2f}", "k_diversity": "{:.2f}", "sparsity": "{:.1f}",
    "plausibility": "{:.2f}", "set_distance_mean": "{:.2f}", "set_distance_max": "{:.2f}",
    "coverage": "{:.2f}", "survival": "{:.0%}", "set_survival": "{:.0%}", "seconds": "{:.2g}",
    "asked": "{:.0f}",
}  # fmt: skip
HEADINGS = {figure.name: figure.heading for figure in FIGURES}
#: Of these, less is better; of the others that are counted, more.
LESS = ("nearest", "k_distance", "sparsity", "plausibility", "set_distance_mean", "coverage")
MORE = ("k_diversity", "set_survival")
#: Explainers whose figures differ by no more than this are both counted as the best.
TIE = 1.01
GROUPS = {
    "The paper's networks": ("network",),
    "Boosting and forests": ("boosting", "forest"),
    "Logistic models": ("logistic",),
}


def medians(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of each explainer over tasks, and how many tasks these are."""
    rows = []
    for peer, own in summary.groupby("peer", sort=False):
        measured = own[own["inputs"] > 0]
        row = {"explainer": peer, "tasks": f"{len(measured)} of {len(own)}"}
        if in_part := int((measured["error"] != "").sum()):
            row["tasks"] += f", {in_part} in part"
        for figure, form in SHOWN.items():
            value = measured[figure].median()
            row[HEADINGS[figure]] = "-" if pd.isna(value) else form.format(value)
        rows.append(row)
    return pd.DataFrame(rows)


def best(summary: pd.DataFrame) -> pd.DataFrame:
    """Count the tasks on which no other explainer is better in a figure.

    Only tasks on which the explainer has an option for every input are counted: the nearest of
    few is no achievement.
    """
    counted = summary[(summary["found"] == 1) & (summary["error"].fillna("") == "")]
    rows = []
    for peer in summary["peer"].unique():
        own = counted[counted["peer"] == peer].set_index(["data", "kind"])
        row: dict[str, Any] = {"explainer": peer, "tasks": len(own)}
        for figure in (*LESS, *MORE):
            groups = counted.groupby(["data", "kind"])[figure]
            bar = groups.min() * TIE if figure in LESS else groups.max() / TIE
            of_task = own[figure]
            bar = bar.reindex(of_task.index)
            wins = of_task <= bar if figure in LESS else of_task >= bar
            row[HEADINGS[figure]] = int(wins.sum())
        rows.append(row)
    return pd.DataFrame(rows).query("tasks > 0")


def print_table(table: pd.DataFrame) -> None:
    for i, row in enumerate(table.to_dict("records")):
        print_row(row, heading=not i)


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
    parser.add_argument("--tables", type=Path, help="write the tables of all tasks to this file")
    parser.add_argument("--plot", type=Path, help="draw what is kept")
    given = parser.parse_args()
    tasks: list[Any] = [tuple(each.split("/")) for each in given.tasks]
    if not given.print:
        run(given, tasks)
    comparison = kept(given.output, tasks, given.peers)
    for title, kinds in GROUPS.items():
        group = comparison.summary[comparison.summary["kind"].isin(kinds)]
        if len(group):
            print(f"\n{title}: medians over the tasks\n")
            print_table(medians(group))
    print("\nThe best, in how many tasks\n")
    print_table(best(comparison.summary))
    if given.tables:
        text = f"# Every explainer on every task\n\n{comparison.to_markdown()}"
        given.tables.write_text(text, encoding="utf-8")
    if given.plot:
        draw(comparison.summary, given.plot)


if __name__ == "__main__":
    main()
