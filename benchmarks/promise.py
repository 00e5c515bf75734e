"""One option against several: does a set move less than a single answer, when the input moves?

    export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 COUNTERSET_DATA=folder
    python benchmarks/promise.py --weights folder [--parts many,exact] [--datasets diabetes,no2] \
        [--strategies nearest] [--plots folder] [--csv file]

COUNTERSET_DATA holds the paper's datasets, --weights the published networks (W0, b0, ... in one
.npz per dataset). Inputs are test rows from 50 on, each with three noisy copies of its class: the
published noise, drawn with a seed of our own. Prints Markdown tables.

- many: 1 to 10 options, the paper's strategy with gamma 0.001
- coarse: the same with the paper's gamma, 0.1
- jump: how far the nearest counterfactual itself moves, by proof
- exact: how near options are to the proved optimum, and what that guarantees
- cut: step 2 by number against step 2 by distance
- diversity: beta from 0 (no step 3) to 1
- mixed: 1 to 10 options of other strategies, on German credit with constraints
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from common import IMMUTABLE, fit_model, print_row
from common import load as load_table

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    Nearest,
    NearestCandidates,
    Shared,
    counterfactual_distance,
    metrics,
)
from counterset.evaluation import GaussianNoise
from counterset.evaluation.evaluate import Judge
from counterset.exact import Box
from counterset.paper.setups import PAPER_DATASETS, Network, prepare
from counterset.plots.style import COLOURS, MARKERS, pyplot

PARTS = ("many", "coarse", "jump", "exact", "cut", "diversity", "mixed")
STRATEGIES = {"nearest": Nearest(), "shared": Shared(own=2)}
#: Settings were chosen on test rows before 50, and on German credit before 100.
FIRST, FIRST_MIXED = 50, 100
#: Up to 500 inputs and 3 copies of each; the seed of the noise is not that of a published table.
INPUTS, COPIES, SEED = 500, 3, 2024
COPIED = range(COPIES)
#: The alpha of the paper, and its k in all parts that do not compare numbers of options.
ALPHA, USUAL = {"diabetes": 50, "no2": 50}, 5
COUNTS, SHOWN = tuple(range(1, 11)), (1, 2, 3, 5, 10)
GAMMA, PAPER_GAMMA = 0.001, 0.1
#: Beta 0 stands for no step 3.
BETAS, ONE = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0), "one option"
CUTS = (
    *(NearestCandidates(alpha) for alpha in (10, 50, 200, 1000)),
    *(CandidatesWithin(epsilon) for epsilon in (0.1, 0.25, 0.5, 1.0)),
)
#: Intervals are those of 1000 draws of as many inputs, each with all its copies.
DRAWS = 1000
#: How many inputs have a proof, and of which datasets: L2 takes too long for the larger ones.
PROOFS = {"l1": (50, PAPER_DATASETS), "l2": (20, ("diabetes", "no2"))}
SECONDS, EPSILONS = 60.0, (0.2, 0.5, 1.0, 2.0)
#: What the tables show: the figure, its statistic, and its heading.
TABLES = [
    ("set_mean", "mean", "Set-distance (mean over the set), mean over the pairs"),
    ("set_mean", "95th", "Set-distance (mean over the set), 95th percentile over the pairs"),
    ("set_max", "mean", "Set-distance (the largest of the set), mean over the pairs"),
    ("set_max", "95th", "Set-distance (the largest of the set), 95th percentile over the pairs"),
    ("coverage", "mean", "Coverage, mean over the pairs"),
    ("coverage", "95th", "Coverage, 95th percentile over the pairs"),
    ("single", "mean", "From the single answer of one to the list of the other, mean"),
    ("single", "95th", "From the single answer of one to the list of the other, 95th percentile"),
    ("next_to", "mean", "Share of pairs with a coverage of at most the distance of the two inputs"),
    ("k_distance", "mean", "k-distance, mean"),
    ("nearest", "mean", "Distance of the nearest option, mean"),
    ("k_diversity", "mean", "k-diversity, mean"),
    ("options", "mean", "Options found, mean"),
]
#: Of these, differences say nothing.
ONLY_VALUES = ("nearest", "k_diversity", "options")
#: The parts whose tables are not all printed.
FEW_TABLES = {
    "coarse": ("set_mean", "coverage", "single"),
    "diversity": ("set_mean", "coverage", "single", "k_distance", "k_diversity", "options"),
}
#: Grid lines, and what stands for one option.
GREY = "#767676"
#: What is drawn: the label of the settings, and their ticks.
DRAWN: dict[str, tuple[str, tuple[float, ...]]] = {
    "many": ("options asked for", SHOWN),
    "diversity": ("beta", (0, 0.5, 1)),
    "mixed": ("options asked for", SHOWN),
}
PANELS = {
    ("set_mean", "mean"): "set-distance\nmean",
    ("set_mean", "95th"): "set-distance\n95th percentile",
    ("coverage", "mean"): "coverage\nmean",
    ("coverage", "95th"): "coverage\n95th percentile",
    ("single", "mean"): "single answer to list\nmean",
    ("single", "95th"): "single answer to list\n95th percentile",
}


#: The sets of the inputs, and those of all copies of each input.
Sets: TypeAlias = tuple[list[Any], list[list[Any]]]


def compare(distance: Any, S: Any, C: Any, one: Any, other: Any) -> dict[str, float]:
    """Compare the sets of an input and of a copy, and each with the other's single answer."""
    return {
        "set_mean": metrics.set_distance(S, C, distance),
        "set_max": metrics.set_distance(S, C, distance, how="max"),
        "coverage": metrics.coverage(S, C, distance),
        "single": (distance(one, C).min() + distance(other, S).min()) / 2,
    }


class Pairs:
    """Inputs and noisy copies of the same class, and the sets that explainers give them."""

    def __init__(self, explainer: DiverseExplainer, X: Any, published: bool) -> None:
        asked = {"target": None, "probability": None, "interval": None}
        self.judge = judge = Judge.of(explainer, None, None, None, **asked)
        self.rows, _ = judge.table.encode(X)
        labels = judge.model.labels(self.rows)
        columns = judge.numeric_columns
        if published:  # its variance, not its deviation, is proportional to the range
            columns = replace(columns, unit=np.sqrt(columns.high - columns.low))
        self.copies, found = GaussianNoise().copies(
            self.rows,
            columns,
            COPIES,
            lambda copies, owners: judge.of_same_class(copies, labels[owners]),
            np.random.default_rng(SEED),
        )
        assert found.all(), "every input has its copies"
        both = zip(self.rows, self.copies, strict=True)
        self.moves = np.array([judge.distance(x, copies)[0] for x, copies in both])

    def sets(self, explainer: DiverseExplainer) -> Sets:
        """Return the sets of the inputs, and those of all copies of each input."""
        table, n = self.judge.table, len(self.rows)
        rows = np.vstack([self.rows, self.copies.reshape(-1, self.rows.shape[1])])
        found = explainer.explain_many(table.decode(rows, pd.RangeIndex(len(rows))))
        sets = [each.coded.matrix for each in found]
        return sets[:n], [sets[n + i * COPIES :][:COPIES] for i in range(n)]

    def measure(self, sets: Sets, single: Sets) -> dict[str, Any]:
        """Return figures: a row per input, and a column per copy or only one.

        Parameters
        ----------
        single
            The sets of one option.
        """
        distance, (own, others) = self.judge.distance, sets
        of_pairs = [
            [compare(distance, own[i], others[i][j], single[0][i], single[1][i][j]) for j in COPIED]
            for i in range(len(own))
        ]
        figures = {
            name: np.array([[pair[name] for pair in pairs] for pairs in of_pairs])
            for name in of_pairs[0][0]
        }
        lengths = [distance(x, S)[0] for x, S in zip(self.rows, own, strict=True)]
        of_inputs = {
            "k_distance": [each.mean() for each in lengths],
            "nearest": [each.min() for each in lengths],
            "k_diversity": [metrics.k_diversity(S, distance) for S in own],
            "options": [len(S) for S in own],
        }
        figures["next_to"] = (figures["coverage"] <= self.moves).astype(float)
        return figures | {name: np.array(values)[:, None] for name, values in of_inputs.items()}


def summaries(measured: dict[Any, dict[str, Any]], key: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each figure of each setting, and its difference from the first, with intervals."""
    first, records = next(iter(measured.values())), []
    n = len(first["options"])
    draws = np.random.default_rng(SEED).integers(0, n, (DRAWS, n))
    for figure, name, _ in TABLES:
        reference = None
        for setting, figures in measured.items():
            values = figures[figure]
            if name == "mean":
                value, drawn = values.mean(), values.mean(axis=1)[draws].mean(axis=1)
            else:
                value = np.percentile(values, 95)
                drawn = np.percentile(values[draws].reshape(DRAWS, -1), 95, axis=1)
            reference = (value, drawn) if reference is None else reference
            low, high = np.percentile(drawn, [2.5, 97.5])
            less, more = np.percentile(drawn - reference[1], [2.5, 97.5])
            record = {"setting": setting, "figure": figure, "statistic": name, "inputs": n}
            record |= {"value": value, "low": low, "high": high}
            record |= {"difference": value - reference[0], "less": less, "more": more}
            records.append(key | record)
    return records


class Setup:
    """A dataset of the paper with its published network, and a distance."""

    def __init__(self, name: str, distance: str, weights: Path) -> None:
        self.name, self.distance = name, distance
        self.key = {"data": name, "line": distance}
        self.split, self.model = prepare(name), Network.load(weights / f"{name}.npz")
        self.inputs = self.split.X_test[FIRST : FIRST + INPUTS]
        self.pairs = Pairs(self.explainer(), self.inputs, published=True)

    def explainer(self, k: int = USUAL, gamma: float = GAMMA, **steps: Any) -> DiverseExplainer:
        steps = {"candidates": NearestCandidates(ALPHA.get(self.name, 1000))} | steps
        return DiverseExplainer.paper(
            self.model,
            distance=self.distance,
            search=LineSearch(gamma),
            scale=None,
            max_counterfactuals=k,
            **steps,
        ).fit(self.split.X_train)

    @cached_property
    def optima(self) -> list[Any]:
        """What is proved about the nearest counterfactual of some of the inputs."""
        return self.prove(self.inputs[: PROOFS[self.distance][0]])

    def prove(self, rows: Any) -> list[Any]:
        """Return bounds on the distance to the nearest counterfactual, and the counterfactual."""
        explainer = self.explainer()
        box = Box.of(explainer)
        return [
            counterfactual_distance(
                self.model,
                each.input,
                self.distance,
                box.holding(each.input),
                time_limit=SECONDS,
                start=each.counterfactuals[:1],
            )
            for each in explainer.explain_many(rows)
        ]

    def options(self, sets: Sets) -> pd.DataFrame:
        """Return the distance of each option of the inputs with a proved optimum."""
        distance, records = self.pairs.judge.distance, []
        for i, optimum in enumerate(self.optima):
            if not optimum.exact:
                continue
            own, others = sets[0][i], sets[1][i]
            of_all = {
                "input": i,
                "cfd": optimum.upper,
                "lower": optimum.lower,
                "to_own": distance(optimum.witness, own).min(),
                "to_copy": np.mean([distance(optimum.witness, S).min() for S in others]),
            }
            for length in np.sort(distance(self.pairs.rows[i], own)[0]):
                records.append(of_all | {"length": length})
        return pd.DataFrame(records)


def compare_counts(
    pairs: Pairs, build: Any, key: dict[str, Any], counts: tuple[int, ...] = COUNTS
) -> list[dict[str, Any]]:
    """Compare numbers of options; say how often a smaller set is part of the largest."""
    sets = {k: pairs.sets(build(k)) for k in counts}
    largest = [{row.tobytes() for row in S} for S in sets[counts[-1]][0]]
    parts = [
        {row.tobytes() for row in S} <= whole
        for own, _ in sets.values()
        for S, whole in zip(own, largest, strict=True)
    ]
    print(
        f"- {key['data']}, {key['line']}: {len(pairs.rows)} inputs, copies are "
        f"{pairs.moves.mean():.3f} away on average; {sum(parts):,} of {len(parts):,} sets are part "
        f"of the set of ten"
    )
    return summaries({k: pairs.measure(each, sets[1]) for k, each in sets.items()}, key)


def run_diversity(setups: list[Setup]) -> list[dict[str, Any]]:
    records = []
    for setup in setups:
        pairs, single = setup.pairs, setup.pairs.sets(setup.explainer(1))
        sets: dict[Any, Sets] = {}
        for beta in BETAS:
            diversity = AngleDiversity(beta) if beta else None
            sets[beta] = pairs.sets(setup.explainer(diversity=diversity))
        sets[ONE] = single
        measured = {setting: pairs.measure(each, single) for setting, each in sets.items()}
        records += summaries(measured, setup.key)
    return records


def run_mixed(strategies: list[str]) -> list[dict[str, Any]]:
    train, y, test = load_table("german_credit")
    model, kept = fit_model("boosting", train, y), Constraints(immutable=IMMUTABLE["german_credit"])
    records = []
    for name in strategies:

        def build(k: int, strategy: Any = STRATEGIES[name]) -> DiverseExplainer:
            explainer = DiverseExplainer(model, strategy=strategy, max_counterfactuals=k)
            return explainer.set_params(constraints=kept).fit(train)

        pairs = Pairs(build(1), test.iloc[FIRST_MIXED:], published=False)
        key = {"data": "German credit", "line": name}
        records += compare_counts(pairs, build, key)
    return records


def print_exact(setups: list[Setup]) -> None:
    """Print how near options are to the optimum, then what follows for the copies."""
    safe = []
    for number, (setup, gamma) in enumerate(product(setups, (GAMMA, PAPER_GAMMA))):
        options = setup.options(setup.pairs.sets(setup.explainer(gamma=gamma)))
        first = options.groupby("input").first()
        key = {"dataset": setup.name, "distance": setup.distance}
        row = key | {
            "gamma": gamma,
            "proved": f"{len(first)} of {len(setup.optima)}",
            "cfd": f"{first['cfd'].mean():.3f}",
            "nearest / cfd": f"{first['length'].mean() / first['cfd'].mean():.2f}",
            "its median": f"{(first['length'] / first['cfd']).median():.2f}",
            **shares_within(options, EPSILONS),
            "optimum to own list": f"{first['to_own'].mean():.3f}",
            "to a copy's list": f"{first['to_copy'].mean():.3f}",
        }
        print_row(row, heading=number == 0)
        moves = setup.pairs.moves[first.index]
        for epsilon in EPSILONS if gamma == GAMMA else ():
            delta = options["lower"] + epsilon - options["length"]
            reached = delta.to_numpy()[:, None] / 2 > setup.pairs.moves[options["input"]]
            safe.append(
                key
                | {
                    "epsilon": epsilon,
                    "epsilon-approximate": f"{(delta >= 0).mean():.0%}",
                    "their mean delta": f"{delta[delta >= 0].mean():.3f}",
                    "distance of a copy": f"{moves.mean():.3f}",
                    "delta / 2 reaches the copy": f"{reached.mean():.0%}",
                    "the optimum's does": f"{(epsilon / 2 > moves).mean():.0%}",
                }
            )
    print()
    for number, row in enumerate(safe):
        print_row(row, heading=number == 0)


def print_jumps(setups: list[Setup]) -> None:
    """Print how far the optimum moves, and options on the same pairs."""
    for number, setup in enumerate(setups):
        pairs, optima = setup.pairs, setup.optima
        theirs = setup.prove(pairs.copies[: len(optima), 0])
        both = [i for i in range(len(optima)) if optima[i].exact and theirs[i].exact]
        jumps = [pairs.judge.distance(optima[i].witness, theirs[i].witness) for i in both]
        one, five = (pairs.sets(setup.explainer(k)) for k in (1, USUAL))
        of_one, of_five = pairs.measure(one, one), pairs.measure(five, one)
        row = {
            "dataset": setup.name,
            "pairs": len(both),
            "distance of the copy": f"{pairs.moves[both, 0].mean():.3f}",
            "the optimum moves": mean_and_tail(np.array(jumps)),
            "the single answer": mean_and_tail(of_one["set_mean"][both, 0]),
            "five options, set-distance": mean_and_tail(of_five["set_mean"][both, 0]),
            "five options, coverage": mean_and_tail(of_five["coverage"][both, 0]),
        }
        print_row(row, heading=number == 0)


def mean_and_tail(values: Any) -> str:
    return f"{values.mean():.3f} / {np.percentile(values, 95):.3f}"


def shares_within(options: pd.DataFrame, epsilons: tuple[float, ...]) -> dict[str, str]:
    ratios = options["length"] / options["cfd"]
    return {f"within {1 + each:g} cfd": f"{(ratios <= 1 + each).mean():.0%}" for each in epsilons}


def print_cuts(setups: list[Setup]) -> None:
    for number, (setup, cut) in enumerate(product(setups, CUTS)):
        single = setup.pairs.sets(setup.explainer(1))
        sets = setup.pairs.sets(setup.explainer(candidates=cut))
        figures, options = setup.pairs.measure(sets, single), setup.options(sets)
        first = options.groupby("input").first()
        row = {
            "dataset": setup.name,
            "step 2": f"`{cut}`",
            "options": f"{figures['options'].mean():.2f}",
            "set-distance": mean_and_tail(figures["set_mean"]),
            "coverage": mean_and_tail(figures["coverage"]),
            "single answer to list": mean_and_tail(figures["single"]),
            "k-distance": f"{figures['k_distance'].mean():.3f}",
            "k-diversity": f"{figures['k_diversity'].mean():.3f}",
            "nearest / cfd": f"{first['length'].mean() / first['cfd'].mean():.2f}",
            **shares_within(options, (0.5, 1.0)),
        }
        print_row(row, heading=number == 0)


def print_tables(results: pd.DataFrame, part: str) -> None:
    """Print a table for each figure: values, and differences from the first setting."""
    settings = (*BETAS, ONE) if part == "diversity" else SHOWN
    for figure, statistic, title in TABLES:
        if figure not in FEW_TABLES.get(part, (figure,)):
            continue
        which = (results["figure"] == figure) & (results["statistic"] == statistic)
        print(f"\n{title}:\n")
        for number, (names, lines) in enumerate(
            results[which].groupby(["data", "line"], sort=False)
        ):
            cells = lines.set_index("setting")
            row = {"data": names[0], "strategy" if part == "mixed" else "distance": names[1]}
            for setting in settings:
                row[str(setting)] = cell_text(cells.loc[setting], first=setting == settings[0])
            print_row(row, heading=number == 0)


def cell_text(cell: pd.Series, *, first: bool) -> str:
    """Return a value with its interval, or with its difference; bold if that excludes 0."""
    value = f"{cell['value']:.3f}"
    if cell["figure"] in ONLY_VALUES:
        return value
    if first:
        return f"{value} ({cell['low']:.3f} to {cell['high']:.3f})"
    stars = "**" if round(cell["less"], 3) > 0 or round(cell["more"], 3) < 0 else ""
    apart = f"{stars}{cell['difference']:+.3f}{stars}"
    return f"{value}, {apart} ({cell['less']:+.3f} to {cell['more']:+.3f})"


def draw(results: pd.DataFrame, label: str, ticks: tuple[float, ...], file: Path) -> None:
    """Draw each figure against the setting: a row of panels per dataset, bands are intervals."""
    plt, names = pyplot(), results["data"].unique()
    size = (2.3 * len(PANELS), 0.9 + 1.9 * len(names))
    figure, axes = plt.subplots(
        len(names), len(PANELS), figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    for i, name in enumerate(names):
        for axis, ((quantity, statistic), title) in zip(axes[i], PANELS.items(), strict=True):
            which = (results["figure"] == quantity) & (results["statistic"] == statistic)
            shown = results[which & (results["data"] == name)]
            for number, (line, cells) in enumerate(shown.groupby("line", sort=False)):
                start = cells[cells["setting"].isin([1, ONE])]["value"].iloc[-1]
                part = cells[cells["setting"] != ONE]
                colour, x = COLOURS[number], part["setting"].to_numpy(dtype=float)
                axis.fill_between(x, part["low"], part["high"], color=colour, alpha=0.18, lw=0)
                axis.plot(x, part["value"], marker=MARKERS[number], ms=4, color=colour, label=line)
                axis.axhline(start, color=colour, lw=1, ls=":")
            axis.set(ylim=(0, None), xticks=ticks)
            axis.spines[["top", "right"]].set_visible(False)
            axis.grid(axis="y", color=GREY, alpha=0.15)
            if i == 0:
                axis.set_title(title, fontsize=10)
            if i == len(names) - 1:
                axis.set_xlabel(label)
        axes[i][0].set_ylabel(name, fontweight="bold")
    axes[0][0].plot([], [], color=GREY, lw=1, ls=":", label=ONE)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder of the published networks")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--datasets", default=",".join(PAPER_DATASETS))
    parser.add_argument("--strategies", default="nearest", help=", ".join(STRATEGIES))
    parser.add_argument("--plots", type=Path, help="draw promise_*.png into this folder")
    parser.add_argument("--csv", type=Path, help="write all figures here, of every k and beta")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    parts, setups = options.parts.split(","), []
    if parts != ["mixed"]:
        both = product(options.datasets.split(","), PROOFS)
        setups = [Setup(name, distance, options.weights) for name, distance in both]
    proved = [setup for setup in setups if setup.name in PROOFS[setup.distance][1]]
    everything: list[dict[str, Any]] = []
    for part in parts:
        started = time.perf_counter()
        print(f"\n## {part}\n")
        records: list[dict[str, Any]] = []
        if part in ("many", "coarse"):
            gamma, counts = (GAMMA, COUNTS) if part == "many" else (PAPER_GAMMA, SHOWN)
            for setup in setups:
                build, key = partial(setup.explainer, gamma=gamma), setup.key
                records += compare_counts(setup.pairs, build, key, counts)
        elif part == "exact":
            print_exact(proved)
        elif part in ("jump", "cut"):
            tell = print_jumps if part == "jump" else print_cuts
            tell([setup for setup in proved if setup.distance == "l1"])
        elif part == "diversity":
            records = run_diversity(setups)
        else:
            records = run_mixed(options.strategies.split(","))
        if records:
            results = pd.DataFrame(records)
            everything += [{"part": part} | record for record in records]
            print_tables(results, part)
            if options.plots and part in DRAWN:
                draw(results, *DRAWN[part], options.plots / f"promise_{part}.png")
        print(f"\n{time.perf_counter() - started:.0f} seconds")
    if options.csv:
        pd.DataFrame(everything).round(4).to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
