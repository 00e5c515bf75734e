"""The plot of a tuning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterset.evaluation import Tuning, tune
from counterset.plots import draw_trade_off
from counterset.plots.style import pyplot


@pytest.fixture(scope="module")
def tuning() -> Tuning:
    X = np.random.default_rng(0).random((100, 2))
    return tune(lambda rows: rows.sum(axis=1) > 1, X, X[:4], betas=[0, 0.5], gammas=[0.1, None])


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_the_ending_of_the_file_chooses_the_format(
    tuning: Tuning, tmp_path: Path, name: str, start: bytes
) -> None:
    draw_trade_off(tuning, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_recommended_setting_is_marked_and_no_figure_stays_open(
    tuning: Tuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plt = pyplot()
    drawn: list[Any] = []
    monkeypatch.setattr(plt, "close", drawn.append)
    draw_trade_off(tuning, str(tmp_path / "a.png"))
    monkeypatch.undo()
    (figure,) = drawn
    plt.close(figure)
    dominated, front, best = figure.axes[0].collections
    assert len(dominated.get_offsets()) + len(front.get_offsets()) == len(tuning.table)
    expected = tuning.recommended[["k_distance", "set_distance_max"]].to_numpy(dtype=float)
    np.testing.assert_array_equal(best.get_offsets()[0], expected)
