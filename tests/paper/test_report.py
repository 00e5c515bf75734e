"""The tables and the plots of a reproduction."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from counterset.exceptions import MissingExtraError
from counterset.paper import Report
from counterset.paper.cells import METRICS
from counterset.paper.report import (
    compare,
    comparison_table,
    deviations,
    draw_all,
    final_table,
    peers_table,
)
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


def test_an_explainer_that_found_nothing_is_shown_with_dashes(
    network: Network, published: pd.DataFrame, tmp_path: Path
) -> None:
    # The plots ended in a traceback, and the tables said "nan %".
    figures = [name for metric in METRICS for name in (metric, f"{metric}_std")]
    nothing = published[:2].assign(stage="peers", method="nice", norm=1, valid=0.0)
    nothing = nothing.assign(**dict.fromkeys([*figures, "sparsity", "time_s"], float("nan")))
    report = Report(pd.concat([published, nothing]), [(prepare("diabetes"), network)])
    drawn = report.write(tmp_path)
    assert "peers" not in {file.stem for file in drawn}
    row = peers_table(nothing).frame.iloc[0]
    assert row["valid"] == "0 %"
    assert row["k-distance"] == row["time (s)"] == row["features changed"] == "-"
    lost = published.assign(**dict.fromkeys(METRICS, float("nan")))
    assert "nan" not in final_table(lost, minimised=True).to_text()
    assert "0 of 2040" in comparison_table(lost, as_published=True).note


def test_dice_as_measured_stands_under_each_dataset(published: pd.DataFrame) -> None:
    dice = published.query("stage == 'final' and minimised == True").assign(
        stage="peers", method="dice-gradient-binary", k_distance=7.0
    )
    frame = final_table(pd.concat([published, dice]), minimised=True).frame
    row = frame[(frame["dataset"] == "no2") & (frame["figure"] == "k-distance")].iloc[0]
    assert row["DiCE (L2)"].startswith("7.0000")
    assert row["DiCE, published (L2)"].startswith("0.7971")
    assert frame["dataset"].nunique() == 5


def test_without_the_published_networks_the_notes_say_so(
    network: Network, published: pd.DataFrame
) -> None:
    setups = [(prepare("diabetes"), network)]
    assert "trained here" in Report(published, setups, trained=True).to_text()
    assert "trained here" not in Report(published, setups).to_text()
    note = comparison_table(published, as_published=True, trained=True).note
    assert "--weights" in note


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
    assert plots == names - {"claims"}
    text = report.to_text()
    for heading in ("Datasets", "Accuracy", "Final results", "Tuning", "Ours vs published"):
        assert heading in text
    row = "| diabetes | k-distance | 1.1356 ± 0.43 | 1.1356 ± 0.43 | 1.8297 ± 0.35 |"
    assert row in written[0].read_text("utf-8")
    assert r"1.1356 $\pm$ 0.43" in written[1].read_text("utf-8")
