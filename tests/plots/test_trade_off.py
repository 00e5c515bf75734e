"""The plot of a tuning."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from counterset.evaluation import Tuning, tune
from counterset.plots import TradeOffDisplay, draw_trade_off


@pytest.fixture(scope="module")
def tuning() -> Tuning:
    X = np.random.default_rng(0).random((100, 2))
    return tune(lambda rows: rows.sum(axis=1) > 1, X, X[:4], betas=[0, 0.5], gammas=[0.1, 0.01])


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_the_ending_of_the_file_chooses_the_format(
    tuning: Tuning, tmp_path: Path, name: str, start: bytes
) -> None:
    draw_trade_off(tuning, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_same_tuning_gives_the_same_file(tuning: Tuning, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_trade_off(tuning, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_no_figure_stays_open(tuning: Tuning, tmp_path: Path) -> None:
    before = plt.get_fignums()
    draw_trade_off(tuning, str(tmp_path / "a.png"))
    assert plt.get_fignums() == before


def test_all_settings_are_drawn_and_the_recommended_one_is_marked(tuning: Tuning) -> None:
    figure, axes = plt.subplots(1, 2)
    display = TradeOffDisplay.from_tuning(tuning).plot(axes)
    assert display.ax_ == list(axes)
    assert display.figure_ is figure
    for ax, metric in zip(axes, ("set_distance_max", "k_diversity"), strict=True):
        dominated, front, best = ax.collections
        assert len(dominated.get_offsets()) + len(front.get_offsets()) == len(tuning.table)
        assert len(front.get_offsets()) == tuning.table["pareto"].sum()
        expected = tuning.recommended[["k_distance", metric]].to_numpy(dtype=float)
        np.testing.assert_array_equal(best.get_offsets()[0], expected)
    plt.close(figure)


def test_the_title_says_what_is_recommended(tuning: Tuning) -> None:
    best = tuning.recommended
    display = TradeOffDisplay.from_tuning(tuning).plot()
    said = f"Recommended: filter {best['filter']}, beta {best['beta']:g}, gamma {best['gamma']:g}"
    assert display.ax_[0].get_title(loc="left") == said
    assert display.ax_[0].get_legend() is None
    plt.close(display.figure_)
