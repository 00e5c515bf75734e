"""A plot for each table."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from counterset.exceptions import MissingExtraError
from counterset.paper import Report
from counterset.paper.classifiers import Network
from counterset.paper.data import prepare
from counterset.paper.report import draw_all


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
