"""Regions against the paper's selection, on the same noise.

    COUNTERSET_DATA=folder python benchmarks/regions.py --weights folder \
        [--datasets diabetes,no2] [--models network,forest,boosting] [--searches none,line,fine] \
        [--rows 50:70,70:150] [--csv file] [--plot file.png]
    python benchmarks/regions.py --from a.csv b.csv [--plot file.png]
    OPENBLAS_NUM_THREADS=1 COUNTERSET_DATA=folder python benchmarks/regions.py --weights folder \
        --speed credit

COUNTERSET_DATA holds the paper's datasets, --weights the published networks (W0, b0, ... in one
.npz per dataset). The protocol is that of the published figures: test rows 50 to 69, three noisy
copies each, numpy's old random stream seeded with 42, a copy of another class is skipped. Other
rows are explained at that noise only. Prints Markdown tables of ratios to the paper's selection.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from counterset import (
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    NearestCandidates,
    evaluate,
)
from counterset.metrics import coverage
from counterset.paper.setups import Network, prepare
from counterset.strategies.paper import PaperFinder

DATASETS = ("diabetes", "no2", "credit", "spambase", "news")
SMALL = ("diabetes", "no2")
PUBLISHED_ROWS = "50:70"
NOISE = (0.25, 0.5, 1.0, 2.0, 4.0)
SEARCHES = {"none": None, "line": LineSearch(0.1), "fine": LineSearch(0.001)}
#: The targets are on the first four; the first option and the number of options stand beside them.
FIGURES = [
    "set_distance_max",
    "set_distance_mean",
    "k_distance",
    "k_diversity",
    "coverage",
    "counterfactuals",
]
#: The published figures are of 20 inputs; 20 others are drawn 1000 times.
PUBLISHED_INPUTS, DRAWS = 20, 1000


@dataclass
class PrototypeNoise:
    """The published noise, its deviation multiplied by a factor; the draws are the same.

    ``drawn`` keeps the copies that were drawn last.
    """

    factor: float
    drawn: Any = None

    def copies(self, rows: Any, columns: Any, repeats: int, same_class: Any, random: Any) -> Any:
        stream = np.random.RandomState(42)
        covariance = np.diag(0.08 * (columns.high - columns.low) / 100)
        copies = np.empty((len(rows), repeats, rows.shape[1]))
        for i, repeat in np.ndindex(len(rows), repeats):
            moved = stream.multivariate_normal(rows[i], covariance) - rows[i]
            copies[i, repeat] = rows[i] + self.factor * moved
        copies = self.drawn = np.clip(copies, columns.low, columns.high)
        owners = np.repeat(np.arange(len(rows)), repeats)
        found = same_class(copies.reshape(-1, rows.shape[1]), owners)
        return copies, found.reshape(len(rows), repeats)


def load(name: str) -> list[Any]:
    """Return the paper's split: training and test rows, training and test classes."""
    split = prepare(name)
    return [split.X_train, split.X_test, split.y_train, split.y_test]


def build(kind: str, name: str, split: list[Any], weights: Path) -> Any:
    if kind == "network":
        return Network.load(weights / f"{name}.npz")
    forest = RandomForestClassifier(50, min_samples_leaf=3, random_state=0)
    model = forest if kind == "forest" else HistGradientBoostingClassifier(random_state=0)
    return model.fit(split[0], split[2])


def factors_of(method: str, kind: str, rows: str) -> tuple[float, ...]:
    if rows != PUBLISHED_ROWS:
        return (1.0,)
    if kind == "network":
        return NOISE
    return (0.25, 1.0, 4.0) if method in ("paper", "auto") else (1.0,)


def run(
    name: str, kind: str, split: list[Any], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Measure every explainer on one dataset and model."""
    model = build(kind, name, split, options.weights)
    records = []
    for distance, search in itertools.product(("l1", "l2"), options.searches.split(",")):
        shared = {
            "distance": distance,
            "candidates": NearestCandidates(50 if name in SMALL else 1000),
            "search": SEARCHES[search],
            "scale": None,
        }
        explainers = {
            "paper": DiverseExplainer.paper(model, **shared),
            "auto": DiverseExplainer.paper(model, regions="auto", **shared),
            "nearest": DiverseExplainer.paper(model, diversity=None, **shared),
            "constant": DiverseExplainer.paper(model, regions=1, **shared),
        }
        of_paper: dict[Any, pd.DataFrame] = {}
        for method, explainer in explainers.items():
            start = time.process_time()
            explainer.fit(split[0])
            seconds = time.process_time() - start
            for rows in options.rows.split(","):
                inputs = split[1][slice(*map(int, rows.split(":")))]
                for factor in factors_of(method, kind, rows):
                    pairs = measure(explainer, inputs, PrototypeNoise(factor))
                    records.append(
                        {
                            "dataset": name,
                            "model": kind,
                            "distance": distance,
                            "method": method,
                            "search": search,
                            "rows": rows,
                            "noise": factor,
                            "fit_seconds": seconds,
                            **regions_of(explainer, inputs),
                            "input_distance": pairs["input_distance"].median(),
                            "validity": pairs["validity"].min(),
                            **pairs[FIGURES].mean(),
                            "chance": chance(pairs, of_paper.setdefault((rows, factor), pairs)),
                        }
                    )
    return records


def measure(explainer: DiverseExplainer, inputs: Any, noise: PrototypeNoise) -> pd.DataFrame:
    """Return the figures of all inputs with a copy of the same class."""
    table = evaluate(explainer, inputs, noise=noise)
    same = table["same_class"].to_numpy()
    copies = noise.drawn.reshape(len(table), -1)[same]
    sets, others = (
        [each.counterfactuals for each in explainer.explain_many(rows)] for rows in (inputs, copies)
    )
    owners = np.flatnonzero(same) // (len(table) // len(inputs))
    first = [
        coverage(sets[i], other, explainer.distance_)
        for i, other in zip(owners, others, strict=True)
    ]
    return table[same].assign(coverage=first)


def regions_of(explainer: DiverseExplainer, inputs: Any) -> dict[str, Any]:
    """Say how many regions there are, and the median radius of the inputs."""
    finder = explainer.strategy_
    if not isinstance(finder, PaperFinder) or finder.regions is None:
        return {"regions": 0, "radius": np.nan}
    found = explainer.explain_many(inputs)
    radii = [e.certificate.stable_radius for e in found]  # type: ignore[union-attr]
    return {"regions": len(finder.regions), "radius": np.median(radii)}


def chance(pairs: pd.DataFrame, paper: pd.DataFrame) -> float:
    """Say how often as many inputs as were published, drawn from these, would keep all targets."""
    own, others = (table.groupby("input")[FIGURES].sum() for table in (pairs, paper))
    random = np.random.default_rng(0)
    drawn = random.integers(0, len(own), (DRAWS, PUBLISHED_INPUTS))
    sums, of_paper = (table.to_numpy()[drawn].sum(axis=1) for table in (own, others))
    # With little noise, sets may not change at all.
    ratios = np.divide(sums, of_paper, out=np.where(sums > 0, np.inf, 0.0), where=of_paper > 0)
    return float(keeps_targets(pd.DataFrame(ratios, columns=FIGURES)).mean())


def keeps_targets(ratios: pd.DataFrame) -> pd.Series:
    return pd.concat(list(targets(ratios).values()), axis=1).all(axis=1)


def targets(ratios: pd.DataFrame) -> dict[str, pd.Series]:
    """Say which targets are met."""
    return {
        "set-distance max at most 0.5x": ratios["set_distance_max"] <= 0.5,
        "set-distance mean at most 0.6x": ratios["set_distance_mean"] <= 0.6,
        "k-distance at most 1.1x": ratios["k_distance"] <= 1.1,
        "k-diversity at least 0.9x": ratios["k_diversity"] >= 0.9,
    }


def _time_of_one(explainer: DiverseExplainer, inputs: Any) -> float:
    start = time.process_time()
    for x in inputs:
        explainer.explain(x)
    return (time.process_time() - start) / len(inputs)


def tell_speed(name: str, weights: Path) -> None:
    """Time fitting and one explanation, with and without regions in turn, in processor time."""
    split = load(name)
    model = Network.load(weights / f"{name}.npz")
    for distance in ("l1", "l2"):
        best = {}
        explainers = {}
        for regions in (None, "auto"):
            start = time.process_time()
            explainers[regions] = DiverseExplainer.paper(
                model, distance=distance, scale=None, regions=regions
            ).fit(split[0])
            best[regions] = np.inf
            print(f"{name} {distance} regions={regions}: fit {time.process_time() - start:.1f} s")
        for _ in range(25):
            for regions, explainer in explainers.items():
                best[regions] = min(best[regions], _time_of_one(explainer, split[1][50:70]))
        times = ", ".join(f"{best[regions] * 1e3:.2f} ms" for regions in best)
        print(
            f"{name} {distance}: one explanation {times}: {best[None] / best['auto']:.1f}x faster"
        )


def ratios(results: pd.DataFrame) -> pd.DataFrame:
    keys = ["dataset", "model", "distance", "search", "rows", "noise"]
    paper = results[results["method"] == "paper"].set_index(keys)
    others = results[results["method"] != "paper"].set_index([*keys, "method"])
    wide = others.join(paper[FIGURES].add_suffix("_paper"))
    for figure in FIGURES:
        wide[figure] /= wide[f"{figure}_paper"]
    return wide[["regions", *FIGURES, "validity", "chance"]].reset_index()


def tell(results: pd.DataFrame) -> None:
    """Print the ratios of the published noise, then how often the targets are met."""
    table = ratios(results)
    published = table[(table["noise"] == 1) & (table["rows"] == PUBLISHED_ROWS)]
    for (kind, search), part in published.groupby(["model", "search"], sort=False):
        print(f"\n{kind}, search {search}\n")
        print(
            "| dataset | distance | regions | set max | set mean | k-distance | k-diversity "
            "| coverage | options |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for (name, distance), rows in part.groupby(["dataset", "distance"], sort=False):
            by_method = rows.set_index("method")
            cells = [
                "{auto:.2f} ({nearest:.2f}, {constant:.2f})".format(**by_method[figure])
                for figure in FIGURES
            ]
            count = by_method.loc["auto", "regions"]
            print(f"| {name} | {distance} | {count} | {' | '.join(cells)} |")
    auto = table[table["method"] == "auto"]
    kinds = auto["model"].where(auto["model"] == "network", "trees")
    searches = auto["search"].where(auto["search"] == "fine", "none and line")
    for (kind, rows, search), part in auto.groupby([kinds, "rows", searches]):
        print(
            f"\n{kind}, rows {rows}, search {search}\n\n| target | noise | met | median | worst |"
        )
        print("|---|---|---|---|---|")
        _tell_targets(part)


def _tell_targets(auto: pd.DataFrame) -> None:
    met = pd.DataFrame(targets(auto) | {"validity 100 %": auto["validity"] == 1})
    together = met.all(axis=1)
    for factor, part in auto.groupby("noise"):
        for text, column in zip(met, [*FIGURES[:4], "validity"], strict=True):
            values = part[column]
            least = column in ("k_diversity", "validity")
            worst = part.loc[values.idxmin() if least else values.idxmax()]
            print(
                f"| {text} | x{factor:g} | {met.loc[part.index, text].sum()} of {len(part)} "
                f"| {values.median():.2f} "
                f"| {worst[column]:.2f} ({worst['dataset']}, `{worst['distance']}`) |"
            )
        count = together[part.index].sum()
        by_dataset = together[part.index].groupby(part["dataset"], sort=False).sum()
        told = ", ".join(f"{name} {own}" for name, own in by_dataset.items())
        print(f"| all of them | x{factor:g} | {count} of {len(part)} | {told} | |")
        options, chances, first = part["counterfactuals"], part["chance"], part["coverage"]
        print(f"| coverage | x{factor:g} | | {first.median():.2f} | {first.max():.2f} |")
        print(f"| options | x{factor:g} | | {options.median():.2f} | {options.min():.2f} |")
        print(
            f"| all of them, by {PUBLISHED_INPUTS} inputs of these | x{factor:g} "
            f"| {chances.sum():.1f} of {len(part)} expected | {chances.median():.2f} "
            f"| {chances.min():.2f} |"
        )


def draw(results: pd.DataFrame, file: Path) -> None:
    """Draw set-distance against noise, for the networks, with the line search."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    names = [name for name in DATASETS if name in set(results["dataset"])]
    figure, axes = plt.subplots(
        2,
        len(names),
        figsize=(3 * len(names), 5.6),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    networks = (results["model"] == "network") & (results["rows"] == PUBLISHED_ROWS)
    shown = results[networks & (results["search"] == "line")]
    styles = {
        "paper": ("o-", "C3", "the paper's selection"),
        "auto": ("s-", "C0", 'regions="auto"'),
        "nearest": ("^:", "0.5", "five nearest rows"),
        "constant": ("v:", "0.75", "constant (one region)"),
    }
    for i, distance in enumerate(("l1", "l2")):
        for axis, name in zip(axes[i], names, strict=True):
            here = shown[(shown["dataset"] == name) & (shown["distance"] == distance)]
            for method, (style, colour, label) in styles.items():
                line = here[here["method"] == method].sort_values("noise")
                axis.plot(line["noise"], line["set_distance_max"], style, color=colour, label=label)
            axis.set_xscale("log", base=2)
            axis.set_xticks(NOISE, ["1/4", "1/2", "1", "2", "4"])
            axis.set_ylim(bottom=0)
            axis.set_title(f"{name}, {distance}")
            if i == 1:
                axis.set_xlabel("noise, times the published")
        axes[i][0].set_ylabel("set-distance (max)")
    lines = axes[0][0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside upper center", ncols=len(styles))
    figure.savefig(file, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder of the published networks")
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--models", default="network,forest,boosting")
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--rows", default=PUBLISHED_ROWS, help="test rows to explain")
    parser.add_argument("--csv", type=Path, help="write the figures here")
    parser.add_argument("--from", dest="sources", type=Path, nargs="+", help="read, do not run")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--speed", help="time this dataset, with the network, and stop")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    if options.speed:
        tell_speed(options.speed, options.weights)
        return
    if options.sources:
        results = pd.concat([pd.read_csv(file) for file in options.sources])
    else:
        records: list[dict[str, Any]] = []
        for name in options.datasets.split(","):
            split = load(name)
            for kind in options.models.split(","):
                records += run(name, kind, split, options)
                if options.csv:
                    pd.DataFrame(records).to_csv(options.csv, index=False)
        results = pd.DataFrame(records)
    tell(results)
    if options.plot:
        draw(results, options.plot)


if __name__ == "__main__":
    main()
