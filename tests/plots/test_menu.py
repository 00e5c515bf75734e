"""The menu: which features which option uses."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from support.displays import mixed, special, wide

from counterset.plots import MenuDisplay
from counterset.plots.style import most_changed


def test_the_cells_that_change_are_filled_and_show_the_new_value() -> None:
    explanation, _ = mixed()
    display = MenuDisplay.from_explanation(explanation).plot()
    order = most_changed(explanation)
    np.testing.assert_array_equal(display.uses, explanation.changed[:, order].T)
    assert len(display.ax_.patches) == explanation.changed.sum()
    assert display.ax_.get_title(loc="left").startswith("Classified as no: 4 options lead")
    for i, j in np.argwhere(display.uses):
        feature = explanation.coded.table.features[order[i]]
        assert display.texts[i][j][2:] == feature.format(explanation.coded.matrix[j, order[i]])
    plt.close(display.figure_)


def test_signs_say_more_less_or_other() -> None:
    explanation, _ = mixed()
    display = MenuDisplay.from_explanation(explanation)
    signs = {
        name: {text[0] for text in row if text}
        for name, row in zip(display.names, display.texts, strict=True)
    }
    assert signs["score"] == {"▲"}
    assert signs["home"] == signs["debt"] == {"≠"}


def test_a_special_code_is_neither_more_nor_less() -> None:
    explanation, explainer = special()
    late = explainer.training_.pool.matrix[explainer.training_.pool.matrix[:, 0] > 40][0]
    turned = replace(explanation, _input=late, _matrix=explanation.coded.input[None, :])
    display = MenuDisplay.from_explanation(turned)
    assert display.texts[display.names.index("late")] == ["≠ -9"]  # it used to be "▼ -9"


def test_columns_are_headed_by_number_and_distance_in_the_axes_that_are_passed() -> None:
    explanation, _ = mixed()
    _, ax = plt.subplots()
    display = MenuDisplay.from_explanation(explanation).plot(ax)
    assert display.ax_ is ax
    texts = [text.get_text() for text in ax.texts]
    for rank, distance in enumerate(explanation.distances, start=1):
        assert str(rank) in texts
        assert f"{distance:.3g} away" in texts
    plt.close(display.figure_)


def test_of_50_features_20_are_listed() -> None:
    display = MenuDisplay.from_explanation(wide()[0]).plot()
    assert len(display.names) == 20
    assert display.ax_.texts[-1].get_text().endswith("30 more features change.")
    plt.close(display.figure_)
