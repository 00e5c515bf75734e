"""The four steps as a strip."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.displays import at_cell, depth_at, few_changes, mixed, plane, special, wide

from counterset import Constraints, DiverseExplainer, InvalidInputError
from counterset.plots import StepsDisplay
from counterset.plots.map import VISIBLE, map_of


def test_each_step_keeps_part_of_the_last() -> None:
    explanation, explainer = plane()
    display = StepsDisplay.from_explanation(explanation, explainer)
    others = explainer.classes_[explainer.training_.pool.codes] != explanation.label
    assert len(display.candidates) == np.count_nonzero(others)
    assert np.count_nonzero(display.kept) == min(40, np.count_nonzero(others))
    assert np.count_nonzero(display.chosen) == len(explanation)
    assert (display.kept | ~display.chosen).all()


def test_the_nearest_candidates_are_kept() -> None:
    explanation, explainer = plane()
    display = StepsDisplay.from_explanation(explanation, explainer)
    pool = explainer.training_.pool
    others = pool.matrix[explainer.classes_[pool.codes] != explanation.label]
    far = explainer.distance_.pairwise(explanation.coded.input[None, :], others)[0]
    assert far[display.kept].max() <= far[~display.kept].min()


def test_the_options_lie_on_the_ways_to_their_examples() -> None:
    for explanation, explainer in (plane(), wide()):
        display = StepsDisplay.from_explanation(explanation, explainer)
        assert display.on_lines
        (a, b), (c, d) = display.options.T, display.examples.T
        np.testing.assert_allclose(a * d, b * c, atol=1e-6)
        lengths = np.linalg.norm(display.options, axis=1)
        assert (lengths <= np.linalg.norm(display.examples, axis=1) + 1e-9).all()


def test_four_panels_are_drawn_and_sparse_options_are_told() -> None:
    explanation, explainer = mixed()
    display = StepsDisplay.from_explanation(explanation, explainer).plot()
    titles = [ax.get_title()[:2] for ax in display.ax_]
    assert titles == ["1.", "2.", "3.", "4."]
    assert not display.on_lines
    assert "change less" in display.ax_[3].texts[-1].get_text()
    # Dropped and kept candidates and the input; in the last, a line and a disc an option.
    assert [len(ax.lines) for ax in display.ax_] == [3, 3, 3, 3 + 2 * len(explanation)]
    numbers = [text.get_text() for text in display.ax_[3].texts[:-1]]
    assert numbers == [str(option.rank) for option in explanation.options]
    assert display.figure_.get_suptitle().startswith("Classified as no: 4 options lead to yes")
    plt.close(display.figure_)


def test_axes_can_be_passed_and_their_number_is_checked() -> None:
    display = StepsDisplay.from_explanation(*plane())
    figure, axes = plt.subplots(1, 4)
    assert display.plot(axes).ax_ == list(axes)
    with pytest.raises(InvalidInputError, match="4 panels, got 1 axes"):
        display.plot(axes[0])
    plt.close(figure)


def test_an_option_that_comes_from_no_training_row_stands_for_one() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 2)).round(2), columns=["a", "b"])
    explainer = DiverseExplainer(lambda rows: (rows["a"] > 0.5) | (rows["b"] >= 3)).fit(frame)
    only_b = Constraints(immutable=["a"], ranges={"b": (0, 4)})
    (explanation,) = explainer.explain_many(
        frame[frame["a"] < 0.5][:1], constraints=only_b, if_none="ignore"
    )
    assert explanation.examples.tolist() == [-1]
    display = StepsDisplay.from_explanation(explanation, explainer)
    np.testing.assert_allclose(display.examples, display.options)


@pytest.mark.parametrize("toy", [plane, mixed, wide, special, few_changes])
def test_every_option_stands_where_the_model_decides_as_wanted(toy: Any) -> None:
    # Options that change less than the rows they come from stood at points of the lines to these
    # rows, often in the area of the input's decision.
    explanation, explainer = toy()
    display = StepsDisplay.from_explanation(explanation, explainer)
    assert (depth_at(display.background, display.options) > -VISIBLE - 1e-9).all()
    assert all(at_cell(display.background, position).any() for position in display.options)


def test_the_lines_lead_through_the_options_to_the_rows_they_come_from() -> None:
    explanation, explainer = mixed()
    pool = explainer.training_.pool
    by_row = {int(row): i for i, row in enumerate(pool.training_index)}
    examples = pool.matrix[[by_row[int(row)] for row in explanation.examples]]
    layout = map_of(explanation, explainer, beyond=examples)
    np.testing.assert_array_equal(layout.rows(layout.options), explanation.coded.matrix)
    np.testing.assert_array_equal(layout.rows(layout.ends), examples)
    far = explainer.distance_.pairwise(explanation.coded.input[None, :], examples)[0]
    np.testing.assert_allclose(np.linalg.norm(layout.ends, axis=1), far)
