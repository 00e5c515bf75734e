"""The tables and the plots of a reproduction."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from counterset.exceptions import MissingExtraError
from counterset.paper import Report
from counterset.paper.cells import METRICS
from counterset.paper.report import compare, comparison_table, deviations, draw_all, peers_table
from counterset.paper.setups import Network, prepare


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


def test_the_published_figures_equal_themselves(published: pd.DataFrame) -> None:
    table = compare(published)
    assert (table["equal"] == table["figures"]).all()
    assert table["figures"].sum() == (20 + 490) * 4
    assert table["largest deviation"].max() == 0


def test_a_figure_counts_as_equal_only_to_four_decimals(published: pd.DataFrame) -> None:
    row = published.query("stage == 'final' and dataset == 'credit'").index[0]
    published.loc[row, "k_distance"] += 0.00004
    assert deviations(published)["equal"].all()
    published.loc[row, "k_distance"] += 0.0001
    both = deviations(published)
    assert (~both["equal"]).sum() == 1


def test_without_results_only_what_is_known_is_drawn(
    network: Network, published: pd.DataFrame, tmp_path: Path
) -> None:
    report = Report(published[:0], [(prepare("diabetes"), network)])
    drawn = report.write(tmp_path)
    assert {file.stem for file in drawn if file.suffix == ".png"} == {"datasets", "accuracy"}


def test_without_matplotlib_the_extra_is_named(
    network: Network, published: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"counterset\[plots\]"):
        draw_all(published, [(prepare("diabetes"), network)], tmp_path)


def some_report(network: Network, published: pd.DataFrame) -> Report:
    peers = published[:2].assign(stage="peers", method=["nice", "dice-random"], norm=1)
    return Report(pd.concat([published, peers]), [(prepare("diabetes"), network)])


def test_a_report_is_written_as_text_markdown_latex_and_plots(
    network: Network, published: pd.DataFrame, tmp_path: Path
) -> None:
    report = some_report(network, published)
    written = report.write(tmp_path)
    assert all(file.stat().st_size > 0 for file in written)
    names = {table.name for table in report.tables()}
    plots = {file.stem for file in written if file.suffix == ".png"}
    assert plots == names
    text = report.to_text()
    for heading in ("Datasets", "Accuracy", "Final results", "Tuning", "Ours vs published"):
        assert heading in text
    assert "| diabetes | L1 | measured | 100 % | 1.1356 ± 0.43 |" in written[0].read_text("utf-8")
    assert r"1.1356 $\pm$ 0.43" in written[1].read_text("utf-8")
