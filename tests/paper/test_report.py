"""The report: text, Markdown, LaTeX and plots."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from counterset.paper import Report
from counterset.paper.classifiers import Network
from counterset.paper.data import prepare


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
