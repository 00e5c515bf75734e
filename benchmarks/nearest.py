"""How far the nearest option is, over the proved distance to the nearest counterfactual.

    python benchmarks/nearest.py --methods optimum,counterset,rows,nice,nice-sparsity,treecf
    python benchmarks/nearest.py --methods dice-random-binary --inputs 10
    python benchmarks/nearest.py --print --plot docs/nearest.png

German credit, diabetes and spambase, which are bundled, with four kinds of models; test rows from
position 100 on. Nothing is immutable, numbers move freely (`Schema(step=0)`), categories are
unordered: every explainer minimises what it likes, and all are measured in the same distance,
that of `DiverseExplainer(model, schema=Schema(step=0))`. An option that the model, asked again,
does not classify differently does not count.

Distances are added to a file (--file), one line for each input, so that methods can be run one
after the other; what is in the file already is run again only with --again.

- optimum: `counterfactual_distance`, at most 20 seconds an input (--seconds); a lower bound where
  that is not enough. With --again, what is proved stays
- counterset: the defaults; rows: options on the way to training rows only, without recipes
- all others: names of peers, see `counterset.paper.peers`
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import MODELS, TREES, fit_model, load
from recipes import rows_only

from counterset import (
    DiverseExplainer,
    FewerCounterfactualsWarning,
    Schema,
    counterfactual_distance,
)
from counterset.exact import Box
from counterset.paper.peers import find_peer

FILE = Path(__file__).with_suffix(".csv")
KEYS = ["data", "model", "method", "input"]
#: The most seconds for one exact distance, and the first of the test rows that are explained.
SECONDS, FIRST = 20.0, 100
#: Inputs whose optimum is proved to be under a ten-thousandth of a usual range are left out.
BOUNDARY = 1e-4
#: The plot ends at 60 times the optimum.
FARTHEST = 60.0
#: What the plot shows, nearest first, with the colours of Okabe and Ito.
SHOWN = {
    "counterset": ("counterset", "#0072B2"),
    "treecf": ("treecf, default search", "#009E73"),
    "nice": ("NICE", "#E69F00"),
    "dice-random-binary": ("DiCE random", "#D55E00"),
}


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose numbers are floats and whose categories have no order."""
    numbers = frame.select_dtypes("number").columns
    frame = frame.astype(dict.fromkeys(numbers, np.float64))
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].cat.as_unordered()
    return frame


def nearest(explainer: Any, model: Any, x: pd.DataFrame, options: Any) -> float:
    """Return the distance of the nearest option that is classified differently."""
    if len(options) == 0:
        return np.nan
    valid = np.asarray(model.predict(options)) != model.predict(x)[0]
    distances = explainer.distance_(x, options)[0]
    return float(distances[valid].min()) if valid.any() else np.nan


def run(
    method: str, model: Any, train: pd.DataFrame, inputs: pd.DataFrame, seconds: float
) -> list[dict[str, Any]]:
    """Return a line for each input; a proof of the optimum has this many seconds."""
    explainer = DiverseExplainer(model, schema=Schema(step=0))
    with rows_only(method == "rows"):
        explainer.fit(train)
        if method in ("counterset", "rows"):
            found = explainer.explain_many(inputs)
            return [{"distance": each.distances.min()} for each in found]
    if method != "optimum":
        peer = find_peer(method, norm=1)
        peer.fit(model, train)
        rows = [inputs.iloc[[i]] for i in range(len(inputs))]
        return [{"distance": nearest(explainer, model, x, peer.explain_many(x)[0])} for x in rows]
    lines = []
    for each in explainer.explain_many(inputs):
        started = time.process_time()
        bounds = counterfactual_distance(
            model,
            each.input,
            explainer.distance_,
            Box.of(explainer).holding(each.input),
            time_limit=seconds,
            start=each.counterfactuals.iloc[0],
        )
        spent = time.process_time() - started
        lines.append({"distance": bounds.lower, "exact": bounds.exact, "seconds": spent})
    return lines


def ratios(results: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of all methods, with the ratio to the proved optimum of the same input."""
    key = ["data", "model", "input"]
    best = results[results["method"] == "optimum"]
    # A lower bound is no optimum: most are 0, and the ratio of every method is then infinite. At
    # the boundary any step is many times the optimum.
    best = best[(best["exact"].astype(str) == "True") & (best["distance"] >= BOUNDARY)]
    best = best.set_index(key)["distance"].rename("best")
    others = results[results["method"] != "optimum"].join(best, on=key, how="inner")
    return others.assign(ratio=others["distance"].astype(float) / others["best"].astype(float))


def print_tables(results: pd.DataFrame) -> None:
    """Print how many optima are proved, and the ratios of all methods: median / mean (inputs)."""
    best = results[results["method"] == "optimum"]
    print(
        "| data | model | inputs | proved | at the boundary | median distance | median CPU s |\n"
        + "|---" * 7
        + "|"
    )
    for (data, model), lines in best.groupby(["data", "model"], sort=False):
        proved = lines["exact"].astype(str) == "True"
        boundary = proved & (lines["distance"] < BOUNDARY)
        print(
            f"| {data} | {model} | {len(lines)} | {proved.sum()} | {boundary.sum()} | "
            f"{lines.loc[proved, 'distance'].median():.3f} | {lines['seconds'].median():.2f} |"
        )
    table = ratios(results)
    methods = table["method"].unique()
    print(
        "\n| data | model | " + " | ".join(methods) + " |\n|---|---" + "|---" * len(methods) + "|"
    )
    for (data, model), lines in table.groupby(["data", "model"], sort=False):
        cells = []
        for method in methods:
            own = lines.loc[lines["method"] == method, "ratio"]
            cell = f"{own.median():.2f} / {own.mean():.2f} ({own.count()})"
            if own.isna().any():
                cell += f", none for {own.isna().sum()}"
            cells.append(cell if len(own) else "")
        print(f"| {data} | {model} | " + " | ".join(cells) + " |")


def plot(results: pd.DataFrame, file: Path) -> None:
    """Draw the median and the spread of the ratios of each method, for each kind of model."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    table = ratios(results).dropna(subset="ratio")
    models = ["logistic", "network", "boosting", "forest"]
    # A grey that reads on white and on black; the background is see-through.
    grey = "#808080"
    plt.rcParams.update({"text.color": grey, "axes.labelcolor": grey, "axes.edgecolor": grey})
    plt.rcParams.update({"xtick.color": grey, "ytick.color": grey, "font.size": 11})
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for k, (method, (label, colour)) in enumerate(SHOWN.items()):
        for i, kind in enumerate(models):
            ratio = table.loc[(table["method"] == method) & (table["model"] == kind), "ratio"]
            if ratio.empty:
                continue
            y = i + 0.2 * (k - (len(SHOWN) - 1) / 2)
            spread = ratio.clip(upper=FARTHEST).quantile([0.1, 0.25, 0.5, 0.75, 0.9])
            low, first, middle, third, high = spread
            axes.plot([low, high], [y, y], color=colour, linewidth=1.5)
            axes.plot([first, third], [y, y], color=colour, linewidth=6, solid_capstyle="butt")
            name = label if kind == "forest" else None
            axes.plot(middle, y, "o", color=colour, markersize=9, label=name)
    axes.axvline(1, color=grey, linewidth=1)
    axes.text(1, -0.62, "optimum", ha="center", va="bottom")
    axes.set(
        xscale="log", xlim=(0.95, FARTHEST), xlabel="nearest option / proved nearest counterfactual"
    )
    ticks = [1, 1.5, 2, 3, 5, 10, 20, 50]
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(models)), models)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(SHOWN), frameon=False)
    figure.savefig(file, dpi=150, transparent=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="german_credit,diabetes,spambase")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--methods", default="", help="what to run, with commas")
    parser.add_argument("--inputs", type=int, default=30)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--again", action="store_true", help="run what is in the file already")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each proof")
    parser.add_argument("--print", action="store_true", help="print the tables of the file")
    parser.add_argument("--plot", type=Path, help="draw the file's ratios")
    given = parser.parse_args()
    warnings.simplefilter("ignore", FewerCounterfactualsWarning)
    columns = [*KEYS, "distance", "exact", "seconds"]
    results = pd.read_csv(given.file) if given.file.exists() else pd.DataFrame(columns=columns)
    for name in filter(None, given.datasets.split(",") if given.methods else []):
        train, y, test = load(name)
        train, test = prepared(train), prepared(test)
        inputs = test.iloc[FIRST : FIRST + given.inputs]
        for kind in given.models.split(","):
            model = fit_model(kind, train, y)
            for method in given.methods.split(","):
                if method.startswith("treecf") and kind not in TREES:
                    continue
                own = (results[KEYS[:3]] == [name, kind, method]).all(axis=1)
                if own.any() and not given.again:
                    continue
                if method == "optimum":  # what is proved stays
                    own &= results["exact"].astype(str) != "True"
                    known = (results[KEYS[:3]] == [name, kind, method]).all(axis=1) & ~own
                    rows = inputs[~inputs.index.isin(results.loc[known, "input"])]
                else:
                    rows = inputs
                lines = pd.DataFrame(run(method, model, train, rows, given.seconds))
                lines = lines.assign(data=name, model=kind, method=method, input=rows.index)
                results = pd.concat([results[~own], lines[lines.columns.intersection(columns)]])
                results[columns].to_csv(given.file, index=False, float_format="%.6g")
                print(name, kind, method, lines["distance"].median(), flush=True)
    if given.print:
        print_tables(results)
    if given.plot:
        plot(results, given.plot)


if __name__ == "__main__":
    main()
