"""The plot of the changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.displays import LONG, mixed, special, wide

from counterset import DiverseExplainer
from counterset.plots import ChangesDisplay
from counterset.plots.changes import ASIDE, FeatureRow


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


def test_values_stand_where_they_lie_in_the_usual_range() -> None:
    explanation, _ = mixed()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    score = explanation.coded.table.features[3]
    low, high = score.usual
    assert score.low < low < high < score.high
    for change in rows["score"].changes:
        at = (explanation.coded.matrix[change.option - 1, 3] - low) / (high - low)
        assert 0 < at < 1
        assert change.end == pytest.approx(at)
    assert rows["score"].ends == (score.format(low), score.format(high))


def income(own: float, *options: float) -> FeatureRow:
    """Return the row of a feature that is usually from 100 to 900, for an input and options."""
    X = np.column_stack([np.r_[np.linspace(100, 900, 200), 50_000.0], np.arange(201.0)])
    explainer = DiverseExplainer(lambda rows: rows[:, 0] > 500, max_counterfactuals=1).fit(X)
    explanation = explainer.explain([300.0, 5.0])
    count = len(options)
    changed = replace(
        explanation,
        labels=np.repeat(explanation.labels[:1], count),
        distances=np.zeros(count),
        examples=np.full(count, -1),
        _input=np.array([own, 5.0]),
        _matrix=np.array([[each, 5.0] for each in options]),
    )
    (row,) = ChangesDisplay.from_explanation(changed).rows
    return row


def test_an_outlier_stretches_no_axis_and_stands_beyond_its_end() -> None:
    # One income of 50,000 used to squeeze all others into a fiftieth of the axis.
    row = income(300, 500, 2_000, 50_000)
    inside, near, far = (change.end for change in row.changes)
    assert 0.4 < inside < 0.6
    assert 1 < near < far < 1.2
    assert row.changes[0].start > 0.2
    row = income(20, 10, 500)
    assert ASIDE < row.changes[0].end < row.changes[0].start < 0


def test_the_title_says_the_decision_in_the_words_of_the_user() -> None:
    explanation, explainer = mixed()
    titled = ChangesDisplay.from_explanation(explanation, outcomes={"no": "declined"}).plot()
    said = f"Classified as declined: {len(explanation)} options lead to yes"
    assert titled.ax_.get_title(loc="left") == said
    (one,) = explainer.explain_many(
        explanation.coded.table.decode(explanation.coded.input[None, :]),
        target="no", skip=True,
    )  # fmt: skip
    said = "Classified as no, as asked for: nothing has to change"
    assert ChangesDisplay.from_explanation(one).title == said
    single = ChangesDisplay.from_explanation(explanation.nearest(1)).title
    assert single == "Classified as no: one option leads to yes"
    plt.close(titled.figure_)


def test_the_title_of_a_regression_says_what_is_predicted() -> None:
    X = np.random.default_rng(0).random((200, 2))
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1), max_counterfactuals=1).fit(X)
    explanation = explainer.explain([0.25, 0.5], interval=(1.2, 1.6))
    title = ChangesDisplay.from_explanation(explanation).title
    assert title == "Predicted to be 0.75: one option leads to a prediction between 1.2 and 1.6"


def test_categories_have_no_range_and_missing_values_stand_beside_it() -> None:
    explanation, _ = mixed()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    assert rows["home"].ends is None
    debt = rows["debt"]
    assert not debt.input_is_known
    assert all(change.start == ASIDE and change.end >= 0 for change in debt.changes)
    assert debt.changes[0].text.startswith("missing → ")


def test_special_codes_stand_beside_the_range_too() -> None:
    explanation, _ = special()
    rows = {row.name: row for row in ChangesDisplay.from_explanation(explanation).rows}
    assert not rows["late"].input_is_known
    assert rows["late"].changes[0].start < 0 <= rows["late"].changes[0].end
    assert rows["late"].changes[0].text.startswith("-9 → ")
    late = explanation.coded.table.features[0]
    assert rows["late"].ends == tuple(late.format(end) for end in late.usual)


def test_it_draws_into_the_axes_that_are_passed() -> None:
    _, ax = plt.subplots()
    display = ChangesDisplay.from_explanation(mixed()[0]).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    n_changes = sum(len(row.changes) for row in display.rows)
    # A text and a number for each change, two for the ends of each range, and how to read it.
    n_ranges = sum(row.ends is not None for row in display.rows)
    assert len(texts(ax)) == 2 * n_changes + 2 * n_ranges + 1
    plt.close(display.figure_)


def test_a_new_figure_is_made_without_axes() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0]).plot()
    assert display.ax_ in display.figure_.axes
    plt.close(display.figure_)


def test_numbers_take_the_place_of_a_legend() -> None:
    display = ChangesDisplay.from_explanation(mixed()[0]).plot()
    assert display.ax_.get_legend() is None
    numbers = sorted(text for text in texts(display.ax_) if text.isdecimal() and len(text) == 1)
    options = sorted(str(c.option) for row in display.rows for c in row.changes)
    assert set(options) <= set(numbers)
    plt.close(display.figure_)


def test_of_50_features_those_that_change_most_are_shown_and_the_others_counted() -> None:
    display = ChangesDisplay.from_explanation(wide()[0], max_features=8).plot()
    assert len(display.rows) == len(display.ax_.get_yticks()) == 8
    assert texts(display.ax_)[-1].endswith("42 more features change.")
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
