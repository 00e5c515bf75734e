"""Make the paper's tables from the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from counterset.benchmark.classifiers import Network
from counterset.benchmark.comparison import OTHER_DEFINITIONS, REASONS, compare, deviations
from counterset.benchmark.data import Split
from counterset.benchmark.published import METRICS, published_results
from counterset.evaluation.report_table import ReportTable

__all__ = [
    "accuracy_table",
    "comparison_table",
    "dataset_table",
    "final_table",
    "peers_table",
    "tuning_table",
]

#: The names of the metrics in the paper.
HEADINGS = {
    "k_distance": "k-distance",
    "k_diversity": "k-diversity",
    "set_distance_mean": "set-distance (mean)",
    "set_distance_max": "set-distance (max)",
}
#: Rows and features of each dataset, as published.
PUBLISHED_SHAPES = {
    "no2": (500, 7), "diabetes": (768, 8), "credit": (2000, 10),
    "spambase": (4600, 57), "news": (39644, 58),
}  # fmt: skip
#: The accuracy of the network of each dataset, as published.
PUBLISHED_ACCURACY = {
    "no2": 0.60, "diabetes": 0.70, "credit": 0.93, "spambase": 0.91, "news": 0.65,
}  # fmt: skip


def dataset_table(splits: Sequence[Split]) -> ReportTable:
    """Return the sizes of the datasets, here and as published."""
    records = []
    for split in splits:
        rows, features = PUBLISHED_SHAPES[split.name]
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
    note = "The published 2000 instances of credit are a mistake: the experiments had 115527."
    return ReportTable("datasets", "Datasets", pd.DataFrame(records), note)


def accuracy_table(setups: Sequence[tuple[Split, Network]]) -> ReportTable:
    """Return the networks' accuracy on the test rows, beside the published one."""
    records = [
        {
            "dataset": split.name,
            "accuracy": f"{network.accuracy(split):.3f}",
            "accuracy (published)": f"{PUBLISHED_ACCURACY[split.name]:.2f}",
        }
        for split, network in setups
    ]
    return ReportTable("accuracy", "Accuracy of the networks", pd.DataFrame(records))


def final_table(summary: pd.DataFrame, *, minimised: bool) -> ReportTable:
    """Return the final results: measured, published, and the published ones of DiCE."""
    chosen = summary[
        (summary["stage"] == "final") & (summary["minimised"].astype(bool) == minimised)
    ]
    published = published_results()
    published = published[published["stage"] == "final"]
    theirs = published[
        (published["method"] == "ours") & (published["minimised"].astype(str) == str(minimised))
    ]
    dice = published[published["method"] == "dice"]
    records = []
    for cell in chosen.itertuples():
        for label, rows in (
            ("measured", chosen),
            ("published", theirs),
            ("DiCE, published", dice),
        ):
            row = rows[(rows["dataset"] == cell.dataset) & (rows["norm"] == cell.norm)].iloc[0]
            records.append({"dataset": cell.dataset, "norm": f"L{cell.norm}", "method": label})
            records[-1] |= _figures(row)
    step_4 = "gamma = 0.1" if minimised else "no minimisation"
    return ReportTable(
        f"final-{'minimised' if minimised else 'unminimised'}",
        f"Final results, angle-based, beta = 0.5, {step_4}",
        pd.DataFrame(records),
    )


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
        record["largest deviation from published"] = f"{mine['deviation'].abs().max():.4f}"
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
        if row["error"]:
            record |= dict.fromkeys(_figure_columns(), "-") | {"note": row["error"]}
        else:
            record |= _figures(row) | {
                "features changed": f"{row['sparsity']:.1f}",
                "pairs": f"{row['pairs']:.0f}",
                "note": "",
            }
        records.append(record)
    return ReportTable("peers", "Other explainers", pd.DataFrame(records))


def comparison_table(summary: pd.DataFrame, *, as_published: bool) -> ReportTable:
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
    worst = both.iloc[int(both["deviation"].abs().to_numpy().argmax())]
    notes = [
        f"Equal: to four decimals, {int(both['equal'].sum())} of {len(both)} figures. The largest "
        f"deviation is {abs(worst['deviation']):.4f} ({worst['stage']}, {worst['dataset']}, "
        f"L{worst['norm']}, {HEADINGS[worst['metric']]}: {worst['measured']:.4f} for "
        f"{worst['published']:.4f})."
    ]
    different = table.loc[table["equal"] < table["figures"], "dataset"].unique()
    if not as_published:
        notes.append(OTHER_DEFINITIONS)
    notes += [f"{name}: {REASONS[name]}" for name in different if as_published and name in REASONS]
    return ReportTable("comparison", "Ours vs published", shown, "\n\n".join(notes))


def _figures(row: Any) -> dict[str, str]:
    figures = {"valid": f"{row['valid']:.0f} %"}
    for metric, heading in HEADINGS.items():
        figures[heading] = f"{row[metric]:.4f} ± {row[f'{metric}_std']:.2f}"
    return figures | {"time (s)": _seconds(row["time_s"])}


def _figure_columns() -> list[str]:
    return ["valid", *HEADINGS.values(), "time (s)", "features changed", "pairs"]


def _seconds(seconds: float) -> str:
    return "-" if np.isnan(seconds) else f"{seconds:.2g}" if seconds < 100 else f"{seconds:.0f}"
