"""Draw a plot for each table of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.files import written_aside
from counterset.benchmark.classifiers import Network
from counterset.benchmark.comparison import deviations
from counterset.benchmark.data import Split
from counterset.benchmark.published import METRICS, published_results
from counterset.benchmark.tables import HEADINGS, PUBLISHED_ACCURACY, PUBLISHED_SHAPES
from counterset.plots.style import COLOURS, pyplot

__all__ = ["draw_all"]

MARKERS = "osD^vP*X<>"


def draw_all(
    summary: pd.DataFrame, setups: Sequence[tuple[Split, Network]], folder: Path
) -> list[Path]:
    """Draw every table that has results into a folder, and return the files.

    Parameters
    ----------
    summary
        One row per run, see :class:`~counterset.benchmark.report.Report`.
    setups
        The rows and the network of each dataset.
    folder
        Where the pictures are written.
    """
    plt = pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, figure in _figures(plt, summary, setups):
        drawn.append(folder / f"{name}.png")
        with written_aside(drawn[-1]) as unfinished:
            figure.savefig(unfinished, dpi=120, bbox_inches="tight")
        plt.close(figure)
    return drawn


def _figures(
    plt: Any, summary: pd.DataFrame, setups: Sequence[tuple[Split, Network]]
) -> Iterator[tuple[str, Any]]:
    yield "datasets", _datasets(plt, [split for split, _ in setups])
    yield "accuracy", _accuracy(plt, {split.name: net.accuracy(split) for split, net in setups})
    minimised = summary["minimised"].astype(bool)
    for flag, label in ((True, "minimised"), (False, "unminimised")):
        part = summary[(summary["stage"] == "final") & (minimised == flag)]
        if len(part):
            yield f"final-{label}", _final(plt, part, flag)
        for filter_ in ("angle", "distance"):
            part = summary[
                (summary["stage"] == "tuning")
                & (minimised == flag)
                & (summary["filter"] == filter_)
            ]
            if len(part):
                yield f"tuning-{filter_}-{label}", _tuning(plt, part, filter_, flag)
    peers = summary[(summary["stage"] == "peers") & (summary["error"] == "")]
    if len(peers):
        yield "peers", _peers(plt, peers)
    both = deviations(summary)
    if len(both):
        yield "comparison", _comparison(plt, both)


def _accuracy(plt: Any, accuracy: dict[str, float]) -> Any:
    figure, axis = plt.subplots(figsize=(5, 2.8), layout="constrained")
    names = list(accuracy)
    axis.barh(names, list(accuracy.values()), color=COLOURS[0], label="measured")
    published = [PUBLISHED_ACCURACY[name] for name in names]
    axis.plot(published, names, "D", color=COLOURS[1], label="published")
    axis.set(xlabel="accuracy on the test rows", xlim=(0, 1))
    axis.invert_yaxis()
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _datasets(plt: Any, splits: Sequence[Split]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), sharey=True, layout="constrained")
    names = [split.name for split in splits]
    shapes = [(len(split.X_train) + len(split.X_test), split.X_train.shape[1]) for split in splits]
    for i, (axis, label) in enumerate(zip(axes, ("instances", "variables"), strict=True)):
        bars = axis.barh(names, [shape[i] for shape in shapes], color=COLOURS[0], label="here")
        axis.bar_label(bars, padding=8)
        published = [PUBLISHED_SHAPES[name][i] for name in names]
        axis.plot(published, names, "D", color=COLOURS[1], label="published")
        axis.set(xlabel=label, xscale="log", xlim=(1, 50 * max(shape[i] for shape in shapes)))
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _round_numbers(low: float, high: float) -> list[float]:
    """Return those of the numbers 1, 2, 5, 10, 20, ... that lie between two limits."""
    decades = range(-4, 5)
    numbers = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    return [number for number in numbers if low <= number <= high]


def _final(plt: Any, part: pd.DataFrame, minimised: bool) -> Any:
    published = published_results().query("stage == 'final'")
    same = published["minimised"].astype(str) == str(minimised)
    series = {
        "measured": part,
        "published": published[(published["method"] == "ours") & same],
        "DiCE, published": published[published["method"] == "dice"],
    }
    lines = [(row.dataset, row.norm) for row in part.itertuples()]
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True, layout="constrained")
    for axis, metric in zip(axes, METRICS, strict=True):
        for i, (label, rows) in enumerate(series.items()):
            values = rows.set_index(["dataset", "norm"])[metric].reindex(lines)
            # The measured marker is a ring around the published one: both show where they agree.
            face = "none" if label == "measured" else COLOURS[i]
            axis.plot(
                values, range(len(lines)), MARKERS[i], color=COLOURS[i], markerfacecolor=face,
                markersize=9 if label == "measured" else 4, label=label,
            )  # fmt: skip
        axis.set(xlabel=HEADINGS[metric], xscale="log")
        axis.set_xticks(_round_numbers(*axis.get_xlim()), minor=False)
        axis.set_xticks([], minor=True)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.grid(alpha=0.3)
    axes[0].set_yticks(range(len(lines)), [f"{dataset} L{norm}" for dataset, norm in lines])
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    step_4 = "with minimisation" if minimised else "without minimisation"
    figure.suptitle(f"Final results, {step_4}")
    return figure


def _tuning(plt: Any, part: pd.DataFrame, filter_: str, minimised: bool) -> Any:
    norms = sorted(part["norm"].unique())
    figure, axes = plt.subplots(
        len(norms), 4, figsize=(13, 3 * len(norms)), sharex=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for row, norm in zip(axes, norms, strict=True):
        for axis, metric in zip(row, METRICS, strict=True):
            for i, dataset in enumerate(part["dataset"].unique()):
                mine = part[(part["norm"] == norm) & (part["dataset"] == dataset)]
                for gamma, style in ((0.1, "-"), (0.001, ":")):
                    rows = mine[mine["gamma"] == gamma] if minimised else mine
                    rows = rows.sort_values("beta")
                    label = dataset if style == "-" else None
                    axis.plot(
                        rows["beta"], rows[metric], style, marker=MARKERS[i], markersize=4,
                        color=COLOURS[i], label=label,
                    )  # fmt: skip
            axis.set_title(f"{HEADINGS[metric]}, L{norm}", fontsize=10)
            axis.set_ylim(bottom=0)
    for axis in axes[-1]:
        axis.set_xlabel("beta")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    step_4 = "gamma 0.1 (solid) and 0.001 (dotted)" if minimised else "without minimisation"
    figure.suptitle(f"Tuning, {filter_}-based filter, {step_4}")
    return figure


def _peers(plt: Any, peers: pd.DataFrame) -> Any:
    norm = peers["norm"].min()
    datasets, methods = peers["dataset"].unique(), list(peers["method"].unique())
    figure, axes = plt.subplots(
        1, len(datasets), figsize=(4.2 * len(datasets), 4), squeeze=False, layout="constrained"
    )
    for axis, dataset in zip(axes[0], datasets, strict=True):
        mine = peers[(peers["dataset"] == dataset) & (peers["norm"] == norm)]
        for row in mine.itertuples():
            i = methods.index(row.method)
            axis.scatter(
                row.k_distance, row.set_distance_max, s=20 + 60 * row.k_diversity,
                color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                alpha=1.0 if row.valid > 99 else 0.35,
            )  # fmt: skip
        axis.set(
            title=dataset,
            xlabel=f"k-distance (L{norm})",
            # Room for the markers at the edges.
            xlim=(0, 1.15 * mine["k_distance"].max()),
            ylim=(0, 1.15 * mine["set_distance_max"].max()),
        )
    axes[0, 0].set_ylabel("set-distance (max)")
    handles = [
        plt.Line2D(
            [], [], linestyle="", marker=MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)]
        )
        for i in range(len(methods))
    ]
    figure.legend(handles, methods, loc="outside lower center", ncols=4)
    figure.suptitle("Down and left: closer and more stable; larger: more diverse; pale: invalid")
    return figure


def _comparison(plt: Any, both: pd.DataFrame) -> Any:
    figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
    for i, (dataset, rows) in enumerate(both.groupby("dataset", sort=False)):
        axis.plot(
            rows["published"], rows["measured"], MARKERS[i], markersize=4, alpha=0.6,
            color=COLOURS[i], label=dataset,
        )  # fmt: skip
    positive = both.loc[both["published"] > 0, "published"]
    ends = np.array([positive.min(), positive.max()])
    axis.plot(ends, ends, color="grey", linewidth=1, zorder=0)
    axis.set(xlabel="published", ylabel="measured", xscale="log", yscale="log")
    axis.legend()
    axis.set_title(f"{len(both)} figures, measured and published")
    return figure
