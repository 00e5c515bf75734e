"""One run of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from counterset.paper.cells import METRICS, Cell
from counterset.paper.experiment import Experiment, alpha_of, summarise


@pytest.mark.parametrize("as_published", [True, False])
@pytest.mark.parametrize(("stage", "shape"), [("final", (20, 3)), ("tuning", (50, 1))])
def test_a_run_has_the_inputs_and_copies_of_its_stage(
    weights: Path, as_published: bool, stage: Literal["final", "tuning"], shape: tuple[int, int]
) -> None:
    table = Experiment(as_published, weights).run(Cell(stage, "diabetes", 1))
    assert (table["input"].nunique(), table["repeat"].max()) == shape
    assert (table["validity"] == 1).all()
    # A copy of another class is skipped in the published final runs only, else drawn again.
    assert table["same_class"].all() or (as_published and stage == "final")


@pytest.mark.parametrize("as_published", [True, False])
def test_a_run_is_measured_in_the_norm_of_its_cell(weights: Path, as_published: bool) -> None:
    experiment = Experiment(as_published, weights)
    l1, l2 = (experiment.run(Cell("final", "diabetes", norm)) for norm in (1, 2))
    assert (l1["input_distance"] > l2["input_distance"]).sum() == l1["same_class"].sum()


def test_minimised_counterfactuals_are_nearer(weights: Path) -> None:
    experiment = Experiment(weights=weights)
    far, near = (experiment.run(Cell("final", "diabetes", 1, gamma=gamma)) for gamma in (None, 0.1))
    assert (near["k_distance"] <= far["k_distance"]).all()
    assert near["k_distance"].mean() < 0.9 * far["k_distance"].mean()


def test_a_dataset_is_set_up_once(weights: Path) -> None:
    experiment = Experiment(weights=weights)
    assert experiment.setup("diabetes") is experiment.setup("diabetes")


def test_alpha_is_smaller_for_the_small_datasets() -> None:
    assert [alpha_of(name) for name in ("diabetes", "no2", "news")] == [50, 50, 1000]


def test_the_summary_leaves_out_what_could_not_be_measured() -> None:
    measured = {metric: [1.0, np.nan, 5.0] for metric in METRICS}
    table = pd.DataFrame(
        {"same_class": [True, True, True], "validity": [1.0, 0.0, 1.0], "sparsity": 2.0}
        | measured
        | {"seconds": 0.5, "input_distance": 0.1}
    )
    summary = summarise(table)
    assert (summary["pairs"], summary["time_s"]) == (3, 0.5)
    assert summary["valid"] == pytest.approx(200 / 3)
    assert (summary["k_distance"], summary["k_distance_std"]) == (3, 2)
    nothing = summarise(table[1:2])
    assert np.isnan([nothing["k_distance"], nothing["k_distance_std"]]).all()
