"""The plot of the changes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.displays import LONG, mixed, special, wide

from counterset.plots import ChangesDisplay


def texts(ax: Any) -> list[str]:
    return [each.get_text() for each in ax.texts]


def test_every_change_stands_in_its_row_with_its_values() -> None:
    explanation, _ = mixed()
    display = ChangesDisplay.from_explanation(explanation)
    found = {(row.name, c.option): c.text for row in display.rows for c in row.changes}
    features = explanation.coded.table.features
    assert len(found) == explanation.changed.sum()
    for rank, i in np.argwhere(explanation.changed):
        text = found[features[i].name.replace("_", " "), rank + 1]
        own, code = explanation.coded.input[i], explanation.coded.matrix[rank, i]
        assert text == f"{features[i].format(own)} → {features[i].format(code)}"


def test_values_stand_where_they_lie_in_the_training_range() -> None:
    explanation, _ = mixed()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    score = explanation.coded.table.features[3]
    for change in rows["score"].changes:
        at = (explanation.coded.matrix[change.option - 1, 3] - score.low) / (score.high - score.low)
        assert change.end == pytest.approx(at)
    assert rows["score"].ends == (score.format(score.low), score.format(score.high))


def test_categories_have_no_range_and_missing_values_stand_beside_it() -> None:
    explanation, _ = mixed()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    assert rows["home"].ends is None
    debt = rows["debt"]
    assert not debt.input_is_known
    assert all(change.start < 0 <= change.end for change in debt.changes)
    assert debt.changes[0].text.startswith("missing → ")


def test_special_codes_stand_beside_the_range_too() -> None:
    explanation, _ = special()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    assert not rows["late"].input_is_known
    assert rows["late"].changes[0].start < 0 <= rows["late"].changes[0].end
    assert rows["late"].changes[0].text.startswith("-9 → ")
    assert rows["late"].ends == ("0", "49")


def test_it_draws_into_the_axes_that_are_passed() -> None:
    _, ax = plt.subplots()
    display = ChangesDisplay.from_explanation(mixed()[0]).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    n_changes = sum(len(row.changes) for row in display.rows)
    # A text for each change, and two for the ends of each range.
    assert len(texts(ax)) == n_changes + 2 * sum(row.ends is not None for row in display.rows)
    plt.close(display.figure_)


def test_a_new_figure_is_made_without_axes() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0]).plot()
    assert display.ax_ in display.figure_.axes
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["input", *(f"option {i}" for i in range(1, len(mixed()[0]) + 1))]
    plt.close(display.figure_)


def test_of_50_features_those_that_change_most_are_shown_and_the_others_counted() -> None:
    display = ChangesDisplay.from_explanation(wide()[0], max_features=8).plot()
    assert len(display.rows) == len(display.ax_.get_yticks()) == 8
    assert display.ax_.get_xlabel() == "and 42 more features"
    plt.close(display.figure_)


def test_long_names_are_wrapped_in_two_lines() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0]).plot()
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    (name,) = [each for each in names if each.startswith("monthly")]
    assert name.count("\n") == 1
    assert len(name) < len(LONG)
    plt.close(display.figure_)


def test_an_explanation_without_options_has_an_empty_plot() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    (empty,) = explainer.explain_many(row, target="no", skip=True)
    display = ChangesDisplay.from_explanation(empty).plot()
    assert display.rows == ()
    plt.close(display.figure_)
