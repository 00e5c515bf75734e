"""The tables and the plots of a reproduction, beside the published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.files import written_aside
from counterset.evaluation.tuning import ReportTable
from counterset.paper.cells import HEADINGS, METRICS, published_results
from counterset.paper.claims import claims_table, gradient_runs
from counterset.paper.differences import differences_table
from counterset.paper.setups import PUBLISHED_ACCURACY, PUBLISHED_SHAPES, Split, accuracy_of
from counterset.plots.style import COLOURS, pyplot

__all__ = [
    "OTHER_DEFINITIONS",
    "OTHER_NETWORKS",
    "REASONS",
    "WRITTEN",
    "Report",
    "accuracy_table",
    "compare",
    "comparison_table",
    "dataset_table",
    "deviations",
    "draw_all",
    "final_table",
    "peers_table",
    "tuning_table",
    "weights_table",
]

#: Why figures differ although they were run as published.
REASONS = {
    "credit": (
        "what does not depend on the noise is equal, so the noise must differ. It is drawn through "
        "a singular value decomposition, and nine of the ten features have the same variance. So "
        "it depends on the linear algebra library which random number goes to which feature; this "
        "is the likely cause."
    ),
    "news": (
        "only 37011 of the 39644 rows are available, so the scaling, the split and the inputs are "
        "different."
    ),
}
OTHER_DEFINITIONS = (
    "These figures follow the paper's own definitions. The published ones come from a prototype "
    "that differs from them, and from different noise. Run with --as-published to compare."
)
OTHER_NETWORKS = (
    "These networks were trained here, with scikit-learn. They are not those of the paper, so all "
    "figures differ from the published ones. Name the published networks with --weights."
)
EPSILON_K = "(epsilon, k)"
EPSILON_K_NOTE = (
    "(epsilon, k): among pairs that are at most epsilon apart, the set-distance (max) was up to k "
    "times the distance of the pair. So the explainer is not (epsilon, k')-robust for any smaller "
    "k'. It was not published."
)
#: From 100 seconds on, times are shown in whole seconds.
LONG = 100
#: The columns that identify a published run; the others are its figures.
KEYS = ["stage", "dataset", "norm", "filter", "minimised", "beta", "gamma"]
MARKERS = "osD^vP*X<>"
#: So many datasets stand side by side in the plot of peers.
PANELS = 3
#: The files of a report, beside its plots.
WRITTEN = ("report.md", "report.tex", "summary.csv")


@dataclass(frozen=True)
class Report:
    """The results of a reproduction.

    Attributes
    ----------
    summary
        One row per cell.
    setups
        The rows and the network of each dataset.
    as_published
        True if run with the prototype's choices, False if with the paper's own definitions.
    trained
        True if the networks were trained here, False if they are the published ones.
    differences
        What :func:`~counterset.paper.differences.paired_differences` found; None: nothing.
    """

    summary: pd.DataFrame
    setups: Sequence[tuple[Split, Any]]
    as_published: bool = False
    trained: bool = False
    differences: pd.DataFrame | None = None

    def tables(self) -> list[ReportTable]:
        """Return the tables that have rows."""
        found = [
            dataset_table([split for split, _ in self.setups]),
            accuracy_table(self.setups, trained=self.trained),
            *(final_table(self.summary, minimised=flag) for flag in (True, False)),
            *(
                tuning_table(self.summary, filter_, minimised=flag)
                for filter_ in ("angle", "distance")
                for flag in (True, False)
            ),
            peers_table(self.summary),
            *([] if self.differences is None else [differences_table(self.differences)]),
            claims_table(self.summary),
            comparison_table(self.summary, as_published=self.as_published, trained=self.trained),
        ]
        return [table for table in found if len(table.frame)]

    def to_text(self) -> str:
        """Return the report as text for a terminal."""
        return "\n\n".join(table.to_text() for table in self.tables()) + "\n"

    def write(self, folder: Path, *, plots: bool = True) -> list[Path]:
        """Write the report in Markdown and LaTeX, draw a plot per table, and return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / name for name in WRITTEN]
        markdown = "\n\n".join(table.to_markdown() for table in self.tables())
        latex = "\n\n".join(table.to_latex() for table in self.tables())
        with ExitStack() as stack:
            # All are moved to their names once all are written, so that they belong together.
            files = [stack.enter_context(written_aside(file)) for file in written]
            files[0].write_text(f"# The paper's tables\n\n{markdown}\n", encoding="utf-8")
            files[1].write_text(latex + "\n", encoding="utf-8")
            self.summary.to_csv(files[2], index=False)
        if plots:
            written += draw_all(self.summary, self.setups, folder / "plots")
        return written


def dataset_table(splits: Sequence[Split]) -> ReportTable:
    """Return the sizes of the datasets, here and as published."""
    records = []
    for split in splits:
        rows, features = PUBLISHED_SHAPES.get(split.name, ("-", "-"))
        here = len(split.X_train) + len(split.X_test)
        records.append(
            {
                "dataset": split.name,
                "instances": str(here),
                "instances (published)": str(rows),
                "variables": str(split.X_train.shape[1]),
                "variables (published)": str(features),
            }
        )
    of_credit = "The published 2000 instances of credit are a mistake: the experiments had 115527."
    note = of_credit if any(split.name == "credit" for split in splits) else ""
    return ReportTable("datasets", "Datasets", pd.DataFrame(records), note)


def accuracy_table(setups: Sequence[tuple[Split, Any]], *, trained: bool = False) -> ReportTable:
    """Return the networks' accuracy on the test rows, beside the published one."""
    records = [
        {
            "dataset": split.name,
            "accuracy": f"{accuracy_of(network, split):.3f}",
            "accuracy (published)": _shown(PUBLISHED_ACCURACY.get(split.name), "{:.2f}"),
        }
        for split, network in setups
    ]
    note = OTHER_NETWORKS if trained else ""
    return ReportTable("accuracy", "Accuracy of the networks", pd.DataFrame(records), note)


def weights_table(checked: pd.DataFrame) -> ReportTable:
    """Return what :func:`~counterset.paper.setups.check_weights` found."""
    shown = pd.DataFrame(
        {
            "dataset": checked["dataset"],
            "layers": checked["layers"],
            "accuracy": checked["accuracy"].map(lambda value: _shown(value, "{:.3f}")),
            "accuracy (published)": checked["published"].map("{:.2f}".format),
            "": checked["wrong"].map(lambda wrong: "wrong" if wrong else "right"),
        }
    )
    faults = checked[checked["wrong"] != ""]
    note = "\n".join(f"{row.dataset}: {row.wrong}" for row in faults.itertuples())
    return ReportTable("weights", "The weights of the published networks", shown, note)


def final_table(summary: pd.DataFrame, *, minimised: bool) -> ReportTable:
    """Return the final results as the paper lays them out: under each dataset, ours and DiCE.

    Ours stand beside those that were published. Those of DiCE are measured if its gradient method
    was run here, else published.
    """
    chosen = summary[
        (summary["stage"] == "final") & (summary["minimised"].astype(bool) == minimised)
    ]
    published = published_results()
    published = published[published["stage"] == "final"]
    theirs = published[
        (published["method"] == "ours") & (published["minimised"].astype(str) == str(minimised))
    ]
    dice = gradient_runs(summary)
    sources = {
        "ours": chosen,
        "ours, published": theirs,
        "DiCE, published": published[published["method"] == "dice"],
        **({"DiCE": dice} if len(dice) else {}),
    }
    records = []
    for dataset in chosen["dataset"].unique():
        blocks = {
            f"{label} (L{norm})": _figures(_run_of(rows, dataset, norm))
            for norm in sorted(chosen["norm"].unique())
            for label, rows in sources.items()
        }
        records += [
            {"dataset": dataset, "figure": figure}
            | {column: figures[figure] for column, figures in blocks.items()}
            for figure in (*_figure_columns()[:6], EPSILON_K)
        ]
    step_4 = "gamma = 0.1" if minimised else "no minimisation"
    return ReportTable(
        f"final-{'minimised' if minimised else 'unminimised'}",
        f"Final results, angle-based, beta = 0.5, {step_4}",
        _without_dashes(pd.DataFrame(records)),
        EPSILON_K_NOTE,
    )


def _without_dashes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that have a value: of a table of one's own nothing was published."""
    return frame.loc[:, ~(frame == "-").all()] if len(frame) else frame


def _run_of(rows: pd.DataFrame, dataset: str, norm: int) -> Any:
    """Return the run of a dataset and a norm; its figures are missing if it was not run."""
    found = rows[(rows["dataset"] == dataset) & (rows["norm"] == norm)]
    return found.iloc[0] if len(found) else pd.Series(dtype=float)


def tuning_table(summary: pd.DataFrame, filter_: str, *, minimised: bool) -> ReportTable:
    """Return the tuning results of one filter, with the largest deviation from the published."""
    chosen = summary[
        (summary["stage"] == "tuning")
        & (summary["filter"] == filter_)
        & (summary["minimised"].astype(bool) == minimised)
    ]
    misses = deviations(chosen) if len(chosen) else pd.DataFrame()
    records = []
    for cell in chosen.itertuples():
        record = {"dataset": cell.dataset, "norm": f"L{cell.norm}", "beta": f"{cell.beta:g}"}
        if minimised:
            record["gamma"] = f"{cell.gamma:g}"
        record |= {HEADINGS[metric]: f"{getattr(cell, metric):.4f}" for metric in METRICS}
        mine = misses[
            (misses["dataset"] == cell.dataset)
            & (misses["norm"] == cell.norm)
            & (misses["beta"] == cell.beta)
            & ((misses["gamma"] == cell.gamma) | (not minimised))
        ]
        record["largest deviation from published"] = _shown(mine["deviation"].abs().max(), "{:.4f}")
        records.append(record)
    step_4 = "with minimisation" if minimised else "no minimisation"
    return ReportTable(
        f"tuning-{filter_}-{'minimised' if minimised else 'unminimised'}",
        f"Tuning, {filter_}-based, {step_4}",
        pd.DataFrame(records),
    )


def peers_table(summary: pd.DataFrame) -> ReportTable:
    """Return the results of other explainers on the inputs and networks of the final results."""
    records = []
    for row in summary[summary["stage"] == "peers"].to_dict("records"):
        record = {"dataset": row["dataset"], "norm": f"L{row['norm']}", "method": row["method"]}
        # Of a peer whose time was over, the inputs that it finished are measured.
        record |= _figures(row) | {
            "features changed": _shown(row.get("sparsity"), "{:.1f}"),
            "pairs": _shown(row.get("pairs"), "{:.0f}"),
            "note": row["error"],
        }
        records.append(record)
    return ReportTable("peers", "Other explainers", pd.DataFrame(records), EPSILON_K_NOTE)


def comparison_table(
    summary: pd.DataFrame, *, as_published: bool, trained: bool = False
) -> ReportTable:
    """Return the number of figures that equal the published ones, and why others do not."""
    table = compare(summary)
    if len(table) == 0:
        return ReportTable("comparison", "Ours vs published", table)
    shown = table.assign(
        **{
            "metric": table["metric"].map(HEADINGS),
            "largest deviation": table["largest deviation"].map("{:.4f}".format),
            "largest relative": (100 * table["largest relative"]).map("{:.1f} %".format),
        }
    )
    both = deviations(summary)
    worst = both.iloc[int(both["deviation"].abs().fillna(0.0).to_numpy().argmax())]
    notes = [
        f"Equal: to four decimals, {int(both['equal'].sum())} of {len(both)} figures. The largest "
        f"deviation is {abs(worst['deviation']):.4f} ({worst['stage']}, {worst['dataset']}, "
        f"L{worst['norm']}, {HEADINGS[worst['metric']]}: {worst['measured']:.4f} for "
        f"{worst['published']:.4f})."
    ]
    different = table.loc[table["equal"] < table["figures"], "dataset"].unique()
    if not as_published:
        notes.append(OTHER_DEFINITIONS)
    if trained:
        notes.append(OTHER_NETWORKS)
    if as_published and not trained:
        notes += [f"{name}: {REASONS[name]}" for name in different if name in REASONS]
    return ReportTable("comparison", "Ours vs published", shown, "\n\n".join(notes))


def _figures(row: Any) -> dict[str, str]:
    """Return the cells of a run; a dash for each figure that it lacks."""
    figures = {"valid": _shown(row.get("valid"), "{:.0f} %")}
    for metric, heading in HEADINGS.items():
        mean, deviation = row.get(metric), row.get(f"{metric}_std")
        figures[heading] = _shown(mean, f"{{:.4f}} ± {_shown(deviation, '{:.2f}')}")
    seconds = row.get("time_s")
    figures["time (s)"] = _shown(seconds, "{:.0f}" if (seconds or 0) >= LONG else "{:.2g}")
    k = _shown(row.get("k"), "{:.1f}")
    figures[EPSILON_K] = "-" if k == "-" else f"({row['epsilon']:.2f}, {k})"
    return figures


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None or np.isnan(value) else form.format(value)


def _figure_columns() -> list[str]:
    return ["valid", *HEADINGS.values(), "time (s)", EPSILON_K, "features changed", "pairs"]


def deviations(summary: pd.DataFrame) -> pd.DataFrame:
    """Return one row per measured figure that was also published: both, and their difference."""
    published = published_results().query("method == 'ours'")
    published = published.astype({"minimised": bool})[[*KEYS, *METRICS]]
    measured = summary.query("method == 'ours' and error == ''")[[*KEYS, *METRICS]]
    measured = measured.astype({"minimised": bool, "gamma": float, "norm": int, "beta": float})
    long = [
        table.melt(KEYS, list(METRICS), "metric", name)
        for table, name in ((measured, "measured"), (published, "published"))
    ]
    both = long[0].merge(long[1], on=[*KEYS, "metric"], how="inner")
    both["deviation"] = both["measured"] - both["published"]
    # Published figures have four decimals, so deviations are never relative to less than 1e-4.
    scale = both["published"].abs().clip(lower=1e-4)
    both["relative"] = both["deviation"] / scale
    both["equal"] = both["measured"].round(4).sub(both["published"]).abs() < 0.5e-4
    return both


def compare(summary: pd.DataFrame) -> pd.DataFrame:
    """Count the equal figures and find the largest deviation, per stage, dataset and metric."""
    both = deviations(summary)
    records = []
    for (stage, dataset, metric), group in both.groupby(["stage", "dataset", "metric"], sort=False):
        records.append(
            {
                "stage": stage,
                "dataset": dataset,
                "metric": metric,
                "figures": len(group),
                "equal": int(group["equal"].sum()),
                "largest deviation": float(group["deviation"].abs().max()),
                "largest relative": float(group["relative"].abs().max()),
            }
        )
    return pd.DataFrame.from_records(records)


def draw_all(
    summary: pd.DataFrame, setups: Sequence[tuple[Split, Any]], folder: Path
) -> list[Path]:
    """Draw every table that has results into a folder, and return the files.

    Parameters
    ----------
    summary
        One row per run, see :class:`~counterset.paper.report.Report`.
    setups
        The rows and the network of each dataset.
    folder
        Where the pictures are written.
    """
    plt = pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, figure in _chart_figures(plt, summary, setups):
        drawn.append(folder / f"{name}.png")
        with written_aside(drawn[-1]) as unfinished:
            figure.savefig(unfinished, dpi=120, bbox_inches="tight")
        plt.close(figure)
    return drawn


def _chart_figures(
    plt: Any, summary: pd.DataFrame, setups: Sequence[tuple[Split, Any]]
) -> Iterator[tuple[str, Any]]:
    yield "datasets", _datasets(plt, [split for split, _ in setups])
    yield "accuracy", _accuracy(plt, {split.name: accuracy_of(net, split) for split, net in setups})
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
    peers = peers.dropna(subset=list(METRICS))  # one that found nothing has no place
    if len(peers):
        yield "peers", _peers(plt, peers)
    both = deviations(summary).dropna(subset="measured")
    if len(both):
        yield "comparison", _comparison(plt, both)


def _accuracy(plt: Any, accuracy: dict[str, float]) -> Any:
    figure, axis = plt.subplots(figsize=(5, 2.8), layout="constrained")
    names = list(accuracy)
    axis.barh(names, list(accuracy.values()), color=COLOURS[0], label="measured")
    published = [PUBLISHED_ACCURACY.get(name, np.nan) for name in names]
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
        published = [PUBLISHED_SHAPES.get(name, (np.nan, np.nan))[i] for name in names]
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
    columns = min(len(datasets), PANELS)
    rows = -(-len(datasets) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4.2 * columns, 3.6 * rows + 0.6), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[len(datasets) :]:
        axis.set_visible(False)
    for axis, dataset in zip(axes.flat, datasets, strict=False):
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
    for axis in axes[:, 0]:
        axis.set_ylabel("set-distance (max)")
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
