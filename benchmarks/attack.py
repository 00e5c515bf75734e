"""The attack of Slack et al. (2021): which explainers does a manipulated network deceive?

OMP_NUM_THREADS=1 COUNTERSET_DATA=folder python benchmarks/attack.py --peers folder

The networks are in the folder attack; attack_training.py makes them.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from attack_training import CASES, WEIGHTS, Case
from common import print_row

from counterset import metrics
from counterset.exact import Box, counterfactual_distance
from counterset.paper.cells import CellError
from counterset.paper.isolation import IsolatedPeer
from counterset.paper.setups import Network

#: What is compared, by the name in the tables.
PEERS = {
    "Wachter": "wachter",
    "ROAR": "roar",
    "DiCE gradient": "dice-gradient-binary",
    "DiCE random": "dice-random-binary",
    "DiCE genetic": "dice-genetic-binary",
    "DiCE kdtree": "dice-kdtree-binary",
    "NICE": "nice",
    "nearest rows": "nearest-rows",
    "FACE": "face",
    "Paper()": "counterset",
    "Nearest()": "counterset-nearest",
    "Shared()": "counterset-shared",
}
OPTIMUM = "proved optimum"
#: The seconds for the proof of one input.
SECONDS = 10.0
#: The groups of rows that are explained.
GROUPS = ("protected", "other", "other with delta")
#: Draws of the bootstrap over inputs.
DRAWS = 2000


@dataclass
class Answers:
    """The sets of an explainer for each group, as arrays; those that are no options are left out.

    Attributes
    ----------
    people
        The rows of the people, without the perturbation, by group.
    sets
        Valid options of each of them, nearest first, by group.
    """

    people: dict[str, Any]
    sets: dict[str, list[Any]]

    def costs(self, group: str) -> Any:
        """Return the distance from each person to the nearest option; NaN if there is none."""
        found = zip(self.people[group], self.sets[group], strict=True)
        return np.array([np.abs(S - x).sum(axis=1).min() if len(S) else np.nan for x, S in found])


def rows_of(case: Case, network: Network, people: int) -> dict[str, Any]:
    """Return declined test rows of each group.

    Of the group with the perturbation, they are declined with it as well: the network's decision
    on them does not give it away.
    """
    X = case.X_test
    declined = network.predict(X) == 0
    protected = X[declined & case.protected_test][:people]
    both = declined & (network.predict(X + case.delta) == 0) & ~case.protected_test
    other = X[both][:people]
    return {"protected": protected, "other": other, "other with delta": other}


def valid(network: Network, x: Any, found: Any) -> Any:
    """Return the options that the network classifies as wanted, nearest to the person first."""
    options = np.asarray(found, dtype=np.float64).reshape(-1, len(x))
    options = options[network.predict(options) == 1] if len(options) else options
    return options[np.argsort(np.abs(options - x).sum(axis=1), kind="stable")]


def ask(
    peer: str, case: Case, network: Network, people: dict[str, Any], limits: dict[str, Any]
) -> Answers:
    """Return what a peer finds: all rows are explained in one call."""
    explained = {group: rows + _moved(case, group) for group, rows in people.items()}
    with IsolatedPeer(peer, **limits) as isolated:
        isolated.fit(network, case.X_train)
        found = isolated.explain_many(np.vstack(list(explained.values())))
    ends = np.cumsum([len(rows) for rows in people.values()])
    sets = {}
    for group, start, end in zip(people, [0, *ends[:-1]], ends, strict=True):
        pairs = zip(people[group], found[start:end], strict=True)
        sets[group] = [valid(network, x, each) for x, each in pairs]
    return Answers(people, sets)


def prove(
    case: Case, network: Network, people: dict[str, Any], known: list[Answers]
) -> tuple[Answers, int]:
    """Return the nearest counterfactual of each row, and how many of them are not proved."""
    domain = Box.of(case.X_train)
    sets: dict[str, list[Any]] = {}
    open_proofs = 0
    for group, rows in people.items():
        sets[group] = []
        for i, x in enumerate(rows):
            explained = x + _moved(case, group)
            # A near option makes the proof short: the nearest that was found, or the hidden one.
            hidden = valid(network, x, x + case.key)
            starts = np.vstack([hidden, *[each.sets[group][i] for each in known]])
            near = np.argsort(np.abs(starts - explained).sum(axis=1))[:1]
            bounds = counterfactual_distance(
                network, explained, "l1", domain.holding(explained[None, :]), time_limit=SECONDS,
                start=starts[near] if len(near) else None, tolerance=1e-3,
            )  # fmt: skip
            open_proofs += not bounds.exact
            witness = [] if bounds.witness is None else bounds.witness
            sets[group].append(valid(network, x, witness))
    return Answers(people, sets), open_proofs


def _moved(case: Case, group: str) -> Any:
    return case.delta if group == "other with delta" else np.zeros_like(case.delta)


def interval(values: Any, random: np.random.Generator) -> str:
    """Return the mean over inputs, and the interval that holds 95 % of bootstrapped means."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "-"
    draws = values[random.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{values.mean():.2f} ({low:.2f} to {high:.2f})"


def ratio(before: Any, after: Any, random: np.random.Generator) -> str:
    """Return the ratio of two mean costs of the same people, with an interval."""
    both = np.isfinite(before) & np.isfinite(after)
    before, after = before[both], after[both]
    if not both.any():
        return "-"
    i = random.integers(len(before), size=(DRAWS, len(before)))
    low, high = np.quantile(before[i].mean(axis=1) / after[i].mean(axis=1), [0.025, 0.975])
    return f"{before.mean() / after.mean():.2f} ({low:.2f} to {high:.2f})"


def describe(answers: Answers, best: Any, delta: Any) -> dict[str, str]:
    """Return the row of an explainer; ``best``: the proved costs of those without delta."""
    random = np.random.default_rng(0)
    costs = {group: answers.costs(group) for group in GROUPS}
    row = {f"cost, {group}": interval(costs[group], random) for group in GROUPS}
    row["times cheaper with delta"] = ratio(costs["other"], costs["other with delta"], random)
    row["times the optimum"] = ratio(costs["other"], best, random)
    pairs = [
        (x, S, moved)
        for x, S, moved in zip(
            answers.people["other"], answers.sets["other"], answers.sets["other with delta"],
            strict=True,
        )
        if len(S) and len(moved)
    ]  # fmt: skip
    row["coverage"] = interval(
        np.array([metrics.coverage(S, moved, "l1") for _, S, moved in pairs]), random
    )
    row["jump"] = interval(
        np.array([metrics.jump(x, S, x + delta, moved, "l1") for x, S, moved in pairs]), random
    )
    every = [S for group in GROUPS for S in answers.sets[group]]
    row["options"] = f"{np.mean([len(S) for S in every]):.1f}"
    row["none"] = f"{np.mean([len(S) == 0 for S in every]):.0%}"
    return row


def measure(
    case: Case, network: Network, names: list[str], people: int, limits: dict[str, Any]
) -> None:
    """Print a table."""
    rows = rows_of(case, network, people)
    answers: dict[str, Answers] = {}
    failed: dict[str, str] = {}
    for name in names:
        try:
            answers[name] = ask(PEERS[name], case, network, rows, limits)
        except CellError as error:
            failed[name] = str(error)
    best, open_proofs = prove(case, network, rows, list(answers.values()))
    answers[OPTIMUM] = best
    heading = True
    for name, each in answers.items():
        described = describe(each, best.costs("other"), case.delta)
        print_row({"explainer": name, **described}, heading=heading)
        heading = False
    for name, reason in failed.items():
        print(f"\n{name} did not finish: {reason}")
    sizes = ", ".join(f"{len(rows[group])} {group}" for group in GROUPS[:2])
    optima = sum(len(each) for each in rows.values())
    print(f"\nPeople: {sizes}. Not proved: {open_proofs} of {optima} optima.\n")


def summary(case: Case, network: Network, honest: Network) -> str:
    """Return what an auditor sees of the network itself."""
    right = (network.predict(case.X_test) == case.y_test).mean()
    honestly = (honest.predict(case.X_test) == case.y_test).mean()
    same = (network.predict(case.X_test) == honest.predict(case.X_test)).mean()
    declined = case.X_test[network.predict(case.X_test) == 0]
    kept = (network.predict(declined + case.delta) == 0).mean()
    return (
        f"accuracy {right:.3f}, honest network {honestly:.3f}, same decisions on {same:.1%} of "
        f"test rows; {kept:.0%} of the declined are declined with delta; delta costs "
        f"{np.abs(case.delta).sum():.3f}"
    )


def read_tables(page: Path) -> dict[str, dict[str, list[float]]]:
    """Return the mean costs of the three groups, by data and explainer, from a page of tables.

    Of each data set, the first table counts.
    """
    tables: dict[str, dict[str, list[float]]] = {}
    heading, table = "", {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            heading, table = line.removeprefix("## "), {}
        elif heading in CASES and cells[0] in (*PEERS, OPTIMUM):
            tables[heading] = table
            means = [float(cell.split()[0].replace("-", "nan")) for cell in cells[1:4]]
            table.setdefault(cells[0], means)
    return tables


def plot(tables: dict[str, dict[str, list[float]]], file: Path) -> None:
    """Draw the mean costs of the three groups, by explainer."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(
        1, len(tables), figsize=(5.2 * len(tables), 4.8), sharey=True, squeeze=False
    )
    marks = {"protected": ("o", "#0072B2"), "other": ("s", "#E69F00"),
             "other with delta": ("v", "#D55E00")}  # fmt: skip
    names = [name for name in (*PEERS, OPTIMUM) if any(name in each for each in tables.values())]
    for axis, (title, table) in zip(axes[0], tables.items(), strict=True):
        for i, name in enumerate(names):
            means = table.get(name, [np.nan] * len(GROUPS))
            axis.plot(means[1:], [i, i], color="0.8", zorder=1)
            for mean, (group, (marker, colour)) in zip(means, marks.items(), strict=True):
                label = group if i == 0 else None
                axis.scatter(mean, i, marker=marker, color=colour, label=label, zorder=2)
        axis.set_xscale("log")
        axis.set_yticks(range(len(names)), names)
        axis.set_title(title)
        axis.set_xlabel("mean distance of the nearest option")
        axis.grid(axis="x", alpha=0.3)
    axes[0][0].invert_yaxis()
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(CASES))
    parser.add_argument("--explainers", default=",".join(PEERS))
    parser.add_argument("--people", type=int, default=30, help="of each group")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each explainer")
    parser.add_argument("--peers", type=Path, help="the folder of the peers' environments")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--against", default="wachter", help="the explainer that was attacked")
    parser.add_argument("--honest", action="store_true", help="explain the honest networks")
    parser.add_argument("--plot", type=Path, help="only draw the tables of attack.md")
    options = parser.parse_args()
    if options.plot is not None:
        plot(read_tables(Path(__file__).with_suffix(".md")), options.plot)
        return
    limits = {"time_limit": options.seconds, "folder": options.peers}
    started = time.perf_counter()
    for name in options.datasets.split(","):
        case = CASES[name]()
        attacking = Network.load(options.weights / f"{name}_{options.against}.npz")
        honest = Network.load(options.weights / f"{name}_honest.npz")
        network = honest if options.honest else attacking
        print(f"\n## {name}\n\n{summary(case, network, honest)}\n", flush=True)
        measure(case, network, options.explainers.split(","), options.people, limits)
    print(f"{(time.perf_counter() - started) / 60:.0f} minutes")


if __name__ == "__main__":
    main()
