"""The paper's tables, from a summary of runs."""

from __future__ import annotations

import pandas as pd

from counterset.paper.published import METRICS
from counterset.paper.report import comparison_table, peers_table


def test_the_comparison_names_the_largest_deviation_and_its_reason(
    published: pd.DataFrame,
) -> None:
    assert "news:" not in comparison_table(published, as_published=True).note
    row = published.query("stage == 'final' and dataset == 'credit'").index[0]
    published.loc[row, "k_distance"] += 0.00014
    note = comparison_table(published, as_published=True).note
    assert "2039 of 2040" in note
    assert "final, credit, L1, k-distance" in note
    assert "credit: what does not depend on the noise is equal" in note
    note = comparison_table(published, as_published=False).note
    assert "Run with --as-published to compare" in note
    assert "credit: " not in note


def test_nothing_measured_is_nothing_compared(published: pd.DataFrame) -> None:
    assert len(comparison_table(published[:0], as_published=True).frame) == 0


def test_a_failed_peer_shows_its_message(published: pd.DataFrame) -> None:
    good = {"stage": "peers", "dataset": "no2", "norm": 1, "method": "nice", "error": ""}
    figures = {name: 1.0 for metric in METRICS for name in (metric, f"{metric}_std")}
    good |= figures | {"valid": 100.0, "time_s": 0.1, "sparsity": 2.0, "pairs": 10.0}
    bad = {"stage": "peers", "dataset": "no2", "norm": 1, "method": "dice", "error": "no | luck"}
    table = peers_table(pd.DataFrame([good, bad]))
    assert table.frame["note"].tolist() == ["", "no | luck"]
    assert table.frame["k-distance"].tolist() == ["1.0000 ± 1.00", "-"]
    assert "no / luck" in table.to_markdown()
