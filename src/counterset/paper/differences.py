"""Differences between explainers on the same pairs of inputs and noisy copies, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from counterset.evaluation.tuning import ReportTable
from counterset.paper.cells import HEADINGS, METRICS, Cell
from counterset.paper.claims import BETTER, ROBUSTNESS

__all__ = ["Difference", "differences_table", "paired_difference", "paired_differences"]

#: Intervals hold the true mean in 95 of 100 experiments.
CONFIDENCE = 0.95
#: Two runs have the same pairs if their inputs are as far from their copies, but for rounding.
SAME_PAIR = 1e-9
#: The explainer behind the published figures counts as ours, where it is run as a peer.
PROTOTYPE = "prototype"
#: Whose figure is better.
SIDES = ("ours", "theirs", "open", "equal")
#: Figures that differ by less are equal but for rounding.
ROUNDED = 1e-12


class Difference(NamedTuple):
    """The mean difference of a figure between two explainers, over inputs.

    Attributes
    ----------
    mean
        Ours minus theirs.
    half_width
        Half the width of its interval of 95 %.
    inputs
        The number of inputs.
    """

    mean: float
    half_width: float
    inputs: int


def paired_difference(ours: pd.DataFrame, theirs: pd.DataFrame, metric: str) -> Difference | None:
    """Return the mean difference of a figure, ours minus theirs, over the inputs that both have.

    The differences of an input's copies are averaged first: copies of one input are alike, and
    count as one input. The interval is that of Student's t.

    Returns
    -------
    Difference or None
        None if the two were not run on the same pairs, or on less than two inputs.

    Examples
    --------
    >>> theirs = pd.DataFrame({
    ...     "input": [0, 0, 1, 1], "repeat": [1, 2, 1, 2], "same_class": True,
    ...     "input_distance": [0.1, 0.2, 0.3, 0.4], "k_distance": [1.0, 1.0, 2.0, 2.0],
    ... })
    >>> ours = theirs.assign(k_distance=[0.5, 0.5, 1.4, 1.4])
    >>> found = paired_difference(ours, theirs, "k_distance")
    >>> round(found.mean, 3), round(found.half_width, 3), found.inputs
    (-0.55, 0.635, 2)
    """
    keys = ["input", "repeat"]
    both = ours.merge(theirs, on=keys, suffixes=("", "_theirs"))
    both = both[both["same_class"] & both["same_class_theirs"]]
    apart = (both["input_distance"] - both["input_distance_theirs"]).abs()
    if len(both) == 0 or (apart > SAME_PAIR * both["input_distance"]).any():
        return None
    each = (both[metric] - both[f"{metric}_theirs"]).groupby(both["input"]).mean().dropna()
    if len(each) < 2:
        return None
    error = float(each.std(ddof=1)) / np.sqrt(len(each))
    factor = float(student.ppf((1 + CONFIDENCE) / 2, len(each) - 1))
    return Difference(float(each.mean()), float(factor * error), len(each))


def paired_differences(
    table_of: Callable[[Cell], pd.DataFrame | None], final: Iterable[Cell], peers: Iterable[Cell]
) -> pd.DataFrame:
    """Return the difference of every figure between our final runs and each run of a peer.

    Parameters
    ----------
    table_of
        Returns the table of a finished cell; None for others.
    final
        Our final runs.
    peers
        The runs of peers.

    Returns
    -------
    DataFrame
        One row per pair of runs and figure; none for runs on other pairs of inputs and copies.
    """
    others = list(peers)
    mine = [cell for cell in final if cell.stage == "final"]
    mine.sort(key=lambda cell: not cell.minimised)
    mine += [cell for cell in others if cell.method == PROTOTYPE]
    records = []
    for peer in others:
        if peer.method == PROTOTYPE:
            continue
        theirs = table_of(peer)
        if theirs is None or "same_class" not in theirs:
            continue
        for cell in mine:
            ours = (
                table_of(cell) if (cell.dataset, cell.norm) == (peer.dataset, peer.norm) else None
            )
            if ours is None or "same_class" not in ours:
                continue
            for metric in METRICS:
                found = paired_difference(ours, theirs, metric)
                if found is not None:
                    records.append(
                        {
                            "dataset": peer.dataset,
                            "norm": peer.norm,
                            "ours": _name_of(cell),
                            "method": peer.method,
                            "metric": metric,
                            **found._asdict(),
                        }
                    )
    columns = ["dataset", "norm", "ours", "method", "metric", *Difference._fields]
    return pd.DataFrame(records, columns=columns)


def _name_of(cell: Cell) -> str:
    """Say which of our explainers a run is of."""
    if cell.method == PROTOTYPE:
        return "as published"
    return f"gamma = {cell.gamma:g}" if cell.minimised else "no minimisation"


def differences_table(differences: pd.DataFrame) -> ReportTable:
    """Return the differences, one row per pair of runs, and say in how many one side is better."""
    records = []
    keys = ["method", "ours", "dataset", "norm"]
    for (method, ours, dataset, norm), rows in differences.groupby(keys, sort=False):
        record = {
            "dataset": dataset,
            "norm": f"L{norm}",
            "ours": ours,
            "against": method,
            "inputs": str(rows["inputs"].max()),
        }
        for row in rows.itertuples():
            shown = f"{row.mean:+.3f} ± {row.half_width:.3f}: {_better(row)}"
            record[HEADINGS[str(row.metric)]] = shown
        records.append(record)
    note = (
        "Ours minus theirs, on the same inputs and copies: the mean over inputs, and half the "
        "width of its interval of 95 % (Student's t; the copies of an input are averaged). Open: "
        f"the interval holds 0.\n\n{_sums(differences)}"
    )
    return ReportTable("differences", "Paired differences", pd.DataFrame(records), note)


def _better(row: Any) -> str:
    """Say whose figure is better; nobody's if the interval holds 0."""
    if abs(row.mean) + row.half_width <= ROUNDED:
        return "equal"
    signed = BETTER[row.metric] * row.mean
    if abs(signed) <= row.half_width:
        return "open"
    return "ours" if signed < 0 else "theirs"


def _sums(differences: pd.DataFrame) -> str:
    """Count the better sides of both set-distances, for each explainer."""
    lines = []
    robust = differences[differences["metric"].isin(ROBUSTNESS)]
    for (method, ours), rows in robust.groupby(["method", "ours"], sort=False):
        sides = pd.Series([_better(row) for row in rows.itertuples()]).value_counts()
        counts = ", ".join(
            f"{side} {sides.get(side, 0)}" for side in ("ours", "theirs", "open", "equal")
        )
        lines.append(f"Set-distances of ours, {ours}, against {method}: {counts} of {len(rows)}.")
    return "\n".join(lines)
