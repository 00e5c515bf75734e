"""Paired differences between explainers, on the same inputs and copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from counterset.paper.cells import METRICS, Cell
from counterset.paper.differences import (
    differences_table,
    paired_difference,
    paired_differences,
)

FINAL = Cell("final", "no2", 1, gamma=0.1)
PEER = Cell("peers", "no2", 1, method="dice-gradient")


def pairs(values: list[float], seed: int = 0) -> pd.DataFrame:
    """Return a run of two copies for each input; both have the input's value of each figure."""
    inputs = np.repeat(np.arange(len(values)), 2)
    far = np.random.default_rng(seed).random(len(inputs))
    return pd.DataFrame(
        {
            "input": inputs,
            "repeat": np.tile([1, 2], len(values)),
            "same_class": True,
            "input_distance": far,
            **dict.fromkeys(METRICS, np.repeat(values, 2)),
        }
    )


def test_the_interval_is_that_of_a_t_test_over_inputs() -> None:
    ours, theirs = pairs([1.0, 2.0, 4.0, 3.0]), pairs([2.0, 2.5, 6.0, 5.5])
    ours.loc[ours["repeat"] == 1, "k_distance"] -= 0.1  # the copies of an input are averaged
    ours.loc[ours["repeat"] == 2, "k_distance"] += 0.1
    found = paired_difference(ours, theirs, "k_distance")
    assert found is not None
    oracle = ttest_1samp([-1.0, -0.5, -2.0, -2.5], 0).confidence_interval(0.95)
    assert found.mean - found.half_width == pytest.approx(oracle.low)
    assert found.mean + found.half_width == pytest.approx(oracle.high)
    assert found.inputs == 4


def test_a_part_of_the_inputs_is_compared_with_the_same_part() -> None:
    ours, theirs = pairs([1.0, 2.0, 4.0, 30.0]), pairs([2.0, 2.5, 6.0, 5.5])
    found = paired_difference(ours, theirs[:6], "k_distance")
    assert found is not None
    assert found.inputs == 3
    assert found.mean == pytest.approx(-3.5 / 3)


def test_other_pairs_are_not_compared() -> None:
    ours = pairs([1.0, 2.0])
    assert paired_difference(ours, pairs([1.0, 2.0], seed=1), "k_distance") is None
    assert paired_difference(ours[:2], pairs([1.0, 2.0]), "k_distance") is None
    assert paired_difference(ours.assign(same_class=False), ours, "k_distance") is None
    assert paired_difference(ours.assign(k_distance=np.nan), ours, "k_distance") is None


def test_each_peer_is_compared_with_our_runs_on_its_dataset_and_norm() -> None:
    tables = {
        FINAL: pairs([1.0, 2.0, 3.0]),
        replace(FINAL, norm=2): pairs([1.0, 1.0, 1.0]),
        replace(FINAL, stage="tuning"): pairs([9.0, 9.0, 9.0]),
        PEER: pairs([2.0, 3.1, 4.0]).assign(set_distance_max=[0, 0, 9, 9, 2, 2]),
        replace(PEER, method="nice"): pd.DataFrame({"error": ["it failed"]}),
    }
    missing = replace(PEER, norm=2)
    found = paired_differences(
        tables.get, [cell for cell in tables if cell.method == "ours"],
        [PEER, missing, replace(PEER, method="nice")],
    )  # fmt: skip
    assert len(found) == 4
    shown = differences_table(found)
    (row,) = shown.frame.to_dict("records")
    assert row["k-distance"] == "-1.033 ± 0.143: ours"
    assert row["k-diversity"] == "-1.033 ± 0.143: theirs"
    assert row["set-distance (max)"].endswith(": open")
    assert "against dice-gradient: ours 1, theirs 0, open 1, equal 0 of 2" in shown.note
    prototype = replace(PEER, method="prototype")
    tables[prototype] = pairs([4.0, 3.1, 4.0])
    found = paired_differences(tables.get, [FINAL], [PEER, prototype])
    assert found["ours"].tolist() == ["gamma = 0.1"] * 4 + ["as published"] * 4
    assert set(found["method"]) == {"dice-gradient"}
    same = paired_differences({FINAL: tables[PEER], PEER: tables[PEER]}.get, [FINAL], [PEER])
    assert differences_table(same).frame["k-distance"].tolist() == ["+0.000 ± 0.000: equal"]
    assert len(differences_table(found[:0]).frame) == 0
